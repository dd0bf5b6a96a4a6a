"""A disk that is full while people and bots play: nothing is answered that was not kept, with room play goes
on, and the server ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import ServerProcess, bearer, channel_to, server_process
from tests.server.test_matches import builtin, connected, plan
from tests.torture.callers import Caller
from tests.torture.players import Bot

from rummy500.v1 import match_pb2, match_service_pb2, table_service_pb2
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
LONG = bool(os.environ.get("RUMMY500_LONG"))
Full = Callable[[ServerProcess], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def by_limit(server: ServerProcess) -> Iterator[None]:
    """The process may not write to any file."""
    pid = server.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


@pytest.fixture(params=["limit", "filled"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Full]]:
    """Where the database lies, and how to make that disk full for a while."""
    if request.param == "limit":
        yield tmp_path, by_limit
        return
    if not LONG:
        pytest.skip("the same again with a disk that is full; RUMMY500_LONG=1 does it")
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    made = subprocess.run([mount, "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(tmp_path)], check=False)
    if made.returncode:
        pytest.skip("no disk can be mounted here")

    @contextlib.contextmanager
    def filled(server: ServerProcess) -> Iterator[None]:
        ballast = tmp_path / "ballast"
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4_096)):
                pass
        try:
            yield
        finally:
            ballast.unlink()

    try:
        yield tmp_path, filled
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


@contextlib.asynccontextmanager
async def connected_bot(address: str) -> AsyncIterator[Bot]:
    """A bot that comes back whenever its stream breaks, and that minds contradictions."""
    caller = Caller(address, random.Random(1))
    bot = Bot(caller, "rex", "the-token-of-rex-the-bot")
    playing = asyncio.create_task(bot.play())
    try:
        yield bot
    finally:
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await playing
        await caller.close()


async def ended(matches: Any, name: str) -> match_pb2.Match:
    """The match at its end, however often the stream breaks."""
    while True:
        with contextlib.suppress(grpc.aio.AioRpcError):
            async for response in matches.WatchMatch(match_service_pb2.WatchMatchRequest(match=name)):
                match: match_pb2.Match = response.match
                if match.HasField("finished"):
                    return match


async def test_on_a_full_disk_nothing_is_answered_and_with_room_all_goes_on(disk: tuple[Path, Full]) -> None:
    place, is_full = disk
    async with server_process(place / "games.db") as server, channel_to(server.address) as channel:
        client, matches = Client.on(channel), MatchServiceStub(channel)
        table = await client.playing("anna", "ben")
        await client.act(table, "anna", "draw")
        before = await client.view(table, "anna")
        discard = f"discard {_text(before.hand[0])}"
        async with connected_bot(server.address):
            request = match_service_pb2.CreateMatchRequest(
                plan=plan(connected("rex", "rex"), builtin("random"), deals=12)
            )
            match = (await matches.CreateMatch(request, metadata=bearer(OWNER))).match
            async with client.watch(table, after_sequence=before.sequence) as watching:
                await watching.next()
                with is_full(server):
                    with refused("NOT_KEPT") as said:
                        await client.act(table, "anna", discard, request_id="once")
                    with refused("NOT_KEPT"):
                        await watching.next()
                    with refused("NOT_KEPT"):
                        await client.create(2)
                    seen = await client.view(table, "anna")
            answer = await client.act(table, "anna", discard, request_id="once")
            assert await client.act(table, "anna", discard, request_id="once") == answer
            finished = await asyncio.wait_for(ended(matches, match.name), 60)
        listed = (await client.tables.ListTables(table_service_pb2.ListTablesRequest())).tables
        with is_full(server):
            with refused("NOT_KEPT"):
                await client.act(table, "ben", "draw")
            server.signal(signal.SIGTERM)
            status, errors = await server.ended()
    assert said.retries
    assert seen == before
    assert answer.sequence == before.sequence + 1
    assert [each.name for each in listed] == [table]
    assert (finished.state, finished.games_finished) == (match_pb2.MATCH_STATE_FINISHED, finished.games_planned)
    assert status == 0
    assert "journal.failed" in errors
    assert "request.failed" not in errors


async def test_callers_who_wait_for_the_same_commit_are_all_told(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        with by_limit(server):
            answers = await asyncio.gather(*(client.create(2) for _ in range(64)), return_exceptions=True)
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    assert {answer.code() for answer in answers if isinstance(answer, grpc.aio.AioRpcError)} == {UNAVAILABLE}
    assert all(isinstance(answer, grpc.aio.AioRpcError) for answer in answers)
    assert "Traceback" not in errors


def _text(card: int) -> str:
    return "A23456789TJQK"[(card - 1) % 13] + "CDHS"[(card - 1) // 13]
