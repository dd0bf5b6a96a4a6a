"""Student's distribution and the normal one, without a library.

Abramowitz and Stegun, Handbook of Mathematical Functions (1964): 26.7.1 for Student's distribution by the incomplete
beta function, 26.5.8 for that function's continued fraction.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_CLOSE = 1e-15
_STEPS = 10_000


def normal_cumulative(z: float) -> float:
    """The probability that a standard normal variable is at most `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def t_cumulative(t: float, freedom: int) -> float:
    """The probability that Student's t with so many degrees of freedom is at most `t`."""
    tail = 0.5 * _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """The t below which Student's distribution has this probability, 0.5 to 1 exclusive."""
    assert 0.5 < probability < 1
    low, high = 0.0, 1.0
    while t_cumulative(high, freedom) < probability:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if t_cumulative(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of Abramowitz and Stegun 26.5.8, from the front (Lentz's method)."""
    numerator, denominator = 1.0, _nonzero(1 - (a + b) * x / (a + 1))
    denominator = 1 / denominator
    value = denominator
    for step in range(1, _STEPS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / _nonzero(1 + term * denominator)
            numerator = _nonzero(1 + term / numerator)
            change = denominator * numerator
            value *= change
        if abs(change - 1) < _CLOSE:
            return value
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
