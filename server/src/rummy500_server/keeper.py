"""The one owner of a table: actions in, engine, journal, and only when it is durable, out to whoever watches.

Everything here runs in the loop's thread and none of it waits, so that nothing comes between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from typing import Protocol

import structlog

from rummy500_engine.actions import Action
from rummy500_engine.legal import LISTED_AT_MOST, legal_actions
from rummy500_engine.refusals import Refused
from rummy500_engine.terms import VariantError
from rummy500_engine.view import seat_view
from rummy500_server.acting import Acting, Stop, reveals
from rummy500_server.clock import Moment, Timer, TurnClock
from rummy500_server.commits import Commits
from rummy500_server.entries import Acted, Closed, Entry, Forfeited, Left, Started, write_entry
from rummy500_server.journal import Write
from rummy500_server.overtime import Overtime
from rummy500_server.own_bots import OwnBots
from rummy500_server.player import MOST_REFUSALS, Player
from rummy500_server.results import Termination
from rummy500_server.scribe import Scribe
from rummy500_server.status import Failure, Reason
from rummy500_server.table import Table, TableState
from rummy500_server.table_events import ClockReason, TableEvent, digest_of_events
from rummy500_server.thinking import Thinking
from rummy500_server.translate.views import ClockFace, PublicPieces
from rummy500_server.window import Decided, PollWindow, Then

log = structlog.stdlib.get_logger("rummy500")


class Viewer(Protocol):
    """Whoever is shown the table as it goes on."""

    def published(self) -> None:
        """The table stands as it is to be shown: all of it is durable (or lost, see `Keeper.is_lost`)."""
        ...


class Keeper:
    def __init__(
        self,
        table: Table,
        commits: Commits,
        *,
        timer: Timer,
        ceiling_ms: int,
        thinking: Thinking,
        written: int = 0,
    ) -> None:
        self.table = table
        self.players = [Player() for _ in table.seats]
        self.viewers: dict[Viewer, None] = {}
        self.public = PublicPieces(table.name)
        self.asked: tuple[int, ...] = ()
        """The seats that had to decide when the table was last published."""
        self.when_over: list[Callable[[Keeper], Sequence[Write]]] = []
        """Asked when the game is over for what is to be kept together with its end."""
        self.after_over: list[Callable[[Keeper], None]] = []
        """Told once the end is durable."""
        self.after_lost: list[Callable[[Keeper], None]] = []
        """Told when the journal did not keep what was played here."""
        self.tally = commits.tally
        self._loop = asyncio.get_running_loop()
        self.overtime, self.bots = Overtime(self, ceiling_ms), OwnBots(self, thinking)
        limit_ms = table.creation.clock.decision_ms or ceiling_ms
        self.clock = TurnClock(limit_ms, self.overtime.time_is_over, timer)
        self.window = PollWindow(self, timer)
        self.scribe = Scribe(self, commits, written=written)
        self._end_is_told = table.is_over
        self.is_halted = False
        self.is_void = False
        """The game is played again at another table: of this one none is kept."""

    @property
    def is_lost(self) -> bool:
        return self.scribe.is_lost

    # --- what is asked of it

    def submit(self, seat: int, actions: Sequence[Action | Refused], then: Then, *, read_at: float) -> None:
        """Acts, and tells `then` what became of it: at once, or when the poll that is open has lasted long enough.
        `read_at`: when the answer was read, by the clock.

        Raises Failure as `act` does.
        """
        if self.table.seats[seat].stand_in:
            self.overtime.player_is_back(seat)
        decided = self._decided(seat, read_at)
        is_held = self.table.is_polled and self.window.is_young
        if is_held and self.window.holds(seat, actions, then, decided=decided):
            return
        then(self.act(seat, actions, decided=decided))

    def act(self, seat: int, actions: Sequence[Action | Refused], *, decided: Decided | None = None) -> Acting:
        """Applies the actions in turn. An action that could not be read stands as its refusal in its place. `decided`:
        what the seat knew when it answered, and how long that took; None: what there is now.

        Raises Failure when the table has not started, or is broken.
        """
        table, player, last = self.table, self.players[seat], len(actions) - 1
        before, turn = table.sequence, table.turn if last else (0, 0)
        seen, spent = decided or self._decided(seat, self.clock.now())
        player.effort.decide(spent)
        (self.tally.thinking if player.bot is None else self.tally.own_bots).observe(spent)
        for index, action in enumerate(actions):
            try:
                events = self._apply(seat, action, spent_ms=0 if index else spent)
            except Refused as caught:
                refused = caught.with_traceback(None)  # it is kept, and its frames would hold the table
                self.tally.refused_actions[refused.code] += 1
                self.refuse(seat, refused)
                return Acting(index, Stop.REFUSED, before, self.table.sequence, refused)
            player.seen, player.charged_ms, player.refused = seen, spent, None
            if index < last:
                if table.turn != turn or seat not in self.table.to_act():
                    return Acting(index + 1, Stop.TURN_ENDED, before, self.table.sequence)
                if any(reveals(event, seat) for event in events):
                    return Acting(index + 1, Stop.REVEALED, before, self.table.sequence)
        return Acting(len(actions), Stop.ALL_APPLIED, before, self.table.sequence)

    def enter(self, entry: Entry) -> list[TableEvent]:
        """Applies an entry and writes it down. Raises Refused."""
        events = self.table.enter(entry)
        self.scribe.note(write_entry(entry, digest_of_events(events)))
        if self.table.result is not None and not self._end_is_told:
            self._end_is_told = True
            self.tally.tables_over[self.table.result.termination.name] += 1
            self.clock.stop()
            for ask in self.when_over:
                self.scribe.keep(ask(self))
        if self.table.traced is not None:
            raise self.table.traced
        return events

    def leave(self, seat: int) -> None:
        """Before the start the seat is free again; afterwards it forfeits."""
        self.enter(Left(seat))
        self.forfeit(seat, Termination.DISCONNECT)

    def start(self) -> None:
        """Raises Failure when a variant breaks the deal."""
        self.bots.wake()
        self.guarded(Started())

    def forfeit(self, seat: int, termination: Termination, *, overrun_ms: int = 0) -> None:
        if self.table.state is TableState.PLAYING and self.table.seats[seat].forfeited is None:
            self.enter(Forfeited(seat, termination, overrun_ms))
            self.tally.forfeits[termination.name] += 1

    def close(self, termination: Termination, sentence: str) -> None:
        if not self.table.is_over:
            self.enter(Closed(termination, sentence))

    def resume(self) -> None:
        """A table that was folded goes on."""
        self.bots.wake()
        if self.scribe.is_durable:
            self.publish()

    def halt(self) -> None:
        """The server stops: nothing happens here by itself any more."""
        self.is_halted = True
        self.clock.pause()
        self.window.stop()

    def legal_actions(self, seat: int | None, *, limit: int = LISTED_AT_MOST) -> Sequence[Action]:
        """What the seat may still do, at most so many; nothing for a spectator, or when the table is over. A variant
        that cannot say it ends the table."""
        round = self.table.game.round
        if seat is None or round is None or self.table.state is not TableState.PLAYING:
            return ()
        try:
            legal = legal_actions(round, seat, limit=limit)
        except VariantError as error:
            self.broken(error)
            return ()
        is_held = self.table.is_polled and self.window.held_by(seat)
        return self.window.still_open(seat, legal) if is_held else legal

    def verify_view(self, seat: int | None) -> None:
        """A variant that cannot say what the seat sees ends the table."""
        if self.table.rules.views and not self.table.is_broken:
            try:
                seat_view(self.table.game, seat, with_legal=False)
            except VariantError as error:
                self.broken(error)

    def is_asked(self, seat: int) -> bool:
        """Whether the seat has to decide, its decision is public, and it has not answered."""
        table = self.table
        is_due = self.players[seat].asked == table.sequence and seat in self.asked and seat in table.to_act()
        return is_due and not (table.is_polled and self.window.held_by(seat))

    @property
    def is_timed(self) -> bool:
        """Whether a clock runs for the decision that is open; at a table without one it does in a call window."""
        if not self.table.creation.clock.is_untimed:
            return True
        round = self.table.game.round
        return round is not None and round.poll is not None and bool(round.poll.seconds)

    def clock_face(self, seat: int | None, now: Moment) -> ClockFace | None:
        """The clock of the seat's decision, else that of the seat in turn; in a poll nobody sees another's. None: no
        clock runs."""
        table, asked = self.table, self.table.to_act()
        if seat not in asked:
            seat = None if len(asked) != 1 or table.is_polled else asked[0]
        if seat is None:
            return None
        player = self.players[seat]
        if player.asked != table.sequence or not self.is_timed:
            return None
        banks = () if table.banks is None else table.banks.bank
        return self.clock.face(player, now, finished_turns=table.finished_turns, banks=banks)

    # --- the players' connections

    def connect(self, seat: int) -> None:
        """The seat's player has one more stream."""
        self.players[seat].streams += 1
        self.overtime.player_is_back(seat)

    def disconnect(self, seat: int) -> None:
        self.players[seat].streams -= 1

    def shown(self, seat: int, at: float) -> None:
        """What the seat's player was sent at that moment shows it the decision that is open."""
        player = self.players[seat]
        if not player.is_shown and player.asked == self.table.sequence:
            self.clock.shown(player, at, is_moved=not self.table.is_polled)

    def stale(self, seat: int, sequence: int) -> Failure:
        """What the seat's player is told that speaks about an earlier event. If a bot has taken its place, the seat is
        its own again."""
        self.overtime.player_is_back(seat)
        now, (overtaken, what) = self.table.sequence, self.players[seat].overtaken
        happened = f": {what}" if sequence == overtaken else ""
        sentence = f"the table is at {now}, the request was about {sequence}{happened}"
        return Failure(Reason.STALE_SEQUENCE, sentence, sequence=now)

    @contextmanager
    def reading(self, seat: int) -> Iterator[float]:
        """While an answer of the seat has been read and is not applied yet, the clock does not act for it. Gives the
        moment at which it was read."""
        player = self.players[seat]
        player.reading += 1
        try:
            yield self.clock.now()
        finally:
            player.reading -= 1
            self.overtime.look_again()

    # --- acting

    def _decided(self, seat: int, read_at: float) -> Decided:
        sequence, player = self.table.sequence, self.players[seat]
        return sequence, self.clock.spent_ms(player, read_at) if player.asked == sequence else 0

    def poll_is_free(self) -> None:
        """The open poll has lasted long enough: what was held back counts now, and the server's own bots answer."""
        self.window.release()
        self.bots.play_on()

    def _apply(self, seat: int, action: Action | Refused, *, spent_ms: int) -> list[TableEvent]:
        table = self.table
        is_read = not isinstance(action, Refused)
        if not is_read or table.state is not TableState.PLAYING or table.seats[seat].forfeited is not None:
            table.verify_may_act(seat, action)
        assert not isinstance(action, Refused)
        return self.guarded(Acted(seat, action, spent_ms))

    def refuse(self, seat: int, refused: Refused) -> None:
        """Counts a refusal. At a table from a position nothing is counted: a scenario tries out what is refused."""
        if seat not in self.table.to_act():
            return
        player, turn = self.players[seat], self.table.turn
        player.refused = refused
        player.effort.refusals += 1
        if self.table.creation.position is not None:
            return
        if player.turn != turn:
            player.turn, player.refusals = turn, 0
        player.refusals += 1
        if player.refusals >= MOST_REFUSALS:
            _, spent = self._decided(seat, self.clock.now())
            self.overtime.finish_turn(seat, ClockReason.REFUSALS, spent_ms=spent)

    def guarded(self, entry: Entry) -> list[TableEvent]:
        """Applies an entry that runs variants' code. A broken variant ends the table; our own mistake does so when it
        happens again on a table that was folded anew. Raises Refused, or Failure when the table ended so."""
        try:
            return self.enter(entry)
        except (Refused, VariantError) as expected:
            error: Exception = expected.with_traceback(None)
        except Exception as mistake:
            log.exception("table.faulted", table=self.table.name, entry=type(entry).__name__)
            error = mistake
        if isinstance(error, Refused):
            raise error
        self._fold_again()
        if not isinstance(error, VariantError):
            try:
                return self.enter(entry)
            except Refused:
                raise
            except Exception as again:
                error = again.with_traceback(None)
                self._fold_again()
        raise self.broken(error)

    def _fold_again(self) -> None:
        folded = Table(self.table.creation, self.table.rules)
        for entry in self.table.history:
            folded.enter(entry)
        self.table = folded

    def broken(self, error: Exception) -> Failure:
        """Ends the table as SERVER_FAULT."""
        if isinstance(error, VariantError):
            self.tally.variant_errors[error.distribution] += 1
        sentence = str(error) if isinstance(error, VariantError) else "the server made a mistake; it is in its log"
        log.error("table.broken", table=self.table.name, sentence=sentence)
        self.close(Termination.SERVER_FAULT, sentence)
        return Failure(Reason.TABLE_BROKEN, sentence)

    # --- going public

    def publish(self) -> None:
        """All is durable: the seats that are asked are asked now, and everybody is shown."""
        table, sequence, banks = self.table, self.table.sequence, self.table.banks
        deadline = self.window.opened() if table.is_polled else None
        asked = self.asked = table.to_act()
        players = [self.players[seat] for seat in asked]
        for seat, player in zip(asked, players, strict=True):
            if player.asked != sequence:
                more_ms = 0 if banks is None or table.seats[seat].stand_in else banks.more_ms(seat)
                self.clock.begin(player, sequence, more_ms=more_ms, deadline=deadline)
        self.clock.arm([player.deadline for player in players])
        self._notify()
        if table.is_over:
            self.window.release()
            self.window.stop()
            tellers, self.after_over = self.after_over, []
            for tell in tellers:
                tell(self)
        elif self.bots.play_one_of(asked):
            self._loop.call_soon(self.bots.play_on, context=Context())

    def tell_lost(self) -> None:
        """The journal did not keep what was played here."""
        self.clock.stop()
        self.window.stop()
        self._notify()
        for tell in self.after_lost:
            tell(self)

    def _notify(self) -> None:
        for viewer in tuple(self.viewers):
            viewer.published()
