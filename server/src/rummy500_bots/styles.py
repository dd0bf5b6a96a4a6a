"""How players weigh things: the numbers behind a choice, and the named styles that a table may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Throw:
    """What a discard costs its player, in points, as rollouts from real hands told."""

    use: float
    """If the player would have made a meld with it."""
    risk: float
    """If another hand holds two partners of it."""
    dig: float
    """For each pair of a card in the pile and one in another hand that it makes a meld with: it is dug for."""
    points: float
    """For each of its points."""


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
    throw: Throw | None = None
    """What discards cost, `keep` times for the own hand and `danger` times for what they give away; None: they are
    judged by what the hand is worth without them, and by the points that others would make."""


FAIR: Final = Style()
EXPERT: Final = Style(
    chance=0.46,
    pile_chance=1.3,
    turns=0.8,
    lone=0.9,
    denial=0.25,
    draw=9.5,
    danger=1.0,
    throw=Throw(use=6.0, risk=7.5, dig=6.0, points=0.4),
)
"""Of an expert, found by playing against fair players at nine tables of two to four."""
LOOKING_BACK: Final = Style(chance=0.75, lone=0.75)
"""How the hands are judged to which a rollout came: as what became of such hands by the end of the round."""


def styled(base: Style, name: str) -> Style:
    """A player's way of weighing, changed as the named style says."""
    return replace(base, **STYLES[name])


BALANCED: Final = "balanced"
STYLES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        BALANCED: {},
        "cautious": {"draw": 18.0, "denial": 0.0, "danger": 3.0, "turns": 0.8},
        "greedy": {"danger": 0.3, "lone": 1.5, "turns": 2.0},
        "digger": {"denial": 0.7, "draw": 0.0},
    }
)
"""What each style changes: `cautious` keeps a small hand and feeds nobody, `greedy` keeps what may still become
something, `digger` takes much of the pile."""
