"""The text of actions and melds: what is written reads back, what cannot be read is refused with one code."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import deal, dealt, meld_of, rules_of, variant
from tests.engine.throwaway import LOOKOUT

from rummy500_engine.actions import (
    DRAW,
    PASS,
    Action,
    Call,
    Discard,
    End,
    LayMeld,
    LayOff,
    Take,
    VariantAction,
)
from rummy500_engine.cards import FACES, JOKER, cards_of, read_card, read_cards
from rummy500_engine.notation import read_action, write_action, write_meld
from rummy500_engine.position import meld_placements, melds_of
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Pack
from rummy500_kit.laws import round_of as current

RULES = rules_of(LOOKOUT, variant("jokers", pack=Pack(decks=2, jokers=2)))

faces = st.sampled_from(FACES)
cards = st.sampled_from((*FACES, JOKER))
ends = st.sampled_from((None, End.LOW, End.HIGH))
numbers = st.integers(1, 40)
places = st.integers(0, 99)


@st.composite
def melds(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cards, and what each stands for: said for some joker, or not at all."""
    chosen = tuple(draw(st.lists(cards, min_size=1, max_size=13)))
    said = tuple(draw(cards) if card == JOKER else card for card in chosen)
    return chosen, () if said == chosen else said


@st.composite
def actions(draw: st.DrawFn) -> Action:
    match draw(st.sampled_from(["draw", "pass", "take", "discard", "meld", "layoff", "call", "with", "boast"])):
        case "draw":
            return DRAW
        case "pass":
            return PASS
        case "take":
            return Take(draw(cards), draw(places))
        case "discard":
            return Discard(draw(cards))
        case "meld":
            return LayMeld(*draw(melds()), draw(ends))
        case "layoff":
            card = draw(cards)
            said = draw(faces) if card == JOKER and draw(st.booleans()) else None
            return LayOff(card, draw(numbers), draw(ends), said)
        case "call":
            return Call(draw(faces), draw(places), draw(numbers), (), (), draw(ends))
        case "with":
            chosen = tuple(draw(st.lists(faces, min_size=2, max_size=6)))
            return Call(draw(faces), draw(places), 0, chosen, (), draw(ends))
        case _:
            shown, where = tuple(draw(st.lists(cards, max_size=3))), draw(st.sampled_from(["", "m1", "to all"]))
            return VariantAction("lookout", "boast", shown, where)


@given(actions())
def test_an_action_reads_back_from_its_text(action: Action) -> None:
    assert read_action(write_action(action), RULES) == action


@given(actions())
def test_case_and_spaces_do_not_matter(action: Action) -> None:
    text = write_action(action)
    if not isinstance(action, VariantAction):
        assert read_action(f"  {text.replace(' ', '   ').lower()} ", RULES) == action
        assert read_action(text.upper(), RULES) == action


words = st.sampled_from(
    [
        *[
            "draw",
            "pass",
            "take",
            "discard",
            "meld",
            "layoff",
            "call",
            "with",
            "boast",
            "low",
            "high",
            "m1",
            "m0",
            "m999",
            "m1000",
            "JK",
            "JK=8S",
            "8S=9S",
            "JK=JK",
            "TH",
        ],
        *["10h", "9S@3", "9S@", "@3", "9S@-1", "=", "m"],
        *("\N{PLAYING CARD ACE OF SPADES}", "M\N{ARABIC-INDIC DIGIT ONE}", "9S@\N{SUPERSCRIPT TWO}", "\0"),
    ]
)


@given(st.one_of(st.text(st.characters(max_codepoint=0x2FFF), max_size=60), st.lists(words, max_size=6).map(" ".join)))
def test_any_line_is_an_action_or_refused_as_unknown(line: str) -> None:
    try:
        action = read_action(line, RULES)
    except Refused as refused:
        code = refused.code
    else:
        code = ""
        assert read_action(write_action(action), RULES) == action
    assert code in ("", "UNKNOWN_ACTION")


@pytest.mark.parametrize(
    "line",
    [
        "", "   ", "fly", "draw 7S", "take", "take 7S 8S", "discard", "meld", "meld 7S 8X 9S", "layoff 7S m1 m2",
        "layoff 7S n1", "layoff", "layoff 7S=8S m1", "meld JK=JK 7S 8S", "call", "pass now", "take 9S@x", "d" * 600,
        "discard " + "7S " * 300,
    ],
)  # fmt: skip
def test_a_line_that_is_no_action_is_refused(line: str) -> None:
    with pytest.raises(Refused) as refused:
        read_action(line, RULES)
    assert refused.value.code == "UNKNOWN_ACTION"
    assert len(refused.value.sentence) < 800


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("take 9H", Take(read_card("9H"))),
        ("take 9H@3", Take(read_card("9H"), 3)),
        ("meld 6S 7S JK=8S", LayMeld(read_cards("6S 7S JK"), read_cards("6S 7S 8S"))),
        ("meld 6S 7S JK", LayMeld(read_cards("6S 7S JK"))),
        ("layoff QH m1", LayOff(read_card("QH"), 1)),
        ("layoff QH", LayOff(read_card("QH"), 0)),
        ("layoff AS m2 low", LayOff(read_card("AS"), 2, End.LOW)),
        ("layoff JK=7S m2", LayOff(JOKER, 2, None, read_card("7S"))),
        ("call 8S@2 m1", Call(read_card("8S"), 2, 1)),
        ("call AS m2 low", Call(read_card("AS"), 0, 2, (), (), End.LOW)),
        ("call 8H with 9H TH", Call(read_card("8H"), 0, 0, read_cards("9H TH"))),
    ],
)
def test_the_lines_of_the_notation_page(line: str, action: Action) -> None:
    assert read_action(line, RULES) == action


# --- melds

NAMES = ["anna", "ben"]


def reads_back(rules: Rules, texts: list[str], placements: list[tuple[object, ...]]) -> bool:
    return melds_of(rules, {"players": NAMES}, texts) == placements


@pytest.mark.parametrize(
    ("opening", "later"),
    [
        ("9H TH JH", ["QH", "8H"]),
        ("7S 7H 7D", ["7C"]),
        ("AH 2H 3H", ["4H"]),
        ("QS KS AS", ["JS"]),
        ("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC", ["AC low"]),
        ("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC", ["AC high"]),
        ("AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC low", []),
        ("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC high", []),
        ("6S 7S JK=8S", ["JK=9S", "5S"]),
    ],
)
def test_a_meld_reads_back_with_who_placed_what_and_where(opening: str, later: list[str]) -> None:
    meld = meld_of(RULES, 1, opening, 0)
    for text in later:
        action = read_action(f"layoff {text.split()[0]} m1 {' '.join(text.split()[1:])}", RULES)
        assert isinstance(action, LayOff)
        face = action.stands_for or action.card
        (end,) = [end for end in meld.ends_taking(face) if action.end in (None, end)]
        meld = RULES.catalogue.extended(meld, card=action.card, face=face, seat=1, end=end)
    text = write_meld(meld, NAMES)
    assert reads_back(RULES, [text], [meld_placements(meld)]), text


def test_every_table_of_random_play_reads_back() -> None:
    dice = random.Random(4)
    rules = rules_of(options={"max_rounds": 30})
    game = dealt(rules)
    tables = 0
    while not game.over and tables < 40:
        if game.needs_deal:
            deal(game)
        seat = game.to_act()[0]
        legal = game.legal_actions(seat)
        plays = [action for action in legal if isinstance(action, LayMeld | LayOff)]
        game.apply(seat, dice.choice(plays or legal))
        round = current(game)
        if round.over:
            tables += 1
            texts = [write_meld(meld, NAMES) for meld in round.melds]
            assert reads_back(rules, texts, [meld_placements(meld) for meld in round.melds]), texts


def test_equal_cards_are_written_alike() -> None:
    hand = cards_of(current(dealt(RULES)).hands[0])
    twins = [card for card in hand if hand.count(card) > 1]
    assert all(write_action(Discard(card)) == write_action(Discard(card)) for card in twins)
