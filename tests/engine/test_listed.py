"""What a listed action means, found without asking whether it is legal."""

from __future__ import annotations

from random import Random

import pytest

from rummy500_catalog import Catalog
from rummy500_engine.game import Game
from rummy500_engine.legal import legal_actions, verify
from rummy500_engine.listed import move_of
from rummy500_engine.shuffle import seed_for, shuffle

CATALOG = Catalog()


@pytest.mark.parametrize(("preset", "players"), [("classic", 2), ("pagat", 4), ("pagat", 6), ("bicycle", 3)])
def test_a_listed_action_means_what_is_verified(preset: str, players: int) -> None:
    rules, dice, looked = CATALOG.rules(preset, players=players), Random(4), 0
    for number in range(3):
        game = Game(rules, single_round=True)
        game.deal(shuffle(seed_for(b"listed", preset, number), rules.pack), seed=bytes(32))
        round = game.round
        assert round is not None
        while not round.over:
            seat = round.to_act()[0]
            listed = legal_actions(round, seat)
            for action in listed:
                assert move_of(round, action) == verify(round, seat, action)
            looked += len(listed)
            action = dice.choice(listed)
            round.play_verified(seat, action, move_of(round, action))

    assert looked > 1_000
