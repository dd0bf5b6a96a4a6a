"""What plans say of many plays at once is what the search finds for each; a naive one checks that elsewhere."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from tests.engine.tables import rules_of, variant
from tests.engine.test_exactness import chosen_pack, some_melds

from rummy500_catalog import Catalog
from rummy500_engine.actions import LayMeld
from rummy500_engine.cards import JOKER, cards_of, hand_of, less, naturals_of, remove
from rummy500_engine.finish import Search
from rummy500_engine.legal import legal_actions, refusal
from rummy500_engine.melds import Meld
from rummy500_engine.plans import Plans, decides
from rummy500_engine.plugins import Plugin
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, FirstMeld, GoingOut, Jokers, Pack, Phase, Sets, TakeDuty
from rummy500_engine.turn import TurnState, can_lay_off_on

POSITIONS = 150 if os.environ.get("RUMMY500_LONG") else 12

PACK = Pack(decks=2, jokers=2)
TABLES: dict[str, Plugin] = {
    "jokers": variant("v", pack=PACK),
    "two packs": variant("v", pack=Pack(decks=2)),
    "large sets": variant("v", pack=PACK, sets=Sets(largest=None, identical=True)),
    "equal cards in sets": variant("v", pack=PACK, sets=Sets(largest=4, identical=True)),
    "two natural cards": variant("v", pack=PACK, jokers=Jokers(min_natural=2)),
    "round the corner": variant("v", pack=PACK, ace_ends=AceEnds.CORNER),
    "low aces": variant("v", pack=PACK, ace_ends=AceEnds.LOW_ONLY),
    "a discard is kept": variant("v", pack=PACK, going_out=GoingOut.DISCARD),
    "an unplayable discard is kept": variant("v", pack=PACK, going_out=GoingOut.DISCARD_UNPLAYABLE),
    "the target in a meld": variant("v", pack=PACK, take_duty=TakeDuty(top_too=True, new_meld=True)),
    "the target first": variant("v", pack=PACK, take_duty=TakeDuty(top_too=True, first_play=True)),
    "a meld first": variant("v", pack=PACK, first_meld=FirstMeld(required=True), own_melds_only=True),
}


def position(rules: Rules, dice: random.Random) -> TurnState:
    """A turn in which two to five cards of a dozen are owed, at times a joker among them."""
    cards: list[int] = []
    while not cards:  # the melds of the table may have taken all
        cards = chosen_pack(rules, dice)
        melds = tuple(some_melds(rules, cards, dice))
    hand = sorted(cards[: dice.randint(8, 12)])
    jokers = hand.count(JOKER)
    hand = hand[: len(hand) - max(0, jokers - 2)]
    owed = dice.sample(hand, min(len(hand), dice.randint(2, 5)))
    duty = rules.take_duty
    return TurnState(
        seat=0,
        hand=hand_of(hand),
        must=hand_of(owed),
        target=owed[0],
        banned=owed[0] if dice.random() < 0.2 else None,
        melds=melds,
        melded=dice.random() < 0.5,
        first_play=duty.first_play,
        new_meld=duty.new_meld,
    )


def searched(rules: Rules, state: TurnState, meld: LayMeld) -> bool:
    """Whether the turn can be finished after the meld, by the search alone."""
    if state.first_play and state.target not in meld.cards:
        return False
    used = hand_of(meld.cards)
    laid = rules.catalogue.meld(len(state.melds) + 1, rules.catalogue.readings(meld)[0], 0)
    points = sum([rules.card_points(placed.card, placed.face, placed.low) for placed in laid.placed])
    if rules.first_meld.single and not (state.melded or state.laid) and points < rules.first_meld.minimum:
        return False
    after = state._replace(
        hand=less(state.hand, used),
        must=less(state.must, used),
        melds=(*state.melds, laid),
        laid=True,
        laid_points=state.laid_points + points,
        best=points,
        first_play=False,
    )
    return Search(rules).finished(after) is not None


@pytest.mark.parametrize("table", TABLES)
def test_plans_allow_the_melds_after_which_the_search_finds_an_end(table: str) -> None:
    rules = rules_of(TABLES[table])
    dice = random.Random(table)
    said: Counter[bool | None] = Counter()
    for _ in range(POSITIONS):
        state = position(rules, dice)
        if not decides(rules, state):
            continue
        plans = Plans(rules, state)
        catalogue = rules.catalogue
        melds = [*catalogue.natural_melds(state.hand), *catalogue.joker_melds(state.hand)]
        asked: dict[tuple[tuple[int, ...], int], list[LayMeld]] = {}
        for meld in dice.sample(melds, min(len(melds), 40)):
            faces, _, jokers = parts(meld)
            asked.setdefault((faces, jokers), []).append(meld)
        for (faces, jokers), alike in asked.items():
            allowed = plans.allows_each(faces, [parts(meld)[1] for meld in alike], jokers)
            for meld, each in zip(alike, allowed, strict=True):
                assert each in (None, searched(rules, state, meld)), f"{meld} in {state}"
                said[each] += 1
    assert said[True] > POSITIONS
    assert said[False] > POSITIONS
    assert said[None] < 0.35 * said.total()


@pytest.mark.parametrize("table", TABLES)
def test_plans_know_whether_a_turn_can_be_finished(table: str) -> None:
    rules = rules_of(TABLES[table])
    dice = random.Random(f"{table}, as it stands")
    said: Counter[bool | None] = Counter()
    for _ in range(POSITIONS * 5):
        state = position(rules, dice)
        if decides(rules, state):
            finishes = Plans(rules, state).can_finish()
            assert finishes in (None, Search(rules).finished(state) is not None), state
            said[finishes] += 1
    assert said[True] > POSITIONS / 2
    assert said[False] > POSITIONS / 2
    assert said[None] < 0.35 * said.total()


@pytest.mark.parametrize("table", TABLES)
def test_plans_allow_the_lay_offs_after_which_the_search_finds_an_end(table: str) -> None:
    rules = rules_of(TABLES[table])
    dice = random.Random(f"{table}, lay-offs")
    said: Counter[bool | None] = Counter()
    for _ in range(POSITIONS * 5):
        state = position(rules, dice)._replace(melded=True, first_play=False)
        plans = Plans(rules, state) if decides(rules, state) else None
        for number, meld in enumerate(state.melds if plans is not None else ()):
            for face in cards_of(meld.fits) if can_lay_off_on(rules, 0, meld) else ():
                for card in {face, JOKER}:
                    if plans is None or not state.hand >> card & 1:
                        continue
                    end = meld.ends_taking(face)[0]
                    grown = rules.catalogue.extended(meld, card=card, face=face, seat=0, end=end)
                    settles = not (state.new_meld and card == state.target)
                    after = state._replace(
                        hand=remove(state.hand, card),
                        must=less(state.must, 1 << card) if settles else state.must,
                        melds=(*state.melds[:number], grown, *state.melds[number + 1 :]),
                    )
                    allowed = plans.allows_lay_off(meld, card)
                    assert allowed in (None, Search(rules).finished(after) is not None), f"{card} on {meld} in {state}"
                    said[allowed] += 1
    assert said[True] > POSITIONS / 4


@pytest.mark.parametrize("exchange", ["off", "exact"])
def test_what_is_listed_while_several_cards_are_owed_is_what_is_accepted(exchange: str) -> None:
    """A joker that comes to the hand in an exchange may be what the turn can be finished with."""
    options = {"jokers.exchange": exchange, "jokers.per_deck": 3}
    rules = Catalog().rules(variants=("jokers", "two-decks"), options=options)
    dice = random.Random(exchange)
    by_exchange = 0
    for _ in range(POSITIONS * 2):
        round = Round(rules, number=1, dealer=1, seed=bytes(32))
        cards = chosen_pack(rules, dice)
        round.melds = list(joker_melds(rules, cards, dice))
        round.opened = [1, 1]
        round.refit()
        hand = cards[: dice.randint(5, 9)]
        round.hands[0], round.phase, round.stock = hand_of(hand), Phase.PLAY, cards[9:12]
        naturals = [card for card in hand if card != JOKER]
        round.must_use = hand_of(dice.sample(naturals, min(3, len(naturals))))
        round.target = cards_of(round.must_use)[0]
        listed = {action for action in legal_actions(round, 0) if isinstance(action, LayMeld)}
        melds = {*rules.catalogue.natural_melds(round.hands[0]), *rules.catalogue.joker_melds(round.hands[0])}
        assert listed == {meld for meld in melds if refusal(round, 0, meld) is None}
        plans = Plans(rules, turn_of(round))
        by_exchange += any(
            plans.allows_each(faces, [used], jokers) == [False] for faces, used, jokers in map(parts, listed)
        )
    assert (by_exchange > 0) is (exchange == "exact")


def joker_melds(rules: Rules, cards: list[int], dice: random.Random) -> list[Meld]:
    """Up to two melds of these cards with a joker each."""
    laid = []
    for number in range(1, dice.randint(1, 2) + 1):
        found = [meld for meld in rules.catalogue.joker_melds(hand_of(cards)) if len(meld.cards) == 3]
        if found:
            chosen = dice.choice(found)
            for card in chosen.cards:
                cards.remove(card)
            laid.append(rules.catalogue.meld(number, rules.catalogue.readings(chosen)[0], dice.randrange(2)))
    return laid


def parts(meld: LayMeld) -> tuple[tuple[int, ...], int, int]:
    return meld.stands_for or meld.cards, naturals_of(hand_of(meld.cards)), meld.cards.count(JOKER)


def turn_of(round: Round) -> TurnState:
    return TurnState(
        seat=0,
        hand=round.hands[0],
        must=round.must_use,
        target=round.target,
        banned=None,
        melds=tuple(round.melds),
        melded=True,
    )
