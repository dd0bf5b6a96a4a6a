"""The server's own bots at one table: those that were seated, those that play for a late player, and the turns of seats
that nobody plays any more.

A quick bot answers at once, in the loop's thread. One that takes its time is asked in a process of its own, with the
decision request that a remote bot gets; meanwhile the table waits for it as for any player.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING

import structlog

from rummy500_bots import BotSpec, Decision, built_in, kinds
from rummy500_engine.actions import Action
from rummy500_engine.notation import read_action
from rummy500_engine.shuffle import seed_for
from rummy500_engine.terms import VariantError
from rummy500_engine.view import seat_view
from rummy500_insight.thinking import Question, TableRules
from rummy500_server.decision_requests import decision_request, request_prefix
from rummy500_server.entries import SeatKind
from rummy500_server.finishing import MOST_STEPS
from rummy500_server.part import Part
from rummy500_server.status import Failure
from rummy500_server.table import TableState
from rummy500_server.table_events import ClockReason
from rummy500_server.thinking import NoThought, Thinking

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper

log = structlog.stdlib.get_logger("rummy500")

STEPS_A_TURN = 32
"""Actions of built-in bots between two commits: others want the loop too."""
QUICK = "normal"
"""The bot that answers for one that did not get to think."""
PATIENCE = 0.5
"""The part of the time for a decision after which it does."""


class OwnBots(Part):
    """Lets the server's own bots act at one table."""

    def __init__(self, keeper: Keeper, thinking: Thinking) -> None:
        super().__init__(keeper)
        self._thinking = thinking
        self._asked: dict[int, asyncio.Task[None]] = {}
        """The seats whose bots are thinking."""
        self._finishing: tuple[int, tuple[int, int]] | None = None
        """The seat, and the turn, that a bot plays to its end in the place of a player."""

    def wake(self) -> None:
        """Every seat that a built-in bot plays has one, with the seed that it always has there."""
        keeper = self._keeper
        for seat, player in zip(keeper.table.seats, keeper.players, strict=True):
            bot = seat.who if seat.kind is SeatKind.BUILTIN_BOT else seat.stand_in
            if bot and player.bot is None:
                player.bot = built_in(bot, seed=self._seed(seat.number))

    def _seed(self, seat: int) -> int:
        return int.from_bytes(seed_for(self._keeper.table.creation.secret, "bot", seat)[:8], "big")

    def _thinks(self, seat: int) -> bool:
        """Whether the bot of the seat takes its time."""
        state = self._keeper.table.seats[seat]
        spec = state.who if state.kind is SeatKind.BUILTIN_BOT else state.stand_in
        return kinds()[BotSpec.read(spec).name].thinks

    def play_one_of(self, seats: Sequence[int]) -> bool:
        """Whether nobody is waited for in some of these seats."""
        players, states = self._keeper.players, self._keeper.table.seats
        for seat in seats:
            if (players[seat].bot is not None or states[seat].forfeited is not None) and self.plays(seat):
                return True
        return False

    def plays(self, seat: int) -> bool:
        """Whether nobody is waited for in that seat. A bot that plays for its player goes on at once only for the sake
        of another player; alone it takes the time of a decision for each turn, so that the game does not run away."""
        keeper = self._keeper
        if keeper.table.seats[seat].forfeited is not None:
            return True
        if keeper.players[seat].bot is None:
            return False
        if self._finishing == (seat, keeper.table.turn):
            return True
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
            seat = next((seat for seat in keeper.table.to_act() if self._is_next(seat)), None)
            if seat is None or keeper.is_lost or keeper.is_halted or keeper.window.is_young:
                return
            try:
                if keeper.table.seats[seat].forfeited is not None:
                    keeper.overtime.finishing_step(seat)
                elif self._thinks(seat):
                    self._ask(seat)
                else:
                    self._act(seat)
            except Failure:
                return

    def _is_next(self, seat: int) -> bool:
        return self.plays(seat) and (seat not in self._asked or self._keeper.table.seats[seat].forfeited is not None)

    def play_turn(self, seat: int) -> None:
        """The bot in the place of a player plays the turn to its end."""
        keeper, turn = self._keeper, self._keeper.table.turn
        if self._thinks(seat):
            self._finishing = seat, turn
            self.play_on()
            return
        for _ in range(MOST_STEPS):
            is_in_turn = seat in keeper.table.to_act() and keeper.table.turn == turn and not keeper.table.is_polled
            if keeper.table.state is not TableState.PLAYING or not is_in_turn:
                return
            try:
                self._act(seat)
            except Failure:
                return

    # --- a bot that takes its time

    def _ask(self, seat: int) -> None:
        keeper = self._keeper
        table, player = keeper.table, keeper.players[seat]
        now = keeper.clock.moment()
        request = decision_request(keeper, seat, request_prefix(keeper, seat), now)
        if not request or table.is_over:
            return
        choice = table.creation.choice
        rules = TableRules(choice.preset, choice.variants, tuple(sorted(choice.options.items())), len(table.seats))
        question = Question(pickle.dumps(player.bot), rules, request, time.monotonic())
        face = keeper.clock_face(seat, now)
        time_ms = table.creation.clock.decision_ms if face is None else face.time_left_ms
        patience = time_ms / 1000 * PATIENCE if time_ms else None
        thought = self._thought(seat, table.sequence, question, patience)
        self._asked[seat] = asyncio.get_running_loop().create_task(thought, context=Context())

    async def _thought(self, seat: int, sequence: int, question: Question, patience: float | None) -> None:
        """Plays what the bot has thought of, if the table still waits for it. After `patience` seconds a quick bot
        answers in its place, so that it is never late."""
        keeper = self._keeper
        answer = None
        try:
            answer = await asyncio.wait_for(self._thinking.answer(question), patience)
        except TimeoutError:
            log.debug("bot.no_thought", table=keeper.table.name, seat=seat, sentence="its time was nearly over")
        except NoThought as none:
            if not keeper.is_halted:
                log.warning("bot.no_thought", table=keeper.table.name, seat=seat, sentence=str(none))
        finally:
            self._asked.pop(seat, None)
        if keeper.is_lost or keeper.is_halted or keeper.table.is_over:
            return
        player = keeper.players[seat]
        is_due = keeper.table.sequence == sequence and seat in keeper.table.to_act() and player.bot is not None
        if not is_due or keeper.table.seats[seat].forfeited is not None:
            self.play_on()
            return
        with suppress(Failure):
            if answer is None:
                self._answer(seat, self._quickly(seat))
            else:
                player.bot = pickle.loads(answer.bot)
                self._answer(seat, [read_action(line, keeper.table.rules) for line in answer.lines])

    def _quickly(self, seat: int) -> Sequence[Action]:
        answer = built_in(QUICK, seed=0).act(self._decision(seat))
        return answer if isinstance(answer, Sequence) else (answer,)

    # --- a bot that answers at once

    def _decision(self, seat: int) -> Decision:
        keeper = self._keeper
        player, table = keeper.players[seat], keeper.table
        events = table.log.of_the_game(player.seen, seat)
        try:
            view = seat_view(table.game, seat)
        except VariantError as error:
            raise keeper.broken(error) from error
        return Decision(view, table.rules, events, table.creation.clock.decision_ms or None)

    def _act(self, seat: int) -> None:
        keeper = self._keeper
        bot = keeper.players[seat].bot
        assert bot is not None
        decision = self._decision(seat)
        try:
            answer = bot.act(decision)
        except Exception:
            log.exception("bot.failed", table=keeper.table.name, seat=seat)
            keeper.overtime.finish_turn(seat, ClockReason.REFUSALS)
            return
        self._answer(seat, answer if isinstance(answer, Sequence) else (answer,))

    def _answer(self, seat: int, actions: Sequence[Action]) -> None:
        keeper = self._keeper
        acting = keeper.act(seat, actions)
        if acting.refused is not None and not acting.applied:
            log.error("bot.refused", table=keeper.table.name, seat=seat, reason=acting.refused.code)
            keeper.overtime.finish_turn(seat, ClockReason.REFUSALS)
