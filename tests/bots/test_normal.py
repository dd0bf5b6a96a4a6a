"""The bot `normal`: it takes what it can use, lays what it can, feeds nobody, and beats `easy` at every table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rummy500_arena.play import play_game
from rummy500_arena.ratio import interval
from rummy500_bots import Bot, Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.game import Game
from rummy500_engine.notation import write_action
from rummy500_engine.position import set_up
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

CATALOG = Catalog()


def answer(hand: str, *, preset: str = "classic", players: int = 2, **more: object) -> str:
    """What the bot does with a hand; the others hold three cards each."""
    names = ["anna", "ben", "cleo"][:players]
    hands = dict(zip(names, [hand, "2C 3D 9D", "4H 8S JD"], strict=False))
    position = {"players": names, "hands": hands, "discards": "4S", "stock": "5D KC 6H 2D", "turn": "anna", **more}
    game, _ = set_up(CATALOG.rules(preset, players=players), position)
    action = built_in("normal", seed=0).act(Decision(seat_view(game, 0), game.rules))
    assert not isinstance(action, Sequence)
    return write_action(action)


@pytest.mark.parametrize(
    ("hand", "pile", "wanted"),
    [
        pytest.param("7S 7H KC 2H", "9C 7D", "take 7D", id="the third of a rank"),
        pytest.param("7S 7H KC 2H", "7D 9C JC", "take 7D", id="digs for it"),
        pytest.param("7S 9H KC 2H", "4D", "draw", id="leaves a card that goes with nothing"),
        pytest.param("TS JS QS 4H", "AS 8C KS", "take AS", id="digs deeper for more points"),
    ],
)
def test_it_takes_what_it_can_use(hand: str, pile: str, wanted: str) -> None:
    assert answer(hand, discards=pile, stock="5D KD 6H 2D", phase="draw") == wanted


@pytest.mark.parametrize(
    ("hand", "melds", "wanted"),
    [
        pytest.param("9H TH JH QH 2S", (), "meld 9H TH JH QH", id="the whole run"),
        pytest.param("QH 2S 5C", ("9H TH JH by ben",), "layoff QH m1", id="a lay-off on another's meld"),
        pytest.param("7S 7H 7D 8S 9S TS 2H", (), "meld 8S 9S TS", id="the split of most points"),
    ],
)
def test_it_lays_what_earns_most(hand: str, melds: tuple[str, ...], wanted: str) -> None:
    assert answer(hand, melds=list(melds), phase="play") == wanted


@pytest.mark.parametrize(
    ("hand", "melds", "wanted"),
    [
        pytest.param("QH 9C 2S", ("9H TH JH by ben",), "layoff QH m1", id="never throws what it could lay"),
        pytest.param("KH KD 9S 6C", (), "discard 9S", id="keeps the pair"),
    ],
)
def test_it_throws_what_it_needs_least(hand: str, melds: tuple[str, ...], wanted: str) -> None:
    assert answer(hand, melds=list(melds), phase="play") == wanted


def test_it_does_not_throw_what_the_others_wait_for() -> None:
    """Two queens were taken from the pile by the next player: the loose queen stays, the cheaper nine goes."""
    rules = CATALOG.rules(players=2)
    game, _ = set_up(
        rules,
        {
            "players": ["anna", "ben"],
            "hands": {"anna": "QH 9S 5C", "ben": "QC QD 2H"},
            "discards": "4S",
            "stock": "5D KC 6H 2D",
            "turn": "anna",
            "phase": "play",
        },
    )
    assert game.round is not None
    bot = built_in("normal", seed=0)

    blind = bot.act(Decision(seat_view(game, 0), rules))
    game.round.known[1] = game.round.hands[1]
    warned = bot.act(Decision(seat_view(game, 0), rules))

    assert (write_action(blind), write_action(warned)) == ("discard QH", "discard 9S")  # type: ignore[arg-type]


def lead_per_round(rules: Rules, name: str, other: str, *, deals: int) -> tuple[float, float]:
    """Points a round of one bot less the mean of the others, each deal in every rotation: mean and lower bound."""
    leads = []
    for deal in range(deals):
        lead = 0.0
        for turn in range(rules.players):
            bots: list[Bot] = [built_in(name if seat == turn else other, seed=seat) for seat in range(rules.players)]
            totals = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"leads", deal)).totals
            lead += totals[turn] - (sum(totals) - totals[turn]) / (rules.players - 1)
        leads.append(lead / rules.players)
    found = interval(leads)
    return found.mean, found.low


@pytest.mark.parametrize(
    ("preset", "players"), [("classic", 2), ("classic", 4), ("pagat", 2), ("bicycle", 3), ("strict", 2)]
)
def test_it_beats_easy_by_far(preset: str, players: int) -> None:
    mean, low = lead_per_round(CATALOG.rules(preset, players=players), "normal", "easy", deals=25)

    assert mean > 25
    assert low > 10
