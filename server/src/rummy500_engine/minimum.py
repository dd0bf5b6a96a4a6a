"""Whether melds of a hand could reach a minimum (RULES 2, `meld-first`): a bound that cuts the search of `finish`.

What the bound refuses cannot be reached; where it does not refuse, the search still has to find the plan. Each card
counts what it earns at best. Runs fall apart into pieces of three to five cards, and of a card and a joker that are
both at hand the meld laid first may as well have the card: so jokers stand only for cards that are missing. A joker
left over counts as if it were laid, unless it earns less than nothing: such a one is charged where a card is missing.
One that counts as the card for which it stands is worth the dearest card, less what the missing one falls short of it.

The same search, with cards at the least that they earn and nothing for jokers left over, finds melds that surely do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from rummy500_engine.cards import (
    ACES,
    COPY_BITS,
    DISTINCT,
    FACES,
    JOKER,
    LANE_BITS,
    Card,
    Mask,
    cards_of,
    count,
    hand_of,
    less,
    naturals_of,
    rank_of,
    remove,
    suit_of,
)
from rummy500_engine.melds import LANE
from rummy500_engine.rules import Rules
from rummy500_engine.terms import JokerPoints

LONGEST_PIECE = 5
REMEMBERED = 1 << 17
_EVERY_COPY: Final[Mask] = sum(1 << copy * COPY_BITS for copy in range(64))
"""The faces of a hand times this are all their copies."""


@lru_cache(maxsize=64)
def reach_of(rules: Rules) -> Reach:
    return Reach(rules)


class Use(NamedTuple):
    """What a meld earns beside jokers that are worth something, its natural cards, how many jokers are missing, and
    what the cards earn at best."""

    points: int
    cards: Mask
    missing: int
    worth: int


@lru_cache(maxsize=64)
def sure_reach_of(rules: Rules) -> Reach:
    """What melds surely bring: cards and jokers at the least that they earn, and jokers left over nothing."""
    return Reach(rules, sure=True)


class Reach:
    """The most points that melds can bring, at one table; it remembers hands that it has judged."""

    def __init__(self, rules: Rules, *, sure: bool = False) -> None:
        catalogue = self.catalogue = rules.catalogue
        self.single = rules.first_meld.single
        self.largest_set = rules.sets.largest
        self.identical = rules.sets.identical
        least = min(rules.placed_points) if sure else 0
        self.high = [max(least, rules.placed_points[card]) for card in range(JOKER)]
        self.low = [max(least, rules.low_ace_points[card]) for card in range(JOKER)]
        self.worth = [max(0, *pair) for pair in zip(self.high, self.low, strict=True)]
        either = [(min if sure else max)(pair) for pair in zip(self.high, self.low, strict=True)]
        highest = max(self.worth[card] for card in FACES)
        self.represented = rules.jokers.scores is JokerPoints.REPRESENTED
        self.joker_worth = highest if self.represented else max(0, rules.placed_points[JOKER])
        self.joker_cost = 0 if self.represented else min(0, rules.placed_points[JOKER])
        self.idle_cost = self.joker_worth if sure else 0
        """What is counted too much for a joker that is left over."""
        self.any_suit = min if sure else max
        self.longest = 13 if self.single else LONGEST_PIECE
        self.windows = tuple(
            tuple(
                (window, either if catalogue.corner else self.low if start == 0 else self.high)
                for window, start, length in catalogue.windows
                if window >> rank & 1 and length <= self.longest
            )
            for rank in range(13)
        )
        """For each rank the runs that hold it, and what cards earn in them: an ace is low in those that begin with it,
        and may be either where runs go round, since a piece does not tell."""
        self._melding: list[Use] = []
        self._missed: dict[tuple[Mask, int], int] = {}
        self._run_uses: dict[tuple[int, int, int], list[Use]] = {}
        self._set_uses: dict[tuple[int, ...], list[Use]] = {}
        self._lane_worth: dict[int, int] = {}

    def can_reach(self, hand: Mask, needed: int) -> bool:
        """False only if no melds of the hand, or no single one where the table wants that, bring so many points."""
        if self.single:
            return self._single_reaches(hand, needed)
        return self.melding(hand, needed) is not None

    def melding(self, hand: Mask, needed: int) -> list[Use] | None:
        """Melds that bring so many points, if every joker that is left over can be laid too; None: there are none."""
        jokers = count(hand, JOKER)
        self._melding = []
        naturals = naturals_of(hand)
        needed -= jokers * self.joker_worth
        return self._melding if self._reaches(naturals, jokers, needed, self._worth_of(naturals)) else None

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

    def _reaches(self, hand: Mask, jokers: int, needed: int, worth: int) -> bool:
        """`worth`: what the hand earns at best."""
        if needed + jokers * self.idle_cost <= 0:
            return True
        if not jokers:
            usable = hand & self.catalogue.meldable(hand) * _EVERY_COPY
            if usable != hand:
                hand, worth = usable, self._worth_of(usable)
        if worth < needed or not hand:
            return False
        key = (hand, jokers)
        if needed >= self._missed.get(key, needed + 1):
            return False
        card = _lowest(hand)
        for use in self._uses(hand, jokers, card):
            if needed - use.points <= worth - use.worth:
                self._melding.append(use)
                left = less(hand, use.cards)
                if self._reaches(left, jokers - use.missing, needed - use.points, worth - use.worth):
                    return True
                self._melding.pop()
        if self._reaches(remove(hand, card), jokers, needed, worth - self.worth[card]):
            return True
        if len(self._missed) >= REMEMBERED:
            self._missed.clear()
        self._missed[key] = min(needed, self._missed.get(key, needed))
        return False

    def _worth_of(self, hand: Mask) -> int:
        """What these natural cards earn at best."""
        worth = 0
        while hand:
            for suit in range(4):
                lane = suit << LANE_BITS | hand >> suit * LANE_BITS & LANE
                known = self._lane_worth.get(lane)
                if known is None:
                    cards = cards_of((lane & LANE) << suit * LANE_BITS)
                    known = self._lane_worth[lane] = sum([self.worth[card] for card in cards])
                worth += known
            hand >>= COPY_BITS
        return worth

    def _uses(self, hand: Mask, jokers: int, card: Card) -> list[Use]:
        """Melds with this card, the dearest first; jokers fill what is missing."""
        lane, rank = hand >> suit_of(card) * LANE_BITS & LANE, rank_of(card)
        runs = self._run_uses.get((lane, card, jokers))
        if runs is None:
            runs = self._run_uses[lane, card, jokers] = self._runs_with(lane, jokers, card)
        held = [count(hand, suit * LANE_BITS + rank) for suit in range(4)]
        if not self.identical:
            held = [min(1, copies) for copies in held]
        key = (*held, card, jokers)
        sets = self._set_uses.get(key)
        if sets is None:
            if len(self._set_uses) >= REMEMBERED:
                self._set_uses.clear()
            sets = self._set_uses[key] = self._sets_with(held, jokers, card)
        if not runs or not sets:
            return runs or sets
        return sorted(runs + sets, reverse=True)

    def _runs_with(self, lane: int, jokers: int, card: Card) -> list[Use]:
        found: set[Use] = set()
        for window, worth in self.windows[rank_of(card)]:
            held = window & lane
            missing = window.bit_count() - held.bit_count()
            if missing <= jokers:
                suit = suit_of(card) * LANE_BITS
                cards = cards_of(held << suit)
                filled = [worth[each] for each in cards_of((window ^ held) << suit)]
                found.add(self._use(sum([worth[each] for each in cards]), cards, filled))
        return sorted(found, reverse=True)

    def _sets_with(self, held: list[int], jokers: int, card: Card) -> list[Use]:
        found: set[Use] = set()
        same = [suit * LANE_BITS + rank_of(card) for suit in range(4) for _ in range(held[suit])]
        same.remove(card)
        filling = self.any_suit([self.high[suit * LANE_BITS + rank_of(card)] for suit in range(4)])
        most = len(same) if self.largest_set is None else min(len(same), self.largest_set - 1)
        for size in range(max(0, 2 - jokers), most + 1):
            for others in _combinations(tuple(same), size):
                cards = [card, *others]
                filled = [filling] * max(0, 2 - size)
                found.add(self._use(sum([self.high[each] for each in cards]), cards, filled))
        return sorted(found, reverse=True)

    def _use(self, points: int, cards: list[Card], filled: list[int]) -> Use:
        """`filled`: what the cards that jokers stand for earn at best."""
        missing = len(filled)
        points += sum(filled) - missing * self.joker_worth if self.represented else missing * self.joker_cost
        return Use(points, hand_of(cards), missing, sum([self.worth[card] for card in cards]))


@lru_cache(maxsize=1 << 12)
def _combinations(cards: tuple[Card, ...], size: int) -> frozenset[tuple[Card, ...]]:
    if not size:
        return frozenset([()])
    return frozenset(
        (cards[first], *others) for first in range(len(cards)) for others in _combinations(cards[first + 1 :], size - 1)
    )


def _lowest(hand: Mask) -> Card:
    """A card of the lowest rank; of the aces, which stand at either end, if there are any."""
    faces = hand & DISTINCT
    ranks = (faces | faces >> LANE_BITS | faces >> 2 * LANE_BITS | faces >> 3 * LANE_BITS) & LANE
    rank = (ranks & -ranks).bit_length() - 1
    suits = faces >> rank & ACES
    return (suits & -suits).bit_length() - 1 + rank
