"""The planner of a meld phase: it earns the most that any order of plays can, and breaks no rule of the table."""

from __future__ import annotations

from random import Random

import pytest

from rummy500_bots.meld_phase import best_meld_phase
from rummy500_catalog import Catalog
from rummy500_engine.actions import DRAW, Discard
from rummy500_engine.cards import cards_text
from rummy500_engine.game import Game
from rummy500_engine.legal import legal_actions
from rummy500_engine.notation import write_action
from rummy500_engine.position import set_up
from rummy500_engine.round import Round
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import Phase

CATALOG = Catalog()


def most_points(round: Round, seat: int, seen: dict[object, int]) -> int:
    """By trying every order of plays; `seen` are results by what a turn goes on from."""
    if round.phase is not Phase.PLAY or round.turn != seat:
        return round.scores()[seat].points
    key = (round.hands[seat], tuple((meld.fits, meld.length, meld.start) for meld in round.melds), round.must_use)
    points = round.scores()[seat].points
    if key not in seen:
        best = -10_000
        for action in legal_actions(round, seat):
            if isinstance(action, Discard):
                best = max(best, 0)
                continue
            after = round.clone()
            after.apply(seat, action)
            best = max(best, most_points(after, seat, seen) - points)
        seen[key] = best
    return points + seen[key]


@pytest.mark.parametrize(
    ("preset", "variants"),
    [("classic", ()), ("pagat", ()), ("bicycle", ()), ("strict", ()), ("", ("own-melds", "meld-first"))],
)
def test_no_order_of_plays_earns_more(preset: str, variants: tuple[str, ...]) -> None:
    rules, dice, looked = CATALOG.rules(preset, variants, players=3), Random(3), 0
    for number in range(8):
        game = Game(rules, single_round=True)
        game.deal(shuffle(seed_for(b"phases", number), rules.pack), seed=bytes(32))
        round = game.round
        assert round is not None
        while not round.over:
            seat = round.to_act()[0]
            legal = legal_actions(round, seat)
            if round.phase is Phase.PLAY and 2 < len(legal) < 40 and dice.random() < 0.3:
                before = [*round.hands], round.must_use
                phase = best_meld_phase(round, seat)
                assert phase.is_exact
                assert phase.points == most_points(round, seat, {})
                assert ([*round.hands], round.must_use) == before
                looked += 1
            round.apply(seat, legal[dice.randrange(len(legal))])
    assert looked > 15


def test_it_keeps_the_duty_of_a_dig_and_says_what_it_plays() -> None:
    game, _ = set_up(
        CATALOG.rules(players=2),
        {
            "players": ["me", "you"],
            "hands": {"me": "7S 7H 7D 8S 9S KC", "you": "2C 3C 4C"},
            "discards": "9C",
            "stock": "5C 6C",
            "turn": "me",
            "phase": "play",
            "taken": {"kind": "pile", "card": "7S", "count": 2, "must_use": True},
        },
    )
    assert game.round is not None

    phase = best_meld_phase(game.round, 0)

    assert [write_action(play) for play in phase.plays] == ["meld 7S 8S 9S"]
    assert phase.points == 24 - 7 - 7 - 10


def test_a_search_that_is_broken_off_says_so_and_still_ends_the_turn() -> None:
    rules = CATALOG.rules("", ("jokers",), {"jokers.per_deck": 4}, players=2)
    hand = "2H 3H 4H 5H 6H 7H 8H 9H TH JH 2S 3S 4S 5S 6S 7S JK JK JK JK"
    game, _ = set_up(
        rules,
        {
            "players": ["me", "you"],
            "hands": {"me": hand, "you": "2C 3C 4C"},
            "discards": "9C",
            "stock": "5C 6C",
            "turn": "me",
            "phase": "play",
        },
    )
    round = game.round
    assert round is not None

    phase = best_meld_phase(round, 0, most_hands=50)
    for play in phase.plays:
        round.apply(0, play)

    assert not phase.is_exact
    assert round.over or any(isinstance(action, Discard) for action in legal_actions(round, 0))
    assert cards_text(game.round.pile if game.round else ()) == "9C"
    assert DRAW not in legal_actions(round, 0)
