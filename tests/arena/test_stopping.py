"""The sequential test: its bounds, its ratio, and how often it is wrong."""

from __future__ import annotations

import math
import statistics

import pytest
from scipy import stats
from tests.arena.error_rates import rates

from rummy500_arena.ratio import RatioSums
from rummy500_arena.stopping import FEWEST_DEALS, StoppingRule, Verdict


def test_the_bounds_are_those_of_wald() -> None:
    rule = StoppingRule(0, 5, alpha=0.05, beta=0.1)

    assert rule.lower == pytest.approx(math.log(0.1 / 0.95))
    assert rule.upper == pytest.approx(math.log(0.9 / 0.05))


def test_the_ratio_is_that_of_two_normal_likelihoods_with_the_variance_seen() -> None:
    values = [12, -30, 44, 8, 61, 3, -12, 25]
    rule = StoppingRule(0, 10)
    sums = RatioSums()
    for value in values:
        sums.add(value, 1)

    deviation = statistics.stdev(values)
    of_mean = [float(sum(stats.norm.logpdf(value, mean, deviation) for value in values)) for mean in (0, 10)]
    assert rule.ratio(sums) == pytest.approx(of_mean[1] - of_mean[0])


def test_nothing_is_said_after_a_few_deals() -> None:
    rule = StoppingRule(0, 1)
    sums = RatioSums()
    for _ in range(FEWEST_DEALS - 1):
        sums.add(100, 1)
    assert rule.verdict(sums) is Verdict.UNDECIDED

    sums.add(100, 1)

    assert rule.verdict(sums) is Verdict.DIFFERENCE1


def test_copies_of_one_bot_are_told_at_once() -> None:
    rule = StoppingRule(0, 5)
    sums = RatioSums()
    for _ in range(FEWEST_DEALS):
        sums.add(0, 2)

    assert rule.ratio(sums) == -math.inf
    assert rule.verdict(sums) is Verdict.DIFFERENCE0


@pytest.mark.parametrize("shape", ["normal", "heavy tails"])
def test_it_is_wrong_about_as_seldom_as_it_was_told(shape: str) -> None:
    alpha, beta, _, _ = rates(shape, 0.25, matches=300)

    assert max(alpha, beta) < 0.09
