"""The cover decided rank by rank says what the search says, which is checked against a naive one elsewhere; and what it
finds possible can be laid out."""

from __future__ import annotations

import os
import random

import pytest
from tests.engine.tables import rules_of, variant

from rummy500_engine.cards import JOKER, cards_of, count, hand_of, joined, less, naturals_of, remove, with_jokers
from rummy500_engine.cover import Cover
from rummy500_engine.covering import Laid, covering
from rummy500_engine.finish import Search
from rummy500_engine.melds import Meld
from rummy500_engine.plugins import Plugin
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, Pack, Sets
from rummy500_engine.turn import TurnState

POSITIONS = 4_000 if os.environ.get("RUMMY500_LONG") else 400

TABLES: dict[str, Plugin | None] = {
    "classic": None,
    "two packs": variant("v", pack=Pack(decks=2)),
    "two packs, equal cards in sets": variant("v", pack=Pack(decks=2), sets=Sets(4, True)),
    "two packs, sets without limit": variant("v", pack=Pack(decks=2), sets=Sets(None, True)),
    "three packs": variant("v", pack=Pack(decks=3)),
    "jokers": variant("v", pack=Pack(jokers=2)),
    "two packs with jokers": variant("v", pack=Pack(decks=2, jokers=1)),
    "two packs with jokers, sets without limit": variant("v", pack=Pack(decks=2, jokers=2), sets=Sets(None, True)),
    "low aces": variant("v", ace_ends=AceEnds.LOW_ONLY),
    "high aces": variant("v", ace_ends=AceEnds.HIGH_ONLY),
}


def state_of(rules: Rules, dice: random.Random) -> TurnState:
    """A hand of few ranks, so that its cards have to do with each other, some of it owed, and melds on the table."""
    ranks = range(dice.choice((5, 9, 13)))
    pack = [card for card in rules.pack if card == JOKER or card % 16 in ranks or dice.random() < 0.2]
    dice.shuffle(pack)
    melds: list[Meld] = []
    for _ in range(dice.randint(0, 2)):
        laid = dice.choice(rules.catalogue.natural_melds(hand_of(rules.pack)))
        if all(laid.cards.count(card) <= pack.count(card) for card in laid.cards):
            for card in laid.cards:
                pack.remove(card)
            melds.append(rules.catalogue.meld(len(melds) + 1, rules.catalogue.readings(laid)[0], 0))
    hand = sorted(pack[: dice.randint(5, 14)])
    naturals = [card for card in hand if card != JOKER]
    owed = dice.sample(naturals, dice.randint(1, min(6, len(naturals))))
    return TurnState(
        seat=0, hand=hand_of(hand), must=hand_of(owed), target=None, banned=None, melds=tuple(melds), melded=True
    )


@pytest.mark.parametrize("table", TABLES)
def test_what_can_be_covered_is_what_the_search_finds(table: str) -> None:
    plugin = TABLES[table]
    rules = rules_of(*([plugin] if plugin else []))
    dice = random.Random(table)
    applied = 0
    for _ in range(POSITIONS):
        state = state_of(rules, dice)
        cover = Cover(rules.catalogue, hand=state.hand, owed=state.must, melds=state.melds)
        if cover.applies:
            applied += 1
            assert cover.is_possible() is (Search(rules).finished(state) is not None), state
    assert applied > POSITIONS * 0.9


@pytest.mark.parametrize("table", TABLES)
def test_a_cover_that_is_possible_can_be_laid_out(table: str) -> None:
    plugin = TABLES[table]
    rules = rules_of(*([plugin] if plugin else []))
    dice = random.Random(f"{table}, laid out")
    for _ in range(POSITIONS):
        state = state_of(rules, dice)
        cover = Cover(rules.catalogue, hand=state.hand, owed=state.must, melds=state.melds)
        if cover.applies and cover.is_possible():
            check_is_laid_out(rules, state, covering(cover))


@pytest.mark.parametrize("table", TABLES)
def test_a_cover_to_which_cards_come_says_what_a_new_one_says(table: str) -> None:
    plugin = TABLES[table]
    rules = rules_of(*([plugin] if plugin else []))
    dice = random.Random(f"{table}, one by one")
    said: set[bool] = set()
    for _ in range(POSITIONS // 4):
        state = state_of(rules, dice)
        pile = [card for card in cards_of(state.hand) if card != JOKER]
        dice.shuffle(pile)
        hand, owed = less(state.hand, hand_of(pile)), 0
        growing = Cover(rules.catalogue, hand=hand, owed=owed, melds=state.melds)
        for card in pile:
            hand, owed = joined(hand, 1 << card), joined(owed, 1 << card)
            growing.owe(card)
            cover = Cover(rules.catalogue, hand=hand, owed=owed, melds=state.melds)
            if cover.applies:
                said.add(cover.is_possible())
                assert growing.is_possible() is cover.is_possible(), f"{card} in {state}"
    assert len(said) == 2


def check_is_laid_out(rules: Rules, state: TurnState, laid: list[Laid]) -> None:
    """What is laid are cards of the hand, each once; it makes melds and lay-offs, and uses all that is owed."""
    used, jokers = 0, sum([each.jokers for each in laid])
    for cards, filling, meld in laid:
        used = joined(used, cards)
        if meld is None:
            hand = with_jokers(cards, filling)
            melds = [*rules.catalogue.natural_melds(hand), *rules.catalogue.joker_melds(hand)]
            assert any(len(each.cards) == hand.bit_count() for each in melds), f"{laid} in {state}"
    assert not less(used, naturals_of(state.hand)), f"{laid} in {state}"
    assert not less(state.must, used), f"{laid} in {state}"
    assert jokers <= count(state.hand, JOKER)
    for meld in state.melds:
        on_it = [each for each in laid if each.meld is meld]
        cards = hand_of([card for each in on_it for card in cards_of(each.cards)])
        filling = sum([each.jokers for each in on_it])
        assert can_all_be_laid_off(rules, meld, with_jokers(cards, filling)), f"{laid} in {state}"


def can_all_be_laid_off(rules: Rules, meld: Meld, cards: int) -> bool:
    if not cards:
        return True
    for face in cards_of(meld.fits):
        for card in {face, JOKER}:
            for end in meld.ends_taking(face) if cards >> card & 1 else ():
                grown = rules.catalogue.extended(meld, card=card, face=face, seat=0, end=end)
                if can_all_be_laid_off(rules, grown, remove(cards, card)):
                    return True
    return False
