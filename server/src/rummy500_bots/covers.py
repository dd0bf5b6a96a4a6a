"""The most points that the natural cards of a hand can lay at once, counted on masks: what bots weigh a hand by.

The melds are those of the engine's catalogue. What may really be laid, and what jokers can do, the legal actions say;
this is only the quick sum behind a choice between them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rummy500_engine.actions import LayMeld
from rummy500_engine.cards import COPY_BITS, DISTINCT, LANE_BITS, NATURALS, Mask, hand_of
from rummy500_engine.melds import LANE
from rummy500_engine.rules import Rules

Cover = tuple[int, Mask]
"""Points, and the cards that earn them."""
NOTHING: Final[Cover] = (0, 0)
REMEMBERED: Final = 1 << 15


@lru_cache(maxsize=64)
def covers_of(rules: Rules) -> Covers:
    return Covers(rules)


class Covers:
    """The covers at one table; the best of each hand is worked out once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._runs: dict[int, tuple[Cover, ...]] = {}
        self._sets: dict[int, tuple[Cover, ...]] = {}
        self._best: dict[Mask, Cover] = {}

    def best(self, hand: Mask) -> Cover:
        """The cover of most points. Of equal cards each is counted with those of other faces only."""
        points, used = self._best_of(self._rules.catalogue.meldable(hand & DISTINCT))
        while hand > DISTINCT:
            hand >>= COPY_BITS
            more, again = self._best_of(self._rules.catalogue.meldable(hand & DISTINCT))
            points, used = points + more, used | again
        return points, used

    def _best_of(self, cards: Mask) -> Cover:
        if not cards:
            return NOTHING
        best = self._best.get(cards)
        if best is None:
            if len(self._best) >= REMEMBERED:
                self._best.clear()
            best = self._best[cards] = self._search(cards)
        return best

    def _search(self, cards: Mask) -> Cover:
        """Either the lowest card is used in one of its melds, or it is left."""
        lowest = cards & -cards
        meldable = self._rules.catalogue.meldable
        best = self._best_of(meldable(cards ^ lowest))
        for points, meld in self._melds_with(cards, lowest.bit_length() - 1):
            more, used = self._best_of(meldable(cards & ~meld))
            if points + more > best[0]:
                best = points + more, used | meld
        return best

    def _melds_with(self, cards: Mask, card: int) -> list[Cover]:
        suit, rank = divmod(card, LANE_BITS)
        bit = 1 << card
        found = [meld for meld in self.runs(suit, cards >> suit * LANE_BITS & LANE) if meld[1] & bit]
        held = cards >> rank
        four = held & 1 | held >> 15 & 2 | held >> 30 & 4 | held >> 45 & 8
        if four.bit_count() > 2:
            found += [meld for meld in self.sets(rank, four) if meld[1] & bit]
        return found

    def runs(self, suit: int, lane: int) -> tuple[Cover, ...]:
        """The runs of a lane, each with its points."""
        key = suit << LANE_BITS | lane
        runs = self._runs.get(key)
        if runs is None:
            runs = self._runs[key] = self._priced(self._rules.catalogue.suit_runs(suit, lane))
        return runs

    def sets(self, rank: int, suits: int) -> tuple[Cover, ...]:
        """The sets of a rank, `suits` masking those held."""
        key = rank << 4 | suits
        sets = self._sets.get(key)
        if sets is None:
            hand = sum(1 << suit * LANE_BITS + rank for suit in range(4) if suits >> suit & 1)
            sets = self._sets[key] = self._priced(self._rules.catalogue.rank_sets_in(hand & NATURALS, rank))
        return sets

    def _priced(self, melds: tuple[LayMeld, ...]) -> tuple[Cover, ...]:
        return tuple([(self.points(meld), hand_of(meld.cards)) for meld in melds])

    def points(self, meld: LayMeld) -> int:
        """What the meld earns when it is laid."""
        return meld_points(self._rules, meld)


def meld_points(rules: Rules, meld: LayMeld) -> int:
    """What the meld earns when it is laid: read by the engine."""
    shape = rules.catalogue.readings(meld)[0]
    placed = shape.places(0, rules.catalogue.corner)
    return sum([rules.card_points(card.card, card.face, card.low) for card in placed])
