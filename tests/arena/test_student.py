"""Student's distribution against printed tables, its own density and another program."""

from __future__ import annotations

import math
import statistics

import pytest
from scipy import stats

from rummy500_arena.student import normal_cumulative, t_cumulative, t_quantile

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


@pytest.mark.parametrize("freedom", [1, 3, 17, 400])
@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy(freedom: int, probability: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9)


@pytest.mark.parametrize("z", [-4.0, -1.0, 0.0, 0.3, 2.5])
def test_the_normal_distribution_is_that_of_scipy(z: float) -> None:
    assert normal_cumulative(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)
