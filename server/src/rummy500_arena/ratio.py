"""A mean of independent units that may weigh differently, and its 95 % interval, from sums alone.

A unit gives a value p and a weight w: the points that a bot scored on a deal and the rounds that it took. The mean is
the ratio estimate r = sum(p) / sum(w), its variance sum((p - r w)^2) / (n (n - 1) mean(w)^2), its interval Student's
with n - 1 degrees of freedom (Cochran, Sampling Techniques, 3rd edition, 1977, 2.11 and 6.4). Where all units weigh the
same this is the mean with its standard error s / sqrt(n) (Student, "The probable error of a mean", Biometrika 6, 1908).
The sums of whole numbers are exact, so the order of the units changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rummy500_arena.student import t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval; both are the mean while there is only one unit."""

    mean: float
    low: float
    high: float

    def moved(self, by: float) -> Interval:
        return Interval(self.mean + by, self.low + by, self.high + by)


NOTHING = Interval(0.0, 0.0, 0.0)


def interval(values: Iterable[float]) -> Interval:
    """The mean of independent observations that weigh the same, with its interval. No values: zero."""
    sums = RatioSums()
    for value in values:
        sums.add(value, 1)
    return sums.interval


@dataclass(slots=True)
class RatioSums:
    """`count` units; the sums of values, of weights, and of their products."""

    count: int = 0
    values: float = 0
    weights: float = 0
    values_squared: float = 0
    products: float = 0
    weights_squared: float = 0

    def add(self, value: float, weight: float) -> None:
        self.count += 1
        self.values += value
        self.weights += weight
        self.values_squared += value * value
        self.products += value * weight
        self.weights_squared += weight * weight

    def negated(self) -> RatioSums:
        """The same with every value's sign changed."""
        return replace(self, values=-self.values, products=-self.products)

    @property
    def mean(self) -> float:
        """Zero where nothing has a weight."""
        return self.values / self.weights if self.weights else 0.0

    @property
    def error(self) -> float:
        """The standard error of the mean; zero while there are less than two units."""
        if self.count < 2 or not self.weights:
            return 0.0
        # Over a common denominator, so that whole numbers cancel exactly.
        squares = (
            self.values_squared * self.weights * self.weights
            - 2 * self.values * self.weights * self.products
            + self.values * self.values * self.weights_squared
        )
        scaled = self.count * max(squares, 0) / ((self.count - 1) * self.weights**4)
        return math.sqrt(scaled)

    @property
    def interval(self) -> Interval:
        if not self.weights:
            return NOTHING
        half = t_quantile(0.5 + CONFIDENCE / 2, self.count - 1) * self.error if self.count > 1 else 0.0
        return Interval(self.mean, self.mean - half, self.mean + half)
