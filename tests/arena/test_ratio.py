"""Means and their intervals against numbers that were found in another way."""

from __future__ import annotations

import math
import random
import statistics

import numpy
import pytest
from scipy import stats

from rummy500_arena.ratio import RatioSums, interval


def sums_of(values: list[int], weights: list[int]) -> RatioSums:
    sums = RatioSums()
    for value, weight in zip(values, weights, strict=True):
        sums.add(value, weight)
    return sums


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


def test_units_that_weigh_the_same_give_the_interval_of_scipy() -> None:
    values = [24, -7, 80, 16, 38, 0, -55]
    found = sums_of(values, [2] * 7).interval

    expected = stats.ttest_1samp([value / 2 for value in values], 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_units_of_different_weights_give_the_ratio_and_the_linearized_error() -> None:
    values, weights = [300, 120, 800, 90, 410], [6, 2, 11, 3, 8]
    found = sums_of(values, weights)

    ratio = sum(values) / sum(weights)
    apart = numpy.array(values) - ratio * numpy.array(weights)
    assert found.mean == pytest.approx(ratio)
    assert found.error == pytest.approx(stats.sem(apart) / numpy.mean(weights))


def test_intervals_of_ratios_cover_the_truth_as_often_as_they_say() -> None:
    dice = random.Random(2)
    covered = 0
    for _ in range(2_000):
        weights = [dice.randint(4, 12) for _ in range(30)]
        values = [round(sum(dice.gauss(10, 40) for _ in range(weight))) for weight in weights]
        found = sums_of(values, weights).interval
        covered += found.low <= 10 <= found.high

    assert 0.93 < covered / 2_000 < 0.965


def test_whole_numbers_cancel_to_the_last_digit() -> None:
    assert sums_of([3 * 10**9 + 1] * 3, [7] * 3).error == 0.0


def test_the_other_way_round_only_the_sign_differs() -> None:
    found = sums_of([5, -2, 9], [1, 2, 3])

    assert found.negated().interval.low == pytest.approx(-found.interval.high)
