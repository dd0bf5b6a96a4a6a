"""The server's own bots at one table: those that were seated, those that play for a late player, and the turns of seats
that nobody plays any more."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from rummy500_bots import Decision, built_in
from rummy500_engine.shuffle import seed_for
from rummy500_engine.terms import VariantError
from rummy500_engine.view import seat_view
from rummy500_server.entries import SeatKind
from rummy500_server.finishing import MOST_STEPS
from rummy500_server.part import Part
from rummy500_server.status import Failure
from rummy500_server.table import TableState
from rummy500_server.table_events import ClockReason

log = structlog.stdlib.get_logger("rummy500")

STEPS_A_TURN = 32
"""Actions of built-in bots between two commits: others want the loop too."""


class OwnBots(Part):
    def wake(self) -> None:
        """Every seat that a built-in bot plays has one, with the seed that it always has there."""
        keeper = self._keeper
        for seat, player in zip(keeper.table.seats, keeper.players, strict=True):
            bot = seat.who if seat.kind is SeatKind.BUILTIN_BOT else seat.stand_in
            if bot and player.bot is None:
                seed = seed_for(keeper.table.creation.secret, "bot", seat.number)
                player.bot = built_in(bot, seed=int.from_bytes(seed[:8], "big"))

    def plays(self, seat: int) -> bool:
        """Whether nobody is waited for in that seat. A bot that plays for its player goes on at once only for the sake
        of another player; alone it takes the time of a decision for each turn, so that the game does not run away."""
        keeper = self._keeper
        if keeper.table.seats[seat].forfeited is not None:
            return True
        if keeper.players[seat].bot is None:
            return False
        return not keeper.table.seats[seat].stand_in or keeper.table.is_polled or self._somebody_plays()

    def _somebody_plays(self) -> bool:
        return any(
            seat.kind is not SeatKind.BUILTIN_BOT and not seat.stand_in and seat.forfeited is None
            for seat in self._keeper.table.seats
        )

    def play_on(self) -> None:
        """The bots act, and the turns of seats that have forfeited are finished."""
        if self._is_left:
            return
        keeper = self._keeper
        for _ in range(STEPS_A_TURN):
            seat = next((seat for seat in keeper.table.to_act() if self.plays(seat)), None)
            if seat is None or keeper.is_lost or keeper.is_halted or keeper.window.is_young:
                return
            try:
                if keeper.table.seats[seat].forfeited is not None:
                    keeper.overtime.finishing_step(seat)
                else:
                    self._act(seat)
            except Failure:
                return

    def play_turn(self, seat: int) -> None:
        """The bot in the place of a player plays the turn to its end."""
        keeper, turn = self._keeper, self._keeper.table.turn
        for _ in range(MOST_STEPS):
            is_in_turn = seat in keeper.table.to_act() and keeper.table.turn == turn and not keeper.table.is_polled
            if keeper.table.state is not TableState.PLAYING or not is_in_turn:
                return
            try:
                self._act(seat)
            except Failure:
                return

    def _act(self, seat: int) -> None:
        keeper = self._keeper
        player, table = keeper.players[seat], keeper.table
        assert player.bot is not None
        events = table.log.of_the_game(player.seen, seat)
        try:
            view = seat_view(table.game, seat)
        except VariantError as error:
            raise keeper.broken(error) from error
        try:
            answer = player.bot.act(Decision(view, table.rules, events, table.creation.clock.decision_ms or None))
        except Exception:
            log.exception("bot.failed", table=table.name, seat=seat)
            keeper.overtime.finish_turn(seat, ClockReason.REFUSALS)
            return
        acting = keeper.act(seat, answer if isinstance(answer, Sequence) else (answer,))
        if acting.refused is not None and not acting.applied:
            log.error("bot.refused", table=table.name, seat=seat, reason=acting.refused.code)
            keeper.overtime.finish_turn(seat, ClockReason.REFUSALS)
