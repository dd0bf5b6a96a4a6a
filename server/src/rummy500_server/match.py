"""One match: what the journal keeps of it, and how it is played, game by game."""

from __future__ import annotations

import asyncio
import contextvars
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

import structlog

from rummy500_arena.plan import PlannedGame, Unit
from rummy500_arena.statistics import MatchStatistics
from rummy500_server import seating
from rummy500_server.connected import Connected
from rummy500_server.entries import SeatKind
from rummy500_server.games import Effort, FinishedGame, place_in_match, record_name
from rummy500_server.identity import digest_of
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby, Wish
from rummy500_server.match_plan import MatchSpec
from rummy500_server.results import Termination
from rummy500_server.status import Failure

log = structlog.stdlib.get_logger("rummy500")

MOST_REPORTS = 64
ARRIVAL_SECONDS = 30.0
"""How long a match waits for its bots to connect at all."""
RETURN_SECONDS = 30.0
"""How long a running match waits for a bot that is gone, or not back after a restart, before it forfeits its games."""
BUSY_SECONDS = 1.0
"""When a match looks again whether a bot that plays too many games has room."""


class MatchState(Enum):
    """The names are those of the contract."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """What was reported about a bot's program. `seating` None: about all of them."""

    bot: str
    kind: Termination
    stderr_tail: str
    exit_code: int | None = None
    seating: int | None = None


@dataclass(slots=True)
class MatchDocument:
    """What the journal keeps. `owner` is the digest of the owner's token, `digest` that of the full rules."""

    name: str
    owner: str
    spec: MatchSpec
    digest: str
    created_ms: int
    state: MatchState = MatchState.WAITING
    sentence: str = ""
    finished_ms: int = 0
    reports: list[Report] = field(default_factory=list)
    bots: tuple[str, ...] = ()
    """The digests of the tokens that its client made for connected bots."""

    @property
    def is_over(self) -> bool:
        return self.state not in (MatchState.WAITING, MatchState.RUNNING)

    def to_json(self) -> bytes:
        values: dict[str, Any] = {
            "name": self.name,
            "owner": self.owner,
            "spec": self.spec.to_json(),
            "digest": self.digest,
            "created_ms": self.created_ms,
            "state": self.state.name,
            "sentence": self.sentence,
            "finished_ms": self.finished_ms,
            "reports": [{**asdict(report), "kind": report.kind.name} for report in self.reports],
            "bots": self.bots,
        }
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> MatchDocument:
        values = json.loads(text)
        reports = [Report(**{**report, "kind": Termination[report["kind"]]}) for report in values["reports"]]
        spec, state = MatchSpec.from_json(values["spec"]), MatchState[values["state"]]
        bots = tuple(values.get("bots", ()))
        return cls(**{**values, "spec": spec, "state": state, "reports": reports, "bots": bots})


class Match:
    """`keep` is called whenever it changes in a way that the journal must know."""

    def __init__(
        self,
        document: MatchDocument,
        *,
        lobby: Lobby,
        connected: Connected,
        may_begin_games: Callable[[], bool],
        keep: Callable[[Match], None],
    ) -> None:
        self.document = document
        self.spec, self.plan = document.spec, document.spec.plan
        self.statistics = MatchStatistics(self.plan)
        self.efforts = [Effort(0, 0, 0) for _ in self.spec.bots]
        self._lobby, self._connected = lobby, connected
        self._may_begin_games, self._keep = may_begin_games, keep
        self._done: set[int] = set()
        self._open: dict[int, Keeper] = {}
        self._next = 0
        self._gone: dict[str, Termination] = {}
        """Streams that are not waited for any more, and why their bots forfeit."""
        self._waiting_for: dict[str, asyncio.Task[None]] = {}
        self._arrival: asyncio.Task[None] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._watchers: list[asyncio.Future[None]] = []
        self.is_revealed = document.is_over
        """It is over and that is durable: what its packs followed from may be told."""
        self.is_settled = document.is_over
        """It is over, and its end was kept or could not be."""

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def is_over(self) -> bool:
        return self.document.is_over

    def is_to_come(self, record: str) -> bool:
        """Whether a game of the plan that is not over will have a record of that name."""
        try:
            deal, number = place_in_match(record)
        except ValueError:
            return False
        is_planned = 0 <= deal < self.plan.deals and 0 <= number < self.plan.seatings
        return is_planned and record == record_name(self.name, deal, number) and self._index(record) not in self._done

    def is_deal_over(self, deal: int) -> bool:
        """Whether nobody plays the packs of that deal any more."""
        first = deal * self.plan.seatings
        return self.is_revealed or all(index in self._done for index in range(first, first + self.plan.seatings))

    # --- what becomes of it

    def begin(self) -> None:
        """Waits for the bots, then plays; after a restart it goes on."""
        if self.document.state is MatchState.RUNNING:
            self._pump()
        elif self._arrival is None:
            self._arrival = asyncio.create_task(self._wait_for_all(), context=contextvars.Context())

    def count(self, game: FinishedGame) -> None:
        """A game of this match is over."""
        index = self._index(game.record)
        self._open.pop(index, None)
        if index in self._done:
            return
        self._done.add(index)
        planned = self.plan.game(index)
        self.statistics.add(planned, game.score)
        for seat, effort in enumerate(game.efforts):
            bot = planned.seats[seat]
            before = self.efforts[bot]
            self.efforts[bot] = Effort(
                before.decisions + effort.decisions,
                before.refusals + effort.refusals,
                before.charged_ms + effort.charged_ms,
            )
        self._changed()
        if not self.is_over:
            asyncio.get_running_loop().call_soon(self._pump)

    def adopt(self, keeper: Keeper) -> None:
        """A table of this match is in memory and not over."""
        if self.is_over:
            keeper.close(Termination.CANCELLED, "its match is over")
        else:
            self._open[self._index(keeper.table.creation.record)] = keeper

    def begin_again(self, keeper: Keeper) -> None:
        """A table of this match was never kept: its game is still to come."""
        index = self._index(keeper.table.creation.record)
        if self._open.get(index) is keeper:
            del self._open[index]
            self._next = min(self._next, index)
            self._look_again()

    def cancel(self, sentence: str) -> None:
        self._end(MatchState.CANCELLED, sentence)

    def fail(self, sentence: str) -> None:
        self._end(MatchState.FAILED, sentence)

    def report(self, report: Report) -> None:
        """Notes what became of a bot's program; its open games end so."""
        if len(self.document.reports) < MOST_REPORTS:
            self.document.reports.append(report)
        self._keep(self)
        bot = self.spec.names.index(report.bot)
        if self.document.state is MatchState.WAITING:
            lines = report.stderr_tail.strip().splitlines()
            self.fail(f"bot {report.bot}: {report.kind.value}" + (f": {lines[-1][:200]}" if lines else ""))
            return
        seatings = range(self.plan.seatings) if report.seating is None else (report.seating,)
        for number in seatings:
            self._gone[self.spec.bots[bot].connection(number)] = report.kind
        for index, keeper in list(self._open.items()):
            game = self.plan.game(index)
            if game.seating in seatings and bot in game.seats:
                keeper.forfeit(game.seats.index(bot), report.kind)
        self._changed()

    def stop(self) -> None:
        """The server stops; the match goes on when it runs again."""
        for task in (self._arrival, *self._waiting_for.values()):
            if task is not None:
                task.cancel()
        if self._again is not None:
            self._again.cancel()

    def _end(self, state: MatchState, sentence: str) -> None:
        if self.is_over:
            return
        self.document.state, self.document.sentence = state, sentence
        self.document.finished_ms = round(time.time() * 1000)
        self.stop()
        self._connected.expect_no_more(self.name)
        for keeper in list(self._open.values()):
            keeper.close(Termination.CANCELLED, f"its match {state.value}")
        self._keep(self)
        self._changed()
        log.info("match.ended", match=self.name, state=state.name, games=len(self._done))

    def end_kept(self, *, is_durable: bool) -> None:
        self.is_settled, self.is_revealed = True, is_durable
        self._changed()

    # --- who watches

    def change(self) -> asyncio.Future[None]:
        """Done as soon as something is new."""
        watcher: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watchers.append(watcher)
        return watcher

    def _changed(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    # --- games

    def _index(self, record: str) -> int:
        deal, number = place_in_match(record)
        return deal * self.plan.seatings + number

    async def _wait_for_all(self) -> None:
        names = self._all_streams()
        arrived = await asyncio.gather(*(self._connected.wait_for(name, ARRIVAL_SECONDS) for name in names))
        missing = [name for name, stream in zip(names, arrived, strict=True) if stream is None]
        if missing:
            shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
            self.fail(f"not connected within {ARRIVAL_SECONDS:.0f} seconds: {shown}")
            return
        self.document.state = MatchState.RUNNING
        self._keep(self)
        self._changed()
        self._pump()

    def _pump(self) -> None:
        """Begins games as long as there is room, and ends the match when there are no more."""
        if self.document.state is not MatchState.RUNNING:
            return
        while len(self._open) < self.spec.concurrency and self._may_begin_games():
            while self._next in self._done or self._next in self._open:
                self._next += 1
            if self._next >= self.plan.games:
                break
            game = self.plan.game(self._next)
            if not self._can_begin(game):
                return
            self._next += 1
            self._begin_game(game)
        if len(self._done) == self.plan.games:
            self._end(MatchState.FINISHED, "")

    def _all_streams(self) -> list[str]:
        return [name for bot in self.spec.bots for name in dict.fromkeys(bot.connected)]

    def _streams(self, game: PlannedGame) -> list[str]:
        names = [self.spec.bots[bot].connection(game.seating) for bot in game.seats]
        return [name for name in names if name]

    def _can_begin(self, game: PlannedGame) -> bool:
        """Whether every bot of the game is there, or not waited for any more, and has room; otherwise looks later."""
        for name in self._streams(game):
            stream = self._connected.named(name)
            if stream is None and name not in self._gone:
                self._wait_for_missing()
                return False
            if stream is not None:
                self._gone.pop(name, None)
                if stream.is_full:
                    self._look_again()
                    return False
        return True

    def _look_again(self) -> None:
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(BUSY_SECONDS, self._look)

    def _look(self) -> None:
        self._again = None
        self._pump()

    def _wait_for_missing(self) -> None:
        """Waits for all bots that are gone at once, so that the match is held up once and not for each of them."""
        for name in self._all_streams():
            if self._connected.named(name) is None and name not in self._gone and name not in self._waiting_for:
                self._waiting_for[name] = asyncio.create_task(self._wait_for_return(name))

    async def _wait_for_return(self, name: str) -> None:
        if await self._connected.wait_for(name, RETURN_SECONDS) is None:
            log.info("match.bot_gone", match=self.name, bot=name)
            self._gone.setdefault(name, Termination.DISCONNECT)
        self._waiting_for.pop(name, None)
        self._pump()

    def _begin_game(self, game: PlannedGame) -> None:
        spec = self.spec
        keeper = self._lobby.make(
            Wish(
                owner=self.document.owner,
                players=spec.players,
                choice=spec.choice,
                clock=spec.clock,
                secret=game.seed,
                from_seed=spec.seed is not None,
                single_round=spec.unit is Unit.DEAL,
                match=self.name,
                record=record_name(self.name, game.deal, game.seating),
            )
        )
        absent = [seat for seat in range(spec.players) if not self._seat(keeper, game, seat)]
        try:
            keeper.start()
        except Failure as failure:  # the table has ended as SERVER_FAULT, and is counted so
            log.error("match.game_broken", match=self.name, sentence=failure.sentence)
            return
        for seat in absent:
            name = spec.bots[game.seats[seat]].connection(game.seating)
            keeper.forfeit(seat, self._gone.get(name, Termination.DISCONNECT))

    def _seat(self, keeper: Keeper, game: PlannedGame, seat: int) -> bool:
        """Seats a bot; False when it is not there and its seat is kept in its name only."""
        bot = self.spec.bots[game.seats[seat]]
        if bot.builtin is not None:
            seating.seat_builtin(keeper, bot.builtin, name=bot.name, wanted=seat)
            return True
        stream = self._connected.named(bot.connection(game.seating))
        who = stream.who if stream is not None else digest_of(f"nobody {keeper.table.name} {seat}")
        seating.sit(keeper, name=bot.name, who=who, kind=SeatKind.CONNECTED_BOT, wanted=seat)
        self._connected.seated(keeper, seat)
        return stream is not None
