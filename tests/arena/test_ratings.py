"""Ratings against another program's, against Elo, and against strengths that were known before."""

from __future__ import annotations

import math
import random

import choix
import numpy
import pytest

from rummy500_arena.elo import elo_of_score
from rummy500_arena.pairs import Meeting, PairTally
from rummy500_arena.ratings import CLOSE, DRAWN_GAMES, Wins, ratings, strengths

PER_LOG = 400 / math.log(10)


def played(true: list[float], deals: int, dice: random.Random) -> dict[tuple[int, int], PairTally]:
    """Each pair plays two games a deal, won as often as these strengths say."""
    pairs: dict[tuple[int, int], PairTally] = {}
    for deal in range(deals):
        for bot in range(len(true)):
            for other in range(bot + 1, len(true)):
                chance = 1 / (1 + math.exp(true[other] - true[bot]))
                half_wins = sum(2 * (dice.random() < chance) for _ in range(2))
                pairs.setdefault((bot, other), PairTally()).add(deal, Meeting(half_wins - 2, 2, half_wins, 2))
    return pairs


@pytest.mark.parametrize("bots", [3, 5, 8])
def test_ratings_are_those_of_choix(bots: int) -> None:
    dice = random.Random(bots)
    wins: Wins = {
        (bot, other): (float(dice.randrange(60)), 60.0) for bot in range(bots) for other in range(bot + 1, bots)
    }
    compared = numpy.full((bots, bots), DRAWN_GAMES / 2 / (bots - 1))
    for (bot, other), (won, games) in wins.items():
        compared[bot, other] += won
        compared[other, bot] += games - won

    expected = choix.ilsr_pairwise_dense(compared)

    assert strengths(bots, wins, close=CLOSE) == pytest.approx(list((expected - expected.mean()) * PER_LOG), abs=0.01)


def test_between_two_bots_the_difference_is_elo() -> None:
    first, second = strengths(2, {(0, 1): (7_500.0, 10_000.0)}, close=CLOSE)

    expected = elo_of_score(0.75)
    assert expected is not None
    assert first - second == pytest.approx(expected, abs=0.1)


def test_a_bot_that_never_won_is_far_below_and_not_beyond_all_numbers() -> None:
    found = strengths(3, {(0, 1): (20.0, 20.0), (0, 2): (20.0, 20.0), (1, 2): (10.0, 20.0)}, close=CLOSE)

    assert found[0] - found[1] > 400
    assert all(map(math.isfinite, found))


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    true = [0.4, 0.1, -0.5]
    dice = random.Random(7)
    covered = total = 0
    for _ in range(60):
        for rating, strength in zip(ratings(3, played(true, 60, dice)), true, strict=True):
            covered += rating.low <= strength * PER_LOG <= rating.high
            total += 1

    assert 0.89 <= covered / total <= 0.99
