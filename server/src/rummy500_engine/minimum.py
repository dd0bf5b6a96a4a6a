"""Whether melds of a hand could reach a minimum (RULES 2, `meld-first`): a bound that cuts the search of `finish`.

What the bound refuses cannot be reached; where it does not refuse, the search still has to find the plan. Each card
counts what it earns at best. Runs fall apart into pieces of three to five cards, and of a card and a joker that are
both at hand the meld laid first may as well have the card: so jokers stand only for cards that are missing, and a joker
left over counts as if it were laid.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rummy500_engine.cards import (
    ACE,
    FACES,
    JOKER,
    LANE_BITS,
    Card,
    Mask,
    cards_of,
    count,
    hand_of,
    naturals_of,
    rank_of,
    remove,
    suit_of,
    without,
)
from rummy500_engine.melds import LANE
from rummy500_engine.rules import Rules
from rummy500_engine.terms import JokerPoints

LONGEST_PIECE = 5
REMEMBERED = 1 << 17


@lru_cache(maxsize=64)
def reach_of(rules: Rules) -> Reach:
    return Reach(rules)


class Use(NamedTuple):
    """The natural cards of a meld, what they earn, and how many jokers are missing."""

    points: int
    cards: tuple[Card, ...]
    missing: int


class Reach:
    """The most points that melds can bring, at one table; it remembers hands that it has judged."""

    def __init__(self, rules: Rules) -> None:
        catalogue = self.catalogue = rules.catalogue
        self.single = rules.first_meld.single
        self.largest_set = rules.sets.largest
        self.identical = rules.sets.identical
        self.high = [max(0, rules.placed_points[card]) for card in range(JOKER)]
        self.low = [max(0, rules.low_ace_points[card]) for card in range(JOKER)]
        self.worth = [max(pair) for pair in zip(self.high, self.low, strict=True)]
        highest = max(self.worth[card] for card in FACES)
        represented = rules.jokers.scores is JokerPoints.REPRESENTED
        self.joker_worth = highest if represented else max(0, rules.placed_points[JOKER])
        self.longest = 13 if self.single else LONGEST_PIECE
        self.windows = tuple(
            tuple(
                (window, self.worth if catalogue.corner else self.low if start == 0 else self.high)
                for window, start, length in catalogue.windows
                if window >> rank & 1 and length <= self.longest
            )
            for rank in range(13)
        )
        """For each rank the runs that hold it, and what cards earn in them: an ace is low in those that begin with it,
        and may be either where runs go round, since a piece does not tell."""
        self._melding: list[Use] = []
        self._missed: dict[tuple[Mask, int], int] = {}

    def can_reach(self, hand: Mask, needed: int) -> bool:
        """False only if no melds of the hand, or no single one where the table wants that, bring so many points."""
        if self.single:
            return self._single_reaches(hand, needed)
        return self.melding(hand, needed) is not None

    def melding(self, hand: Mask, needed: int) -> list[Use] | None:
        """Melds that bring so many points, if every joker that is left over can be laid too; None: there are none."""
        jokers = count(hand, JOKER)
        self._melding = []
        return self._melding if self._reaches(naturals_of(hand), jokers, needed - jokers * self.joker_worth) else None

    def _single_reaches(self, hand: Mask, needed: int) -> bool:
        jokers, naturals = count(hand, JOKER), naturals_of(hand)
        cards = cards_of(naturals)
        needed -= jokers * self.joker_worth
        if needed <= 0:
            return True
        lanes: dict[tuple[bool, int], int] = {}
        for card in cards if self.identical else set(cards):
            for lane in ((True, suit_of(card)), (False, rank_of(card))):
                lanes[lane] = lanes.get(lane, 0) + self.worth[card]
        if max(lanes.values(), default=0) < needed:
            return False
        return any(use.points >= needed for card in set(cards) for use in self._uses(naturals, jokers, card))

    def _reaches(self, hand: Mask, jokers: int, needed: int) -> bool:
        if needed <= 0:
            return True
        cards = cards_of(hand)
        if not jokers:
            usable = self.catalogue.meldable(hand)
            cards = [card for card in cards if usable >> card & 1]
            hand = hand_of(cards)
        if sum([self.worth[card] for card in cards]) < needed:
            return False
        key = (hand, jokers)
        if needed >= self._missed.get(key, needed + 1):
            return False
        card = min(cards, key=_by_rank)
        for use in self._uses(hand, jokers, card):
            self._melding.append(use)
            if self._reaches(without(hand, use.cards), jokers - use.missing, needed - use.points):
                return True
            self._melding.pop()
        if self._reaches(remove(hand, card), jokers, needed):
            return True
        if len(self._missed) >= REMEMBERED:
            self._missed.clear()
        self._missed[key] = min(needed, self._missed.get(key, needed))
        return False

    def _uses(self, hand: Mask, jokers: int, card: Card) -> list[Use]:
        """Melds with this card, the dearest first; jokers fill what is missing."""
        found: set[Use] = set()
        suit, rank = suit_of(card), rank_of(card)
        lane = hand >> suit * LANE_BITS & LANE
        for window, worth in self.windows[rank]:
            held = window & lane
            missing = window.bit_count() - held.bit_count()
            if missing <= jokers:
                cards = tuple(cards_of(held << suit * LANE_BITS))
                found.add(Use(sum([worth[each] for each in cards]), cards, missing))
        same = [other for other in cards_of(remove(hand, card)) if rank_of(other) == rank]
        if not self.identical:
            same = sorted(set(same) - {card})
        most = len(same) if self.largest_set is None else min(len(same), self.largest_set - 1)
        for size in range(max(0, 2 - jokers), most + 1):
            for others in _combinations(tuple(same), size):
                cards = (card, *others)
                found.add(Use(sum([self.high[each] for each in cards]), cards, max(0, 2 - size)))
        return sorted(found, reverse=True)


@lru_cache(maxsize=1 << 12)
def _combinations(cards: tuple[Card, ...], size: int) -> frozenset[tuple[Card, ...]]:
    if not size:
        return frozenset([()])
    return frozenset(
        (cards[first], *others) for first in range(len(cards)) for others in _combinations(cards[first + 1 :], size - 1)
    )


def _by_rank(card: Card) -> tuple[bool, int, int]:
    """Aces, which stand at either end, first; then from the low cards up."""
    return rank_of(card) != ACE, rank_of(card), card
