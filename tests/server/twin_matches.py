"""A match as its viewer's bytes, in one of two worlds: the packs differ in what the viewer may not see.

One table of the match is the viewer's, and both worlds play the same there. At other tables the same packs are played
on, as the hidden cards have it: what becomes of them is no business of the viewer's until its deal is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app
from tests.server.stepped_timer import SteppedTimer
from tests.server.stream_bot import StreamBot, silent, stream_bot
from tests.server.twin_script import NAMES, Twins
from tests.server.twin_worlds import NOW, SECONDS, Eyes, Transcript, choice_of

from rummy500.v1 import action_pb2, match_pb2, play_service_pb2, table_service_pb2
from rummy500.v1 import match_service_pb2 as pb
from rummy500_arena import seatings
from rummy500_bots import Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.notation import write_action
from rummy500_engine.view import seat_view
from rummy500_server import table as table_module
from rummy500_server.access import PACKAGE
from rummy500_server.app import App
from rummy500_server.games import record_name
from rummy500_server.identity import Role, digest_of
from rummy500_server.keeper import Keeper
from rummy500_server.tokens import Token, now

OWNER, SPECTATOR = "the-token-of-the-match-owner", "the-token-of-a-spectator"
CATALOG = Catalog()
DEALS, TABLES = 2, 3
FEW_MOVES = 7
"""So much is played at a table that is then left by all but one."""


class Viewer(Enum):
    """Who looks: the bot at its table, or one of those who have no seat in the match."""

    BOT = "bot"
    OWNER = "owner"
    STRANGER = "stranger"
    SPECTATOR = "spectator"


@dataclass(frozen=True, slots=True)
class MatchTwins:
    """`twins` is what happens at the viewer's table, which plays this seating of deal 0; its viewer is a seat for a bot
    only. `is_guarded`: the server asks for tokens that it knows."""

    twins: Twins
    viewer: Viewer
    unit: match_pb2.MatchUnit.ValueType
    seating: int
    is_guarded: bool

    @property
    def bots(self) -> tuple[str, ...]:
        return NAMES[: self.twins.players]


def stream_name(bot: str, seating: int) -> str:
    return f"{bot}#{seating}"


def bot_token(stream: str) -> str:
    """As `StreamBot` has it."""
    return f"the-token-of-{stream:0>16}"


class MatchEyes(Eyes):
    """All that one viewer can look through: the table, the match, and the records of both."""

    _match: str
    _match_stream: Any
    records: Sequence[str] = ()
    """Which are asked for whenever everything is."""

    async def arrive(self, stream: str) -> None:
        """The viewer is a bot of the match."""
        await self._open_play(play_service_pb2.Hello(name=stream))

    async def open(self, keeper: Keeper) -> None:
        self._open_watches(keeper)
        self._match = keeper.table.creation.match
        call: Any = self._channel.unary_stream(f"/{PACKAGE}.MatchService/WatchMatch")
        self._match_stream = call(pb.WatchMatchRequest(match=self._match).SerializeToString(), metadata=self._metadata)

    async def see_match(self, finished: int) -> None:
        """Reads until so many games are over."""
        while True:
            message = await self._match_stream.read()
            assert message is not grpc.aio.EOF, "WatchMatch ended"
            self._note("WatchMatch", message)
            if pb.WatchMatchResponse.FromString(message).match.games_finished >= finished:
                return

    async def ask_all(self) -> None:
        await super().ask_all()
        await self._ask("MatchService/GetMatch", pb.GetMatchRequest(match=self._match))
        await self._ask("MatchService/ListMatches", pb.ListMatchesRequest())
        await self._ask("MatchService/ListGames", pb.ListGamesRequest())
        await self._ask("MatchService/ListGames", pb.ListGamesRequest(match=self._match))
        await self._ask("MatchService/GetRecord", pb.GetRecordRequest(match=self._match), streams=True)
        for record in self.records:
            request = pb.GetRecordRequest(record=record)
            await self._ask("MatchService/GetRecord", request, streams=True)

    def close(self) -> None:
        super().close()
        self._match_stream.cancel()


@dataclass(slots=True)
class MatchWorld:
    """One server and one match."""

    app: App
    channel: grpc.aio.Channel
    twins: MatchTwins
    streams: dict[str, StreamBot]
    """All but the viewer's, by name."""

    async def transcript(self, looking: grpc.aio.Channel) -> Transcript:
        twins = self.twins
        eyes = MatchEyes(looking, twins.twins.viewer, self._token())
        if twins.viewer is Viewer.BOT:
            await eyes.arrive(viewers_stream(twins))
        match = await self._make()
        keeper = await self._table(twins.seating)
        eyes.records = self._records(match)
        await eyes.open(keeper)
        await eyes.see_match(0)
        await eyes.see()
        others = [each for each in range(self._tables()) if each != twins.seating]
        await eyes.ask_all()
        await self._play(await self._table(others[0]), to_the_end=True)
        await eyes.see_match(1)
        for step in twins.twins.steps:
            await eyes.ask_all()
            for line in step.attempts if twins.twins.viewer not in keeper.table.to_act() else ():
                await eyes.act(line)
            await asyncio.gather(*(self._act(keeper, eyes, seat, line) for seat, line in step.lines))
            await eyes.see()
        for finished, other in enumerate(others[1:], 2):
            await self._break_off(await self._table(other))
            await eyes.see_match(finished)
        await eyes.ask_all()
        await self._call("MatchService/CancelMatch", pb.CancelMatchRequest(match=match), OWNER)
        await eyes.see_the_end()
        eyes.close()
        return eyes.transcript

    def _records(self, name: str) -> list[str]:
        """Of the tables that are played on, of one to come, and of none."""
        match = self.app.matches.named(name)
        games = [*range(self._tables()), match.plan.seatings]
        return [*(record_name(name, match.plan.game(game)) for game in games), f"{name}.none"]

    def _token(self) -> str | None:
        match self.twins.viewer:
            case Viewer.BOT:
                return bot_token(viewers_stream(self.twins))
            case Viewer.OWNER:
                return OWNER
            case Viewer.SPECTATOR:
                return SPECTATOR
            case Viewer.STRANGER:
                return None

    def _tables(self) -> int:
        """How many tables the match plays at the same time."""
        return min(TABLES, seatings_of(self.twins))

    async def _make(self) -> str:
        """Answers its name."""
        twins, count = self.twins, seatings_of(self.twins)
        bots = [
            match_pb2.MatchBot(
                name=bot,
                connected=match_pb2.ConnectedBot(names=[stream_name(bot, each) for each in range(count)]),
            )
            for bot in twins.bots
        ]
        plan = match_pb2.MatchPlan(
            bots=bots, deals=DEALS, unit=twins.unit, concurrency=self._tables(), rules=choice_of(twins.twins.rules)
        )
        answer = await self._call("MatchService/CreateMatch", pb.CreateMatchRequest(plan=plan), OWNER)
        return pb.CreateMatchResponse.FromString(answer).match.name

    async def _table(self, seating: int) -> Keeper:
        """The table of that seating of deal 0, once it is there."""
        place = f"0.{seating}"
        while True:
            for bot in self.streams.values():
                for table in bot.started:
                    keeper = await self.app.lobby.table(table)
                    if keeper.table.creation.place == place:
                        return keeper
            await asyncio.sleep(0)

    # --- what is played

    def _token_of(self, keeper: Keeper, seat: int) -> str:
        return bot_token(stream_name(keeper.table.seats[seat].name, keeper.table.creation.seating))

    async def _act(self, keeper: Keeper, eyes: MatchEyes, seat: int, line: str) -> None:
        if seat == self.twins.twins.viewer:
            await eyes.act(line)
            return
        with contextlib.suppress(grpc.aio.AioRpcError):
            await self._act_alone(keeper, seat, line)

    async def _act_alone(self, keeper: Keeper, seat: int, *lines: str) -> None:
        actions = [action_pb2.Action(text=line) for line in lines]
        request = play_service_pb2.ActRequest(table=keeper.table.name, actions=actions)
        await self._call("PlayService/Act", request, self._token_of(keeper, seat))

    async def _play(self, keeper: Keeper, *, to_the_end: bool) -> None:
        """Plays as the cards have it, the round to its end or so many moves."""
        bot, table = built_in("easy", seed=0), keeper.table
        for moves in itertools.count():
            if table.is_over or (not to_the_end and moves >= FEW_MOVES) or table.game.rounds_played:
                break
            seat = table.to_act()[0]
            answer = bot.act(Decision(seat_view(table.game, seat), table.rules))
            chosen = answer if isinstance(answer, Sequence) else (answer,)
            await self._act_alone(keeper, seat, *map(write_action, chosen))
        if to_the_end and not table.is_over:  # a game of many rounds
            await self._break_off(keeper)

    async def _break_off(self, keeper: Keeper) -> None:
        """A few moves, and all but one leave."""
        if not keeper.table.game.rounds_played:
            await self._play(keeper, to_the_end=False)
        for seat in range(1, self.twins.twins.players):
            if not keeper.table.is_over:
                request = table_service_pb2.LeaveTableRequest(table=keeper.table.name)
                await self._call("TableService/LeaveTable", request, self._token_of(keeper, seat))

    async def _call(self, method: str, request: Any, token: str) -> bytes:
        call: Any = self.channel.unary_unary(f"/{PACKAGE}.{method}")
        answer: bytes = await call(request.SerializeToString(), metadata=bearer(token))
        return answer


def seatings_of(twins: MatchTwins) -> int:
    return len(seatings.seatings_of(twins.twins.players))


def bot_at(twins: MatchTwins, seat: int) -> str:
    """The bot in that seat of the viewer's table."""
    return twins.bots[seatings.seatings_of(twins.twins.players)[twins.seating][seat]]


def viewers_stream(twins: MatchTwins) -> str:
    assert twins.twins.viewer is not None
    return stream_name(bot_at(twins, twins.twins.viewer), twins.seating)


def streams_of(twins: MatchTwins) -> list[str]:
    """All that must be connected but the viewer's."""
    names = [stream_name(bot, each) for bot in twins.bots for each in range(seatings_of(twins))]
    return [name for name in names if twins.viewer is not Viewer.BOT or name != viewers_stream(twins)]


def write_tokens(file: Path, twins: MatchTwins) -> None:
    """Everybody is registered but the stranger."""
    roles = {OWNER: Role.PLAYER, SPECTATOR: Role.SPECTATOR}
    roles |= {bot_token(stream_name(bot, each)): Role.BOT for bot in twins.bots for each in range(seatings_of(twins))}
    lines = [
        Token(f"token {number}", role, digest_of(token), now()).line()
        for number, (token, role) in enumerate(roles.items())
    ]
    file.write_text("\n".join(lines))
    file.chmod(0o600)


@contextlib.asynccontextmanager
async def match_world(twins: MatchTwins, number: int, *, tokens: Path) -> AsyncIterator[MatchWorld]:
    """One of the two worlds: its packs are as the twins say, its time stands still, its names are counted, and the
    secrets that it commits to are the same in both."""
    names = itertools.count()
    assert twins.twins.orders is not None
    order: Sequence[int] = twins.twins.orders[number]
    settings: dict[str, Any] = {}
    if twins.is_guarded:
        write_tokens(tokens, twins)
        settings = {"tokens": str(tokens), "require_token": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: NOW)
        patch.setattr(secrets, "token_hex", lambda size: f"{next(names):0{2 * size}x}")
        patch.setattr(secrets, "token_bytes", lambda size: bytes(range(size)))
        patch.setattr(table_module, "shuffle", lambda seed, pack: tuple(order))
        async with (
            running_app(timer=SteppedTimer(), catalog=CATALOG, **settings) as app,
            channel_to(app.address) as channel,
            contextlib.AsyncExitStack() as bots,
        ):
            streams = {
                name: await bots.enter_async_context(stream_bot(channel, name, silent)) for name in streams_of(twins)
            }
            yield MatchWorld(app, channel, twins, streams)


async def match_transcripts(twins: MatchTwins, *, tokens: Path) -> list[Transcript]:
    """What the viewer is sent in each of the two worlds."""
    found = []
    for number in (0, 1):
        async with (
            asyncio.timeout(SECONDS),
            match_world(twins, number, tokens=tokens) as place,
            channel_to(place.app.address) as looking,
        ):
            found.append(await place.transcript(looking))
    return found
