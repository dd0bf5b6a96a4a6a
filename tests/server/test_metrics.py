"""What a host's Prometheus is told, over the admin port, and what it is not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.server.at_table import Client, refused, secret_of
from tests.server.running import bearer, channel_to, running_app, serve, server_process
from tests.server.stream_bot import StreamBot
from tests.server.test_broken_variants import VETO, broken_table, install_broken, seat_bots

from rummy500.v1 import play_service_pb2 as pb
from rummy500.v1 import rules_pb2, table_pb2, table_service_pb2
from rummy500_server import admin
from rummy500_server.admin import AdminPort
from rummy500_server.app import App
from rummy500_server.identity import digest_of


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@dataclass(frozen=True, slots=True)
class Admin:
    address: str

    async def get(self, path: str) -> tuple[int, str]:
        return await asyncio.to_thread(get, self.address, path)

    async def text(self) -> str:
        status, text = await self.get("/metrics")
        assert status == 200
        return text

    async def value(self, name: str, **labels: str) -> float:
        """The sample of that name and exactly these labels."""
        for family in text_string_to_metric_families(await self.text()):
            for sample in family.samples:
                if (sample.name, sample.labels) == (name, labels):
                    return sample.value
        raise AssertionError(f"there is no {name}{labels}")


@contextlib.asynccontextmanager
async def watched_app(**settings: Any) -> AsyncIterator[tuple[App, Client, Admin]]:
    async with running_app(admin_port=free_port(), **settings) as app, channel_to(app.address) as channel:
        port = AdminPort(app)
        app.on_stop(port.close)
        yield app, Client.on(channel), Admin(port.address)


async def test_decisions_are_counted_with_their_times(tmp_path: Path) -> None:
    async with watched_app(database=str(tmp_path / "games.db")) as (_, client, metrics):
        table = await client.playing("anna", "ben")
        before = await metrics.value("rummy500_decisions_total", by="client")
        await client.act(table, "anna", "draw")

        assert before == 0
        assert await metrics.value("rummy500_decisions_total", by="client") == 1
        assert await metrics.value("rummy500_decision_latency_seconds_count") == 1
        assert await metrics.value("rummy500_thinking_seconds_count") == 1
        assert 0 < await metrics.value("rummy500_decision_latency_seconds_sum") < 60
        assert await metrics.value("rummy500_decision_latency_seconds_bucket", le="+Inf") == 1
        assert await metrics.value("rummy500_commit_entries_sum") == 4  # two joins, the start and the draw
        assert await metrics.value("rummy500_tables", state="playing") == 1
        assert await metrics.value("rummy500_journal_bytes", file="database") > 0


async def test_the_games_of_a_stream_are_counted(tmp_path: Path) -> None:
    async with watched_app() as (app, client, metrics), channel_to(app.address) as channel:
        bot = StreamBot(channel, "zoe")
        playing = asyncio.create_task(bot.play())
        await bot.welcome.wait()
        assert await metrics.value("rummy500_connected_bots") == 1
        assert await metrics.value("rummy500_streams", method="PlayService/Play") == 1
        table = await client.create(2, rules=ONE_ROUND, start_when_full=True)
        for chosen in ({"connected": "zoe"}, {"builtin": table_pb2.BuiltinBot(name="easy")}):
            add = table_service_pb2.AddBotRequest(table=table, **chosen)
            await client.tables.AddBot(add, metadata=bearer("the-token-of-the-owner"))
        async with client.watch(table, after_sequence=0) as watching:
            while not (await watching.next()).HasField("game_over"):
                pass
        decisions = await metrics.value("rummy500_decisions_total", by="client")
        assert decisions > 5
        assert await metrics.value("rummy500_decisions_total", by="builtin") > 5
        assert await metrics.value("rummy500_decision_latency_seconds_count") == decisions
        assert await metrics.value("rummy500_tables_over_total", termination="ROUND_LIMIT") == 1
        playing.cancel()


ONE_ROUND = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="max_rounds", value="1")])


async def test_refusals_rejected_calls_and_forfeits_are_counted_by_reason() -> None:
    async with watched_app() as (_, client, metrics):
        table = await client.playing("anna", "ben")
        for _ in range(2):
            with refused("WRONG_PHASE"):
                await client.act(table, "anna", "discard 2C")
        with refused("NO_SUCH_TABLE"):
            await client.act("t-none", "anna", "draw")
        leave = table_service_pb2.LeaveTableRequest(table=table)
        await client.tables.LeaveTable(leave, metadata=bearer(secret_of("anna")))

        assert await metrics.value("rummy500_refused_actions_total", reason="WRONG_PHASE") == 2
        rejected = {"method": "PlayService/Act", "code": "NOT_FOUND", "reason": "NO_SUCH_TABLE"}
        assert await metrics.value("rummy500_rejected_calls_total", **rejected) == 1
        assert await metrics.value("rummy500_calls_total", method="PlayService/Act") == 3
        assert await metrics.value("rummy500_forfeits_total", termination="DISCONNECT") == 1
        assert await metrics.value("rummy500_tables_over_total", termination="DISCONNECT") == 1


async def test_turns_that_the_clock_finished_are_counted() -> None:
    async with watched_app() as (_, client, metrics):
        table = await client.playing("anna", "ben")
        for _ in range(5):
            with refused("WRONG_PHASE"):
                await client.act(table, "anna", "discard 2C")

        assert await metrics.value("rummy500_clock_finished_turns_total", reason="REFUSALS") == 1


async def test_decisions_that_were_not_played_are_counted() -> None:
    async with watched_app() as (app, _, metrics), channel_to(app.address) as channel:
        call = Client.on(channel).plays.Play(metadata=bearer(secret_of("zoe")))
        await call.write(pb.PlayRequest(hello=pb.Hello(name="zoe")))
        await call.write(pb.PlayRequest(decisions=[pb.Decision(table="t-none", sequence=1)]))
        response = await call.read()
        while isinstance(response, pb.PlayResponse) and not response.refusals:
            response = await call.read()
        call.cancel()

        assert isinstance(response, pb.PlayResponse)
        assert response.refusals[0].table == "t-none"
        assert await metrics.value("rummy500_rejected_decisions_total", reason="NOT_SEATED") == 1


async def test_nothing_secret_and_no_name_of_a_person_is_told() -> None:
    async with watched_app() as (_, client, metrics):
        names = ("anna-from-ulm", "ben-of-the-lake")
        table = await client.playing(*names, title="our evening")
        await client.act(table, names[0], "draw")
        with refused("WRONG_PHASE"):
            await client.act(table, names[0], "draw")
        text = await metrics.text()
        secrets = [secret_of(name) for name in names]
        withheld = [*names, *secrets, *map(digest_of, secrets), table, "our evening"]

        assert [word for word in withheld if word in text] == []


async def test_a_variant_that_breaks_is_named_by_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, port = tmp_path / "site", free_port()
    site.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
    install_broken(site, VETO, "raise KeyError('no')")
    async with (
        server_process(tmp_path / "games.db", "--admin-port", str(port)) as server,
        channel_to(server.address) as channel,
    ):
        client = Client.on(channel)
        table = await broken_table(client)
        await seat_bots(client, table)
        async with client.watch(table, after_sequence=0) as seen:
            await seen.until("table_closed")

        assert await Admin(f"127.0.0.1:{port}").value("rummy500_variant_errors_total", distribution="broken-rules") == 1


# --- health over HTTP


async def test_a_server_lives_and_is_ready_until_it_drains() -> None:
    async with watched_app() as (app, _, http):
        assert await http.get("/healthz") == (200, "alive\n")
        assert await http.get("/readyz") == (200, "ready\n")
        assert await http.value("rummy500_draining") == 0
        app.drain.begin(5)
        assert await http.get("/readyz") == (503, "draining: the server is about to stop\n")
        assert await http.value("rummy500_draining") == 1
        assert await http.get("/healthz") == (200, "alive\n")
        assert (await http.get("/other"))[0] == 404


async def test_the_admin_port_is_closed_with_the_server(tmp_path: Path) -> None:
    port = free_port()
    async with server_process(tmp_path / "games.db", "--admin-port", str(port)) as server:
        assert await Admin(f"127.0.0.1:{port}").get("/readyz") == (200, "ready\n")
        server.signal(signal.SIGTERM)
        assert (await server.ended())[0] == 0
    with pytest.raises(urllib.error.URLError, match="refused"):
        await Admin(f"127.0.0.1:{port}").get("/readyz")


async def test_a_server_that_is_held_up_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "PATIENCE", 0.05)
    async with watched_app() as (_, _, http):
        asked: list[tuple[int, str]] = []
        done = threading.Event()

        def ask() -> None:
            asked.extend(get(http.address, path) for path in ("/healthz", "/metrics"))
            done.set()

        threading.Thread(target=ask).start()
        assert done.wait(30)  # the loop does not turn meanwhile
        assert {status for status, _ in asked} == {503}
        assert (await http.get("/nothing"))[0] == 404


async def test_only_reading_is_allowed() -> None:
    async with watched_app() as (_, _, http):
        request = urllib.request.Request(f"http://{http.address}/metrics", data=b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="405"):
            await asyncio.to_thread(urllib.request.urlopen, request)


async def test_an_admin_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        process = await serve("--port", "0", "--database", str(tmp_path / "games.db"), "--admin-port", port)
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in errors.decode()
