"""Listing is bounded with three packs, forty cards and four jokers in hand: so many entries, and so much work.

Work is counted in calls of functions, not in time: on one core of a small machine 40,000 take some ten milliseconds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from types import FrameType

import pytest

from rummy500_catalog import Catalog
from rummy500_engine.actions import Call
from rummy500_engine.calls import CallScope, CallTerms, LegalCalls
from rummy500_engine.cards import JOKER, cards_of, hand_of, without
from rummy500_engine.legal import LISTED_AT_MOST
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase, Poll

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


@pytest.mark.parametrize("table", ["three packs", "large sets"])
def test_listing_while_five_cards_are_owed_takes_bounded_work(table: str) -> None:
    rules = rules_of(table)
    for number in range(POSITIONS):
        round = crowded(rules, Phase.PLAY, random.Random(number))
        owed = [card for card in cards_of(round.hands[0]) if card != JOKER]
        round.must_use = hand_of(random.Random(number).sample(owed, 5))
        round.target = cards_of(round.must_use)[0]
        assert calls_of(partial(round.legal_actions, 0)) < 4 * MOST_CALLS


@pytest.mark.parametrize("table", ["three packs", "large sets"])
def test_takes_that_owe_every_card_take_bounded_work(table: str) -> None:
    rules = rules_of(table)
    for number in range(2):
        round = crowded(rules, Phase.DRAW, random.Random(number))
        round.stock = []
        assert calls_of(partial(round.legal_actions, 0)) < 20 * MOST_CALLS


@pytest.mark.parametrize("stock", [True, False], ids=["stock", "no stock"])
def test_a_call_is_legal_where_it_is_listed(stock: bool) -> None:
    """Whether one call is among the legal ones is found without the others."""
    rules, found = rules_of("three packs"), 0
    for number in range(2):
        round = crowded(rules, Phase.DRAW, random.Random(number))
        hand = cards_of(round.hands[0])[::3]
        round.hands[0], round.pile = hand_of([*hand, JOKER]), round.pile[:12]
        round.stock = round.stock if stock else []
        round.phase = Phase.POLL
        round.poll = Poll(variant="v", name="call", card=round.pile[-1], by=1, asked=(0,), seconds=5)
        with_hand = CallTerms(CallScope.WITH_HAND)
        asked = {*LegalCalls(round, 0, with_hand), *LegalCalls(round, 0, CallTerms())}
        for terms in (with_hand, CallTerms(), CallTerms(CallScope.TOP), CallTerms(CallScope.WITH_HAND, card_only=True)):
            listed = LegalCalls(round, 0, terms)
            assert {call for call in asked if call in listed} == {*listed} & asked
            found += len(listed) - 1
    assert found > 100


def test_calls_with_a_crowded_hand_take_bounded_work() -> None:
    rules = rules_of("three packs")
    round = crowded(rules, Phase.DRAW, random.Random(0))
    listed = LegalCalls(round, 0, CallTerms(CallScope.WITH_HAND))
    assert calls_of(lambda: [*islice(listed, LISTED_AT_MOST)]) < 4 * MOST_CALLS
    call = next(call for call in listed if isinstance(call, Call) and call.with_cards)
    assert calls_of(lambda: call in listed) < 500


def test_the_hand_of_the_bounds_is_forty_cards_and_four_jokers() -> None:
    hand = crowded(rules_of("three packs"), Phase.PLAY, random.Random(0)).hands[0]
    assert hand.bit_count() == 40
    assert without(hand, [JOKER] * 4).bit_count() == 36
