"""One match as it is played, game by game."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import structlog

from rummy500_arena.plan import PlannedGame, Unit
from rummy500_arena.statistics import MatchStatistics
from rummy500_server.attendance import Attendance
from rummy500_server.connected import Connected
from rummy500_server.creation import Creation
from rummy500_server.dense import Dense
from rummy500_server.games import FinishedGame, record_name
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby, Wish
from rummy500_server.match_document import MatchDocument, MatchState, Report
from rummy500_server.results import Termination
from rummy500_server.roster import STRIKES, Roster
from rummy500_server.status import Failure
from rummy500_server.stopping_wire import verdict_sentence
from rummy500_server.table import TableState

log = structlog.stdlib.get_logger("rummy500")

MOST_REPORTS = 64
MOST_FAULTS = 3
"""So many times the server may be at fault in one game before the match fails."""
MOST_DEALS_AHEAD = 10_000
"""How far a match plays ahead of a deal that is not over, for deals are counted in their order."""
BUSY_SECONDS = 1.0
"""When a match looks again whether a bot that plays too many games has room."""


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
        self.statistics = MatchStatistics(self.plan, self.spec.stopping)
        self._lobby, self._connected = lobby, connected
        self._may_begin_games, self._keep = may_begin_games, keep
        self._done = Dense()
        self._open: dict[int, Keeper] = {}
        self._next = 0
        self._roster = Roster(document, connected, look=self._pump)
        self._attendance = Attendance(lobby.timer, on_lapse=self._lapsed)
        self._has_begun = False
        """In this process."""
        self._begun_lost: set[int] = set()
        """Open games that a bot forfeited before they began."""
        self._again: asyncio.TimerHandle | None = None
        self._watchers: list[asyncio.Future[None]] = []
        if document.is_over and document.state is not MatchState.FINISHED:
            self.statistics.settle()
        self.is_revealed = document.is_over
        """It is over and that is durable: what its packs followed from may be told."""
        self.is_settled = document.is_over
        """It is over, and its end was kept or could not be."""

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def games_open(self) -> int:
        return len(self._open)

    @property
    def is_over(self) -> bool:
        return self.document.is_over

    def is_deal_over(self, deal: int) -> bool:
        """Whether nobody plays the packs of that deal any more."""
        first = deal * self.plan.seatings
        return self.is_revealed or all(index in self._done for index in range(first, first + self.plan.seatings))

    # --- what becomes of it

    def begin(self) -> None:
        """Waits for the bots, then plays; after a restart it goes on. An attended match waits for its runner first, and
        plays the games anew that were open: whatever its bots remembered may be gone."""
        self._has_begun = True
        if self.spec.attended:
            self._break_off("the server was started anew")
            if self.document.state is MatchState.RUNNING:
                self.document.state = MatchState.WAITING
            if self.is_attended:  # its runner came while tables were still brought back
                self._wait_for_bots()
            else:
                self._attendance.await_runner()
        elif self.document.state is MatchState.RUNNING:
            self._pump()
        else:
            self._roster.wait_for_all(self._arrived)

    def count(self, game: FinishedGame, *, is_new: bool = True) -> None:
        """A game of this match is over. `is_new` False: it was before the server started."""
        index = self._index(game)
        self._open.pop(index, None)
        if index in self._done:
            return
        self._done.add(index)
        planned = self.plan.game(index)
        self.statistics.add(planned, game.score, game.efforts)
        at_fault, why = game.score.at_fault, game.result.termination
        if is_new and at_fault is not None and why in STRIKES and index not in self._begun_lost:
            self._roster.strike(planned.seats[at_fault], why)
            self._keep(self)
        self._begun_lost.discard(index)
        self._changed()
        if not self.is_over:
            asyncio.get_running_loop().call_soon(self._pump)

    def adopt(self, keeper: Keeper) -> None:
        """A table of this match is in memory and not over."""
        index = self._index(keeper.table.creation)
        if self.is_over:
            keeper.close(Termination.CANCELLED, "its match is over")
            return
        was_folded = keeper.table.state is not TableState.OPEN
        if was_folded and self.spec.attended and self._has_begun:  # the journal had lost a part of it
            if index in self._open and self._open[index].table.name == keeper.table.name:
                self._play_again(index)
            self._void(keeper, "the journal could not be written")
            self._look_again()
            return
        self._open[index] = keeper
        keeper.after_over.append(self._table_over)
        if was_folded and self.spec.attended:
            keeper.halt()  # until `begin` plays it anew

    def begin_again(self, keeper: Keeper) -> None:
        """A table of this match was never kept: its game is still to come."""
        index = self._index(keeper.table.creation)
        if self._open.get(index) is keeper:
            self._play_again(index)
            self._look_again()

    def _play_again(self, index: int) -> None:
        del self._open[index]
        self._next = min(self._next, index)
        self._begun_lost.discard(index)

    def _break_off(self, why: str) -> None:
        """Open games end uncounted and are still to come."""
        for index, keeper in list(self._open.items()):
            if not keeper.table.is_over:  # else it is counted as soon as its end is durable
                self._play_again(index)
                self._void(keeper, why)

    def _void(self, keeper: Keeper, why: str) -> None:
        self.document.again += 1
        keeper.is_void = True
        keeper.close(Termination.CANCELLED, f"it is played again from its start: {why}")

    def _table_over(self, keeper: Keeper) -> None:
        """A game in which the server was at fault says nothing of its bots, and is played again."""
        result, record = keeper.table.result, keeper.table.creation.record
        assert result is not None
        index = self._index(keeper.table.creation)
        if result.termination is not Termination.SERVER_FAULT or self.is_over or self._open.get(index) is not keeper:
            return
        self._play_again(index)
        self.document.again += 1
        self.document.faults[record] = faults = self.document.faults.get(record, 0) + 1
        if faults >= MOST_FAULTS:
            self.fail(f"the server was at fault {faults} times in game {record}: {result.sentence}")
            return
        self._keep(self)
        self._look_again()

    def cancel(self, sentence: str) -> None:
        self._end(MatchState.CANCELLED, sentence)

    def fail(self, sentence: str) -> None:
        self._end(MatchState.FAILED, sentence)

    def report(self, report: Report) -> None:
        """Notes what became of a bot's program; its open games end so."""
        bot = self.spec.names.index(report.bot)
        seatings = range(self.plan.seatings) if report.seating is None else (report.seating,)
        last_sent = self._roster.lose(bot, seatings, report.kind, is_restarted=report.is_restarted)
        if len(self.document.reports) < MOST_REPORTS:
            self.document.reports.append(replace(report, last_sent=last_sent))
        if self.document.state is MatchState.WAITING:
            lines = report.stderr_tail.strip().splitlines()
            self._cannot_begin(f"bot {report.bot}: {report.kind.value}" + (f": {lines[-1][:200]}" if lines else ""))
            self._keep(self)
            return
        self._roster.strike(bot, report.kind)
        for index, keeper in list(self._open.items()):
            game = self.plan.game(index)
            if game.seating in seatings and bot in game.seats:
                keeper.forfeit(game.seats.index(bot), report.kind)
        self._keep(self)
        self._changed()

    def stop(self) -> None:
        """The server stops; the match goes on when it runs again."""
        self._attendance.stop()
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        self._roster.stop_waiting()
        if self._again is not None:
            self._again.cancel()
            self._again = None

    # --- its runner

    @contextmanager
    def attended(self, run: str, fail: Callable[[Failure], None]) -> Iterator[None]:
        """While a runner's stream lasts. Another `run` than before has bots that know nothing of the open games."""
        document = self.document
        with self._attendance.standing(fail):
            if run != document.run and not self.is_over:
                if document.run:
                    self._break_off("its runner began anew")
                    self._roster.begin_anew()
                document.run, document.is_held, document.state = run, False, MatchState.WAITING
            self._wait_for_bots()
            self._look_again(0.0)
            self._changed()
            try:
                yield
            finally:
                self._changed()

    def _wait_for_bots(self) -> None:
        document = self.document
        if not document.is_held and document.state in (MatchState.PAUSED, MatchState.WAITING):
            document.state, document.sentence = MatchState.WAITING, ""
            self._roster.wait_for_all(self._arrived)
            self._keep(self)

    @property
    def is_attended(self) -> bool:
        return self._attendance.is_here

    def pause(self) -> None:
        """Its owner wants no more games to begin in this run; those that are open come to their end."""
        self.document.is_held = True
        self._rest("its owner paused it")

    def _lapsed(self) -> None:
        if not self.is_over:
            self._pause(self.document.sentence or "no runner attends it")

    def _pause(self, sentence: str) -> None:
        """Nothing is played until a runner attends it."""
        self._break_off(sentence)
        self._rest(sentence)

    def _rest(self, sentence: str) -> None:
        self._stop_waiting()
        self.document.state, self.document.sentence = MatchState.PAUSED, sentence
        self._keep(self)
        self._changed()
        log.info("match.paused", match=self.name, sentence=sentence)

    def _cannot_begin(self, sentence: str) -> None:
        """Its bots are not all there. What was played before is not given up for that."""
        if self.spec.attended and self._done:
            self._pause(sentence)
        else:
            self.fail(sentence)

    def _end(self, state: MatchState, sentence: str) -> None:
        if self.is_over:
            return
        self.document.state, self.document.sentence = state, sentence
        self.document.finished_ms = round(time.time() * 1000)
        if state is not MatchState.FINISHED:
            self.statistics.settle()
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

    def _index(self, game: Creation | FinishedGame) -> int:
        return game.deal * self.plan.seatings + game.seating

    def _arrived(self, missing: str) -> None:
        if missing:
            self._cannot_begin(missing)
            return
        self.document.state = MatchState.RUNNING
        self._keep(self)
        self._changed()
        self._pump()

    def _pump(self) -> None:
        """Begins games as long as there is room, and ends the match when there are no more."""
        if self.statistics.is_stopped:
            self._finish()
            return
        is_running = self.document.state is MatchState.RUNNING and (self.is_attended or not self.spec.attended)
        is_running &= self._has_begun  # after a restart it does not know before what it has begun already
        while is_running and len(self._open) < self.spec.concurrency and self._may_begin_games():
            while self._next in self._done or self._next in self._open:
                self._next += 1
            if self._next >= self.plan.games:
                break
            game = self.plan.game(self._next)
            if game.deal > self.statistics.next_deal + MOST_DEALS_AHEAD or not self._can_begin(game):
                return
            self._next += 1
            self._begin_game(game)
        if len(self._done) == self.plan.games:
            self._finish()

    def _finish(self) -> None:
        rule, deals = self.spec.stopping, self.plan.deals
        sentence = verdict_sentence(rule, self.statistics, self.spec.names, deals=deals) if rule is not None else ""
        self._end(MatchState.FINISHED, sentence)

    def _can_begin(self, game: PlannedGame) -> bool:
        """Whether every bot of the game is there, or not waited for any more, and has room; otherwise looks later."""
        if not self._roster.is_ready_for(game):
            return False
        if self._roster.is_full_for(game):
            self._look_again()
            return False
        return True

    def _look_again(self, seconds: float = BUSY_SECONDS) -> None:
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        self._again = None
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
                aligned=spec.is_paired,
                match=self.name,
                record=record_name(self.name, game),
                deal=game.deal,
                seating=game.seating,
            )
        )
        absent = {seat: why for seat in range(spec.players) if (why := self._roster.seat(keeper, game, seat))}
        try:
            keeper.start()
        except Failure as failure:  # the table has ended as SERVER_FAULT
            log.error("match.game_broken", match=self.name, sentence=failure.sentence)
            return
        if absent:
            self._begun_lost.add(self._index(keeper.table.creation))
        for seat, why in absent.items():
            keeper.forfeit(seat, why)
