"""How all that is owed is used, once `cover` has found what goes to sets: melds and lay-offs, card by card.

With the sets given every suit goes its own way, with as few jokers as it can. So no meld is of jokers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rummy500_engine.cards import ACE, LANE_BITS, Card, Mask, hand_of, suit_of
from rummy500_engine.cover import HIGH_ACE, Counts, Cover, jokers_for, jokers_in_sets, laid_on
from rummy500_engine.melds import SHORTEST, Meld
from rummy500_engine.suits import PARTS, Open, Stand


class Laid(NamedTuple):
    """Natural cards of the hand and so many jokers: a new meld, or laid off on a meld of the table."""

    cards: Mask
    jokers: int
    meld: Meld | None


def covering(cover: Cover) -> list[Laid]:
    """What is laid, if the cover is possible and found so."""
    found: list[Laid] = []
    for suit in range(4):
        found += Lane(cover, suit).laid()
    for position in range(1, HIGH_ACE + 1):
        clubs, diamonds, hearts, spades, jokers = cover.chosen[position]
        if clubs or diamonds or hearts or spades:
            found += _laid_in_sets(cover, position % 13, (clubs, diamonds, hearts, spades), jokers)
    return found


class Run:
    """A run while it grows, from a low position up: in each place a card or a joker. `meld` is the run of the table
    that it goes on from, or that it joins."""

    def __init__(self, suit: int, start: int, meld: Meld | None) -> None:
        self.suit, self.start, self.meld = suit, start, meld
        self.joins = False
        self.are_jokers: list[bool] = []

    def laid(self, owed: list[int]) -> Iterator[Laid]:
        """The least of it that has all cards owed: a chain of three lay-offs is a meld of its own, an end that is not
        owed stays in the hand, and what is long falls apart."""
        first, end = 0, len(self.are_jokers)
        is_new = self.meld is None or end >= SHORTEST
        least = SHORTEST if is_new else 0
        while end - first > least and (is_new or not self.joins) and not self._is_owed(end - 1, owed):
            end -= 1
        while end - first > least and (is_new or self.joins) and not self._is_owed(first, owed):
            first += 1
        while end - first >= 2 * SHORTEST:
            yield self._piece(first, first + SHORTEST, None)
            first += SHORTEST
        if end > first:
            yield self._piece(first, end, None if is_new else self.meld)

    def _piece(self, first: int, end: int, meld: Meld | None) -> Laid:
        cards = [self._card(index) for index in range(first, end) if not self.are_jokers[index]]
        return Laid(hand_of(cards), end - first - len(cards), meld)

    def _card(self, index: int) -> Card:
        return self.suit * LANE_BITS + (self.start + index) % 13

    def _is_owed(self, index: int, owed: list[int]) -> bool:
        return not self.are_jokers[index] and owed[(self.start + index) % 13] > 0


class Lane:
    """One suit of a cover and its runs, position by position."""

    def __init__(self, cover: Cover, suit: int) -> None:
        self.cover, self.suit = cover, suit
        self.ones: list[Run] = []
        self.twos: list[Run] = []
        self.long: list[Run] = []
        """The open runs, by length."""
        self.done: list[Run] = []
        self.steps: list[tuple[int, Stand]] = []
        self.dead: set[tuple[int, Stand, int]] = set()
        """Positions, how the suit may stand before them, and jokers left that do not suffice."""
        runs = [meld for meld in cover.runs if suit_of(meld.placed[0].face) == suit]
        self.goes_on = [meld for meld in runs if meld.high_face is not None]
        self.joins = [meld for meld in runs if meld.low_face is not None]

    def laid(self) -> Iterator[Laid]:
        for position, (jokers, after) in enumerate(self._steps()):
            self._go_on(position, jokers, after)
        for run in self.done + self.long:
            yield from run.laid(self.cover.owed[self.suit])

    def _steps(self) -> list[tuple[int, Open]]:
        """By position the jokers in the runs of the suit, and the open runs after it: with fewest jokers in all."""
        cover, suit, suits = self.cover, self.suit, self.cover.suits
        jokers = cover.outlooks[HIGH_ACE + 1][suit].fewest_of(cover.end[suit]) // PARTS
        for stand, filled in suits.beginnings(cover.held[suit][ACE], cover.may_begin(suit, 0)):
            if filled <= jokers and self._leads_on(1, stand, jokers - filled):
                steps = [(filled, stand), *reversed(self.steps)]
                return [(more, suits.stands[after][0]) for more, after in steps]
        raise AssertionError(suit)

    def _leads_on(self, position: int, stand: Stand, jokers: int) -> bool:
        """Whether the suit, standing so before this position, can end with so many jokers; notes the steps, the last
        one first."""
        beyond = self.cover.outlooks[position][self.suit]
        if (position, stand, jokers) in self.dead or beyond.fewest(stand) > (jokers + self.cover.end[4]) * PARTS:
            return False
        if position > HIGH_ACE:
            return True
        followers = beyond.by_sets[self.cover.chosen[position][self.suit]]
        for more in range(jokers + 1):
            for after in followers.steps(stand, more):
                if self._leads_on(position + 1, after, jokers - more):
                    self.steps.append((more, after))
                    return True
        self.dead.add((position, stand, jokers))
        return False

    def _go_on(self, position: int, jokers: int, after: Open) -> None:
        """Lays the cards of one position on open runs, and begins new ones, so that the open runs are these after it:
        which of them, is all the same."""
        if not (after or self.ones or self.twos or self.long):
            return
        growing = min(len(self.twos), after.count(SHORTEST))
        extended = after.count(SHORTEST) - growing
        kept = after.count(2)
        joining = self.ones[kept:] + self.twos[growing:]
        if joining:
            for run, meld in zip(joining, [meld for meld in self.joins if meld.start == position], strict=False):
                run.meld, run.joins = meld, True
        if self.goes_on:
            ended = [meld for meld in self.goes_on if meld.start + meld.length == position]
            self.long += [Run(self.suit, position, meld) for meld in ended]
        self.done += joining + self.long[extended:]
        self.long = self.twos[:growing] + self.long[:extended]
        self.twos = self.ones[:kept]
        self.ones = [Run(self.suit, position, None) for _ in range(after.count(1))]
        for number, run in enumerate(self.ones + self.twos + self.long):
            run.are_jokers.append(number < jokers)


def _laid_in_sets(cover: Cover, rank: int, cards: Counts, jokers: int) -> Iterator[Laid]:
    """These cards of one rank in sets of the table, and with so many jokers in new ones."""
    sets = cover.catalogue.sets
    room = cover.room(rank)
    for number, meld in enumerate(cover.sets[rank]):
        for laid in sorted(laid_on(room[number], cards, sets.identical), key=sum):
            left = (cards[0] - laid[0], cards[1] - laid[1], cards[2] - laid[2], cards[3] - laid[3])
            if jokers_for(left, room[number + 1 :], sets.identical, sets.largest) <= jokers:
                for suit in range(4):
                    for _ in range(laid[suit]):
                        yield Laid(1 << suit * LANE_BITS + rank, 0, meld)
                cards = left
                break
    new, jokers = jokers_in_sets(cards, sets.identical, sets.largest)
    naturals = [suit * LANE_BITS + rank for suit in range(4) for _ in range(cards[suit])]
    for number in range(new):
        own = naturals[number::new]  # dealt round, so that equal cards come to different sets
        yield Laid(hand_of(own), len(range(number, len(naturals) + jokers, new)) - len(own), None)
