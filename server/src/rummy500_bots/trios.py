"""The melds of three at one table, by their cards: which two others make a meld with a card, and which third completes
a pair. They are read off the engine's catalogue; jokers and equal cards are left out.

Rollouts ask for them thousands of times a second: what the few cards around a card make of it is worked out once."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from rummy500_engine.cards import FACES, LANE_BITS, Card, Mask
from rummy500_engine.melds import SHORTEST
from rummy500_engine.rules import Rules


@lru_cache(maxsize=64)
def trios_of(rules: Rules) -> Trios:
    return Trios(rules)


class Trios:
    """`others[card]`: the pairs, as masks, that make a meld with it, and `around[card]` all cards of these;
    `partners[card]`: those of higher number, and `outs[card]` by the bit of a partner the cards of which each makes a
    meld with the two."""

    def __init__(self, rules: Rules) -> None:
        trios = _trios(rules)
        cards = FACES[-1] + 1
        self.others: list[tuple[Mask, ...]] = [()] * cards
        self.around: list[Mask] = [0] * cards
        self.partners: list[Mask] = [0] * cards
        self.outs: list[dict[Mask, Mask]] = [{} for _ in range(cards)]
        self._among: list[dict[Mask, tuple[Mask, ...]]] = [{} for _ in range(cards)]
        for card in FACES:
            bit = 1 << card
            others = self.others[card] = tuple([trio ^ bit for trio in trios if trio & bit])
            for two in others:
                self.around[card] |= two
            self.outs[card] = _outs(card, others)
            self.partners[card] = sum(self.outs[card])

    def among(self, card: Card, cards: Mask) -> tuple[Mask, ...]:
        """The pairs among the cards that make a meld with this one."""
        near = cards & self.around[card]
        found = self._among[card].get(near)
        if found is None:
            found = self._among[card][near] = tuple([two for two in self.others[card] if near & two == two])
        return found


def _trios(rules: Rules) -> list[Mask]:
    runs = [
        window << suit * LANE_BITS
        for suit in range(4)
        for window, _, length in rules.catalogue.windows
        if length == SHORTEST
    ]
    threes = list(combinations(range(4), SHORTEST))
    sets = [sum(1 << suit * LANE_BITS + rank for suit in three) for rank in range(13) for three in threes]
    return [*runs, *sets]


def _outs(card: Card, others: tuple[Mask, ...]) -> dict[Mask, Mask]:
    found: dict[Mask, Mask] = {}
    for partner in FACES:
        bit = 1 << partner
        outs = 0
        for two in others:
            if two & bit:
                outs |= two ^ bit
        if outs and partner > card:
            found[bit] = outs
    return found
