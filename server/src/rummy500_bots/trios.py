"""The melds of three at one table, by their cards: which two others make a meld with a card, and which third completes
a pair. They are read off the engine's catalogue; jokers and equal cards are left out."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from rummy500_engine.cards import FACES, LANE_BITS, Card, Mask
from rummy500_engine.melds import SHORTEST
from rummy500_engine.rules import Rules

Pair = tuple[Card, Mask]
"""A partner, and the cards of which each makes a meld with the two."""


@lru_cache(maxsize=64)
def trios_of(rules: Rules) -> Trios:
    return Trios(rules)


class Trios:
    """`others[card]`: the pairs, as masks, that make a meld with it; `pairs[card]`: its partners of higher number."""

    def __init__(self, rules: Rules) -> None:
        trios = _trios(rules)
        self.others: list[tuple[Mask, ...]] = [()] * (FACES[-1] + 1)
        self.pairs: list[tuple[Pair, ...]] = [()] * (FACES[-1] + 1)
        for card in FACES:
            bit = 1 << card
            others = tuple([trio ^ bit for trio in trios if trio & bit])
            self.others[card] = others
            self.pairs[card] = tuple(_pairs(card, others))


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


def _pairs(card: Card, others: tuple[Mask, ...]) -> list[Pair]:
    found = []
    for partner in FACES:
        outs = 0
        for two in others:
            if two >> partner & 1:
                outs |= two ^ 1 << partner
        if outs and partner > card:
            found.append((partner, outs))
    return found
