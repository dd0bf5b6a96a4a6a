"""Sets and runs as they lie on the table, and what they take.

Positions in a run count from the low ace: 0 = ace low, 1 = two .. 12 = king, 13 = ace high. Where runs go round the
corner, positions go on modulo 13 and the start is the rank of the lowest card.

Melds are values: they are replaced, never changed. They are not frozen, because that would triple the cost of each.
Their constructors are written out, because a generated one stays interpreted where the engine is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from rummy500_engine.actions import End
from rummy500_engine.cards import ACE, Card, Mask, rank_of

LANE: Final = 0x1FFF
SHORTEST: Final = 3
LONGEST_RUN: Final = 13


class Kind(Enum):
    SET = "set"
    RUN = "run"


_SET: Final = Kind.SET
_RUN: Final = Kind.RUN
_LOW: Final = End.LOW
_HIGH: Final = End.HIGH

Ends = tuple[End | None, ...]
_NO_END: Final[Ends] = (None,)
_LOW_END: Final[Ends] = (_LOW,)
_HIGH_END: Final[Ends] = (_HIGH,)
_BOTH_ENDS: Final[Ends] = (_LOW, _HIGH)


@dataclass(slots=True, init=False)
class Placed:
    """A card on the table: what it stands for, who placed it, whether it is an ace at the low end (RULES 4)."""

    card: Card
    face: Card
    seat: int
    low: bool

    def __init__(self, card: Card, face: Card, seat: int, low: bool) -> None:
        self.card, self.face, self.seat, self.low = card, face, seat, low


@dataclass(slots=True)
class Shape:
    """One reading of cards as a meld: `cards` and `faces` in order, runs low to high from position `start`."""

    kind: Kind
    cards: tuple[Card, ...]
    faces: tuple[Card, ...]
    start: int = 0

    def places(self, seat: int, corner: bool) -> tuple[Placed, ...]:
        placed = [Placed(card, face, seat, False) for card, face in zip(self.cards, self.faces, strict=True)]
        if self.kind is _RUN and rank_of(self.faces[0]) == ACE and (corner or self.start == 0):
            placed[0] = Placed(self.cards[0], self.faces[0], seat, True)
        return tuple(placed)


@dataclass(slots=True, init=False)
class Meld:
    """A meld on the table. `placed` is in the order laid, the first `opening` of it together by `opener`; for a run
    `start` and `length` give its positions. `fits` masks the faces that it takes next."""

    id: int
    kind: Kind
    opener: int
    placed: tuple[Placed, ...]
    opening: int
    start: int
    length: int
    fits: Mask
    low_face: Card | None
    high_face: Card | None

    def __init__(
        self,
        id: int,
        kind: Kind,
        opener: int,
        placed: tuple[Placed, ...],
        opening: int,
        start: int,
        length: int,
        fits: Mask,
        low_face: Card | None,
        high_face: Card | None,
    ) -> None:
        self.id, self.kind, self.opener, self.placed, self.opening = id, kind, opener, placed, opening
        self.start, self.length, self.fits, self.low_face, self.high_face = start, length, fits, low_face, high_face

    def ends_taking(self, face: Card) -> Ends:
        """On which ends the face fits: (None,) for a set."""
        if not self.fits >> face & 1:
            return ()
        if self.kind is _SET:
            return _NO_END
        if face != self.low_face:
            return _HIGH_END
        return _BOTH_ENDS if face == self.high_face else _LOW_END


class Judge(Protocol):
    """Says which melds with jokers are wanted; groups of them come before each."""

    def wants_none(self, owed: Mask, jokers: int) -> bool:
        """Whether none with so many jokers is wanted, that uses natural cards among these only."""

    def wants_all(self, used: Mask, jokers: int) -> bool:
        """Whether all are wanted that use so many jokers and natural cards among these."""

    def wants_each(self, faces: tuple[Card, ...], hands: Sequence[Mask], jokers: int) -> Sequence[bool | None]:
        """Whether the meld of these faces is wanted, of so many jokers and the natural cards of each of these hands.
        None is no answer: it is not."""
