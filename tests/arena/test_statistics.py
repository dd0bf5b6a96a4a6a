"""The numbers of a match against numbers that were found in another way."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from rummy500_arena.plan import Plan, secret_of_seed
from rummy500_arena.play import play_game
from rummy500_arena.statistics import GameScore, MatchStatistics, interval, t_cumulative, t_quantile
from rummy500_bots import built_in
from rummy500_catalog import Catalog
from rummy500_engine.game import Game

# Two-sided 95 % points of Student's t: Fisher and Yates, Statistical Tables, table III.
TABLE = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 8: 2.306, 10: 2.228, 15: 2.131,
    20: 2.086, 30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980,
}  # fmt: skip


@pytest.mark.parametrize("freedom", sorted(TABLE))
def test_quantiles_are_those_of_the_printed_table(freedom: int) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(TABLE[freedom], abs=0.0006)


@pytest.mark.parametrize("freedom", [1, 2, 5, 19, 100, 2_000])
@pytest.mark.parametrize("t", [-3.0, -0.5, 0.0, 0.7, 2.0, 9.0])
def test_the_distribution_is_the_integral_of_its_density(freedom: int, t: float) -> None:
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def density(x: float) -> float:
        return scale * math.exp(-(freedom + 1) / 2 * math.log1p(x * x / freedom))

    steps = 2_000  # Simpson's rule from 0 to t; half of the mass lies below 0
    width = t / steps
    total = density(0) + density(t) + sum((4 if i % 2 else 2) * density(i * width) for i in range(1, steps))
    assert t_cumulative(t, freedom) == pytest.approx(0.5 + total * width / 3, abs=1e-9)


def test_with_many_observations_it_is_the_normal_interval() -> None:
    assert t_quantile(0.975, 1_000_000) == pytest.approx(statistics.NormalDist().inv_cdf(0.975), abs=1e-5)


def test_an_interval_is_mean_and_standard_error() -> None:
    values = [12.0, -3.5, 40.0, 8.25, 19.0]
    found = interval(values)

    half = 2.776445 * statistics.stdev(values) / math.sqrt(5)
    assert found.mean == pytest.approx(statistics.mean(values))
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=1e-5)


def test_one_deal_has_no_interval_and_none_is_zero() -> None:
    one, none = interval([4.5]), interval([])

    assert (one.low, one.mean, one.high) == (4.5, 4.5, 4.5)
    assert (none.low, none.mean, none.high) == (0.0, 0.0, 0.0)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    dice = random.Random(1)
    covered = 0
    for _ in range(2_000):
        found = interval([dice.gauss(10, 30) for _ in range(6)])
        covered += found.low <= 10 <= found.high

    assert 0.935 < covered / 2_000 < 0.965


def scored(*points: int, termination: str = "NORMAL", at_fault: int | None = None, counts: bool = True) -> GameScore:
    winners = tuple(seat for seat, score in enumerate(points) if score == max(points))
    return GameScore(points, 1, winners, len(winners) > 1, termination, at_fault, counts)


def test_a_bot_is_counted_in_every_seat_in_which_it_sat() -> None:
    plan = Plan(bots=2, players=2, deals=2, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    for game, score in zip(plan, [scored(30, 10), scored(20, 50), scored(5, 5), scored(-10, 0)], strict=True):
        found.add(game, score)

    first, second = found.tallies
    assert first.deal_means == {0: 40.0, 1: 2.5}  # 30 and 50, then 5 and 0
    assert second.deal_means == {0: 15.0, 1: -2.5}
    assert (first.wins, first.draws, second.wins) == (3, 1, 0)
    assert (first.games, first.rounds) == (4, 4)
    assert found.difference(0, 1).mean == pytest.approx((25 + 5) / 2)


def test_half_a_deal_does_not_count() -> None:
    plan = Plan(bots=2, players=2, deals=2, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(30, 10))
    found.add(games[2], scored(7, 8))
    found.add(games[3], scored(1, 2))

    assert found.complete_deals == 1
    assert found.tallies[0].deal_means == {1: 4.5}
    assert found.tallies[0].games == 3


def test_a_deal_with_a_game_that_says_nothing_is_left_out() -> None:
    plan = Plan(bots=2, players=2, deals=1, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(30, 10))
    found.add(games[1], scored(0, 0, termination="SERVER_FAULT", counts=False))

    assert found.tallies[0].deal_means == {}
    assert found.tallies[0].terminations == {"NORMAL": 1, "SERVER_FAULT": 1}


def test_only_the_bot_at_fault_is_charged_with_a_termination() -> None:
    plan = Plan(bots=2, players=2, deals=1, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(0, 40, termination="TIMEOUT", at_fault=0))
    found.add(games[1], scored(10, 20))

    assert found.tallies[games[0].seats[0]].terminations == {"NORMAL": 1, "TIMEOUT": 1}
    assert found.tallies[games[0].seats[1]].terminations == {"NORMAL": 1}


def test_the_order_in_which_games_end_makes_no_difference() -> None:
    plan = Plan(bots=3, players=3, deals=3, secret=secret_of_seed(1))
    dice = random.Random(2)
    results = [(game, scored(*(dice.randrange(-50, 150) for _ in range(3)))) for game in plan]
    forward, shuffled = MatchStatistics(plan), MatchStatistics(plan)
    for game, score in results:
        forward.add(game, score)
    dice.shuffle(results)
    for game, score in results:
        shuffled.add(game, score)

    assert forward.tallies == shuffled.tallies
    assert forward.tallies[0].points_per_round == shuffled.tallies[0].points_per_round


@pytest.mark.parametrize(("bots", "players"), [(2, 2), (3, 3), (3, 2)])
def test_copies_of_a_deterministic_bot_differ_by_nothing(bots: int, players: int) -> None:
    plan = Plan(bots=bots, players=players, deals=3, secret=secret_of_seed(3))
    rules = Catalog().rules(players=players)
    found = MatchStatistics(plan)
    for game in plan:
        easy = [built_in("easy", seed=0) for _ in range(players)]
        played = play_game(Game(rules, single_round=True), easy, seed=game.seed)
        found.add(game, scored(*played.totals))

    difference = found.difference(0, 1)
    assert (difference.low, difference.mean, difference.high) == (0.0, 0.0, 0.0)
