"""What a seat may ask for. Actions are as asked; `readings.canonical` says when two mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from rummy500_engine.cards import FACES, JOKER, Card


class End(Enum):
    """The end of a run on which a card is laid."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Draw:
    """Take the top card of the stock."""


@dataclass(frozen=True, slots=True)
class Take:
    """Take a card and all above it from the pile. `place` counts from 1 = bottom; 0: the highest such card."""

    card: Card
    place: int = 0


@dataclass(slots=True, init=False, unsafe_hash=True)
class LayMeld:
    """Lay a new meld. `stands_for` is parallel to `cards` (the face itself for a natural card), or empty: not said.

    A value like the others. It is not frozen, because a listing may hold thousands and each would take six times as
    long to make.
    """

    cards: tuple[Card, ...]
    stands_for: tuple[Card, ...]
    end: End | None

    def __init__(self, cards: tuple[Card, ...], stands_for: tuple[Card, ...] = (), end: End | None = None) -> None:
        self.cards, self.stands_for, self.end = cards, stands_for, end


@dataclass(frozen=True, slots=True)
class LayOff:
    """Add one card to meld number `meld`; 0 means that no meld was named."""

    card: Card
    meld: int
    end: End | None = None
    stands_for: Card | None = None


@dataclass(frozen=True, slots=True)
class Discard:
    """Throw a card, which ends the turn."""

    card: Card


@dataclass(frozen=True, slots=True)
class Pass:
    """Decline a call, or a take when the stock is empty."""


@dataclass(frozen=True, slots=True)
class Call:
    """Call "Rummy!" on a card of the pile: lay it off on `meld`, or meld it `with_cards`."""

    card: Card
    place: int = 0
    meld: int = 0
    with_cards: tuple[Card, ...] = ()
    stands_for: tuple[Card, ...] = ()
    end: End | None = None


@dataclass(frozen=True, slots=True)
class VariantAction:
    """An action that a variant adds: a verb, then its cards, then where."""

    variant: str
    verb: str
    cards: tuple[Card, ...] = ()
    where: str = ""


Action = Draw | Take | LayMeld | LayOff | Discard | Pass | Call | VariantAction

DRAW: Final = Draw()
PASS: Final = Pass()
DISCARDS: Final[dict[Card, Discard]] = {card: Discard(card) for card in (*FACES, JOKER)}
TAKES: Final[dict[Card, Take]] = {card: Take(card) for card in (*FACES, JOKER)}


_LAY_OFFS: Final[dict[int, LayOff]] = {}


def lay_off(card: Card, meld: int, end: End | None = None) -> LayOff:
    """One shared object for each plain lay-off of a natural card: listing them costs a look-up."""
    key = (meld << 8 | card) << 2 | (0 if end is None else 1 if end is End.LOW else 2)
    shared = _LAY_OFFS.get(key)
    if shared is None:
        shared = _LAY_OFFS[key] = LayOff(card, meld, end)
    return shared
