"""A round guessed from a view: what its seat sees in it and may do in it is what it saw, whatever was guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from rummy500_arena.play import play_game
from rummy500_bots import Bot, Decision, built_in
from rummy500_bots.guesses import likely_guess, plain_guess, random_guess
from rummy500_bots.knowledge import History, knowledge_of
from rummy500_bots.trios import trios_of
from rummy500_catalog import Catalog
from rummy500_engine.actions import DRAW, Action, Discard, Take
from rummy500_engine.cards import cards_of, read_card
from rummy500_engine.game import Game
from rummy500_engine.guess import guessed_round
from rummy500_engine.legal import legal_actions
from rummy500_engine.position import set_up
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

CATALOG = Catalog()
TABLES: list[tuple[str, tuple[str, ...], int]] = [
    (each.name, (), 2) for each in CATALOG.presets() if each.is_available and each.preset.players[0] == 2
]
TABLES += [("partners", (), 4), ("six-handed", (), 6)]
TABLES += [("", ("meld-first", "strict-take"), 3), ("", ("ace-runs", "stock-out", "call-rummy"), 4)]


class Guessing:
    """Plays like another bot and looks at each question through guesses."""

    def __init__(self, bot: Bot, seed: int) -> None:
        self._bot, self._dice, self._history, self.looked = bot, Random(seed), History(), 0

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        rules, view = decision.rules, decision.view
        assert view.seat is not None
        self._history.note(decision.events)
        knowledge = knowledge_of(rules, view)
        for hidden in (
            plain_guess(knowledge),
            random_guess(knowledge, self._dice),
            likely_guess(knowledge, self._history, trios_of(rules), self._dice),
        ):
            guess = guessed_round(rules, view, hidden)
            everything = [*guess.stock, *guess.pile, *[card for hand in guess.hands for card in cards_of(hand)]]
            everything += [placed.card for meld in guess.melds for placed in meld.placed]

            assert sorted(everything) == sorted(rules.pack)
            assert legal_actions(guess, view.seat) == list(decision.legal)
            game = Game(rules, dealer=view.dealer)
            game.round, game.totals = guess, list(view.totals)
            seen = seat_view(game, view.seat, with_variants=False)
            assert replace(seen, variant_fields=view.variant_fields) == view
            self.looked += 1
        return self._bot.act(decision)


@pytest.mark.parametrize(("preset", "variants", "players"), TABLES)
def test_a_guess_shows_and_allows_what_its_seat_saw(preset: str, variants: tuple[str, ...], players: int) -> None:
    rules = CATALOG.rules(preset, variants, players=players)
    bots = [Guessing(built_in("random", seed=seat), seat) for seat in range(players)]
    for number in range(2):
        play_game(Game(rules, single_round=True), bots, seed=seed_for(b"guesses", preset, number))

    assert all(bot.looked > 20 for bot in bots)


def test_what_one_seat_does_on_a_guess_changes_no_card_that_another_draws() -> None:
    rules = CATALOG.rules(players=3)
    position = {
        "players": ["anna", "ben", "cleo"],
        "hands": {"anna": "7S KH 2D", "ben": "2C 3C 4C", "cleo": "9H JS QD"},
        "discards": "5D 7H",
        "stock": "TD 8C 6H 4S 3D AC",
        "turn": "anna",
    }
    game, _ = set_up(rules, position)
    view = seat_view(game, 0)
    hidden = random_guess(knowledge_of(rules, view), Random(7))
    drew, took = guessed_round(rules, view, hidden), guessed_round(rules, view, hidden)
    drew.apply(0, DRAW)
    took.apply(0, Take(read_card("7H")))
    for guess in (drew, took):
        guess.apply(0, Discard(read_card("2D")))
        guess.apply(1, DRAW)

    assert drew.hands[1] == took.hands[1]
