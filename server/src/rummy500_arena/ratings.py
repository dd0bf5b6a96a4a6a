"""Ratings of many bots on one scale: the Plackett-Luce model, with intervals by bootstrap over deals.

In the model the probability that bot i is ranked before bot j is g_i / (g_i + g_j), whoever else is at the table (Luce,
Individual Choice Behavior, 1959; Plackett, "The analysis of permutations", Applied Statistics 24, 1975). The ranking of
each game is broken into all its pairs, a shared place into half a win each, which estimates the model consistently
(Azari Soufiani, Chen, Parkes and Xia, "Generalized method-of-moments for rank aggregation", NIPS 2013); what is left to
solve is the model of Bradley and Terry, by Hunter's MM algorithm ("MM algorithms for generalized Bradley-Terry models",
Annals of Statistics 32, 2004). A rating is 400 log10 g, the mean of all ratings zero, so that for two bots the
difference is Elo. One drawn game of each bot, spread over all others, keeps the rating of a bot that never won from
running away (Davidson and Solomon, "A Bayesian approach to paired comparison experimentation", Biometrika 60, 1973).

The bootstrap draws deals again, in at most `BLOCKS` groups: sums over groups of independent deals are independent too,
so a million deals cost no more than a hundred. Intervals are normal with the bootstrap's standard error, for which 100
replications are enough (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, 6.4 and 13.3).
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from operator import mul

from rummy500_arena.elo import A_DECADE, Z
from rummy500_arena.pairs import BLOCKS, PairTally
from rummy500_arena.ratio import Interval

REPLICATIONS = 100
DRAWN_GAMES = 1.0
MOST_STEPS = 10_000
CLOSE, CLOSE_ENOUGH = 1e-7, 1e-4
"""Relative change of a step at which the fit is done: of the ratings, and of a replication."""
Pair = tuple[int, int]
Wins = Mapping[Pair, tuple[float, float]]
"""Of the first of each pair: games won, a shared one by half, and games."""


def ratings(bots: int, pairs: Mapping[Pair, PairTally]) -> list[Interval]:
    """The rating of each bot; the same pairs give the same numbers."""
    best = strengths(bots, _drawn(pairs, [1] * BLOCKS), close=CLOSE)
    dice = random.Random(0)
    replications = []
    for _ in range(REPLICATIONS):
        times = [0] * BLOCKS
        for block in dice.choices(range(_blocks(pairs)), k=_blocks(pairs)):
            times[block] += 1
        replications.append(strengths(bots, _drawn(pairs, times), close=CLOSE_ENOUGH, start=best))
    errors = [statistics.stdev(column) for column in zip(*replications, strict=True)]
    return [Interval(mean, mean - Z * error, mean + Z * error) for mean, error in zip(best, errors, strict=True)]


def _blocks(pairs: Mapping[Pair, PairTally]) -> int:
    """Groups that hold a deal: fewer than BLOCKS in a short match."""
    return max((b + 1 for pair in pairs.values() for b in range(BLOCKS) if pair.games_by_block[b]), default=1)


def _drawn(pairs: Mapping[Pair, PairTally], times: Sequence[int]) -> Wins:
    """The games of all blocks together, each so many times."""
    return {
        pair: (sum(map(mul, tally.half_wins_by_block, times)) / 2, sum(map(mul, tally.games_by_block, times)))
        for pair, tally in pairs.items()
    }


def strengths(bots: int, wins: Wins, *, close: float, start: Sequence[float] | None = None) -> list[float]:
    """The ratings that make these wins most likely, their mean zero."""
    won = [DRAWN_GAMES / 2] * bots
    drawn = DRAWN_GAMES / (bots - 1)
    games = [[drawn] * bots for _ in range(bots)]
    for (bot, other), (of_first, of_both) in wins.items():
        won[bot] += of_first
        won[other] += of_both - of_first
        games[bot][other] += of_both
        games[other][bot] += of_both
    rows = [[(other, games[bot][other]) for other in range(bots) if other != bot] for bot in range(bots)]
    strength = [10 ** (rating / A_DECADE) for rating in start or [0.0] * bots]
    for _ in range(MOST_STEPS):
        before = strength[:]
        for bot, row in enumerate(rows):
            mine = strength[bot]
            strength[bot] = won[bot] / sum(played / (mine + strength[other]) for other, played in row)
        centre = math.exp(math.fsum(map(math.log, strength)) / bots)
        strength = [each / centre for each in strength]
        if max(abs(now / then - 1) for now, then in zip(strength, before, strict=True)) < close:
            break
    return [A_DECADE * math.log10(each) for each in strength]
