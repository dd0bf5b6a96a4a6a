"""Duplicate deals: who sits where, and that a deal depends on nobody who plays it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest

from rummy500_arena.plan import Plan, Unit, secret_of_seed


@pytest.mark.parametrize(("players", "seatings"), [(2, 2), (3, 6), (4, 24)])
def test_up_to_four_seats_a_deal_is_played_in_every_permutation(players: int, seatings: int) -> None:
    plan = Plan(bots=players, players=players, deals=2, secret=secret_of_seed(7))

    assert plan.seatings == seatings
    assert plan.games == 2 * seatings
    assert {game.seats for game in plan if game.deal == 1} == set(permutations(range(players)))


@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_with_more_seats_every_bot_sits_once_in_each(players: int) -> None:
    plan = Plan(bots=players, players=players, deals=1, secret=secret_of_seed(7))

    assert plan.seatings == players
    for seat in range(players):
        assert sorted(game.seats[seat] for game in plan) == list(range(players))


def test_each_choice_of_bots_plays_each_deal() -> None:
    plan = Plan(bots=4, players=2, deals=3, secret=secret_of_seed(7))

    for deal in range(3):
        pairs = Counter(tuple(sorted(game.seats)) for game in plan if game.deal == deal)
        assert pairs == dict.fromkeys(combinations(range(4), 2), 2)


def test_a_deal_follows_from_the_seed_and_its_number_alone() -> None:
    two = Plan(bots=2, players=2, deals=5, secret=secret_of_seed(7))
    three = Plan(bots=3, players=3, deals=9, secret=secret_of_seed(7), unit=Unit.GAME)

    assert [two.deal_seed(deal) for deal in range(5)] == [three.deal_seed(deal) for deal in range(5)]
    assert {game.seed for game in three if game.deal == 4} == {two.deal_seed(4)}
    assert len({two.deal_seed(deal) for deal in range(5)}) == 5
    assert Plan(bots=2, players=2, deals=5, secret=secret_of_seed(8)).deal_seed(0) != two.deal_seed(0)


def test_games_have_an_identity_of_their_own() -> None:
    plan = Plan(bots=3, players=2, deals=4, secret=secret_of_seed(1))
    games = list(plan)

    assert len({(game.pairing, game.deal, game.rotation) for game in games}) == plan.games == 24
    assert [game.deal * plan.seatings + game.seating for game in games] == list(range(24))


def test_a_plan_of_a_million_deals_of_many_bots_costs_nothing_until_it_is_played() -> None:
    plan = Plan(bots=64, players=8, deals=1_000_000, secret=secret_of_seed(1))

    last = plan.game(plan.games - 1)
    assert sorted(last.seats) == list(range(56, 64))
    assert plan.game(8).seats == (0, 1, 2, 3, 4, 5, 6, 8)
