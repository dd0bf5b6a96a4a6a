"""Registered tokens: made and revoked by a command, read again by the running server, ended at once where they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, environment, running_app, server_process
from tests.server.test_access import STUBS, plan, reason_of

from rummy500.v1 import match_service_pb2, play_service_pb2, table_pb2, table_service_pb2
from rummy500_server.commands.database import CommandRefused
from rummy500_server.commands.token import PREFIX, add_token, revoke_token
from rummy500_server.identity import Role, digest_of, is_secret
from rummy500_server.tokens import BadTokenFile, Token, Tokens, read_tokens

PATIENCE = 20.0


def token_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rummy500_server", "token", *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


# --- the command and the file


def test_a_new_token_is_printed_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    made = token_command("new", "--role", "bot", "--name", "deep", "--expires", "30d", "--file", str(file))
    secret = made.stdout.strip()

    assert made.returncode == 0
    assert is_secret(secret)
    assert secret.startswith(PREFIX)
    assert secret not in file.read_text() + made.stderr
    (token,) = read_tokens(file)
    assert (token.name, token.role, token.digest) == ("deep", Role.BOT, digest_of(secret))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    listed = token_command("list", "--file", str(file))
    assert listed.stdout.startswith("deep")
    assert "good until" in listed.stdout
    assert digest_of(secret) not in listed.stdout


def test_whoever_could_read_the_file_can_when_it_was_edited(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    add_token(file, "anna", Role.PLAYER)
    file.chmod(0o640)
    revoke_token(file, "anna")

    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_change_is_seen_that_leaves_size_and_time_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(GOOD.line())
    file.chmod(0o600)
    tokens, before = Tokens(file), file.stat()
    file.write_text(GOOD.line().replace("0" * 64, "1" * 64))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    tokens.refresh()

    assert tokens.find("0" * 64) is None
    assert tokens.find("1" * 64) is not None


def test_a_name_has_one_good_token_and_a_new_one_after_it_was_revoked(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    add_token(file, "deep", Role.BOT)
    with pytest.raises(CommandRefused, match="deep has a token already: revoke it first"):
        add_token(file, "deep", Role.HOST)

    assert token_command("revoke", "deep", "--file", str(file)).stdout == "the token of deep is revoked\n"
    add_token(file, "deep", Role.BOT)

    assert [bool(token.revoked) for token in read_tokens(file)] == [True, False]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["revoke", "dep"], "there is no good token of 'dep': did you mean deep?"),
        (["new", "--role", "bot", "--name", "late", "--expires", "0d"], "a token that expires at once lets nobody in"),
        (["new", "--role", "bot", "--name", " \t"], "a name has 1 to 64 printable characters"),
        (["list", "--file", "missing"], "the token file missing is not there: `rummy500-server token new"),
        (["list", "--file", ""], "say which file: --file FILE, or RUMMY500_TOKENS in the environment"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    file = tmp_path / "tokens"
    add_token(file, "deep", Role.BOT)
    before = file.read_bytes()
    if "--file" not in arguments:
        arguments = [*arguments, "--file", str(file)]
    if arguments[-1] == "":
        arguments = arguments[:-2]

    refused = token_command(*arguments)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert sentence in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert file.read_bytes() == before


GOOD = Token("anna", Role.PLAYER, "0" * 64, created=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a-token-somebody-wrote-here", "line 1 .*no JSON object"),
        ("[" * 100_000, "line 1 .*no JSON object"),
        ('{"name": "anna"}', "role must be spectator or player or bot or host"),
        (GOOD.line().replace("0" * 64, "a-token-somebody-wrote-here"), "sha256 must be 64 hexadecimal digits"),
        (GOOD.line().replace("2026", "26"), "created must be a time"),
        (GOOD.line().replace("created", "made"), "its fields may be"),
        (GOOD.line() + "\n" + GOOD.line(), "one sha256 twice"),
    ],
)
def test_a_line_that_is_none_is_named_and_never_repeated(tmp_path: Path, line: str, sentence: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(line + "\n")
    file.chmod(0o600)
    with pytest.raises(BadTokenFile, match=sentence) as refused:
        read_tokens(file)
    assert "a-token-somebody-wrote-here" not in str(refused.value)


def test_a_file_that_others_may_write_makes_nobody_a_host(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    add_token(file, "anna", Role.HOST)
    file.chmod(0o620)
    with pytest.raises(BadTokenFile, match="can be written by others than its owner: chmod 600"):
        read_tokens(file)


# --- a running server


async def list_tables(channel: Any, token: str) -> str:
    try:
        await STUBS["TableService"](channel).ListTables(table_service_pb2.ListTablesRequest(), metadata=bearer(token))
    except grpc.aio.AioRpcError as error:
        return reason_of(error)
    return "OK"


async def until(wanted: str, ask: Callable[[], Awaitable[str]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while await ask() != wanted:
            await asyncio.sleep(0.05)


async def test_a_running_server_knows_new_tokens_and_revoked_ones_at_once(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    anna = add_token(file, "anna", Role.PLAYER)
    flags = ("--tokens", str(file), "--require-token")
    async with server_process(tmp_path / "games.db", *flags) as server, channel_to(server.address) as channel:
        assert await list_tables(channel, anna) == "OK"
        bea = add_token(file, "bea", Role.PLAYER)
        server.signal(signal.SIGHUP)
        await until("OK", lambda: list_tables(channel, bea))

        revoke_token(file, "anna")

        await until("TOKEN_ENDED", lambda: list_tables(channel, anna))
        assert await list_tables(channel, bea) == "OK"
        file.write_text("this is no token file\n")  # what was known stays good
        server.signal(signal.SIGHUP)
        assert await list_tables(channel, bea) == "OK"
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    assert anna not in errors
    assert bea not in errors


async def test_the_open_streams_of_a_revoked_token_end(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    host, bot = add_token(file, "host", Role.HOST), add_token(file, "deep", Role.BOT)
    async with (
        running_app(tokens=str(file), require_token=True) as app,
        channel_to(app.address) as channel,
    ):
        tables, plays, matches = (STUBS[name](channel) for name in ("TableService", "PlayService", "MatchService"))
        made = await tables.CreateTable(table_service_pb2.CreateTableRequest(seats=2), metadata=bearer(host))
        match = await matches.CreateMatch(match_service_pb2.CreateMatchRequest(plan=plan()), metadata=bearer(host))
        hello = play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name="deep"))
        play = plays.Play(metadata=bearer(bot))
        await play.write(hello)
        watch = plays.Watch(play_service_pb2.WatchRequest(table=made.table.name), metadata=bearer(bot))
        watch_match = matches.WatchMatch(
            match_service_pb2.WatchMatchRequest(match=match.match.name), metadata=bearer(bot)
        )
        others = plays.Watch(play_service_pb2.WatchRequest(table=made.table.name), metadata=bearer(host))
        for stream in (play, watch, watch_match, others):
            await stream.read()

        revoke_token(file, "deep")

        for stream in (play, watch, watch_match):
            with pytest.raises(grpc.aio.AioRpcError) as ended:
                async with asyncio.timeout(PATIENCE):
                    await stream.read()
            assert ended.value.code() is grpc.StatusCode.UNAUTHENTICATED
            assert reason_of(ended.value) == "TOKEN_ENDED"
            assert "the token of deep is good no more" in (ended.value.details() or "")
        assert not others.done()
        others.cancel()


async def test_a_stream_ends_whose_token_was_registered_later_and_revoked_then(tmp_path: Path) -> None:
    file, own = tmp_path / "tokens", "a-token-that-somebody-made"
    host = add_token(file, "host", Role.HOST)
    async with running_app(tokens=str(file)) as app, channel_to(app.address) as channel:
        tables, plays = STUBS["TableService"](channel), STUBS["PlayService"](channel)
        made = await tables.CreateTable(table_service_pb2.CreateTableRequest(seats=2), metadata=bearer(host))
        watch = plays.Watch(play_service_pb2.WatchRequest(table=made.table.name), metadata=bearer(own))
        await watch.read()
        lines = file.read_text()
        token = Token("mallory", Role.PLAYER, digest_of(own), created=datetime.now(UTC))
        file.write_text(lines + token.line() + "\n")
        app.door.refresh()
        assert not watch.done()

        revoke_token(file, "mallory")
        app.door.refresh()

        with pytest.raises(grpc.aio.AioRpcError) as ended:
            async with asyncio.timeout(PATIENCE):
                await watch.read()
        assert reason_of(ended.value) == "TOKEN_ENDED"
        assert "the token of mallory is good no more" in (ended.value.details() or "")


async def test_a_token_that_expired_is_no_strangers_either(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    late = add_token(file, "late", Role.PLAYER, expires=datetime.now(UTC) - timedelta(hours=1))
    async with running_app(tokens=str(file)) as app, channel_to(app.address) as channel:
        assert await list_tables(channel, late) == "TOKEN_ENDED"
        assert await list_tables(channel, "a-token-that-somebody-made") == "OK"


async def test_the_host_closes_any_table_and_any_match_and_takes_any_seat_away(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    host, anna, seat = add_token(file, "host", Role.HOST), add_token(file, "anna", Role.PLAYER), "secret-of-annas-seat"
    async with running_app(tokens=str(file)) as app, channel_to(app.address) as channel:
        tables, matches = STUBS["TableService"](channel), STUBS["MatchService"](channel)
        create = table_service_pb2.CreateTableRequest(seats=2, private=True)
        name = (await tables.CreateTable(create, metadata=bearer(anna))).table.name
        join = table_service_pb2.JoinTableRequest(table=name, name="anna", seat_secret=seat)
        await tables.JoinTable(join, metadata=bearer(anna))
        match = await matches.CreateMatch(match_service_pb2.CreateMatchRequest(plan=plan()), metadata=bearer(anna))

        listed = await tables.ListTables(table_service_pb2.ListTablesRequest(), metadata=bearer(host))
        removed = await tables.RemoveSeat(
            table_service_pb2.RemoveSeatRequest(table=name, seat=0), metadata=bearer(host)
        )
        closed = await tables.CloseTable(table_service_pb2.CloseTableRequest(table=name), metadata=bearer(host))
        cancelled = await matches.CancelMatch(
            match_service_pb2.CancelMatchRequest(match=match.match.name), metadata=bearer(host)
        )

        assert [table.name for table in listed.tables] == [name]
        assert removed.table.seats[0].name == ""
        assert closed.table.state == table_pb2.TABLE_STATE_CLOSED
        assert cancelled.match.sentence


def test_listing_is_for_programs_too(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    add_token(file, "anna", Role.PLAYER)
    listed = token_command("list", "--json", "--file", str(file))
    assert json.loads(listed.stdout) == {"name": "anna", "role": "player", "state": "good"}
