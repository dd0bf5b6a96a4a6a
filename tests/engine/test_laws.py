"""Random play of whole games: every law of RULES 4 after every action, for two to eight players."""

from __future__ import annotations

import os
import random

import pytest
from tests.engine.tables import dealt, rules_of, variant

from rummy500_engine.events import RoundScored
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import Pack, Sets, StockOut, StockRule
from rummy500_kit.laws import round_of
from rummy500_kit.ledger import Ledger
from rummy500_kit.play import Played, Watch, check_replay, play_game, watch_laws
from rummy500_kit.twins import check_deal_is_hidden, check_twin

LONG = bool(os.environ.get("RUMMY500_LONG"))
GAMES = 500 if LONG else 30
"""Games for each number of players."""
TABLES = 200 if LONG else 20

TWO_PACKS = variant("two-packs", pack=Pack(decks=2), sets=Sets(largest=None, identical=True))


def classic(players: int, dice: random.Random) -> Rules:
    """A classic table that ends soon enough to see many ends: a low target, few rounds, now and then a short round."""
    options: dict[str, object] = {"target": dice.choice((40, 80, 150)), "max_rounds": dice.choice((3, 6, 20))}
    if dice.random() < 0.2:
        options["max_turns"] = dice.randint(1, 30)
    options["deal"] = 6 if players == 8 else dice.choice(("auto", 3, 5))
    return rules_of(players=players, options=options)


@pytest.mark.parametrize("players", range(2, 9))
def test_every_law_holds_after_every_action(players: int) -> None:
    dice = random.Random(players)
    ends, rounds = set(), 0
    for number in range(GAMES):
        rules = classic(players, dice)
        played = play_game(rules, b"%d" % number, dice, watch=watch_laws(dice, closely=500))
        check_replay(played)
        rounds += played.rounds
        ends.add(type(played.events[-1]).__name__)
    assert ends == {"GameWon"}, "every game ends"
    assert rounds > GAMES


def test_full_games_end_and_replay() -> None:
    """The classic table as it is: to 500, or a hundred rounds; more than a thousand rounds, unwatched but replayed."""
    dice = random.Random(500)
    rounds = 0
    for players in (2, 3, 4, 5, 6, 7, 8):
        rules = rules_of(players=players, options={"deal": 6} if players == 8 else {})
        for number in range(TABLES // 6):
            played = play_game(rules, b"full %d" % number, dice)
            assert 1 <= played.rounds <= 100
            rounds += played.rounds
            check_replay(played)
    assert rounds > 1_000


@pytest.mark.parametrize(
    "stock_rule", [StockRule.PILE_OR_END, StockRule.END_NOW, StockRule.RESHUFFLE, StockRule.FLIP], ids=lambda r: r.value
)
def test_every_law_holds_under_each_stock_rule(stock_rule: StockRule) -> None:
    dice = random.Random(stock_rule.value)
    table = variant("stock", stock_out=StockOut(rule=stock_rule))
    rules = rules_of(table, players=3, options={"max_rounds": 4, "max_turns": 80})
    for number in range(TABLES // 10):
        check_replay(play_game(rules, b"%d" % number, dice, watch=watch_laws(dice)))


@pytest.mark.parametrize("jokers", [0, 2])
def test_every_law_holds_with_two_packs(jokers: int) -> None:
    dice = random.Random(jokers)
    table = variant("packs", pack=Pack(decks=2, jokers=jokers), sets=Sets(largest=None, identical=True))
    rules = rules_of(table, players=4, options={"max_rounds": 2, "max_turns": 40})
    for number in range(TABLES // 10):
        check_replay(play_game(rules, b"%d" % number, dice, watch=watch_laws(dice, closely=100)))


def test_random_play_reaches_every_end_of_a_round() -> None:
    """The laws are not checked in a corner of the game: rounds end by going out, by the stock, a pass, the limit."""
    dice = random.Random(1)
    reasons: set[str] = set()
    for number in range(40):
        played = play_game(classic(4, dice), b"%d" % number, dice)
        reasons |= {event.reason.value for event in played.events if isinstance(event, RoundScored)}
    assert reasons == {"out", "stock", "passed", "turn_limit"}


def watch_twins(dice: random.Random, *, closely: int) -> Watch:
    def watch(game: Game, ledger: Ledger) -> None:
        if not round_of(game).over and not dice.randrange(closely):
            for viewer in (None, *range(game.rules.players)):
                check_twin(game, viewer, dice)

    return watch


@pytest.mark.parametrize("name", ["classic", "two-packs"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_view_does_not_depend_on_cards_that_the_seat_may_not_see(players: int, name: str) -> None:
    dice = random.Random(f"{name} {players}")
    rules = rules_of(*([TWO_PACKS] if name == "two-packs" else []), players=players, options={"max_turns": 60})
    for number in range(TABLES):
        play_game(rules, b"%d" % number, dice, watch=watch_twins(dice, closely=40), most_rounds=2)


@pytest.mark.parametrize("players", range(2, 9))
def test_a_deal_is_told_to_each_seat_without_the_others_cards(players: int) -> None:
    dice = random.Random(players)
    game = dealt(rules_of(players=players, options={"deal": 6} if players == 8 else {}))
    for number in range(10):
        order = list(shuffle(seed_for(b"deal", number), game.rules.pack))
        for viewer in (None, *range(players)):
            check_deal_is_hidden(game, viewer, order, dice)


def test_one_seed_gives_one_game_whatever_was_played_before() -> None:
    """Nothing of a game stays behind in the rules or in memory that another could feel."""
    first = _scripted(rules_of(players=3))
    for _ in range(3):
        play_game(rules_of(players=3), b"between", random.Random(3), most_rounds=1)
    assert _scripted(rules_of(players=3)).events == first.events


def _scripted(rules: Rules) -> Played:
    return play_game(rules, b"script", random.Random(9), most_rounds=2)


def test_random_choices_cover_plays_and_discards() -> None:
    dice = random.Random(0)
    verbs = set()
    for number in range(20):
        played = play_game(rules_of(players=4, options={"max_rounds": 4}), b"%d" % number, dice)
        verbs |= {type(action).__name__ for _, action in played.actions}
    assert verbs == {"Draw", "Take", "LayMeld", "LayOff", "Discard", "Pass"}
