"""Listing is bounded with three packs, forty cards and four jokers in hand: so many entries, and so much work.

Work is counted in calls of functions, not in time: on one core of a small machine 40,000 take some ten milliseconds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

import pytest

from rummy500_catalog import Catalog
from rummy500_engine.cards import JOKER, hand_of, without
from rummy500_engine.legal import LISTED_AT_MOST
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase

MOST_CALLS = 40_000
POSITIONS = 5
THREE_PACKS = {"two-decks.decks": 3, "jokers.per_deck": 4}
LARGE_SETS = {"two-decks.identical_in_set": True, "two-decks.set_max": "none"}
TABLES: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
    "three packs": ((), {}),
    "large sets": ((), LARGE_SETS),
    "two natural cards": ((), {"jokers.min_natural": 2, "jokers.scores": "represented"}),
    "the pile plays on": (("stock-out",), {}),
}


def rules_of(name: str) -> Rules:
    variants, options = TABLES[name]
    return Catalog().rules(variants=("jokers", "two-decks", *variants), options={**THREE_PACKS, **options})


def crowded(rules: Rules, phase: Phase, dice: random.Random) -> Round:
    """Forty cards and four jokers among them in hand, thirty in the pile, six melds on the table."""
    round = Round(rules, number=1, dealer=1, seed=bytes(32))
    pack = [card for card in rules.pack if card != JOKER]
    dice.shuffle(pack)
    round.hands[0] = hand_of([*[JOKER] * 4, *[pack.pop() for _ in range(36)]])
    round.hands[1] = hand_of([pack.pop() for _ in range(5)])
    round.pile = [pack.pop() for _ in range(30)]
    for number in range(1, 7):
        meld = dice.choice(rules.catalogue.natural_melds(hand_of(pack)))
        round.melds.append(rules.catalogue.meld(number, rules.catalogue.readings(meld)[0], number % 2))
        round.opened[number % 2] += 1
        for card in meld.cards:
            pack.remove(card)
    round.refit()
    round.stock, round.phase = pack, phase
    return round


def calls_of(do: Callable[[], object]) -> int:
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        do()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("phase", [Phase.DRAW, Phase.PLAY], ids=lambda phase: phase.value)
@pytest.mark.parametrize("table", list(TABLES))
def test_listing_takes_bounded_work(table: str, phase: Phase) -> None:
    rules = rules_of(table)
    for number in range(POSITIONS):
        round = crowded(rules, phase, random.Random(number))
        listed = round.legal_actions(0)
        assert 0 < len(listed) <= LISTED_AT_MOST
        again = crowded(rules, phase, random.Random(number))
        assert calls_of(partial(again.legal_actions, 0)) < MOST_CALLS


def test_the_hand_of_the_bounds_is_forty_cards_and_four_jokers() -> None:
    hand = crowded(rules_of("three packs"), Phase.PLAY, random.Random(0)).hands[0]
    assert hand.bit_count() == 40
    assert without(hand, [JOKER] * 4).bit_count() == 36
