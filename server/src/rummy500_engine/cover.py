"""Whether all cards owed can be used together: an exact cover, decided rank by rank.

The search of `finish` finds a plan quickly where there is one, but may try many before it knows that there is none.
Here nothing is tried twice. Going from the low ace up, all that matters of the cards below a rank is which runs are
open in each suit and how long they are, counted to three: a run of three may end or go on. Suits touch each other in
sets only, so each rank asks which cards go to sets and lets every suit go on by itself. A run on the table is an open
run at its high end, and at its low end an open run of any length may join it. A set without a card owed is of no use,
and no run has to begin more than four ranks below a card that is owed, since longer runs fall apart.

It applies to hands without jokers at tables where only the duty of a take can forbid the end of a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from rummy500_engine.cards import ACE, LANE_BITS, Mask, count, rank_of, suit_of
from rummy500_engine.melds import SHORTEST, Kind, Meld, MeldCatalogue

_HIGH_ACE = 13
_REACH = 5
"""A run has a card that is owed among its first five, or falls apart into runs of which one begins later."""

Open = tuple[int, ...]
"""The lengths of a suit's open runs, counted to three, in ascending order."""
Suit = tuple[Open, int]
"""A suit's open runs, and how many of its aces stand low."""
Counts = tuple[int, int, int, int]


def can_cover(catalogue: MeldCatalogue, *, hand: Mask, owed: Mask, melds: Sequence[Meld]) -> bool | None:
    """Whether all of `owed` can be melded or laid off on `melds`, with other cards of the joker-free hand. None where
    this reasoning does not apply: runs round the corner, or one on the table that an ace at either end might join."""
    cover = _Cover(catalogue, hand=hand, owed=owed, melds=melds)
    return cover.is_possible() if cover.applies else None


class _Cover:
    def __init__(self, catalogue: MeldCatalogue, *, hand: Mask, owed: Mask, melds: Sequence[Meld]) -> None:
        self.catalogue = catalogue
        suits = range(4)
        self.held = [[count(hand, suit * LANE_BITS + rank) for rank in range(13)] for suit in suits]
        self.owed = [[count(owed, suit * LANE_BITS + rank) for rank in range(13)] for suit in suits]
        self.joins = [[0] * 14 for _ in suits]
        """How many runs of the table begin at each position, and take a card below."""
        self.goes_on = [[0] * 15 for _ in suits]
        """How many runs of the table take a card at each position."""
        self.sets: list[list[Meld]] = [[] for _ in range(13)]
        self.applies = not catalogue.corner
        for meld in melds:
            self._note(meld)
        self.may_begin = [self._may_begin(suit) for suit in suits]
        self.dead: set[tuple[int, tuple[Suit, ...]]] = set()

    def _note(self, meld: Meld) -> None:
        face = meld.placed[0].face
        if meld.kind is Kind.SET:
            if meld.fits:
                self.sets[rank_of(face)].append(meld)
            return
        suit = suit_of(face)
        last = meld.start + meld.length - 1
        aces = self.held[suit][ACE] + (meld.start == 0) + (last == _HIGH_ACE)
        if aces > 1 and meld.start < SHORTEST and last > _HIGH_ACE - SHORTEST:
            self.applies = False  # else cards that lead to a second ace make a meld of their own
        if meld.low_face is not None:
            self.joins[suit][meld.start] += 1
        if meld.high_face is not None:
            self.goes_on[suit][meld.start + meld.length] += 1

    def _may_begin(self, suit: int) -> list[int]:
        """For each position, how many runs that begin there may be of use: a card owed is near, and they can grow."""
        owed = [*self.owed[suit], self.owed[suit][ACE]]
        held = [*self.held[suit], self.held[suit][ACE] if self.catalogue.high else 0, 0, 0]
        joins = [*self.joins[suit], 0, 0]
        return [
            joins[position + 1] + min(held[position + 1], held[position + 2] + joins[position + 2])
            if any(owed[position : position + _REACH])
            else 0
            for position in range(14)
        ]

    def is_possible(self) -> bool:
        nothing: Suit = ((), 0)
        return self._from(0 if self.catalogue.low else 1, (nothing,) * 4)

    def _from(self, position: int, suits: tuple[Suit, ...]) -> bool:
        if position > _HIGH_ACE:
            return all(length == SHORTEST for lengths, _ in suits for length in lengths)
        key = (position, suits)
        if key in self.dead:
            return False
        if position == 0:
            follow = self._after_low_aces(suits)
        elif position == _HIGH_ACE:
            follow = self._after_high_aces(suits)
        else:
            held = [self.held[suit][position] for suit in range(4)]
            owed = [self.owed[suit][position] for suit in range(4)]
            follow = self._after(position, suits, held=held, owed=owed, in_runs=True)
        if any(self._from(position + 1, after) for after in follow):
            return True
        self.dead.add(key)
        return False

    def _after_low_aces(self, suits: tuple[Suit, ...]) -> Iterator[tuple[Suit, ...]]:
        choices: list[list[Suit]] = []
        for suit in range(4):
            most = min(self.held[suit][ACE], self.may_begin[suit][0])
            choices.append([((1,) * low, low) for low in range(most + 1)])
        return product(*choices)

    def _after_high_aces(self, suits: tuple[Suit, ...]) -> Iterator[tuple[Suit, ...]]:
        held = [self.held[suit][ACE] - suits[suit][1] for suit in range(4)]
        owed = [max(0, self.owed[suit][ACE] - suits[suit][1]) for suit in range(4)]
        return self._after(_HIGH_ACE, suits, held=held, owed=owed, in_runs=self.catalogue.high)

    def _after(
        self, position: int, suits: tuple[Suit, ...], *, held: list[int], owed: list[int], in_runs: bool
    ) -> Iterator[tuple[Suit, ...]]:
        """Every way in which the suits may stand after this position."""
        for to_sets in self._sets_of(position % 13, held, owed):
            choices: list[list[Suit]] = []
            for suit in range(4):
                lengths, low_aces = suits[suit]
                after = _go_on(
                    lengths,
                    held[suit] - to_sets[suit] if in_runs else 0,
                    max(0, owed[suit] - to_sets[suit]),
                    self.joins[suit][position],
                    self.goes_on[suit][position],
                    self.may_begin[suit][position],
                )
                if not after:
                    break
                choices.append([(lengths, low_aces) for lengths in after])
            else:
                yield from product(*choices)

    def _sets_of(self, rank: int, held: list[int], owed: list[int]) -> list[Counts]:
        """How many cards of each suit may go to sets of this rank, new or on the table."""
        if not any(owed):
            return [(0, 0, 0, 0)]
        sets = self.catalogue.sets
        room = tuple(
            (*[meld.fits >> rank + suit * LANE_BITS & 1 for suit in range(4)], self.catalogue.largest_set - meld.length)
            for meld in self.sets[rank]
        )
        counts = (held[0], held[1], held[2], held[3])
        return _set_counts(counts, (owed[0], owed[1], owed[2], owed[3]), room, sets.identical, sets.largest)


@lru_cache(maxsize=1 << 16)
def _go_on(lengths: Open, cards: int, owed: int, joins: int, goes_on: int, may_begin: int) -> tuple[Open, ...]:
    """The open runs of a suit after a position with so many cards for runs, `owed` of which have to be used.

    Runs shorter than three must go on, but for `joins` of them, which end on a run of the table; the shortest do. Cards
    that are left extend runs of three: such a run can do whatever a closed one can.
    """
    short = [length for length in lengths if length < SHORTEST]
    long = len(lengths) - len(short) + goes_on
    found: set[Open] = set()
    for joined in range(min(joins, len(short)) + 1):
        kept = short[joined:]
        spare = cards - len(kept)
        for begun in range(min(spare, may_begin) + 1):
            extended = min(long, spare - begun)
            if len(kept) + begun + extended >= owed:
                found.add(tuple([1] * begun + [length + 1 for length in kept] + [SHORTEST] * extended))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _set_counts(
    held: Counts, owed: Counts, room: tuple[tuple[int, ...], ...], identical: bool, largest: int | None
) -> list[Counts]:
    """The numbers of cards by suit that sets can take, more cards first; none with a card that neither is owed nor
    needed."""
    every = product(*(range(copies + 1) for copies in held))
    counts = [(clubs, diamonds, hearts, spades) for clubs, diamonds, hearts, spades in every]
    possible = [cards for cards in counts if _fill_sets(cards, room, identical, largest)]
    return sorted((cards for cards in possible if not _spares(cards, owed, possible)), key=sum, reverse=True)


def _spares(cards: Counts, owed: Counts, possible: Sequence[Counts]) -> bool:
    """Whether the sets could do without one of the cards that are not owed."""
    for suit in range(4):
        if cards[suit] > owed[suit]:
            fewer = list(cards)
            fewer[suit] -= 1
            if (fewer[0], fewer[1], fewer[2], fewer[3]) in possible:
                return True
    return False


def _fill_sets(cards: Counts, room: tuple[tuple[int, ...], ...], identical: bool, largest: int | None) -> bool:
    """Whether these cards of one rank make sets, after some went to the sets on the table."""
    if _make_sets(cards, identical, largest):
        return True
    if not room:
        return False
    *fits, most = room[0]
    at_most = [min(copies, most if identical else fit) for copies, fit in zip(cards, fits, strict=True)]
    for laid in product(*(range(number + 1) for number in at_most)):
        if sum(laid) <= most:
            left = (cards[0] - laid[0], cards[1] - laid[1], cards[2] - laid[2], cards[3] - laid[3])
            if _fill_sets(left, room[1:], identical, largest):
                return True
    return False


def _make_sets(cards: Counts, identical: bool, largest: int | None) -> bool:
    total = sum(cards)
    if not total:
        return True
    most = largest if largest is not None else total
    if not identical:
        most = min(most, 4)
    return any(
        SHORTEST * sets <= total <= most * sets and (identical or max(cards) <= sets)
        for sets in range(1, total // SHORTEST + 1)
    )
