"""What becomes of a seat at one table whose time is over, or of whose actions too many were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from rummy500_engine.terms import VariantError
from rummy500_server.clock_terms import WhenLate
from rummy500_server.entries import Acted, Clocked, Returned, SeatKind, TakenOver
from rummy500_server.finishing import MOST_STEPS, finishing_action
from rummy500_server.part import Part
from rummy500_server.results import Termination
from rummy500_server.status import Failure
from rummy500_server.table_events import ClockReason

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper

log = structlog.stdlib.get_logger("rummy500")

_FORFEIT_FOR = {
    ClockReason.TIMEOUT: Termination.TIMEOUT,
    ClockReason.REFUSALS: Termination.ILLEGAL_ACTION,
    ClockReason.DISCONNECT: Termination.DISCONNECT,
}


class Overtime(Part):
    """A game in which no player acts for `ceiling_ms` is closed."""

    def __init__(self, keeper: Keeper, ceiling_ms: int) -> None:
        super().__init__(keeper)
        self._ceiling_ms = ceiling_ms
        self._silent_since: tuple[int, float] | None = None
        """The decisions that players had made when the clock acted, and since when there were no more."""

    def time_is_over(self) -> None:
        """Does what the table's clock is for, for every seat whose time is over."""
        if self._is_left:
            return
        keeper = self._keeper
        if not keeper.scribe.is_durable or keeper.table.is_over or keeper.is_lost:
            return
        for seat in keeper.table.to_act():
            player = keeper.players[seat]
            is_due = player.asked == keeper.table.sequence and player.deadline <= keeper.clock.now()
            if is_due and not player.reading and not self._has_grace(seat):
                self._seat_is_late(seat)
        self.look_again()

    def look_again(self) -> None:
        """The clock rings when the next seat may be late. Of a seat whose answer has been read it is none."""
        keeper = self._keeper
        players = [keeper.players[seat] for seat in keeper.table.to_act()]
        keeper.clock.arm([player.deadline for player in players if not player.reading])

    def _has_grace(self, seat: int) -> bool:
        """Whether the seat gets its grace, once a decision: its player is not connected, and some is left."""
        player, banks = self._keeper.players[seat], self._keeper.table.banks
        if not player.has_grace or player.is_here or banks is None or not banks.grace[seat]:
            return False
        player.has_grace = False
        player.deadline += banks.grace[seat] / 1000
        return True

    def _seat_is_late(self, seat: int) -> None:
        keeper = self._keeper
        player, terms = keeper.players[seat], keeper.table.creation.clock
        polled = keeper.table.is_polled
        if self._is_silent() or not keeper.is_timed:
            hours = self._ceiling_ms / 3_600_000
            keeper.close(Termination.TIMEOUT, f"no player has acted for {hours:g} hours, the most that a table waits")
            return
        if keeper.table.seats[seat].stand_in and not polled:
            keeper.bots.play_turn(seat)
            return
        reason = ClockReason.TIMEOUT if player.is_here else ClockReason.DISCONNECT
        overrun, spent = keeper.clock.overrun_ms(player), round((player.deadline - player.asked_at) * 1000)
        if polled or terms.when_late is WhenLate.FINISH_TURN:
            player.overtaken = player.asked, "its time was over, and the clock finished the turn"
            self.finish_turn(seat, reason, overrun_ms=overrun, spent_ms=spent)
        elif terms.when_late is WhenLate.FORFEIT:
            player.overtaken = player.asked, "its time was over, and the seat forfeited the game"
            keeper.forfeit(seat, _FORFEIT_FOR[reason], overrun_ms=overrun)
        else:
            player.overtaken = player.asked, f"its time was over, and {terms.stand_in} took the seat over"
            self._take_over(TakenOver(seat, reason, terms.stand_in, overrun, spent))

    def _is_silent(self) -> bool:
        """Whether no player has acted while the clock did, for as long as a table waits."""
        keeper = self._keeper
        made = sum(
            player.effort.decisions
            for seat, player in zip(keeper.table.seats, keeper.players, strict=True)
            if seat.kind is not SeatKind.BUILTIN_BOT and not seat.stand_in
        )
        if self._silent_since is None or self._silent_since[0] != made:
            self._silent_since = made, keeper.clock.now()
        return keeper.clock.now() - self._silent_since[1] >= self._ceiling_ms / 1000

    # --- a bot in the place of a player

    def _take_over(self, entry: TakenOver) -> None:
        keeper = self._keeper
        player = keeper.players[entry.seat]
        player.refusals, player.refused, player.seen = 0, None, keeper.table.sequence
        keeper.enter(entry)
        keeper.bots.wake()
        log.info("seat.taken_over", table=keeper.table.name, seat=entry.seat, reason=entry.reason.name)

    def player_is_back(self, seat: int) -> None:
        """The seat's player gives a sign of life: from now on it plays again."""
        keeper = self._keeper
        if keeper.table.seats[seat].stand_in and not keeper.table.is_over and not keeper.is_lost:
            player = keeper.players[seat]
            player.bot, player.seen = None, max(player.overtaken[0], 0)
            keeper.enter(Returned(seat))
            log.info("seat.returned", table=keeper.table.name, seat=seat)

    # --- finishing a turn

    def finish_turn(self, seat: int, reason: ClockReason, *, overrun_ms: int = 0, spent_ms: int = 0) -> None:
        """Plays the seat's turn to its end; in a poll its silence is a pass and nothing else (RULES 3.3)."""
        keeper = self._keeper
        player, polled = keeper.players[seat], keeper.table.is_polled
        if keeper.window.is_young:
            keeper.window.hold_pass(seat, lambda: self.finish_turn(seat, reason))
            return
        player.refusals, player.refused, player.seen = 0, None, keeper.table.sequence
        try:
            if polled:
                self.finishing_step(seat)
                return
            keeper.enter(Clocked(seat, reason, overrun_ms, spent_ms))
            self._finish(seat)
        except Failure:
            return
        keeper.tally.finished_turns[reason.name] += 1
        log.info("turn.finished", table=keeper.table.name, seat=seat, reason=reason.name)
        forfeit_after = keeper.table.creation.clock.forfeit_after
        if forfeit_after and keeper.table.finished_turns[seat] >= forfeit_after:
            keeper.forfeit(seat, _FORFEIT_FOR[reason])

    def _finish(self, seat: int) -> None:
        keeper, turn = self._keeper, self._keeper.table.turn
        for _ in range(MOST_STEPS):
            if seat not in keeper.table.to_act() or keeper.table.turn != turn:
                return
            self.finishing_step(seat)
        raise keeper.broken(AssertionError("a turn does not end"))

    def finishing_step(self, seat: int) -> None:
        """The next action that the clock plays for the seat. Raises Failure."""
        keeper = self._keeper
        try:
            action = finishing_action(keeper.table.game, seat)
        except VariantError as error:
            raise keeper.broken(error) from error
        keeper.guarded(Acted(seat, action, by_clock=True))
