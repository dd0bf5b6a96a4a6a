"""What one game says: the points of its seats, how it ended, and what its players did for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rummy500_arena.thinking import time_class


@dataclass(frozen=True, slots=True)
class GameScore:
    """How a game of a plan ended: by seat the points of all its rounds together. `drawn`: the winners share the lead.

    `termination` is a name of the protocol; `at_fault` the seat to blame for it. `counts` False: the game says nothing
    about its bots (the server was at fault, the match was cancelled), so its deal is left out. `sides` gives the side
    of each seat, whose points it shares; empty: each plays for itself.
    """

    points: tuple[int, ...]
    rounds: int
    winners: tuple[int, ...]
    drawn: bool = False
    termination: str = "NORMAL"
    at_fault: int | None = None
    counts: bool = True
    sides: tuple[int, ...] = ()

    def is_one_side(self, seat: int, other: int) -> bool:
        return bool(self.sides) and self.sides[seat] == self.sides[other]

    def half_wins(self, seat: int, other: int) -> int:
        """2: it beat the other, who is at fault, or won less, or has fewer points; 1: neither; 0: it was beaten."""
        if self.at_fault in (seat, other):
            return 2 * (self.at_fault == other)
        won = (seat in self.winners) - (other in self.winners)
        ahead = won or self.points[seat] - self.points[other]
        return 1 + (ahead > 0) - (ahead < 0)


@dataclass(slots=True)
class Effort:
    """What a player did: decisions that it made, actions that were refused, milliseconds charged, and how its thinking
    times spread (`rummy500_arena.thinking`)."""

    decisions: int = 0
    refusals: int = 0
    charged_ms: int = 0
    thinking: dict[int, int] = field(default_factory=dict)

    def decide(self, milliseconds: int) -> None:
        """One more decision, which took so long."""
        self.decisions += 1
        time = time_class(milliseconds)
        self.thinking[time] = self.thinking.get(time, 0) + 1

    def add(self, more: Effort) -> None:
        self.decisions += more.decisions
        self.refusals += more.refusals
        self.charged_ms += more.charged_ms
        for time, count in more.thinking.items():
            self.thinking[time] = self.thinking.get(time, 0) + count
