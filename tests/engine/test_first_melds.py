"""What is said of many melds at once, while first melds must reach a minimum, is what the search finds for each."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest
from tests.engine.tables import rules_of, variant
from tests.engine.test_plans import position, searched

from rummy500_engine.cards import JOKER, count, hand_of, naturals_of
from rummy500_engine.finish import Search, can_finish
from rummy500_engine.first_melds import FirstMelds
from rummy500_engine.plans import Plans, decides, reaches_minimum
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, FirstMeld, GoingOut, JokerPoints, Jokers, Pack, Points, Sets, Specificity
from rummy500_engine.turn import TurnState

POSITIONS = 120 if os.environ.get("RUMMY500_LONG") else 12
TWO_PACKS = Pack(decks=2)
JOKERS: dict[str, Any] = {
    "pack": Pack(decks=2, jokers=1),
    "placed_points": lambda card: Points(15, Specificity.NAMED_CARD) if card == JOKER else None,
}
TABLES: dict[str, dict[str, Any]] = {
    "two packs": {"pack": TWO_PACKS},
    "large sets": {"pack": TWO_PACKS, "sets": Sets(largest=None, identical=True)},
    "jokers": JOKERS,
    "jokers that count as their card": {**JOKERS, "jokers": Jokers(scores=JokerPoints.REPRESENTED)},
    "two natural cards": {**JOKERS, "jokers": Jokers(min_natural=2)},
    "round the corner": {"pack": TWO_PACKS, "ace_ends": AceEnds.CORNER},
    "a discard is kept": {"pack": TWO_PACKS, "going_out": GoingOut.DISCARD},
}


def table(name: str, *, minimum: int, single: bool = False) -> Rules:
    return rules_of(variant("v", first_meld=FirstMeld(required=True, minimum=minimum, single=single), **TABLES[name]))


def turn(rules: Rules, dice: random.Random, *, owes: bool) -> TurnState:
    """A turn of a player who has no meld; at times one was laid in it that did not reach the minimum."""
    state = position(rules, dice)._replace(melded=False, banned=None)
    if not owes:
        state = state._replace(must=0, target=None)
    laid = dice.choice((0, 0, 15))
    return state._replace(laid=laid > 0, laid_points=laid) if not rules.first_meld.single else state


@pytest.mark.parametrize("owes", [False, True], ids=["nothing owed", "cards owed"])
@pytest.mark.parametrize("name", TABLES)
def test_first_melds_are_allowed_where_the_search_reaches_the_minimum(name: str, owes: bool) -> None:
    dice = random.Random(f"{name} {owes}")
    said: Counter[bool | None] = Counter()
    for number in range(POSITIONS):
        rules = table(name, minimum=dice.choice((30, 50, 70)), single=number % 4 == 0)
        state = turn(rules, dice, owes=owes)
        if reaches_minimum(rules, state) or (owes and not decides(rules, state)):
            continue
        known = FirstMelds(rules, state, Plans(rules, state) if state.must else None)
        catalogue = rules.catalogue
        melds = [*catalogue.natural_melds(state.hand), *catalogue.joker_melds(state.hand)]
        for meld in dice.sample(melds, min(len(melds), 25)):
            cards = naturals_of(hand_of(meld.cards))
            faces, jokers = meld.stands_for or meld.cards, meld.cards.count(JOKER)
            truth = searched(rules, state, meld)
            (allowed,) = known.allows_each(faces, [cards], jokers)
            assert allowed in (None, truth), f"{meld} in {state}, {rules.first_meld}"
            assert truth or not known.allows_all(cards, jokers)
            said[allowed] += 1
        assert count(state.hand, JOKER) <= 2
    assert said[True] + said[False] > POSITIONS


@pytest.mark.parametrize("name", TABLES)
def test_a_turn_that_owes_and_has_a_minimum_can_be_finished_where_the_search_finds_how(name: str) -> None:
    dice = random.Random(name)
    said: Counter[bool] = Counter()
    for number in range(10 * POSITIONS):
        rules = table(name, minimum=dice.choice((15, 30, 50)), single=number % 4 == 0)
        state = turn(rules, dice, owes=True)
        if not state.must:
            continue
        truth = Search(rules).finished(state) is not None
        assert can_finish(rules, state) is truth, f"{state}, {rules.first_meld}"
        said[truth] += 1
    assert min(said[True], said[False]) > POSITIONS
