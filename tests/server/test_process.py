"""The command `rummy500-server` as a host meets it: real processes, ports, files and signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.server.at_table import OWNER, Client, refused, secret_of
from tests.server.running import ServerProcess, bearer, channel_to, environment, serve, server_process
from tests.server.test_matches import plan

from rummy500.v1 import card_pb2, match_service_pb2, match_service_pb2_grpc, play_service_pb2
from rummy500.v1 import rules_service_pb2 as pb
from rummy500.v1.rules_service_pb2_grpc import RulesServiceStub
from rummy500_server.__main__ import main
from rummy500_server.access import METHODS, PACKAGE
from rummy500_server.app import open_app
from rummy500_server.journal import JournalError
from rummy500_server.journal_sqlite import SqliteJournal
from rummy500_server.settings import Settings

SERVICES = [f"{PACKAGE}.{service}" for service in METHODS]


async def refused_start(*flags: str, **more: str) -> str:
    """Starts a server that must not start; what it says."""
    process = await serve(*flags, **more)
    output, errors = await process.communicate()
    assert (process.returncode, output) == (2, b"")
    (sentence,) = errors.decode().splitlines()
    assert sentence.startswith("rummy500-server: ")
    return sentence


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server for tests that leave it as it is."""
    async with server_process(tmp_path_factory.mktemp("running") / "games.db") as server:
        yield server


async def test_it_serves_health_and_reflection_for_every_service(running: ServerProcess) -> None:
    async with channel_to(running.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(cast(Any, channel))
        reflected = reflection.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        names = {each.name async for answer in reflected for each in answer.list_services_response.service}
        ours = {name for name in names if name.startswith("rummy500.v1.")}
        assert "rummy500.v1.RulesService" in ours
        for name in ("", *ours):
            checked = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert checked.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_second_server_on_the_same_port_is_refused(running: ServerProcess, tmp_path: Path) -> None:
    host, port = running.address.rsplit(":", 1)
    sentence = await refused_start("--port", port, "--database", str(tmp_path / "other.db"))
    assert sentence == f"rummy500-server: cannot listen on {host}:{port}: Address already in use"
    assert not (tmp_path / "other.db").exists()


async def test_a_second_server_on_the_same_database_is_refused(tmp_path: Path) -> None:
    database = str(tmp_path / "games.db")
    async with server_process(tmp_path / "games.db"):
        sentence = await refused_start("--port", "0", "--database", database)
        assert sentence == f"rummy500-server: the database {database} is in use by another server"


async def test_a_database_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    database = str(tmp_path / "missing" / "games.db")
    sentence = await refused_start("--port", "0", "--database", database)
    assert (
        sentence
        == f"rummy500-server: the database {database} cannot be made: there is no directory {tmp_path / 'missing'}"
    )
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "letter.txt"
    database.write_text("Dear Anna, " * 500)
    sentence = await refused_start("--port", "0", "--database", str(database))
    assert sentence.endswith(
        "is no database, or damaged: restore a backup of it, or name another file; nothing was changed"
    )
    assert database.read_text() == "Dear Anna, " * 500


@pytest.mark.parametrize("kind", ["table", "match"])
async def test_a_database_with_a_document_of_what_goes_on_that_cannot_be_read_is_refused(
    tmp_path: Path, kind: str
) -> None:
    journal = SqliteJournal.open(tmp_path / "games.db")
    await journal.put(kind, "t-1", b'{"name": "t-1')
    await journal.put("open_table", "t-1", b"")
    await journal.close()
    with pytest.raises(JournalError, match=f"the database is damaged, {kind} 't-1' cannot be read: restore a backup"):
        await open_app(Settings(port=0, database=str(tmp_path / "games.db")))


async def test_a_host_that_is_none_is_refused(tmp_path: Path) -> None:
    sentence = await refused_start("--host", "no.such.host.invalid", "--database", str(tmp_path / "games.db"))
    assert sentence.startswith("rummy500-server: cannot listen on no.such.host.invalid:50500: ")


async def test_a_bad_setting_is_refused() -> None:
    sentence = await refused_start(RUMMY500_LOG_LEVEL="loud")
    assert sentence == "rummy500-server: --log-level is 'loud': it may be debug or info or warning or error"


async def test_print_config_shows_where_each_setting_came_to_and_starts_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "rummy500_server", "serve", "--print-config", "--port", "7"],
        env=environment() | {"RUMMY500_DECISION_MS": "1234", "RUMMY500_PORT": "8"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"RUMMY500_PORT=7", "RUMMY500_DECISION_MS=1234", "RUMMY500_HOST=127.0.0.1"} <= set(run.stdout.splitlines())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_it_and_closes_the_database(tmp_path: Path, number: signal.Signals) -> None:
    async with server_process(tmp_path / "games.db", "--log-format", "json") as server:
        server.signal(number)
        status, errors = await server.ended()
    lines = [json.loads(line) for line in errors.splitlines()]
    assert status == 0
    assert [line["event"] for line in lines] == ["server.started", "server.draining", "server.stopped"]
    assert lines[1]["reason"] == number.name
    assert [path.name for path in tmp_path.iterdir()] == ["games.db"]
    with sqlite3.connect(tmp_path / "games.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


async def test_while_it_drains_health_says_so_of_every_service(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        watches = [health.Watch(health_pb2.HealthCheckRequest(service=name)) for name in ("", *SERVICES)]
        states = [aiter(watch) for watch in watches]
        assert {(await anext(each)).status for each in states} == {health_pb2.HealthCheckResponse.SERVING}
        server.signal(signal.SIGTERM)
        assert {(await anext(each)).status for each in states} == {health_pb2.HealthCheckResponse.NOT_SERVING}
        for watch in watches:
            watch.cancel()
        assert (await server.ended())[0] == 0


async def test_a_stopping_server_tells_every_stream_and_keeps_every_game(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        await client.act(table, "anna", "draw")
        before = await client.view(table, "anna")
        play = client.plays.Play(metadata=bearer(secret_of("ben")))
        await play.write(play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name="ben")))
        assert isinstance(await play.read(), play_service_pb2.PlayResponse)
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(
            match_service_pb2.CreateMatchRequest(plan=plan(deals=1_000)), metadata=bearer(OWNER)
        )
        watch_match = matches.WatchMatch(match_service_pb2.WatchMatchRequest(match=made.match.name))
        await watch_match.read()
        async with client.watch(table) as watching:
            await watching.next()
            server.signal(signal.SIGTERM)
            for call in (watching.call, play, watch_match):
                with refused("DRAINING") as said:
                    await read_to_the_end(call)
                assert said.retries
        began = time.monotonic()
        assert (await server.ended())[0] == 0
        assert time.monotonic() - began < 20
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        assert await client.view(table, "anna") == before
        await client.act(table, "anna", f"discard {card_name(before.legal_actions.discards[0])}")


HELD_UP = """
import asyncio
from rummy500_server import __main__
from rummy500_server.commands import serve

async def never_done():
    await asyncio.Event().wait()

async def opened(*arguments, **more):
    app = await open_app(*arguments, **more)
    app.on_stop(never_done)
    return app

open_app, serve.open_app, serve.LONGEST_STOP = serve.open_app, opened, 0.2
__main__.main(["serve", "--port", "0", "--database", ":memory:", "--log-format", "json"])
"""


async def test_a_stop_that_is_held_up_is_cut_short() -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HELD_UP, stdout=pipe, stderr=pipe, env=environment()
    )
    assert process.stdout is not None
    assert (await process.stdout.readline()).startswith(b"listening on ")
    process.send_signal(signal.SIGTERM)
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert json.loads(errors.splitlines()[-1])["event"] == "server.stop_held_up"


async def read_to_the_end(call: Any) -> None:
    """Raises the error that the stream ended with."""
    while await call.read() is not grpc.aio.EOF:
        pass
    await call


def card_name(card: int) -> str:
    return card_pb2.Card.Name(cast(Any, card)).removeprefix("CARD_")


async def test_a_programs_server_tells_its_address_in_a_file_and_ends_with_the_program(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    async with server_process(tmp_path / "games.db", "--ready-file", str(ready)) as server:
        assert ready.read_text() == server.address + "\n"
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert (await server.ended())[0] == 0


async def test_killed_it_leaves_a_database_that_the_next_one_opens(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db") as server:
        server.process.kill()
        await server.ended()
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        await RulesServiceStub(channel).ListVariants(pb.ListVariantsRequest())


async def test_garbled_bytes_are_a_bad_request_and_the_connection_lives_on(running: ServerProcess) -> None:
    async with channel_to(running.address) as channel:
        raw: Any = channel.unary_unary("/rummy500.v1.RulesService/GetVariant")
        for garbled in (b"\xff\xff\xff", b"\x0a\x02\xff\xfe", b"\x0a\xff"):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await raw(garbled)
            assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        await RulesServiceStub(channel).ListVariants(pb.ListVariantsRequest())


async def test_a_message_over_the_limit_is_refused_and_the_connection_lives_on(running: ServerProcess) -> None:
    async with channel_to(running.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await RulesServiceStub(channel).GetVariant(pb.GetVariantRequest(variant="x" * (64 << 10)))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await RulesServiceStub(channel).ListVariants(pb.ListVariantsRequest())


async def test_a_malformed_token_is_refused_at_every_method(running: ServerProcess) -> None:
    async with channel_to(running.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await RulesServiceStub(channel).ListVariants(pb.ListVariantsRequest(), metadata=bearer("short"))
        assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_no_token_is_logged(tmp_path: Path) -> None:
    token = "a-token-that-nobody-may-read-in-a-log"
    async with server_process(tmp_path / "games.db", "--log-level", "debug", "--log-format", "json") as server:
        async with channel_to(server.address) as channel:
            rules = RulesServiceStub(channel)
            await rules.ListVariants(pb.ListVariantsRequest(), metadata=bearer(token))
            with pytest.raises(grpc.aio.AioRpcError):
                await rules.GetVariant(pb.GetVariantRequest(), metadata=bearer(token))
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    lines = [json.loads(line) for line in errors.splitlines()]
    assert token not in errors
    assert any(line["event"] == "request.refused" and line["method"] == "GetVariant" for line in lines)


async def test_a_refused_call_is_logged_with_what_it_was_about(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db", "--log-format", "json") as server:
        async with channel_to(server.address) as channel:
            client = Client.on(channel)
            table = await client.playing("anna", "ben")
            with refused("NOT_YOUR_TURN"):
                await client.act(table, "ben", "draw")
            with refused("BAD_REQUEST"):
                await client.act("t" * 1_000, "ben", "draw")
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    told, long = (line for line in map(json.loads, errors.splitlines()) if line["event"] == "request.refused")
    assert (told["method"], told["table"], told["reason"]) == ("Act", table, "NOT_YOUR_TURN")
    assert len(told["request"]) == 8
    assert long["table"] == "t" * 64


async def test_health_is_asked_from_the_command_line(
    running: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    async def health(*flags: str) -> tuple[int, str]:
        status = await asyncio.to_thread(main, ["health", *flags])
        return status, "".join(capsys.readouterr())

    assert await health("--address", running.address) == (0, "SERVING\n")
    assert await health("--address", running.address, "--service", SERVICES[0]) == (0, "SERVING\n")
    none = await health("--address", running.address, "--service", "rummy500.v1.None")
    assert none == (2, "rummy500-server: the server has no service 'rummy500.v1.None'\n")
    status, told = await health("--address", "127.0.0.1:9", "--timeout", "2")
    assert (status, told.partition(":")[0]) == (1, "UNAVAILABLE")
    assert await health("--host-name", "x") == (
        2,
        "rummy500-server: --cert, --key and --host-name are for TLS: give --ca too\n",
    )
    missing = "rummy500-server: none.pem cannot be read: No such file or directory\n"
    assert await health("--ca", "none.pem") == (2, missing)


async def test_an_address_of_ipv6_is_served(tmp_path: Path) -> None:
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("this machine has no IPv6")
    async with server_process(tmp_path / "games.db", "--host", "::1") as server, channel_to(server.address) as channel:
        assert server.address.startswith("[::1]:")
        await asyncio.wait_for(channel.channel_ready(), 30)
