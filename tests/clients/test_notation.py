"""The client's text of actions and melds, and which lines of notation do the same."""

from __future__ import annotations

import pytest

from rummy500.v1.action_pb2 import Action, Call, Discard, Draw, LayMeld, LayOff, LegalActions, Pass, Reading, Take
from rummy500.v1.card_pb2 import (
    CARD_7S,
    CARD_8C,
    CARD_8D,
    CARD_8H,
    CARD_8S,
    CARD_9H,
    CARD_AS,
    CARD_JH,
    CARD_JK,
    CARD_TH,
    RUN_END_LOW,
    Card,
)
from rummy500.v1.meld_pb2 import MELD_KIND_RUN, Meld
from rummy500_client.notation import (
    CARD_TEXTS,
    action_text,
    card_number,
    legal_actions,
    same_actions_key,
    shown_meld_text,
    table_meld_text,
    without_faces,
)


def test_every_card_of_the_contract_has_its_text() -> None:
    assert len(CARD_TEXTS) == len(Card.values()) == 54
    assert [card_number(text) for text in CARD_TEXTS[1:]] == list(range(1, 54))
    assert card_number("10h") == CARD_TH
    assert card_number("1H") is None


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Action(draw=Draw()), "draw"),
        (Action(passing=Pass()), "pass"),
        (Action(take=Take(card=CARD_9H)), "take 9H"),
        (Action(take=Take(card=CARD_9H, place=3)), "take 9H@3"),
        (Action(lay_meld=LayMeld(cards=[CARD_9H, CARD_TH, CARD_JH])), "meld 9H TH JH"),
        (
            Action(lay_meld=LayMeld(cards=[CARD_8C, CARD_8D, CARD_JK], stands_for=[CARD_8C, CARD_8D, CARD_8S])),
            "meld 8C 8D JK=8S",
        ),
        (Action(lay_off=LayOff(card=CARD_AS, meld=2, end=RUN_END_LOW)), "layoff AS m2 low"),
        (Action(lay_off=LayOff(card=CARD_JK, stands_for=CARD_7S, meld=2)), "layoff JK=7S m2"),
        (Action(discard=Discard(card=CARD_8S)), "discard 8S"),
        (Action(call=Call(card=CARD_8H, meld=2)), "call 8H m2"),
        (Action(call=Call(card=CARD_8H, with_cards=[CARD_9H, CARD_TH])), "call 8H with 9H TH"),
    ],
)
def test_an_action_is_written_in_notation(action: Action, text: str) -> None:
    assert action_text(action) == text


def test_each_reading_of_a_meld_with_jokers_is_an_action_of_its_own() -> None:
    low, high = ([CARD_7S, CARD_8S, CARD_9H], [CARD_8S, CARD_9H, CARD_TH])
    meld = LayMeld(cards=[CARD_8S, CARD_9H, CARD_JK], readings=[Reading(stands_for=low), Reading(stands_for=high)])
    actions = legal_actions(LegalActions(can_draw=True, melds=[meld], discards=[CARD_8S]))
    assert [action.WhichOneof("kind") for action in actions] == ["draw", "lay_meld", "lay_meld", "discard"]
    assert [list(action.lay_meld.stands_for) for action in actions[1:3]] == [low, high]
    assert not actions[1].lay_meld.readings


def test_a_meld_prints_with_who_laid_what() -> None:
    meld = Meld(
        id=1,
        kind=MELD_KIND_RUN,
        cards=[CARD_8H, CARD_9H, CARD_TH, CARD_JH],
        placed_by=[1, 0, 0, 0],
        laid_by=0,
        laid_off=[0],
    )
    assert shown_meld_text(meld, ["anna", "ben"]) == "8H (ben) 9H TH JH (anna)"
    assert table_meld_text(meld, ["anna", "ben"]) == "9H TH JH by anna; 8H by ben"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("meld 9H TH JH", "meld jh 10h 9H"),
        ("take 9H", "take 9h@3"),
        ("layoff QH m1", "LAYOFF qh M1"),
        ("call 8H with 9H TH", "call 8h with 10H 9H"),
        ("meld AS 2S 3S low", "meld 3S 2S AS low"),
    ],
)
def test_lines_that_do_the_same_have_one_key(one: str, other: str) -> None:
    pile = ["9H", "2C", "9H"]
    assert same_actions_key(one, pile) == same_actions_key(other, pile)


def test_a_deeper_card_of_the_same_face_is_another_take() -> None:
    pile = ["9H", "2C", "9H"]
    assert same_actions_key("take 9H@1", pile) != same_actions_key("take 9H", pile)


def test_a_corner_meld_of_thirteen_begins_with_its_lowest_card() -> None:
    ranks = "3456789TJQKA2"
    written = "meld " + " ".join(f"{rank}S" for rank in ranks)
    turned = "meld " + " ".join(f"{rank}S" for rank in ranks[1:] + ranks[:1])
    assert same_actions_key(written) != same_actions_key(turned)


def test_a_joker_may_be_named_without_its_face() -> None:
    assert without_faces(same_actions_key("meld 6S 7S JK=8S")) == without_faces(same_actions_key("meld JK 7S 6S"))
