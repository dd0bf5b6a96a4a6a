"""Whether all cards owed can be used together: an exact cover, decided rank by rank.

Nothing is tried out. Going from the low ace up, all that matters of the cards below a rank is which runs are open in
each suit and how long they are, counted to three: a run of three may end or go on. Suits touch each other in sets only:
once it is said how many cards of each suit go to the sets of each rank, every suit goes on by itself. So what is
carried from rank to rank are boxes: for each suit, all ways in which it may stand. Where no set is possible a box stays
one box; each way to make sets makes one more, and a box that lies within another is dropped.

Boxes are large because with a way to stand goes every one that can do no more (`suits`).

A run on the table is an open run at its high end, and at its low end an open run of any length may join it. A set
without a card owed is of no use, and no run has to begin more than four ranks below a card that is owed, since longer
runs fall apart.

Jokers are counted in the ways: so many stand in the runs of a suit. They stand for missing cards only, as `pieces` has
it, and what fewer of them can do is as good.

It applies at tables where only the duty of a take can forbid the end of a turn, and no joker is owed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from rummy500_engine.cards import ACE, COPY_BITS, JOKER, LANE_BITS, Card, Mask, count, rank_of, suit_of
from rummy500_engine.meld_catalogue import MeldCatalogue
from rummy500_engine.melds import LANE, SHORTEST, Kind, Meld
from rummy500_engine.suits import Followers, Ways, suits_of

_HIGH_ACE: Final = 13
_REACH: Final = 5
"""A run has a card that is owed among its first five, or falls apart into runs of which one begins later."""

Box = tuple[Ways, Ways, Ways, Ways, int]
"""How the suits may stand, and how many jokers are in sets."""
Counts = tuple[int, int, int, int]
"""A number of cards of each suit."""
ToSets = tuple[int, int, int, int, int]
"""A number of cards of each suit that go to sets of one rank, and of jokers with them."""


class Cover:
    """One hand before the melds of a table, and what of it is owed. Cards may come to it one by one, as in the takes of
    a pile: what was found out about ranks that they leave alone is kept."""

    def __init__(self, catalogue: MeldCatalogue, *, hand: Mask, owed: Mask, melds: Iterable[Meld]) -> None:
        self.catalogue = catalogue
        self.held = _by_suit(hand)
        self.owed = _by_suit(owed)
        self.joins = [[0] * 16 for _ in range(4)]
        self.goes_on = [[0] * 15 for _ in range(4)]
        self.sets: list[list[Meld]] = [[] for _ in range(13)]
        self.both_ends: list[tuple[int, int]] = []
        """The suit of each run of the table that an ace could join at either end, and how many aces it takes."""
        for meld in () if catalogue.corner else melds:
            self._note(meld)
        self.jokers = count(hand, JOKER)
        self.suits = suits_of(max([max(counts) for counts in self.held]), self.jokers)
        self.to_sets: list[tuple[ToSets, ...]] = [self._sets_of(position % 13) for position in range(_HIGH_ACE + 1)]
        """For each position the numbers of cards that may go to sets of its rank."""
        self.followers = self._all_followers()
        """For each position and suit how the suit goes on, by the number of its cards that go to sets."""
        self.dead: list[list[Box]] = []

    def _note(self, meld: Meld) -> None:
        face = meld.placed[0].face
        if meld.kind is Kind.SET:
            if meld.fits:
                self.sets[rank_of(face)].append(meld)
            return
        suit = suit_of(face)
        last = meld.start + meld.length - 1
        if meld.start < SHORTEST and last > _HIGH_ACE - SHORTEST:
            self.both_ends.append((suit, 1 - (meld.start == 0) - (last == _HIGH_ACE)))
        if meld.low_face is not None:
            self.joins[suit][meld.start] += 1
        if meld.high_face is not None:
            self.goes_on[suit][meld.start + meld.length] += 1

    @property
    def applies(self) -> bool:
        """Whether this reasoning holds: no runs round the corner, and none on the table that aces of the hand might
        join at both ends. Of any other, cards that lead to a second ace make a meld of their own."""
        return not self.catalogue.corner and all(
            self.held[suit][ACE] + self.jokers <= most for suit, most in self.both_ends
        )

    def owe(self, card: Card) -> None:
        """One such card more, and it is owed."""
        suit, rank = suit_of(card), rank_of(card)
        self.held[suit][rank] += 1
        self.owed[suit][rank] += 1
        if self.held[suit][rank] > self.suits.copies:
            self.suits = suits_of(self.held[suit][rank], self.jokers)
            self.followers = self._all_followers()
        for position in (0, _HIGH_ACE) if rank == ACE else (rank,):
            self.to_sets[position] = self._sets_of(rank)
            self.followers[position] = [self._followers_at(position, each) for each in range(4)]
            for near in range(max(0, position - _REACH + 1), position):
                self.followers[near][suit] = self._followers_at(near, suit)

    def is_possible(self) -> bool:
        """Whether all that is owed can be melded or laid off, with other cards of the hand. Only where it applies."""
        viable = self._viable()
        begin = []
        for suit in range(4):
            aces, may_begin = self.held[suit][ACE], self._may_begin(suit, 0) if self.catalogue.low else 0
            begin.append(self.suits.begin(aces, may_begin) & viable[0][suit])
        if not all(begin):
            return False
        self.dead = [[] for _ in range(_HIGH_ACE + 1)]
        return self._ends(1, (begin[0], begin[1], begin[2], begin[3], 0), viable)

    def _viable(self) -> list[Counts]:
        """For each position the ways in which each suit may stand after it so that it could end, were it alone; with
        jokers that is not asked."""
        if self.jokers:
            return [(-1, -1, -1, -1)] * (_HIGH_ACE + 1)
        ended = self.suits.ended
        box: Counts = (ended, ended, ended, ended)
        viable = [box]
        for clubs, diamonds, hearts, spades in self.followers[:0:-1]:
            box = (_before(clubs, box[0]), _before(diamonds, box[1]), _before(hearts, box[2]), _before(spades, box[3]))
            viable.append(box)
        viable.reverse()
        return viable

    def _ends(self, position: int, box: Box, viable: list[Counts]) -> bool:
        """Whether the suits, standing so before this position, can go on to the end."""
        if position > _HIGH_ACE:
            return not self.jokers or self._has_jokers_for(box, self.suits.ended)
        last, dead = viable[position], self.dead[position]
        clubs, diamonds, hearts, spades = self.followers[position]
        ways_of_clubs = [each.after(box[0]) & last[0] for each in clubs]
        ways_of_diamonds = [each.after(box[1]) & last[1] for each in diamonds]
        ways_of_hearts = [each.after(box[2]) & last[2] for each in hearts]
        ways_of_spades = [each.after(box[3]) & last[3] for each in spades]
        for cards in self.to_sets[position]:
            after = (
                ways_of_clubs[cards[0]],
                ways_of_diamonds[cards[1]],
                ways_of_hearts[cards[2]],
                ways_of_spades[cards[3]],
                box[4] + cards[4],
            )
            if after[0] and after[1] and after[2] and after[3] and not (dead and _lies_in(after, dead)):
                if self.jokers and not self._has_jokers_for(after, -1):
                    continue
                if self._ends(position + 1, after, viable):
                    return True
                dead.append(after)
        return False

    def _has_jokers_for(self, box: Box, among: Ways) -> bool:
        """Whether the jokers suffice for every suit to stand in one of these ways."""
        needed = box[4]
        for ways in box[:4]:
            if not ways & among:
                return False
            needed += self.suits.fewest_jokers(ways & among)
        return needed <= self.jokers

    def _all_followers(self) -> list[list[list[Followers]]]:
        return [[self._followers_at(position, suit) for suit in range(4)] for position in range(_HIGH_ACE + 1)]

    def _followers_at(self, position: int, suit: int) -> list[Followers]:
        at_ace = position == _HIGH_ACE
        held, owed = self.held[suit][position % 13], self.owed[suit][position % 13]
        joins, goes_on = self.joins[suit][position], self.goes_on[suit][position]
        may_begin = self._may_begin(suit, position)
        in_runs = self.catalogue.high or not at_ace
        return [
            self.suits.followers(held - laid, owed - laid, at_ace, in_runs, joins, goes_on, may_begin)
            for laid in range(max([cards[suit] for cards in self.to_sets[position]]) + 1)
        ]

    def _may_begin(self, suit: int, position: int) -> int:
        """How many runs that begin there may be of use: as many as cards owed are near, if they can grow."""
        if position > _HIGH_ACE - 1:
            return 0
        owed, joins = self.owed[suit], self.joins[suit]
        near = sum(owed[position : position + _REACH])
        if position + _REACH > _HIGH_ACE:
            near += owed[ACE]
        if not near or self.jokers:
            return near
        following = self._in_runs(suit, position + 2) + joins[position + 2]
        return min(near, joins[position + 1] + min(self._in_runs(suit, position + 1), following))

    def _in_runs(self, suit: int, position: int) -> int:
        if position < _HIGH_ACE:
            return self.held[suit][position]
        return self.held[suit][ACE] if position == _HIGH_ACE and self.catalogue.high else 0

    def _sets_of(self, rank: int) -> tuple[ToSets, ...]:
        """How many cards of each suit may go to sets of this rank, new or on the table."""
        held = _counts([held[rank] for held in self.held])
        owed = _counts([owed[rank] for owed in self.owed])
        if not any(owed):
            return _NO_SETS
        sets = self.catalogue.sets
        room = tuple(
            [
                (
                    *[meld.fits >> rank + suit * LANE_BITS & 1 for suit in range(4)],
                    self.catalogue.largest_set - meld.length,
                )
                for meld in self.sets[rank]
            ]
        )
        return _set_counts(held, owed, self.jokers, room, sets.identical, sets.largest)


def _before(followers: list[Followers], ways: Ways) -> Ways:
    """The ways of a suit to stand before a position that lead to one of these, whatever goes to sets."""
    found = 0
    for each in followers:
        found |= each.before(ways)
    return found


def _lies_in(box: Box, others: list[Box]) -> bool:
    clubs, diamonds, hearts, spades, jokers = box
    for other in reversed(others):  # a box lies most often in one that was found dead just now
        outside = clubs & ~other[0] or diamonds & ~other[1] or hearts & ~other[2] or spades & ~other[3]
        if not outside and jokers >= other[4]:
            return True
    return False


_NO_SETS: Final[tuple[ToSets, ...]] = ((0, 0, 0, 0, 0),)


def _by_suit(hand: Mask) -> list[list[int]]:
    """The number of cards of each suit and rank."""
    counts = [[0] * 13 for _ in range(4)]
    while hand:
        for suit in range(4):
            lane, ranks = hand >> suit * LANE_BITS & LANE, counts[suit]
            while lane:
                bit = lane & -lane
                ranks[bit.bit_length() - 1] += 1
                lane ^= bit
        hand >>= COPY_BITS
    return counts


def _counts(numbers: Sequence[int]) -> Counts:
    return numbers[0], numbers[1], numbers[2], numbers[3]


@lru_cache(maxsize=1 << 12)
def _set_counts(
    held: Counts, owed: Counts, jokers: int, room: tuple[tuple[int, ...], ...], identical: bool, largest: int | None
) -> tuple[ToSets, ...]:
    """The numbers of cards by suit that sets can take, each with the fewest jokers, fewer cards first; none with a card
    that neither is owed nor needed."""
    filled: dict[Counts, int] = {}
    for clubs, diamonds, hearts, spades in product(*(range(copies + 1) for copies in held)):
        cards = (clubs, diamonds, hearts, spades)
        for missing in range(jokers + 1):
            if _fill_sets(cards, missing, room, identical, largest):
                filled[cards] = missing
                break
    found = [(*cards, missing) for cards, missing in filled.items() if not _spares(cards, owed, filled)]
    return tuple(sorted(found, key=sum))


def _spares(cards: Counts, owed: Counts, filled: dict[Counts, int]) -> bool:
    """Whether the sets could do without one of the cards that are not owed, and with no more jokers."""
    for suit in range(4):
        if cards[suit] > owed[suit]:
            fewer = list(cards)
            fewer[suit] -= 1
            if filled.get((fewer[0], fewer[1], fewer[2], fewer[3]), filled[cards] + 1) <= filled[cards]:
                return True
    return False


def _fill_sets(
    cards: Counts, jokers: int, room: tuple[tuple[int, ...], ...], identical: bool, largest: int | None
) -> bool:
    """Whether these cards of one rank make sets with so many jokers, after some went to the sets on the table."""
    if _make_sets(cards, jokers, identical, largest):
        return True
    if not room:
        return False
    *fits, most = room[0]
    at_most = [min(copies, most if identical else fit) for copies, fit in zip(cards, fits, strict=True)]
    for laid in product(*(range(number + 1) for number in at_most)):
        if sum(laid) <= most:
            left = (cards[0] - laid[0], cards[1] - laid[1], cards[2] - laid[2], cards[3] - laid[3])
            if _fill_sets(left, jokers, room[1:], identical, largest):
                return True
    return False


def _make_sets(cards: Counts, jokers: int, identical: bool, largest: int | None) -> bool:
    naturals = sum(cards)
    total = naturals + jokers
    if not naturals:
        return not jokers
    most = largest if largest is not None else total
    if not identical:
        most = min(most, 4)
    return any(
        SHORTEST * sets <= total <= most * sets and (identical or max(cards) <= sets)
        for sets in range(1, min(naturals, total // SHORTEST) + 1)
    )
