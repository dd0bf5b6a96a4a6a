"""What a match says about its bots: which games count, for whom, and that their order changes nothing."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest

from rummy500_arena.plan import Plan, PlannedGame, secret_of_seed
from rummy500_arena.play import play_game
from rummy500_arena.ratio import interval
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.statistics import MatchStatistics
from rummy500_arena.stopping import StoppingRule, Verdict
from rummy500_bots import built_in
from rummy500_catalog import Catalog
from rummy500_engine.game import Game


def scored(*points: int, termination: str = "NORMAL", at_fault: int | None = None, counts: bool = True) -> GameScore:
    winners = tuple(seat for seat, score in enumerate(points) if score == max(points))
    return GameScore(points, 1, winners, len(winners) > 1, termination, at_fault, counts)


def test_a_bot_is_counted_in_every_seat_in_which_it_sat() -> None:
    plan = Plan(bots=2, players=2, deals=2, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    for game, score in zip(plan, [scored(30, 10), scored(20, 50), scored(5, 5), scored(-10, 0)], strict=True):
        found.add(game, score)

    first, second = found.tallies
    assert first.points_per_round == interval([40.0, 2.5])  # 30 and 50, then 5 and 0
    assert second.points_per_round == interval([15.0, -2.5])
    assert (first.wins, first.draws, second.wins) == (3, 1, 0)
    assert (first.sets_won, first.sets_drawn, second.sets_won) == (2, 0, 0)
    assert (first.games, first.rounds) == (4, 4)
    assert found.difference(0, 1) == interval([25.0, 5.0])
    assert found.difference(1, 0).mean == -15.0


def test_half_a_deal_does_not_count() -> None:
    plan = Plan(bots=2, players=2, deals=2, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(30, 10))
    found.add(games[2], scored(7, 8))
    found.add(games[3], scored(1, 2))
    assert found.counted == 0
    assert found.tallies[0].games == 3

    found.settle()

    assert found.counted == 1
    assert found.tallies[0].points_per_round.mean == 4.5


def test_a_deal_with_a_game_that_says_nothing_is_left_out() -> None:
    plan = Plan(bots=2, players=2, deals=1, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(30, 10))
    found.add(games[1], scored(0, 0, termination="SERVER_FAULT", counts=False))

    assert (found.counted, found.left_out) == (0, 1)
    assert found.tallies[0].terminations == {"NORMAL": 1, "SERVER_FAULT": 1}


def test_only_the_bot_at_fault_is_charged_with_a_termination() -> None:
    plan = Plan(bots=2, players=2, deals=1, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    games = list(plan)
    found.add(games[0], scored(0, 40, termination="TIMEOUT", at_fault=0))
    found.add(games[1], scored(10, 20))

    assert found.tallies[games[0].seats[0]].terminations == {"NORMAL": 1, "TIMEOUT": 1}
    assert found.tallies[games[0].seats[1]].terminations == {"NORMAL": 1}


Results = list[tuple[PlannedGame, GameScore, list[Effort]]]


def random_results(plan: Plan, dice: random.Random, *, least: int = -50, rounds: int = 1) -> Results:
    efforts = [Effort(10, 1, 50, {0: 3, 4: 7}) for _ in range(plan.players)]
    return [
        (game, replace(scored(*(dice.randrange(least, 150) for _ in game.seats)), rounds=rounds), efforts)
        for game in plan
    ]


def folded(plan: Plan, results: Results, rule: StoppingRule | None = None) -> MatchStatistics:
    found = MatchStatistics(plan, rule)
    for game, score, efforts in results:
        found.add(game, score, efforts)
    return found


def test_the_order_in_which_games_end_makes_no_difference() -> None:
    plan = Plan(bots=4, players=3, deals=5, secret=secret_of_seed(1))
    dice = random.Random(2)
    results = random_results(plan, dice)
    forward = folded(plan, results)
    dice.shuffle(results)
    shuffled = folded(plan, results)

    assert forward.tallies == shuffled.tallies
    assert forward.pairs == shuffled.pairs
    assert forward.adjusted(0) == shuffled.adjusted(0)


def test_a_rule_stops_at_the_same_deal_in_whatever_order_games_end() -> None:
    plan = Plan(bots=2, players=2, deals=60, secret=secret_of_seed(1))
    rule = StoppingRule(0.0, 10.0)
    dice = random.Random(3)
    results = [
        (game, replace(score, points=(score.points[0] + 60 * (game.seats[0] == 0), score.points[1])), efforts)
        for game, score, efforts in random_results(plan, dice)
    ]
    forward = folded(plan, results, rule)
    assert forward.verdict is Verdict.DIFFERENCE1
    assert forward.next_deal < plan.deals

    for _ in range(5):
        dice.shuffle(results)
        shuffled = folded(plan, results, rule)
        assert (shuffled.next_deal, shuffled.tallies) == (forward.next_deal, forward.tallies)
    assert forward.tallies[0].games == forward.tallies[0].effort.decisions / 10 == 2 * forward.next_deal


def test_luck_is_what_all_bots_scored_in_the_same_seats() -> None:
    plan = Plan(bots=4, players=2, deals=6, secret=secret_of_seed(1))
    results = random_results(plan, random.Random(4))
    held: dict[tuple[int, int], list[int]] = {}
    for game, score, _ in results:
        for seat in range(2):
            held.setdefault((game.deal, seat), []).append(score.points[seat])
    everything = statistics.mean(point for points in held.values() for point in points)
    found = folded(plan, results)

    for bot in range(4):
        fates = [
            statistics.mean(held[game.deal, seat])
            for game, _, _ in results
            for seat in range(2)
            if game.seats[seat] == bot
        ]
        assert found.luck(bot) == pytest.approx(statistics.mean(fates) - everything, abs=1e-9)
        points = found.tallies[bot].points_per_round.mean
        assert found.adjusted(bot).mean == pytest.approx(points - found.luck(bot))


def test_who_sits_everywhere_has_no_luck_and_a_narrower_interval() -> None:
    plan = Plan(bots=2, players=2, deals=40, secret=secret_of_seed(1))
    dice = random.Random(5)
    results = []
    for game, score, efforts in random_results(plan, dice):
        hand = random.Random(game.deal).randrange(-200, 200)
        results.append((game, replace(score, points=(score.points[0] + hand, score.points[1] + hand)), efforts))
    found = folded(plan, results)

    assert found.luck(0) == pytest.approx(0, abs=1e-9)
    plain, adjusted = found.tallies[0].points_per_round, found.adjusted(0)
    assert adjusted.mean == pytest.approx(plain.mean)
    assert adjusted.high - adjusted.low < (plain.high - plain.low) / 2


def test_partners_do_not_play_against_each_other() -> None:
    plan = Plan(bots=4, players=4, deals=1, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    for game in plan:
        found.add(game, replace(scored(40, 10, 40, 10), sides=(0, 1, 0, 1)))

    pair = found.pairs[0, 1]
    assert pair.score.weights == 2 * 16  # of 24 seatings they are partners in 8
    assert pair.difference.mean == 0


def test_more_points_on_a_deal_win_it_and_games_make_its_class() -> None:
    plan = Plan(bots=2, players=2, deals=3, secret=secret_of_seed(1))
    found = MatchStatistics(plan)
    for game, points in zip(plan, [(50, 0), (10, 30), (5, 5), (5, 40), (1, 2), (3, 2)], strict=True):
        found.add(game, scored(*points))

    pair = found.pairs[0, 1]  # 50 and 30 to 0 and 10; 5 and 40 to 5 and 5; 1 and 2 to 2 and 3
    assert (pair.deals_won, pair.deals_drawn, pair.deals_lost) == (2, 0, 1)
    assert pair.outcomes == {4: 1, 3: 1, 0: 1}


def test_who_is_at_fault_has_lost_to_everybody() -> None:
    score = scored(400, 0, 20, termination="CRASH", at_fault=0)

    assert [score.half_wins(seat, 0) for seat in (1, 2)] == [2, 2]
    assert [score.half_wins(0, seat) for seat in (1, 2)] == [0, 0]


@pytest.mark.parametrize(("bots", "players"), [(3, 2), (2, 2), (5, 3)])
def test_points_and_differences_are_those_of_the_naive_computation(bots: int, players: int) -> None:
    plan = Plan(bots=bots, players=players, deals=9, secret=secret_of_seed(1))
    results = random_results(plan, random.Random(bots))
    found = folded(plan, results)

    of_first: dict[int, list[int]] = {}
    between: dict[int, list[int]] = {}
    for game, score, _ in results:
        by_bot = dict(zip(game.seats, score.points, strict=True))
        if 0 in by_bot:
            of_first.setdefault(game.deal, []).append(by_bot[0])
        if 0 in by_bot and 1 in by_bot:
            between.setdefault(game.deal, []).append(by_bot[0] - by_bot[1])
    for naive, seen in (
        (interval(map(statistics.mean, of_first.values())), found.tallies[0].points_per_round),
        (interval(map(statistics.mean, between.values())), found.difference(0, 1)),
    ):
        assert (seen.mean, seen.low, seen.high) == pytest.approx((naive.mean, naive.low, naive.high))


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
