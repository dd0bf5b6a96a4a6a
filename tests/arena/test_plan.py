"""Duplicate deals: who plays them, who sits where, and that a deal depends on nobody who plays it."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import combinations, pairwise, permutations, product
from math import comb
from time import perf_counter
from typing import Any

import pytest

from rummy500_arena.plan import Plan, PlannedGame, Schedule, Unit, secret_of_seed
from rummy500_arena.seatings import seatings_of

SIZES = [(2, 2), (3, 2), (3, 3), (5, 2), (5, 3), (6, 4), (7, 5), (8, 6), (9, 8)]
"""Bots and seats."""


def plan_of(bots: int, players: int, deals: int = 1, **more: Any) -> Plan:
    return Plan(bots=bots, players=players, deals=deals, secret=secret_of_seed(7), **more)


# --- seatings


@pytest.mark.parametrize(("players", "seatings"), [(2, 2), (3, 6), (4, 24)])
def test_up_to_four_seats_a_deal_is_played_in_every_permutation(players: int, seatings: int) -> None:
    plan = plan_of(players, players, deals=2)

    assert plan.seatings == seatings
    assert plan.games == 2 * seatings
    assert {game.seats for game in plan if game.deal == 1} == set(permutations(range(players)))


@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_with_more_seats_every_bot_sits_equally_often_in_each(players: int) -> None:
    squares = 1 + players % 2
    rows = seatings_of(players)

    assert len(rows) == squares * players
    assert all(sorted(row) == list(range(players)) for row in rows)
    for seat in range(players):
        assert Counter(row[seat] for row in rows) == dict.fromkeys(range(players), squares)


@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_with_more_seats_every_bot_sits_equally_often_left_of_each_other(players: int) -> None:
    left = Counter(pair for row in seatings_of(players) for pair in pairwise(row))
    assert left == dict.fromkeys(permutations(range(players), 2), 1 + players % 2)


def test_the_design_for_six_is_that_of_the_paper() -> None:
    """Williams 1949 gives 0 1 5 2 4 3 as the first row of six."""
    assert seatings_of(6)[:2] == ((0, 1, 5, 2, 4, 3), (1, 2, 0, 3, 5, 4))


# --- schedules


@pytest.mark.parametrize(("bots", "players"), SIZES)
def test_in_a_round_robin_each_choice_of_bots_plays_each_deal(bots: int, players: int) -> None:
    plan = plan_of(bots, players, deals=2)

    for deal in range(2):
        sets = Counter(tuple(sorted(game.seats)) for game in plan if game.deal == deal)
        assert sets == dict.fromkeys(combinations(range(bots), players), plan.rotations)


@pytest.mark.parametrize(("bots", "players"), SIZES)
def test_in_a_gauntlet_each_choice_with_the_first_bot_plays_each_deal(bots: int, players: int) -> None:
    plan = plan_of(bots, players, deals=2, schedule=Schedule.GAUNTLET)

    for deal in range(2):
        sets = Counter(tuple(sorted(game.seats)) for game in plan if game.deal == deal)
        with_first = [(0, *others) for others in combinations(range(1, bots), players - 1)]
        assert sets == dict.fromkeys(with_first, plan.rotations)


@pytest.mark.parametrize(("bots", "players"), SIZES)
def test_in_a_pool_each_deal_is_one_set_and_every_bot_plays_equally_often(bots: int, players: int) -> None:
    turns = 3
    plan = plan_of(bots, players, deals=turns * bots, schedule=Schedule.POOL)
    sets = {game.deal: tuple(sorted(game.seats)) for game in plan}

    assert plan.seatings == plan.rotations
    for turn in range(turns):
        played = Counter(bot for deal in range(turn * bots, (turn + 1) * bots) for bot in sets[deal])
        assert played == dict.fromkeys(range(bots), players)


@pytest.mark.parametrize(("bots", "players"), [(5, 2), (5, 3), (6, 4), (9, 3)])
def test_in_a_pool_every_choice_of_bots_plays_equally_often_in_the_end(bots: int, players: int) -> None:
    row = comb(bots - 1, players - 1) * bots
    plan = plan_of(bots, players, deals=row, schedule=Schedule.POOL)
    sets = Counter(plan.paired(plan.game(deal * plan.seatings).pairing) for deal in range(row))

    assert sets == dict.fromkeys(combinations(range(bots), players), players)


@pytest.mark.parametrize(("bots", "players"), [(12, 4), (20, 5), (33, 3), (64, 8)])
def test_in_a_pool_every_two_bots_meet_about_equally_often(bots: int, players: int) -> None:
    deals = 50 * comb(bots, 2) // comb(players, 2) // bots * bots
    plan = plan_of(bots, players, deals=deals, schedule=Schedule.POOL)
    met = Counter(
        pair for deal in range(deals) for pair in combinations(plan.paired(plan.game(deal * plan.seatings).pairing), 2)
    )
    even = deals * comb(players, 2) / comb(bots, 2)

    assert len(met) == comb(bots, 2)
    assert 0.6 * even < min(met.values()) <= max(met.values()) < 1.4 * even


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize(("bots", "players"), SIZES)
def test_a_plan_says_in_which_seatings_each_bot_sits(bots: int, players: int, schedule: Schedule) -> None:
    plan = plan_of(bots, players, deals=bots, schedule=schedule)
    sits = plan.seatings_by_bot()

    assert [len(own) for own in sits] == [plan.seatings_with(bot) for bot in range(bots)]
    seen: list[set[int]] = [set() for _ in range(bots)]
    for game in plan:
        for bot in game.seats:
            seen[bot].add(game.seating)
    assert [sorted(own) for own in seen] == sits


@pytest.mark.parametrize("schedule", list(Schedule))
def test_games_have_an_identity_of_their_own(schedule: Schedule) -> None:
    plan = plan_of(5, 3, deals=4, schedule=schedule)
    games = list(plan)

    assert len({(game.pairing, game.deal, game.rotation) for game in games}) == plan.games
    assert [game.deal * plan.seatings + game.seating for game in games] == list(range(plan.games))
    for game in games:
        assert tuple(sorted(game.seats)) == plan.paired(game.pairing)


# --- packs


def by_deal(plan: Plan) -> dict[int, set[bytes]]:
    packs: dict[int, set[bytes]] = {}
    for game in plan:
        packs.setdefault(game.deal, set()).add(game.seed)
    return packs


def test_a_deal_follows_from_the_seed_and_its_number_alone() -> None:
    plans = [
        plan_of(bots, players, deals=5, schedule=schedule, unit=unit)
        for (bots, players), schedule, unit in product([(2, 2), (4, 3), (6, 5)], Schedule, Unit)
    ]
    packs = by_deal(plans[0])

    assert all(by_deal(plan) == packs for plan in plans)
    assert all(len(of_deal) == 1 for of_deal in packs.values())
    assert len(set.union(*packs.values())) == 5
    assert by_deal(Plan(bots=2, players=2, deals=5, secret=secret_of_seed(8)))[0] != packs[0]


@pytest.mark.parametrize("schedule", list(Schedule))
def test_unpaired_every_seating_has_packs_of_its_own_and_the_seats_are_the_same(schedule: Schedule) -> None:
    paired = plan_of(4, 3, deals=4, schedule=schedule)
    unpaired = plan_of(4, 3, deals=4, schedule=schedule, is_paired=False)

    assert [game.seats for game in paired] == [game.seats for game in unpaired]
    assert len({game.seed for game in unpaired}) == unpaired.games
    assert not {game.seed for game in unpaired} & {game.seed for game in paired}


# --- its size


@pytest.mark.parametrize("schedule", list(Schedule))
def test_a_plan_of_a_million_deals_of_many_bots_costs_nothing_until_it_is_played(schedule: Schedule) -> None:
    seatings_of(8)
    tracemalloc.start()
    began = perf_counter()
    plan = plan_of(64, 8, deals=1_000_000, schedule=schedule)
    games = [plan.game(plan.games * part // 1_000 + part) for part in range(1_000)]
    seconds = perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len({(game.deal, game.seating) for game in games}) == 1_000
    assert peak < 1_500_000, "the games that are looked at, and nothing else"
    assert seconds < 5.0, "a millisecond a game at most, and tracing is slow"


def test_the_first_and_the_last_game_of_a_plan() -> None:
    plan = plan_of(64, 8, deals=1_000_000)
    first, last = plan.game(0), plan.game(plan.games - 1)

    assert (first.pairing, first.deal, first.rotation, first.seats[:3]) == (0, 0, 0, (0, 1, 7))
    assert isinstance(last, PlannedGame)
    assert (last.pairing, last.deal, last.rotation) == (comb(64, 8) - 1, 999_999, 7)
    assert sorted(last.seats) == list(range(56, 64))
