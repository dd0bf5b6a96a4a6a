"""How players weigh things: the numbers behind a choice, and the named styles that a table may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Style:
    """The defaults are those of a fair player."""

    chance: float = 0.7
    """Of an unseen card that is drawn by somebody: the part that comes to this hand."""
    pile_chance: float = 1.0
    """Of a card in the pile, in parts of the chance of an unseen one."""
    known_chance: float = 0.3
    """Of a card known to be in another hand, in parts of the chance of an unseen one."""
    turns: float = 1.3
    """Turns that a player needs for each card of its hand before the round ends."""
    lone: float = 0.5
    """What a card without a partner may become, in parts of what its live neighbours would make of it."""
    denial: float = 0.25
    """What a card taken from the pile is worth because no other player has it, in parts of its points."""
    draw: float = 6.0
    """What the unknown card of the stock is worth, in points."""
    keep: float = 1.0
    """What the cards that stay in hand count when one is thrown, in parts of what they are worth."""
    danger: float = 1.2
    """What a discard gives away, in parts of the points that others would make of it."""


FAIR: Final = Style()
EXPERT: Final = Style(draw=12.0, denial=0.1, lone=1.0, keep=0.4, danger=1.8)
"""Of an expert at a table of two or three, found by playing."""
AMONG_MANY: Final = Style(chance=0.5, lone=0.75, denial=0.45, draw=4.0, keep=0.1, danger=-0.2)
"""Of an expert at a larger table, fitted to rollouts to the end of the round: high cards are caught there, and what is
thrown for others may be dug up again by its owner."""


def styled(base: Style, name: str) -> Style:
    """A player's way of weighing, changed as the named style says."""
    return replace(base, **STYLES[name])


BALANCED: Final = "balanced"
STYLES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        BALANCED: {},
        "cautious": {"draw": 18.0, "denial": 0.0, "danger": 3.0, "turns": 0.8},
        "greedy": {"danger": 0.3, "lone": 1.5, "turns": 2.0},
        "digger": {"denial": 0.7, "draw": 0.0},
    }
)
"""What each style changes: `cautious` keeps a small hand and feeds nobody, `greedy` keeps what may still become
something, `digger` takes much of the pile."""
