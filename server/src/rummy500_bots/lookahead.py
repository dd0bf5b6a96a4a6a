"""Looks ahead on guesses: each candidate is played on by fair players, on the same guesses for all, and what comes of
it is weighed against what was expected of it.

A few dozen rollouts say less than a judgement does, so they correct it and do not replace it: the expected points of a
candidate are the mean of the two, each weighed by how well it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rummy500_bots.effort import Budget
from rummy500_bots.policy import policy_of
from rummy500_bots.styles import FAIR, LOOKING_BACK
from rummy500_bots.weighing import Candidate
from rummy500_engine.actions import Action
from rummy500_engine.legal import legal_actions
from rummy500_engine.listed import move_of
from rummy500_engine.round import Round

HOPELESS = 2.0
"""Standard deviations by which a candidate must be behind to be looked at no more."""
WINNING = 100.0
"""Points that it is worth to win the game."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """The totals by seat before the round, and the total that wins."""

    totals: tuple[int, ...]
    target: int


def look_ahead(
    candidates: Sequence[Candidate],
    *,
    seat: int,
    guess: Callable[[], Round],
    budget: Budget,
    stakes: Stakes,
) -> Candidate:
    """The best of the candidates, of which the first is expected to be. `guess` makes a round as the seat sees it. A
    guess that the budget breaks off counts for none of them."""
    first = candidates[0]
    open_to = [candidate for candidate in candidates[1:] if not _is_hopeless(candidate, first)]
    guesses = 0
    while open_to and budget.allows(guesses):
        round, points = guess(), []
        for candidate in (first, *open_to):
            found = rollout(round.clone(), seat, candidate.actions, stakes=stakes, budget=budget)
            if found is None:
                return _best(candidates)
            points.append(found)
        for candidate, found in zip(open_to, points[1:], strict=True):
            candidate.note(found, points[0])
        guesses += 1
        open_to = [candidate for candidate in open_to if not _is_hopeless(candidate, first)]
    return _best(candidates)


def _best(candidates: Sequence[Candidate]) -> Candidate:
    first = candidates[0]
    leads = [candidate.lead(first)[0] for candidate in candidates[1:]]
    return candidates[1 + leads.index(max(leads))] if leads and max(leads) > 0 else first


def _is_hopeless(candidate: Candidate, first: Candidate) -> bool:
    lead, doubt = candidate.lead(first)
    return lead + HOPELESS * doubt < 0


def rollout(
    round: Round, seat: int, actions: Sequence[Action], *, stakes: Stakes, budget: Budget
) -> tuple[float, float] | None:
    """Plays the actions and then, with fair players in all seats, two turns of each seat or to the end. Answers the
    points by which the seat's side is ahead of the others after one of them and after two; None: there was no time."""
    begun, turns = round.turns_played, round.rules.players
    for action in actions:
        round.apply(seat, action)
    if not _play_on(round, begun + turns, budget):
        return None
    near = far = lead_of(round, seat, stakes)
    if not round.over:
        if not _play_on(round, begun + 2 * turns, budget):
            return None
        far = lead_of(round, seat, stakes)
    return near, far


def _play_on(round: Round, turns: int, budget: Budget) -> bool:
    """Until so many turns have been played, or the round is over; False: there was no time for that."""
    policy = policy_of(round.rules, FAIR)
    while not round.over and round.turns_played < turns:
        if budget.is_spent():
            return False
        mover = round.to_act()[0]
        action = policy.choose(round, mover, legal_actions(round, mover))
        round.play_verified(mover, action, move_of(round, action))
    return True


def lead_of(round: Round, seat: int, stakes: Stakes) -> float:
    """The points by which the side of the seat is, or is expected to be, ahead of the mean of the other sides; and what
    it is worth to win the game, or costs to lose it, where the round decides it."""
    sides, judge = round.rules.sides, policy_of(round.rules, LOOKING_BACK).judge
    points: dict[int, float] = {}
    prospects = [0.0] * len(sides) if round.over else judge.prospects(round)
    for side, score, prospect in zip(sides, round.scores(), prospects, strict=True):
        points[side] = points.get(side, 0.0) + score.points + prospect
    totals = {side: stakes.totals[other] + points[side] for other, side in enumerate(sides)}
    own, own_total = points.pop(sides[seat]), totals.pop(sides[seat])
    lead = own - sum(points.values()) / len(points)
    if max(own_total, *totals.values()) >= stakes.target:
        lead += WINNING if own_total > max(totals.values()) else -WINNING
    return lead
