"""The bound on what melds can bring: it never refuses what they do bring, and at a plain table it is exact."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.engine.tables import rules_of, variant

from rummy500_engine.cards import JOKER, Mask, cards_of, hand_of, without
from rummy500_engine.minimum import reach_of, sure_reach_of
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, FirstMeld, JokerPoints, Jokers, Pack, Points, Sets, Specificity

HANDS = 60
DEAR = 4
TABLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "two packs": {"pack": Pack(decks=2), "sets": Sets(largest=None, identical=True)},
    "jokers": {
        "pack": Pack(jokers=3),
        "jokers": Jokers(),
        "placed_points": lambda card: Points(15, Specificity.NAMED_CARD) if card == JOKER else None,
    },
    "jokers that cost": {
        "pack": Pack(jokers=3),
        "placed_points": lambda card: Points(-12, Specificity.NAMED_CARD) if card == JOKER else None,
    },
    "represented": {"pack": Pack(jokers=3), "jokers": Jokers(scores=JokerPoints.REPRESENTED)},
    "represented, one card dear": {
        "pack": Pack(jokers=3),
        "jokers": Jokers(scores=JokerPoints.REPRESENTED),
        "placed_points": lambda card: Points(40, Specificity.NAMED_CARD) if card == DEAR else None,
    },
    "represented, two packs": {
        "pack": Pack(decks=2, jokers=1),
        "sets": Sets(largest=None, identical=True),
        "jokers": Jokers(scores=JokerPoints.REPRESENTED),
    },
    "round the corner": {"ace_ends": AceEnds.CORNER},
}


def table(name: str, *, single: bool) -> Rules:
    return rules_of(variant("table", first_meld=FirstMeld(True, 50, single), **TABLES[name]))


def crowded_hand(rules: Rules, dice: random.Random) -> Mask:
    suits = dice.sample(range(4), 2)
    pool = [card for card in rules.pack if card == JOKER or card // 16 in suits or card % 16 in (3, 4)]
    return hand_of(dice.sample(pool, 8 if JOKER in rules.pack else 11))


def most_points(rules: Rules, hand: Mask, *, single: bool) -> int:
    """By trying every set of melds that the hand can lay."""
    catalogue = rules.catalogue
    best = 0
    for meld in (*catalogue.natural_melds(hand), *catalogue.joker_melds(hand)):
        laid = catalogue.meld(1, catalogue.readings(meld)[0], 0)
        points = sum(rules.card_points(placed.card, placed.face, placed.low) for placed in laid.placed)
        rest = 0 if single else most_points(rules, without(hand, meld.cards), single=False)
        best = max(best, points + rest)
    return best


@pytest.mark.parametrize("single", [False, True], ids=["turn", "single"])
@pytest.mark.parametrize("name", list(TABLES))
def test_the_bound_refuses_nothing_that_melds_bring(name: str, single: bool) -> None:
    rules = table(name, single=single)
    dice = random.Random(f"{name} {single}")
    brought = 0
    for _ in range(HANDS):
        hand = crowded_hand(rules, dice)
        most = most_points(rules, hand, single=single)
        brought += most > 0
        assert reach_of(rules).can_reach(hand, most), f"{cards_of(hand)} bring {most}"
        if name in ("plain", "two packs", "jokers that cost"):
            assert not reach_of(rules).can_reach(hand, most + 1), f"{cards_of(hand)} bring {most} only"
    assert brought > HANDS // 3


@pytest.mark.parametrize("name", list(TABLES))
def test_what_melds_surely_bring_they_do_bring(name: str) -> None:
    rules = table(name, single=False)
    dice = random.Random(f"{name} surely")
    promised = brought = 0
    for _ in range(HANDS):
        hand = crowded_hand(rules, dice)
        most = most_points(rules, hand, single=False)
        assert sure_reach_of(rules).melding(hand, most + 1) is None, f"{cards_of(hand)} bring {most} only"
        promised += max([least for least in range(most + 1) if sure_reach_of(rules).melding(hand, least) is not None])
        brought += most
    assert promised > brought * (0.5 if JOKER in rules.pack else 0.85)
