"""What another move was worth: a decision and what was played, against the best that the expert finds."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from rummy500_bots.decision import Decision
from rummy500_bots.effort import Budget, Effort
from rummy500_bots.expert import candidates, held_back
from rummy500_bots.guesses import plain_guess, random_guess
from rummy500_bots.knowledge import knowledge_of
from rummy500_bots.lookahead import Stakes, look_ahead
from rummy500_bots.policy import policy_of
from rummy500_bots.random_play import place_of
from rummy500_bots.reasons import reason
from rummy500_bots.styles import EXPERT
from rummy500_engine.actions import Action, Discard
from rummy500_engine.guess import guessed_round

COMPARED = 3
"""Moves that the played one is compared with."""


@dataclass(frozen=True, slots=True)
class Appraisal:
    """`lost` are the points that `better` is expected to bring more than what was played; none: nothing is better."""

    lost: float
    better: tuple[Action, ...]
    sentence: str


def appraise(decision: Decision, played: Action, *, samples: int) -> Appraisal | None:
    """How the move compares; None where there was no choice, or where a meld or lay-off has more of the turn before it:
    the move that ends the turn tells of those."""
    view, rules = decision.view, decision.rules
    assert view.seat is not None
    knowledge = knowledge_of(rules, view)
    policy = policy_of(rules, EXPERT)
    round = guessed_round(rules, view, plain_guess(knowledge))
    found = sorted(candidates(round, view.seat, policy, decision.legal), key=lambda each: -each.expected)
    mine = next((each for each in found if each.actions == (played,)), None)
    if mine is None and isinstance(played, Discard):
        mine = held_back(round, view.seat, policy, (played,), laid=found[0].expected)
    if mine is None or len(found) == 1:
        return None
    dice = Random(place_of(view))
    best = look_ahead(
        [mine, *[each for each in found if each is not mine][:COMPARED]],
        seat=view.seat,
        guess=lambda: guessed_round(rules, view, random_guess(knowledge, dice)),
        budget=Budget(Effort(0, samples)),
        stakes=Stakes(view.totals, rules.target),
    )
    if best is mine:
        return Appraisal(0.0, (), "")
    lost, _ = best.lead(mine)
    return Appraisal(lost, best.actions, reason(round, view.seat, best.actions, policy))
