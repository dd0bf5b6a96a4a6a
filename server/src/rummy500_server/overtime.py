"""What becomes of a seat at one table whose time is over, or of whose actions too many were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from rummy500_engine.terms import VariantError
from rummy500_server.entries import Acted, Clocked
from rummy500_server.finishing import MOST_STEPS, finishing_action
from rummy500_server.results import Termination
from rummy500_server.status import Failure
from rummy500_server.table import LAST_FINISHED_TURN
from rummy500_server.table_events import ClockReason

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper

log = structlog.stdlib.get_logger("rummy500")

_FORFEIT_FOR = {
    ClockReason.TIMEOUT: Termination.TIMEOUT,
    ClockReason.REFUSALS: Termination.ILLEGAL_ACTION,
    ClockReason.DISCONNECT: Termination.DISCONNECT,
}


class Overtime:
    """`keeper` is whose table it is."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def time_is_over(self) -> None:
        """Finishes the turn of every seat whose time is over."""
        keeper = self._keeper
        if not keeper.scribe.is_durable or keeper.table.is_over or keeper.is_lost:
            return
        clock, players = keeper.clock, keeper.players
        for seat in keeper.table.to_act():
            player = players[seat]
            if player.asked == keeper.table.sequence and player.deadline <= clock.now():
                reason = ClockReason.TIMEOUT if player.is_here else ClockReason.DISCONNECT
                self.finish_turn(seat, reason, overrun_ms=clock.overrun_ms(player))
        clock.arm([players[seat].deadline for seat in keeper.table.to_act()])

    def finish_turn(self, seat: int, reason: ClockReason, *, overrun_ms: int = 0) -> None:
        """Plays the seat's turn to its end; in a poll its silence is a pass and nothing else (RULES 3.3)."""
        keeper = self._keeper
        player, polled = keeper.players[seat], keeper.is_polled()
        if keeper.window.is_young:
            keeper.window.hold_pass(seat, lambda: self.finish_turn(seat, reason))
            return
        player.refusals, player.refused, player.seen = 0, None, keeper.table.sequence
        try:
            if not polled:
                keeper.enter(Clocked(seat, reason, overrun_ms))
            self._finish(seat)
        except Failure:
            return
        if polled:
            return
        keeper.tally.finished_turns[reason.name] += 1
        log.info("turn.finished", table=keeper.table.name, seat=seat, reason=reason.name)
        if keeper.table.seats[seat].finished_turns >= LAST_FINISHED_TURN:
            keeper.forfeit(seat, _FORFEIT_FOR[reason])

    def _finish(self, seat: int) -> None:
        keeper, turn = self._keeper, self._keeper.turn()
        for _ in range(MOST_STEPS):
            if seat not in keeper.table.to_act() or keeper.turn() != turn:
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
