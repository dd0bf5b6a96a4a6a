"""Looks ahead on guesses: each candidate is played on by fair players, on the same guesses for all, and what comes of
it is weighed against what was expected of it.

A few dozen rollouts say less than a judgement does, so they correct it and do not replace it: the expected points of a
candidate are the mean of the two, each weighed by how well it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rummy500_bots.policy import Policy
from rummy500_engine.actions import Action
from rummy500_engine.legal import legal_actions
from rummy500_engine.round import Round

DOUBT = 12.0
"""Points by which the judgement of two candidates is wrong, as a standard deviation."""
NOISE = 45.0
"""Points by which two rollouts from one guess differ, as a standard deviation, before any are made."""
KNOWN_BY = 6
"""Rollouts of their own after which the noise of a candidate is taken from them alone, half from them before."""
HOPELESS = 2.0
"""Standard deviations by which a candidate must be behind to be looked at no more."""


WINNING = 100.0
"""Points that it is worth to win the game."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """The totals by seat before the round, and the total that wins."""

    totals: tuple[int, ...]
    target: int


@dataclass(slots=True)
class Candidate:
    """Actions that are weighed as one, `expected` in points; `leads` are the points by which each rollout was ahead of
    the first candidate's from the same guess."""

    actions: tuple[Action, ...]
    expected: float
    leads: list[float]

    def lead(self, first: Candidate) -> tuple[float, float]:
        """The points by which it is ahead of the first, as far as is known, and how well: a standard deviation."""
        prior, count = self.expected - first.expected, len(self.leads)
        if not count:
            return prior, DOUBT
        mean = sum(self.leads) / count
        spread = sum([(lead - mean) ** 2 for lead in self.leads]) + KNOWN_BY * NOISE * NOISE
        noise = spread / (count - 1 + KNOWN_BY)
        trust, certain = count / noise, 1 / (DOUBT * DOUBT)
        return (prior * certain + mean * trust) / (certain + trust), math.sqrt(1 / (certain + trust))


def look_ahead(
    candidates: Sequence[Candidate],
    *,
    seat: int,
    policy: Policy,
    guess: Callable[[], Round],
    goes_on: Callable[[int], bool],
    horizon: int,
    stakes: Stakes,
) -> Candidate:
    """The best of the candidates, of which the first is expected to be. `guess` makes a round as the seat sees it;
    `goes_on` is asked after each guess, with their number, whether there is time for another."""
    first, open_to = candidates[0], list(candidates[1:])
    guesses = 0
    while open_to and goes_on(guesses):
        round = guess()
        base = rollout(round.clone(), seat, first.actions, policy=policy, horizon=horizon, stakes=stakes)
        for candidate in open_to:
            value = rollout(round.clone(), seat, candidate.actions, policy=policy, horizon=horizon, stakes=stakes)
            candidate.leads.append(value - base)
        guesses += 1
        open_to = [candidate for candidate in open_to if not _is_hopeless(candidate, first)]
    best = max(candidates[1:], key=lambda each: each.lead(first)[0], default=first)
    return best if best is not first and best.lead(first)[0] > 0 else first


def _is_hopeless(candidate: Candidate, first: Candidate) -> bool:
    lead, doubt = candidate.lead(first)
    return lead + HOPELESS * doubt < 0


def rollout(
    round: Round, seat: int, actions: Sequence[Action], *, policy: Policy, horizon: int, stakes: Stakes
) -> float:
    """Plays the actions and then, with fair players in all seats, `horizon` turns or to the end. Answers the points by
    which the seat's side is ahead of the others then."""
    last = round.turns_played + horizon
    for action in actions:
        round.apply(seat, action)
    while not round.over and round.turns_played < last:
        mover = round.to_act()[0]
        round.apply(mover, policy.choose(round, mover, legal_actions(round, mover)))
    return lead_of(round, seat, policy, stakes)


def lead_of(round: Round, seat: int, policy: Policy, stakes: Stakes) -> float:
    """The points by which the side of the seat is, or is expected to be, ahead of the mean of the other sides; and what
    it is worth to win the game, or costs to lose it, where the round decides it."""
    sides = round.rules.sides
    points: dict[int, float] = {}
    for other, score in enumerate(round.scores()):
        standing = float(score.points)
        if not round.over:
            standing += policy.judge.prospects(round, other)
        points[sides[other]] = points.get(sides[other], 0.0) + standing
    totals = {side: stakes.totals[other] + points[side] for other, side in enumerate(sides)}
    own, own_total = points.pop(sides[seat]), totals.pop(sides[seat])
    lead = own - sum(points.values()) / len(points)
    if max(own_total, *totals.values()) >= stakes.target:
        lead += WINNING if own_total > max(totals.values()) else -WINNING
    return lead
