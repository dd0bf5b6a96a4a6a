"""When a match may stop before its plan is done: a sequential test on the paired differences of two bots.

The generalized sequential probability ratio test of a normal mean, with the variance that the deals show: for a mean r
of n deals with standard error e, the logarithm of the likelihood ratio of m1 to m0 is (m1 - m0) (r - (m0 + m1) / 2) /
e^2 (Van den Bergh, "Comments on normalized Elo" and "The generalized SPRT", 2019-2020, as fishtest has it, after Li,
Liu and Ying, "Generalized sequential probability ratio test for separate families of hypotheses", Sequential Analysis
33, 2014). The bounds are Wald's, ln(beta / (1 - alpha)) and ln((1 - beta) / alpha) (Sequential Analysis, 1947, 3.2).
What the error rates come to is in docs/statistics.md, by simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from rummy500_arena.ratio import RatioSums

FEWEST_DEALS = 32
"""Before so many deals the variance is known too badly for any verdict."""


class Verdict(Enum):
    """The names are those of the contract."""

    UNDECIDED = "undecided"
    DIFFERENCE0 = "difference0"
    DIFFERENCE1 = "difference1"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """`bot` less `other`, indices into the plan's bots, in points a round: `difference0` against `difference1`.
    `alpha` is the probability of the verdict for 1 where 0 is true, `beta` that of the verdict for 0 where 1 is."""

    difference0: float
    difference1: float
    alpha: float = 0.05
    beta: float = 0.05
    bot: int = 0
    other: int = 1

    @property
    def lower(self) -> float:
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        return math.log((1 - self.beta) / self.alpha)

    def ratio(self, difference: RatioSums) -> float:
        """The logarithm of the likelihood ratio so far; infinite where deals do not differ at all."""
        above = difference.mean - (self.difference0 + self.difference1) / 2
        evidence = (self.difference1 - self.difference0) * above
        if not difference.error:
            return math.copysign(math.inf, evidence) if evidence and difference.count > 1 else 0.0
        return evidence / difference.error**2

    def verdict(self, difference: RatioSums) -> Verdict:
        if difference.count < FEWEST_DEALS:
            return Verdict.UNDECIDED
        ratio = self.ratio(difference)
        if ratio <= self.lower:
            return Verdict.DIFFERENCE0
        return Verdict.DIFFERENCE1 if ratio >= self.upper else Verdict.UNDECIDED
