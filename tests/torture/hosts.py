"""Who makes tables and matches while the server is killed, and looks at the end whether all of it is as it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import grpc
from tests.server.running import bearer
from tests.torture.callers import PAUSE, Caller
from tests.torture.players import Bot, Person, look_on, token_from
from tests.torture.witness import Contradiction, Witness

from rummy500.v1 import event_pb2, match_pb2, rules_pb2, table_pb2
from rummy500.v1 import match_service_pb2 as match_pb
from rummy500.v1 import play_service_pb2 as play_pb
from rummy500.v1 import table_service_pb2 as pb

CLOCK = table_pb2.ClockSettings(decision_ms=600_000)
"""Nobody's turn is finished by the clock, so that every action is its player's own."""
SHORT = (rules_pb2.Option(name="target", value="120"), rules_pb2.Option(name="max_rounds", value="4"))
OWN_BOT = table_pb2.BuiltinBot(name="random")
SHARE_OF_PEOPLE, SHARE_OF_BUILTIN, SHARE_OF_CALLS = 0.4, 0.2, 0.2
DEALS = 4


@dataclass(frozen=True, slots=True)
class Played:
    """What a host hands over: the records of a game or a match, how many, and the events that were told."""

    records: str
    games: int
    told: int = 0


class Host:
    """Whoever makes one thing after the other, as long as `may_go_on` says so, and hands each over to `played`."""

    def __init__(
        self, caller: Caller, bots: Sequence[Bot], *, may_go_on: Callable[[], bool], played: Callable[[Played], None]
    ) -> None:
        self._caller, self._bots, self._may_go_on, self._played = caller, bots, may_go_on, played
        self._token = token_from(caller.dice)

    async def run(self) -> None:
        while self._may_go_on():
            await self.play_one()

    async def play_one(self) -> None:
        """Makes it, and looks at its end whether all is as it was told."""
        raise NotImplementedError

    async def _records(self, request: match_pb.GetRecordRequest) -> str:
        while True:
            text = b""
            try:
                async for part in self._caller.matches.GetRecord(request, metadata=bearer(self._token)):
                    text += part.chunk
            except grpc.aio.AioRpcError as error:
                await self._caller.pause(error)
            else:
                return text.decode()


class TableHost(Host):
    """A table with people, bots on streams and bots of the server's own."""

    async def play_one(self) -> None:
        caller, dice = self._caller, self._caller.dice
        seats, is_called = dice.choice((2, 2, 2, 3, 4)), dice.random() < SHARE_OF_CALLS
        rules = rules_pb2.RulesChoice(options=SHORT, variants=["call-rummy"] if is_called else [])
        request = pb.CreateTableRequest(
            seats=seats, rules=rules, clock=CLOCK, start_when_full=True, request_id=caller.request_id()
        )
        table = (await caller.once("CreateTable", request, self._token)).table.name
        witness = Witness(table, is_polled=is_called)
        tokens: dict[int, str] = {}
        async with asyncio.TaskGroup() as playing:
            for seat, bot in enumerate(dice.sample(self._bots, seats)):
                if dice.random() < SHARE_OF_PEOPLE and not is_called:
                    tokens[seat] = token_from(dice)
                    await self._join(table, seat, tokens[seat])
                    playing.create_task(Person(caller, witness, seat, tokens[seat]).go_on())
                elif dice.random() < SHARE_OF_BUILTIN:
                    await self._add(pb.AddBotRequest(table=table, seat=seat, builtin=OWN_BOT))
                else:
                    tokens[seat] = bot.token
                    bot.expects(witness)
                    await self._add(pb.AddBotRequest(table=table, seat=seat, connected=bot.name))
            playing.create_task(look_on(caller, witness, None, token_from(dice)))
        for viewer, token in ((None, token_from(dice)), *tokens.items()):
            witness.verify(viewer, await self._all_events(table, token))
        records = await self._records(match_pb.GetRecordRequest(record=table))
        self._played(Played(records, 1, witness.told))

    async def _join(self, table: str, seat: int, secret: str) -> None:
        request = pb.JoinTableRequest(
            table=table, seat=seat, name=f"person {seat}", seat_secret=secret, request_id=self._caller.request_id()
        )
        await self._caller.once("JoinTable", request, secret)

    async def _add(self, request: pb.AddBotRequest) -> None:
        """A connected bot may be away: the same request is sent until it is back."""
        request.request_id = self._caller.request_id()
        while True:
            try:
                await self._caller.once("AddBot", request, self._token)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
                await asyncio.sleep(PAUSE)
            else:
                return

    async def _all_events(self, table: str, token: str) -> list[event_pb2.Event]:
        """All events of a game that is over, as the token's seat sees them."""
        caller, request = self._caller, play_pb.WatchRequest(table=table, after_sequence=0)
        while True:
            events: list[event_pb2.Event] = []
            try:
                async for response in caller.plays.Watch(request, metadata=bearer(token)):
                    if response.WhichOneof("kind") == "snapshot":
                        raise Contradiction(f"{table}: its first events are not there any more")
                    events += response.events.events
            except grpc.aio.AioRpcError as error:
                await caller.pause(error)
            else:
                return events


class MatchHost(Host):
    """A match between two of the bots and one of the server's own."""

    async def play_one(self) -> None:
        caller = self._caller
        players = [_connected(bot) for bot in caller.dice.sample(self._bots, 2)]
        players.append(match_pb2.MatchBot(name="random", builtin=OWN_BOT))
        plan = match_pb2.MatchPlan(bots=players, deals=DEALS, clock=CLOCK, concurrency=4)
        request = match_pb.CreateMatchRequest(plan=plan, request_id=caller.request_id())
        made = (await caller.once("CreateMatch", request, self._token)).match
        match = made
        while match.state in (match_pb2.MATCH_STATE_WAITING, match_pb2.MATCH_STATE_RUNNING):
            await asyncio.sleep(PAUSE)
            match = (await caller.call("GetMatch", match_pb.GetMatchRequest(match=made.name), self._token)).match
        listing = match_pb.ListGamesRequest(match=made.name, page_size=1_000)
        games = (await caller.call("ListGames", listing, self._token)).games
        _verify_match(match, games)
        self._played(Played(await self._records(match_pb.GetRecordRequest(match=made.name)), len(games)))


def _connected(bot: Bot) -> match_pb2.MatchBot:
    return match_pb2.MatchBot(name=bot.name, connected=match_pb2.ConnectedBot(names=[bot.name]))


def _verify_match(match: match_pb2.Match, games: Sequence[match_pb2.Game]) -> None:
    """Every game of the plan was played once, to its end, and counted once."""
    places = {(game.deal, game.seating) for game in games}
    seated = sum(len(game.players) for game in games)
    if match.state != match_pb2.MATCH_STATE_FINISHED:
        raise Contradiction(f"{match.name} did not come to its end: {match}")
    if not len(places) == len(games) == match.games_planned == match.games_finished:
        raise Contradiction(f"{match.name}: {len(games)} games, {len(places)} places, and it says {match}")
    if sum(result.games for result in match.results) != seated:
        raise Contradiction(f"{match.name}: {seated} seats were played, and it counts {match.results}")
