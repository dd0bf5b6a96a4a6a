"""The open poll of one table: until when it may be answered, and the answers that are held back.

With a person at the table a poll stays open for a while, whoever has answered (RULES 3.1). What comes meanwhile waits
here, and nobody is shown that it came: neither times nor messages tell who could call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rummy500_engine.actions import Action, Call, Draw, Pass, Take
from rummy500_engine.legal import refusal
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.round import Round
from rummy500_engine.terms import Poll
from rummy500_server.acting import Acting, Stop
from rummy500_server.clock import Handle, Timer
from rummy500_server.entries import SeatKind
from rummy500_server.part import Part
from rummy500_server.status import Failure, Reason
from rummy500_server.table import Table

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper

LEAST_SECONDS = 1.5

Key = tuple[int, int, str, str]
"""Which poll: round, turns played, variant, name."""
Decided = tuple[int, int]
"""Of an answer: the last event that its seat had, and the milliseconds that it took."""
Then = Callable[[Acting | Failure], None]
"""Told what became of an answer, in the same turn of the loop."""


@dataclass(frozen=True, slots=True)
class Held:
    """An answer that waits; `apply` gives it."""

    seat: int
    apply: Callable[[], None]
    fail: Callable[[Failure], None]
    passes: bool
    draws: bool


class PollWindow(Part):
    def __init__(self, keeper: Keeper, timer: Timer) -> None:
        super().__init__(keeper)
        self._timer = timer
        self._key: Key | None = None
        self._closes_at = 0.0
        self._rings: Handle | None = None
        self._held: list[Held] = []

    @property
    def is_young(self) -> bool:
        """Whether a poll is open whose answers do not count yet. One that nobody has been shown is."""
        key = _key_of(self._keeper.table)
        if key is None:
            return False
        return self._rings is not None if key == self._key else _has_person(self._keeper.table)

    def opened(self) -> float:
        """The poll that is open has been published, once or again; until when it is answered, in the timer's seconds.
        Silence after that is a pass."""
        table, key = self._keeper.table, _key_of(self._keeper.table)
        round = table.game.round
        assert round is not None
        assert round.poll is not None
        if key == self._key:
            return self._closes_at
        self.stop()
        now, seconds = self._timer.time(), round.poll.seconds or self._keeper.clock.limit_ms / 1000
        self._key, self._closes_at = key, now + seconds
        if _has_person(table):
            self._closes_at = now + max(seconds, LEAST_SECONDS)
            self._rings = self._timer.call_at(now + LEAST_SECONDS, self._free)
        return self._closes_at

    def stop(self) -> None:
        """Nothing counts any more: what is held back fails, and may be sent again when the table goes on."""
        if self._rings is not None:
            self._rings.cancel()
            self._rings = None
        held, self._held = self._held, []
        for each in held:
            each.fail(Failure(Reason.DRAINING, "the table stopped before the answer counted; it may be sent again"))

    def _free(self) -> None:
        self._rings = None
        if not self._is_left:
            self._keeper.poll_is_free()

    # --- answers

    def holds(self, seat: int, actions: Sequence[Action | Refused], then: Then, *, decided: Decided) -> bool:
        """Holds an answer to a young poll back. False: it does not count in the poll, and is refused at once."""
        table, first = self._keeper.table, actions[0]
        round = table.game.round
        assert round is not None
        assert round.poll is not None
        if isinstance(first, Refused) or table.is_over or table.seats[seat].forfeited is not None:
            return False
        try:
            if not _counts(round, seat, first):
                return False
        except Exception:  # a broken variant: whoever applies the action meets it again and ends the table
            return False
        earlier, draws = self.held_by(seat), isinstance(first, Draw | Take)
        if earlier and (not draws or any(each.draws for each in earlier)):
            code = Refusal.CALL_NOT_VALID if isinstance(first, Call) else Refusal.NOT_YOUR_TURN
            refused = Refused(code, f"{round.poll.name}: this seat has answered")
            then(Acting(0, Stop.REFUSED, table.sequence, table.sequence, refused))
            return True
        keeper, passes = self._keeper, isinstance(first, Pass)
        self._held.append(
            Held(seat, lambda: then(keeper.act(seat, actions, decided=decided)), then, passes=passes, draws=draws)
        )
        return True

    def hold_pass(self, seat: int, finish: Callable[[], None]) -> None:
        """The clock passes for the seat: `finish` does it."""
        self._held.append(Held(seat, finish, lambda _: None, passes=True, draws=False))

    def held_by(self, seat: int) -> list[Held]:
        return [held for held in self._held if held.seat == seat] if self._held else []

    def still_open(self, seat: int, legal: Sequence[Action]) -> list[Action]:
        """Those of the legal actions that an answer which is held back leaves to its seat: a draw."""
        if any(held.draws for held in self.held_by(seat)):
            return []
        return [action for action in legal if isinstance(action, Draw | Take)]

    def release(self) -> None:
        """Applies what was held back."""
        for held in self._in_order():
            try:
                held.apply()
            except Failure as failure:
                held.fail(failure)

    def _in_order(self) -> list[Held]:
        """Every answer is taken before one of them decides the poll, and a draw, which closes it, comes last."""
        held, self._held = self._held, []
        table = self._keeper.table
        round = table.game.round
        if round is None or round.poll is None:
            return held
        if table.rules.depends_on_arrival:
            return sorted(held, key=_haste)
        ranks = _ranks(round.poll)
        return sorted(held, key=lambda each: (each.draws, -ranks.get(each.seat, 0)))


def _ranks(poll: Poll) -> dict[int, int]:
    return {seat: rank for rank, seat in enumerate(poll.asked)}


def _haste(held: Held) -> int:
    if held.draws:
        return 2
    return 0 if held.passes else 1


def _key_of(table: Table) -> Key | None:
    round = table.game.round
    if round is None or round.poll is None:
        return None
    return round.number, round.turns_played, round.poll.variant, round.poll.name


def _has_person(table: Table) -> bool:
    return any(seat.kind is SeatKind.JOINED and seat.forfeited is None for seat in table.seats)


def _counts(round: Round, seat: int, action: Action) -> bool:
    """Whether the action would change the poll: an answer, a draw that closes it, or a false call that costs points."""
    if refusal(round, seat, action) is None:
        return True
    poll = round.poll
    if poll is None or not isinstance(action, Call) or seat not in poll.waiting:
        return False
    ask = round.rules.false_answer.get(poll.variant)
    return ask is not None and bool(ask(round=round, seat=seat, action=action))
