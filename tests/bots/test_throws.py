"""What the expert thinks a discard costs."""

from __future__ import annotations

import pytest

from rummy500_bots.policy import policy_of
from rummy500_bots.styles import EXPERT
from rummy500_catalog import Catalog
from rummy500_engine.actions import Discard
from rummy500_engine.cards import read_cards
from rummy500_engine.position import set_up

CATALOG = Catalog()


def costs(hand: str, *, pile: str, variants: tuple[str, ...] = (), melds: tuple[str, ...] = ()) -> dict[str, float]:
    """By card of the hand what it costs to throw it, in points."""
    rules = CATALOG.rules("", variants, players=2)
    game, _ = set_up(
        rules,
        {
            "players": ["me", "you"],
            "hands": {"me": hand, "you": "2C 4D 6H 8S"},
            "melds": list(melds),
            "discards": pile,
            "stock": "TC 3D 5H 7S 9C JD",
            "turn": "me",
            "drawn": "stock",
        },
    )
    assert game.round is not None
    cards = read_cards(hand)
    values = policy_of(rules, EXPERT).discard_values(game.round, 0, [Discard(card) for card in cards])
    return dict(zip(hand.split(), [-value for value in values], strict=True))


def test_a_card_that_makes_others_dig_costs_more() -> None:
    assert costs("9D KC 4S", pile="9H 2D")["9D"] > costs("9D KC 4S", pile="QH 2D")["9D"]


def test_a_card_that_the_hand_may_use_costs_more() -> None:
    assert costs("9D 9S 4S", pile="2D")["9D"] > costs("9D KC 4S", pile="2D")["9D"]


def test_a_card_for_a_meld_on_the_table_costs_its_points_where_others_may_lay_it() -> None:
    open_to_all = costs("9D KC 4S", pile="2D", melds=("6D 7D 8D by you",))
    own = costs("9D KC 4S", pile="2D", melds=("6D 7D 8D by you",), variants=("own-melds",))

    assert open_to_all["9D"] == pytest.approx(own["9D"] + 9)
    assert open_to_all["KC"] == pytest.approx(own["KC"])


def test_nothing_costs_more_than_a_joker() -> None:
    found = costs("JK 9D 9S 4S", pile="9H 2D", variants=("jokers",))

    assert max(found, key=lambda card: found[card]) == "JK"
