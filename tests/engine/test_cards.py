"""Hands are multisets of cards, whatever the number of packs; cards are read as people write them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummy500_engine.cards import (
    FACES,
    JOKER,
    UnreadableCard,
    add,
    card_text,
    cards_of,
    cards_text,
    count,
    hand_of,
    holds,
    rank_of,
    read_card,
    read_cards,
    remove,
    suit_of,
    without,
)

cards = st.sampled_from((*FACES, JOKER))
few_cards = st.lists(st.sampled_from((*FACES[:6], JOKER)), max_size=14)
"""Cards of which many are equal."""


@given(cards)
def test_a_card_reads_back_from_its_text(card: int) -> None:
    assert read_card(card_text(card)) == card == read_card(card_text(card).lower())


@given(st.lists(cards))
def test_a_list_of_cards_reads_back(hand: list[int]) -> None:
    assert list(read_cards(cards_text(hand))) == hand


def test_ten_is_read_in_both_ways() -> None:
    assert read_card("10H") == read_card("TH") == read_card("10h")
    assert card_text(read_card("10h")) == "TH"


@pytest.mark.parametrize("text", ["", "H", "1H", "11H", "100H", "TX", "ZZ", "AHH", "JK=8S", "J K", "🂡", "TH\x00"])
def test_what_is_no_card_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableCard):
        read_card(text)


def test_the_pack_is_written_clubs_to_spades_ace_to_king() -> None:
    assert cards_text(FACES[:14]) == "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AD"
    assert [(suit_of(card), rank_of(card)) for card in FACES] == [
        (suit, rank) for suit in range(4) for rank in range(13)
    ]


@given(few_cards)
def test_a_hand_is_a_multiset(held: list[int]) -> None:
    hand = hand_of(held)
    assert cards_of(hand) == sorted(held)
    assert hand.bit_count() == len(held)
    assert hand == hand_of(reversed(held))
    assert {card: count(hand, card) for card in set(held)} == Counter(held)


@given(few_cards, st.sampled_from(FACES[:6]))
def test_adding_and_removing_a_card_undo_each_other(held: list[int], card: int) -> None:
    hand = hand_of(held)
    assert add(hand, card) == hand_of([*held, card])
    assert remove(add(hand, card), card) == hand


@given(few_cards, few_cards)
def test_holding_and_taking_away_go_by_number(held: list[int], wanted: list[int]) -> None:
    hand = hand_of(held)
    enough = not Counter(wanted) - Counter(held)
    assert holds(hand, wanted) is enough
    if enough:
        assert cards_of(without(hand, wanted)) == sorted((Counter(held) - Counter(wanted)).elements())
