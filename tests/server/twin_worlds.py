"""A table as its viewer's bytes: whatever a viewer is sent on every path, in one of two worlds.

Times and names are no accident here: the clock stands still, and names are counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from tests.server.at_table import OWNER, secret_of
from tests.server.running import bearer, channel_to, running_app
from tests.server.stepped_timer import SteppedTimer
from tests.server.twin_script import NAMES, SEED, Step, Twins

from rummy500.v1 import action_pb2, match_service_pb2, rules_pb2, table_service_pb2
from rummy500.v1 import play_service_pb2 as pb
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_catalog import Catalog
from rummy500_server import table as table_module
from rummy500_server.access import PACKAGE
from rummy500_server.app import App
from rummy500_server.keeper import Keeper
from rummy500_server.window import LEAST_SECONDS

NOW = 1_800_000_000.0
SECONDS = 30
Transcript = dict[str, list[bytes]]
"""What came on each path, in order."""


class Eyes:
    """All that one viewer can look through, on a channel of its own; every message is kept as it came."""

    _keeper: Keeper

    def __init__(self, channel: grpc.aio.Channel, viewer: int | None, token: str | None) -> None:
        self._channel, self._viewer, self._token = channel, viewer, token
        self.transcript: Transcript = {}
        self._streams: dict[str, Any] = {}
        self._seen: dict[str, int] = {}

    @property
    def _metadata(self) -> Any:
        return None if self._token is None else bearer(self._token)

    # --- streams

    async def open(self, keeper: Keeper) -> None:
        """From now on it looks at that table."""
        self._open_watches(keeper)
        if self._viewer is not None:
            await self._open_play(pb.Hello(name="viewer", resume=[pb.ResumePoint(table=keeper.table.name)]))

    def _open_watches(self, keeper: Keeper) -> None:
        self._keeper, table = keeper, keeper.table.name
        requests = {
            "watch": pb.WatchRequest(table=table),
            "watch from the start": pb.WatchRequest(table=table, after_sequence=0),
            "watch with views": pb.WatchRequest(table=table, with_views=True),
        }
        for name, request in requests.items():
            call: Any = self._channel.unary_stream(f"/{PACKAGE}.PlayService/Watch")
            self._streams[name] = call(request.SerializeToString(), metadata=self._metadata)
            self._seen[name] = -1

    async def _open_play(self, hello: pb.Hello) -> None:
        play: Any = self._channel.stream_stream(f"/{PACKAGE}.PlayService/Play")(metadata=self._metadata)
        await play.write(pb.PlayRequest(hello=hello).SerializeToString())
        self._streams["play"], self._seen["play"] = play, -1

    async def see(self) -> None:
        """Reads until every stream has told how the table stands."""
        sequence = self._keeper.table.sequence
        for name in self._streams:
            while self._seen[name] < sequence and (name != "play" or self._viewer in self._keeper.table.to_act()):
                await self._read(name)

    async def see_that_it_answered(self) -> None:
        """An answer that is no event is shown by a view, unless something else comes first: so it is waited for."""
        for name in self._streams:
            if name != "play":
                await self._read(name)

    async def see_the_end(self) -> None:
        """Reads every stream to the end of the game."""
        for name in self._streams:
            while self._seen[name] < OVER:
                await self._read(name)

    async def _read(self, name: str) -> None:
        message = await self._streams[name].read()
        assert message is not grpc.aio.EOF, f"{name} ended"
        self._note(name, message)
        self._seen[name] = _last_in_play(message) if name == "play" else _last_in_watch(message)

    def close(self) -> None:
        for stream in self._streams.values():
            stream.cancel()

    # --- single calls

    async def ask_all(self) -> None:
        """Every call that shows the table."""
        table = self._keeper.table.name
        await self._ask("TableService/GetTable", table_service_pb2.GetTableRequest(table=table))
        await self._ask("TableService/ListTables", table_service_pb2.ListTablesRequest())
        await self._ask("PlayService/ListLegalActions", pb.ListLegalActionsRequest(table=table))
        await self._ask("MatchService/ListGames", match_service_pb2.ListGamesRequest(table=table))
        await self._ask("MatchService/GetRecord", match_service_pb2.GetRecordRequest(record=table), streams=True)

    async def act(self, *lines: str) -> None:
        """Acts for the viewer; what it is told is kept, also a refusal."""
        actions = [action_pb2.Action(text=line) for line in lines]
        request = pb.ActRequest(table=self._keeper.table.name, actions=actions, with_view=True)
        await self._ask("PlayService/Act", request)

    async def _ask(self, method: str, request: Message, *, streams: bool = False) -> None:
        path, sent = f"/{PACKAGE}.{method}", request.SerializeToString()
        call: Any = self._channel.unary_stream(path) if streams else self._channel.unary_unary(path)
        try:
            calling = call(sent, metadata=self._metadata)
            answer = await (calling.read() if streams else calling)
        except grpc.aio.AioRpcError as error:
            trailers = sorted((key, value) for key, value in error.trailing_metadata() or ())
            answer = repr((error.code(), error.details(), trailers)).encode()
        self._note(method, answer)

    def _note(self, path: str, message: bytes) -> None:
        self.transcript.setdefault(path, []).append(message)


OVER = 1 << 60


def _last_in_watch(message: bytes) -> int:
    response = pb.WatchResponse.FromString(message)
    match response.WhichOneof("kind"):
        case "snapshot":
            return int(response.snapshot.sequence)
        case "events":
            return int(response.events.events[-1].sequence) if response.events.events else -1
    return OVER


def _last_in_play(message: bytes) -> int:
    response = pb.PlayResponse.FromString(message)
    if response.games_over:
        return OVER
    return max((int(request.sequence) for request in response.decision_requests), default=-1)


@dataclass(slots=True)
class World:
    """One server and one table. `are_bots`: no person sits there, so that call windows take no time."""

    app: App
    timer: SteppedTimer
    channel: grpc.aio.Channel
    twins: Twins
    are_bots: bool
    bots: list[Any] = field(default_factory=list)

    async def transcript(self, number: int) -> Transcript:
        keeper = await self._seated(number)
        async with channel_to(self.app.address) as channel:
            viewer = self.twins.viewer
            eyes = Eyes(channel, viewer, None if viewer is None else secret_of(NAMES[viewer]))
            await eyes.open(keeper)
            await eyes.see()
            for step in self.twins.steps:
                await eyes.ask_all()
                for line in step.attempts if self._may_try(keeper) else ():
                    await eyes.act(line)
                await self._take(step, keeper, eyes)
                await eyes.see()
            await eyes.ask_all()
            close = table_service_pb2.CloseTableRequest(table=keeper.table.name)
            await TableServiceStub(self.channel).CloseTable(close, metadata=bearer(OWNER))
            await eyes.see_the_end()
            eyes.close()
            return eyes.transcript

    async def _seated(self, number: int) -> Keeper:
        twins, tables = self.twins, TableServiceStub(self.channel)
        request = table_service_pb2.CreateTableRequest(start_when_full=True)
        if twins.positions is not None:
            request.position_json = json.dumps(twins.positions[number])
        else:
            request.seats, request.seed = twins.players, SEED
            request.rules.CopyFrom(choice_of(twins.rules))
        made = await tables.CreateTable(request, metadata=bearer(OWNER))
        for name in NAMES[: twins.players]:
            if self.are_bots:
                await self._bot_sits(made.table.name, name)
                continue
            join = table_service_pb2.JoinTableRequest(table=made.table.name, name=name, seat_secret=secret_of(name))
            await tables.JoinTable(join)
        return await self.app.lobby.table(made.table.name)

    async def _bot_sits(self, table: str, name: str) -> None:
        """The bot of that name is connected for as long as it takes to sit down."""
        play: Any = self.channel.stream_stream(f"/{PACKAGE}.PlayService/Play")(metadata=bearer(secret_of(name)))
        await play.write(pb.PlayRequest(hello=pb.Hello(name=name)).SerializeToString())
        await play.read()
        request = table_service_pb2.AddBotRequest(table=table, connected=name, name=name)
        await TableServiceStub(self.channel).AddBot(request, metadata=bearer(OWNER))
        play.cancel()

    def _may_try(self, keeper: Keeper) -> bool:
        """At a table that was dealt, refusals in a turn of one's own count, and would end it."""
        return self.twins.positions is not None or self.twins.viewer not in keeper.table.to_act()

    async def _take(self, step: Step, keeper: Keeper, eyes: Eyes) -> None:
        """One seat after the other, each when the one before it was answered or is held back."""
        acting = []
        for seat, line in step.lines:
            sequence, was_asked = keeper.table.sequence, seat in keeper.table.to_act()
            acting.append(asyncio.create_task(self._act(keeper, eyes, seat, line)))
            while not (acting[-1].done() or keeper.window.held_by(seat)):
                await asyncio.sleep(0)
            is_asked, has_moved = seat in keeper.table.to_act(), keeper.table.sequence > sequence
            if seat == self.twins.viewer and was_asked and not is_asked and not has_moved:
                await eyes.see_that_it_answered()
        if step.in_poll and not self.are_bots:
            await eyes.ask_all()
            self.timer.advance(LEAST_SECONDS)
        await asyncio.gather(*acting)

    async def _act(self, keeper: Keeper, eyes: Eyes, seat: int, line: str) -> None:
        if seat == self.twins.viewer:
            await eyes.act(line)
            return
        request = pb.ActRequest(table=keeper.table.name, actions=[action_pb2.Action(text=line)])
        act: Any = self.channel.unary_unary(f"/{PACKAGE}.PlayService/Act")
        with contextlib.suppress(grpc.aio.AioRpcError):
            await act(request.SerializeToString(), metadata=bearer(secret_of(NAMES[seat])))


def choice_of(rules: Any) -> rules_pb2.RulesChoice:
    options = [
        rules_pb2.Option(name=name, value=value if isinstance(value, str) else json.dumps(value))
        for name, value in rules.get("options", {}).items()
    ]
    return rules_pb2.RulesChoice(preset=rules.get("preset", ""), variants=rules.get("variants", ()), options=options)


@contextlib.asynccontextmanager
async def world(twins: Twins, number: int, *, catalog: Catalog | None, are_bots: bool) -> AsyncIterator[World]:
    """One of the two worlds: its server deals as the twins say, its time stands still, its names are counted."""
    names = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: NOW)
        patch.setattr(secrets, "token_hex", lambda size: f"{next(names):0{2 * size}x}")
        if twins.orders is not None:
            order: Sequence[int] = twins.orders[number]
            patch.setattr(table_module, "shuffle", lambda seed, pack: tuple(order))
        timer = SteppedTimer()
        async with running_app(timer=timer, catalog=catalog) as app, channel_to(app.address) as channel:
            yield World(app, timer, channel, twins, are_bots)


async def transcripts(twins: Twins, *, catalog: Catalog | None = None, are_bots: bool = False) -> list[Transcript]:
    """What the viewer is sent in each of the two worlds."""
    found = []
    for number in (0, 1):
        async with asyncio.timeout(SECONDS), world(twins, number, catalog=catalog, are_bots=are_bots) as place:
            found.append(await place.transcript(number))
    return found


def verify_alike(found: Sequence[Transcript]) -> int:
    """Raises AssertionError with the first path on which a byte differs; answers how many messages were compared."""
    one, other = found
    assert one.keys() == other.keys()
    for path, messages in one.items():
        sizes, others = [len(each) for each in messages], [len(each) for each in other[path]]
        assert sizes == others, f"{path}: messages have the sizes {sizes} and {others}"
        for at, (here, there) in enumerate(zip(messages, other[path], strict=True)):
            assert here == there, f"{path}, message {at}: {here!r} is not {there!r}"
    return sum(map(len, one.values()))
