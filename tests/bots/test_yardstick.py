"""The yardstick plays legally, and the built-in bots are ahead of it."""

from __future__ import annotations

import pytest
from tests.bots.strength import YARDSTICK, Table, leads
from tests.bots.yardstick import EquityBot, equity

from rummy500_arena.play import play_game
from rummy500_bots import Bot, built_in
from rummy500_catalog import Catalog
from rummy500_engine.cards import hand_of, read_cards
from rummy500_engine.game import Game
from rummy500_engine.shuffle import seed_for

CATALOG = Catalog()


def test_equity_counts_melds_outs_and_deadwood() -> None:
    rules = CATALOG.rules(players=2)
    unseen = hand_of(read_cards("9C 9S 2D 3H 4C 5C 6D 8D TD JS"))

    def of(cards: str) -> float:
        return equity(rules, hand_of(read_cards(cards)), unseen)

    assert of("7S 7H 7D") == 21
    assert of("KC 4S") == -14  # neither has an out
    assert of("9H 9D") == pytest.approx(9 * (0.6 - 0.4) * 2)  # two outs of ten unseen cards, three of which come
    assert of("7S 7H 7D 9H 9D") > of("7S 7H 7D KC 4S")


@pytest.mark.parametrize(("preset", "players"), [("classic", 3), ("pagat", 2), ("bicycle", 4)])
def test_it_plays_rounds_to_their_end(preset: str, players: int) -> None:
    rules = CATALOG.rules(preset, players=players)
    bots: list[Bot] = [EquityBot(1), *[built_in("normal", seed=0) for _ in range(players - 1)]]

    assert play_game(Game(rules, single_round=True), bots, seed=seed_for(b"yard", preset)).rounds_played == 1


def mean_lead(bot: str, other: str, players: int = 2) -> float:
    found = leads(Table("classic", players), bot, other, seed=1, deals=6, processes=1)
    return sum(each.points for each in found) / len(found)


def test_it_is_no_beginner_and_normal_is_ahead_of_it() -> None:
    assert mean_lead("easy", YARDSTICK) < 0 < mean_lead("normal", YARDSTICK)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_nobody_is_ahead_of_copies_of_itself(players: int) -> None:
    found = leads(Table("classic", players), "normal", "normal", seed=2, deals=3, processes=1)
    assert [each.points for each in found] == pytest.approx([0.0] * 3)
