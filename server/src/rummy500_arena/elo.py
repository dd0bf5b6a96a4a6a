"""Elo from games won, with an interval and the likelihood of superiority that respect the deals they share.

A game's score is 1, 1/2 or 0; the score of a pair of bots is the mean over games, its variance that between deals, for
the games of one deal are not independent. With two seatings a deal these are the pentanomial counts of chess engines:
Van den Bergh, "The generalized SPRT" and "Normalized Elo" (2019-2020), as fishtest and fastchess compute them; the
tests repeat fastchess's published numbers. Elo is -400 log10(1 / score - 1) (Elo, The Rating of Chessplayers, 1978,
8.4), its interval that of the normal interval of the score, the likelihood of superiority the probability that a normal
score with that error lies above 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from rummy500_arena.ratio import CONFIDENCE, RatioSums
from rummy500_arena.student import normal_cumulative

Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
A_DECADE = 400
"""Points of Elo for odds of ten to one."""


@dataclass(frozen=True, slots=True)
class Elo:
    """None: beyond all numbers, for one side has won every game so far. `superiority`: 0 to 1."""

    difference: float | None
    low: float | None
    high: float | None
    superiority: float


def elo_of(score: RatioSums) -> Elo | None:
    """From the score of each deal and its games. None: less than two deals, or they do not differ at all."""
    error = score.error
    if not error:
        return None
    mean = score.mean
    return Elo(
        elo_of_score(mean),
        elo_of_score(mean - Z * error),
        elo_of_score(mean + Z * error),
        normal_cumulative((mean - 0.5) / error),
    )


def elo_of_score(score: float) -> float | None:
    return -A_DECADE * math.log10(1 / score - 1) if 0 < score < 1 else None
