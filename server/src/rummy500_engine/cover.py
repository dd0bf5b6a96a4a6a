"""Whether all cards owed can be used together: an exact cover, decided rank by rank.

Going from the low ace up, all that matters of the cards below a rank is which runs are open in each suit and how long
they are, counted to three: a run of three may end or go on. Suits touch each other in sets only: once it is said how
many cards of each suit go to the sets of each rank, every suit goes on by itself. So what is carried from rank to rank
are boxes: for each suit, all ways in which it may stand. Each way to make sets makes a box. An `Outlook` says how few
jokers a suit needs to the end: the most promising box comes first, one that has not the jokers is left alone, and so is
one that lies within another that led to nothing.

Boxes are large because with a way to stand goes every one that can do no more (`suits`).

A run on the table is an open run at its high end, and at its low end an open run of any length may join it. A set
without a card owed is of no use, and no run has to begin more than four ranks below a card that is owed, since longer
runs fall apart.

Jokers are counted in the ways: so many stand in the runs of a suit. They stand for missing cards only, as `pieces` has
it, and what fewer of them can do is as good.

It applies at tables where only the duty of a take can forbid the end of a turn, and no joker is owed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from rummy500_engine.cards import ACE, COPY_BITS, JOKER, LANE_BITS, Card, Mask, count, rank_of, suit_of
from rummy500_engine.meld_catalogue import MeldCatalogue
from rummy500_engine.melds import LANE, SHORTEST, Kind, Meld
from rummy500_engine.suits import NEVER, PARTS, Followers, Outlook, Place, Ways, suits_of

HIGH_ACE: Final = 13
"""The last position."""
_REACH: Final = 5
"""A run has a card that is owed among its first five, or falls apart into runs of which one begins later."""

Box = tuple[Ways, Ways, Ways, Ways, int]
"""How the suits may stand, and how many jokers are in sets."""
Counts = tuple[int, int, int, int]
"""A number of cards of each suit."""
ToSets = tuple[int, int, int, int, int]
"""A number of cards of each suit that go to sets of one rank, and of jokers with them."""
Shares = tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, int]]
"""For each suit, by the number of its cards that go to sets of one rank, at least the part that they take of the jokers
there."""
Room = tuple[tuple[int, ...], ...]
"""For each set of the table of one rank, which suits fit, and how many cards it takes."""


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
        self.runs: list[Meld] = []
        self.both_ends: list[tuple[int, int]] = []
        """The suit of each run of the table that an ace could join at either end, and how many aces it takes."""
        for meld in () if catalogue.corner else melds:
            self._note(meld)
        self.jokers = count(hand, JOKER)
        self.suits = suits_of(self.jokers)
        self.to_sets: list[tuple[ToSets, ...]] = [_NO_SETS] * (HIGH_ACE + 1)
        """For each position the numbers of cards that may go to sets of its rank."""
        self.shares: list[Shares] = [_NO_SHARES] * (HIGH_ACE + 1)
        for position in range(HIGH_ACE + 1):
            self._weigh_sets(position)
        end = Outlook(self.suits, [], [], None)
        self.outlooks = [[end] * 4 for _ in range(HIGH_ACE + 2)]
        """For each position and suit how the suit goes on from there to the end."""
        for suit in range(4):
            self._look_out(suit, HIGH_ACE, changed=0)
        self.dead: list[list[Box]] = [[] for _ in range(HIGH_ACE + 2)]
        """For each position boxes before it that lead to nothing."""
        self.chosen: list[ToSets] = []
        """What goes to sets at each position, once it is known that all is possible."""
        self.end: Box = (0, 0, 0, 0, 0)
        """How the suits stand then in the end."""

    def _note(self, meld: Meld) -> None:
        face = meld.placed[0].face
        if meld.kind is Kind.SET:
            if meld.fits:
                self.sets[rank_of(face)].append(meld)
            return
        self.runs.append(meld)
        suit = suit_of(face)
        last = meld.start + meld.length - 1
        if meld.start < SHORTEST and last > HIGH_ACE - SHORTEST:
            self.both_ends.append((suit, 1 - (meld.start == 0) - (last == HIGH_ACE)))
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
        last = HIGH_ACE if rank == ACE else rank
        before = self.shares[last]
        for position in {rank, last}:
            self._weigh_sets(position)
        for each in range(4):
            if each == suit:
                self._look_out(each, last, changed=0 if rank == ACE else last - _REACH)
            elif self.shares[last][each] != before[each]:
                self._look_out(each, last, changed=last)
        for position in range(last + 1):
            self.dead[position].clear()

    def is_possible(self) -> bool:
        """Whether all that is owed can be melded or laid off, with other cards of the hand. Only where it applies."""
        begin = [self.suits.begin(self.held[suit][ACE], self.may_begin(suit, 0)) for suit in range(4)]
        needed = sum([self.outlooks[1][suit].fewest_of(begin[suit]) for suit in range(4)])
        self.chosen = [_NO_SETS[0]]
        return needed <= self.jokers * PARTS and self._ends(1, (begin[0], begin[1], begin[2], begin[3], 0))

    def _ends(self, position: int, box: Box) -> bool:
        """Whether the suits, standing so before this position, can go on to the end."""
        if position > HIGH_ACE:
            self.end = box
            return True
        dead = self.dead[position + 1]
        for after, cards in self._boxes_after(position, box):
            if not (dead and _lies_in(after, dead)):
                self.chosen.append(cards)
                if self._ends(position + 1, after):
                    return True
                self.chosen.pop()
                dead.append(after)
        return False

    def _boxes_after(self, position: int, box: Box) -> list[tuple[Box, ToSets]]:
        """The boxes after this position that may have jokers enough to go on, those that need fewest first. Ways that
        leave too few jokers for the other suits are left out."""
        outlooks = self.outlooks[position]
        by_clubs, clubs = outlooks[0].ahead(box[0])
        by_diamonds, diamonds = outlooks[1].ahead(box[1])
        by_hearts, hearts = outlooks[2].ahead(box[2])
        by_spades, spades = outlooks[3].ahead(box[3])
        found: list[tuple[int, int, Box, ToSets]] = []
        up_to = self.suits.up_to
        for cards in self.to_sets[position]:
            c, d, h, s, jokers = cards
            in_sets = box[4] + jokers
            left = (self.jokers - in_sets) * PARTS - by_clubs[c] - by_diamonds[d] - by_hearts[h] - by_spades[s]
            if left >= 0:
                after = (
                    clubs[c] & up_to[(left + by_clubs[c]) // PARTS],
                    diamonds[d] & up_to[(left + by_diamonds[d]) // PARTS],
                    hearts[h] & up_to[(left + by_hearts[h]) // PARTS],
                    spades[s] & up_to[(left + by_spades[s]) // PARTS],
                    in_sets,
                )
                found.append((-left, len(found), after, cards))
        found.sort()
        return [(after, cards) for _, _, after, cards in found]

    def _look_out(self, suit: int, last: int, *, changed: int) -> None:
        """Sees anew how the suit goes on from each position up to the last; from `changed` on its cards are others."""
        beyond = self.outlooks[last + 1][suit]
        for position in range(last, 0, -1):
            if position >= changed:
                shares = self.shares[position][suit]
                by_sets = self._followers_at(position, suit, max(shares))
                choices = [(share, by_sets[laid]) for laid, share in shares.items()]
            else:
                before = self.outlooks[position][suit]
                by_sets, choices = before.by_sets, before.choices
            beyond = self.outlooks[position][suit] = Outlook(self.suits, by_sets, choices, beyond)

    def _followers_at(self, position: int, suit: int, most: int) -> list[Followers]:
        """How the suit goes on there, by the number of its cards, up to `most`, that are laid in sets."""
        at_ace = position == HIGH_ACE
        held, owed = self.held[suit][position % 13], self.owed[suit][position % 13]
        joins, goes_on = self.joins[suit][position], self.goes_on[suit][position]
        may_begin = self.may_begin(suit, position)
        in_runs = self.catalogue.high or not at_ace
        followers = self.suits.followers
        return [
            followers(Place(held - laid, owed - laid, at_ace, in_runs, joins, goes_on, may_begin))
            for laid in range(most + 1)
        ]

    def may_begin(self, suit: int, position: int) -> int:
        """How many runs that begin there may be of use: as many as cards owed are near, if they can grow."""
        if position > HIGH_ACE - 1 or (position == 0 and not self.catalogue.low):
            return 0
        owed, joins = self.owed[suit], self.joins[suit]
        near = sum(owed[position : position + _REACH])
        if position + _REACH > HIGH_ACE:
            near += owed[ACE]
        if not near or self.jokers:
            return near
        following = self._in_runs(suit, position + 2) + joins[position + 2]
        return min(near, joins[position + 1] + min(self._in_runs(suit, position + 1), following))

    def _in_runs(self, suit: int, position: int) -> int:
        if position < HIGH_ACE:
            return self.held[suit][position]
        return self.held[suit][ACE] if position == HIGH_ACE and self.catalogue.high else 0

    def _weigh_sets(self, position: int) -> None:
        """Sees anew how many cards of each suit may go to sets of this rank, new or on the table."""
        rank = position % 13
        held, owed = self.counts(self.held, rank), self.counts(self.owed, rank)
        if any(owed):
            sets = self.catalogue.sets
            self.to_sets[position], self.shares[position] = _set_counts(
                held, owed, self.jokers, self.room(rank), sets.identical, sets.largest
            )

    def counts(self, by_suit: list[list[int]], rank: int) -> Counts:
        return by_suit[0][rank], by_suit[1][rank], by_suit[2][rank], by_suit[3][rank]

    def room(self, rank: int) -> Room:
        return tuple(
            [
                (
                    *[meld.fits >> rank + suit * LANE_BITS & 1 for suit in range(4)],
                    self.catalogue.largest_set - meld.length,
                )
                for meld in self.sets[rank]
            ]
        )


def _lies_in(box: Box, others: list[Box]) -> bool:
    clubs, diamonds, hearts, spades, jokers = box
    for other in reversed(others):  # a box lies most often in one that was found dead just now
        outside = clubs & ~other[0] or diamonds & ~other[1] or hearts & ~other[2] or spades & ~other[3]
        if not outside and jokers >= other[4]:
            return True
    return False


_NO_SETS: Final[tuple[ToSets, ...]] = ((0, 0, 0, 0, 0),)
_NO_SHARES: Final[Shares] = ({0: 0}, {0: 0}, {0: 0}, {0: 0})


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


@lru_cache(maxsize=1 << 12)
def _set_counts(
    held: Counts, owed: Counts, jokers: int, room: Room, identical: bool, largest: int | None
) -> tuple[tuple[ToSets, ...], Shares]:
    """The numbers of cards by suit that sets can take, each with the fewest jokers, fewer cards first; none with a card
    that neither is owed nor needed. And the shares of the jokers."""
    filled: dict[Counts, int] = {}
    for clubs, diamonds, hearts, spades in product(*(range(copies + 1) for copies in held)):
        cards = (clubs, diamonds, hearts, spades)
        missing = jokers_for(cards, room, identical, largest)
        if missing <= jokers:
            filled[cards] = missing
    found = [(*cards, missing) for cards, missing in filled.items() if not _spares(cards, owed, filled)]
    shares: Shares = ({}, {}, {}, {})
    for option in found:
        bearing = [min(option[suit], owed[suit]) for suit in range(4)]
        share = option[4] * PARTS // max(1, sum(bearing))
        for suit in range(4):
            laid = option[suit]
            shares[suit][laid] = min(share * bearing[suit], shares[suit].get(laid, NEVER))
    for suit in range(4):
        by_share = sorted(shares[suit].items(), key=_by_share)
        shares[suit].clear()
        shares[suit].update(by_share)
    return tuple(sorted(found, key=sum)), shares


def _by_share(share: tuple[int, int]) -> int:
    return share[1]


def _spares(cards: Counts, owed: Counts, filled: dict[Counts, int]) -> bool:
    """Whether the sets could do without one of the cards that are not owed, and with no more jokers."""
    for suit in range(4):
        if cards[suit] > owed[suit]:
            fewer = list(cards)
            fewer[suit] -= 1
            if filled.get((fewer[0], fewer[1], fewer[2], fewer[3]), filled[cards] + 1) <= filled[cards]:
                return True
    return False


def jokers_for(cards: Counts, room: Room, identical: bool, largest: int | None) -> int:
    """The fewest jokers with which these cards of one rank make sets, after some went to the sets on the table."""
    fewest = jokers_in_sets(cards, identical, largest)[1]
    if not room or not fewest:
        return fewest
    for laid in laid_on(room[0], cards, identical):
        left = (cards[0] - laid[0], cards[1] - laid[1], cards[2] - laid[2], cards[3] - laid[3])
        fewest = min(fewest, jokers_for(left, room[1:], identical, largest))
    return fewest


def laid_on(room: tuple[int, ...], cards: Counts, identical: bool) -> Iterator[Counts]:
    """What of these cards one set of the table may take."""
    *fits, most = room
    at_most = [min(copies, most if identical else fit) for copies, fit in zip(cards, fits, strict=True)]
    for clubs, diamonds, hearts, spades in product(*(range(number + 1) for number in at_most)):
        if clubs + diamonds + hearts + spades <= most:
            yield clubs, diamonds, hearts, spades


def jokers_in_sets(cards: Counts, identical: bool, largest: int | None) -> tuple[int, int]:
    """How many new sets these cards of one rank make with the fewest jokers, and how many those are."""
    naturals = sum(cards)
    sets = min(naturals, 1) if largest is None else -(-naturals // largest)
    if not identical:
        sets = max(sets, -(-naturals // 4), *cards)
    return sets, max(0, SHORTEST * sets - naturals)
