"""The bot that plans: it judges, plays the meld phase that earns most, and looks ahead where it is in doubt."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from rummy500_bots.decision import Advice, Decision
from rummy500_bots.effort import Budget, Effort
from rummy500_bots.guesses import likely_guess, plain_guess
from rummy500_bots.knowledge import History, knowledge_of
from rummy500_bots.lookahead import Stakes, look_ahead
from rummy500_bots.meld_phase import best_meld_phase
from rummy500_bots.outlook import OF_DISCARDS, OF_DRAWS
from rummy500_bots.policy import Policy, answers, policy_of
from rummy500_bots.random_play import place_of
from rummy500_bots.reasons import reason
from rummy500_bots.styles import BALANCED, EXPERT, styled
from rummy500_bots.trios import trios_of
from rummy500_bots.weighing import Candidate
from rummy500_engine.actions import Action, Discard
from rummy500_engine.guess import guessed_round
from rummy500_engine.legal import legal_actions
from rummy500_engine.round import Round
from rummy500_engine.terms import Phase

MOST_CANDIDATES = 4
MOST_HANDS = 400
"""Hands that are gone through for the plan of a meld phase, a dozen milliseconds; nearly all phases have fewer."""
HOLDING = 7.0
"""Points by which it is judged to be worse to hold all melds back."""


class ExpertBot:
    """Keeps what happened in the round; its dice follow from the seed and from where the game stands."""

    def __init__(self, seed: int, effort: Effort, style: str = BALANCED) -> None:
        """`style`: one of STYLES. Its time is told by `clock`, in seconds."""
        self._seed, self._style, self._effort = seed, style, effort
        self.clock: Callable[[], float] = time.monotonic
        self._history = History()

    def act(self, decision: Decision) -> tuple[Action, ...]:
        return self._decided(decision)[0]

    def advise(self, decision: Decision) -> Advice:
        actions, round, policy = self._decided(decision)
        assert decision.view.seat is not None
        return Advice(actions, reason(round, decision.view.seat, actions, policy))

    def _decided(self, decision: Decision) -> tuple[tuple[Action, ...], Round, Policy]:
        budget = Budget(self._effort, time_left_ms=decision.time_left_ms, clock=self.clock)
        view, rules = decision.view, decision.rules
        seat = view.seat
        assert seat is not None
        self._history.note(decision.events)
        policy = policy_of(rules, styled(EXPERT, self._style))
        knowledge = knowledge_of(rules, view)
        round = guessed_round(rules, view, plain_guess(knowledge))
        if len(decision.legal) == 1:
            return decision.legal, round, policy
        found = _considered(candidates(round, seat, policy, decision.legal, budget.is_half_spent))
        dice = Random(self._seed ^ place_of(view))
        history, trios = self._history, trios_of(rules)
        chosen = look_ahead(
            found,
            seat=seat,
            guess=lambda: guessed_round(rules, view, likely_guess(knowledge, history, trios, dice)),
            budget=budget,
            stakes=Stakes(view.totals, rules.target),
        )
        return chosen.actions, round, policy


def _considered(found: list[Candidate]) -> list[Candidate]:
    """The best, and of the others those that are most likely to be better."""
    found.sort(key=lambda each: -each.expected)
    others = sorted(found[1:], key=lambda each: -each.expected - each.doubt)
    return [found[0], *others[: MOST_CANDIDATES - 1]]


def candidates(
    round: Round,
    seat: int,
    policy: Policy,
    legal: tuple[Action, ...],
    is_late: Callable[[], bool] = lambda: False,
) -> list[Candidate]:
    """What the seat may consider, each with what it is judged to be worth in points. The round is left as it is."""
    if round.phase is Phase.PLAY:
        return _turns(round, seat, policy, legal, is_late)
    weighed = legal if round.phase is Phase.DRAW else answers(legal)
    ask = policy.draw_values if round.phase is Phase.DRAW else policy.answer_values
    return [
        Candidate((action,), value, OF_DRAWS) for action, value in zip(weighed, ask(round, seat, weighed), strict=True)
    ]


def _turns(
    round: Round,
    seat: int,
    policy: Policy,
    legal: tuple[Action, ...],
    is_late: Callable[[], bool],
) -> list[Candidate]:
    """Ways to play the turn to its end: the meld phase that earns most and each discard after it, and the melds held
    back."""
    phase = best_meld_phase(round, seat, most_hands=MOST_HANDS, is_late=is_late)
    after = round.clone()
    for play in phase.plays:
        after.apply(seat, play)
    found = _ended(after, seat, policy, phase.plays)
    discards = tuple(action for action in legal if isinstance(action, Discard))
    if phase.plays and discards:
        laid = max([each.expected for each in found])
        found.append(held_back(round, seat, policy, discards, laid=laid))
    return found


def held_back(round: Round, seat: int, policy: Policy, discards: tuple[Discard, ...], *, laid: float) -> Candidate:
    """The best of the discards, nothing laid before it although something could be: what it is `laid`, less HOLDING."""
    values = policy.discard_values(round, seat, discards)
    return Candidate((discards[values.index(max(values))],), laid - HOLDING, OF_DRAWS)


def _ended(after: Round, seat: int, policy: Policy, plays: tuple[Action, ...]) -> list[Candidate]:
    """The plays, and each discard that can end the turn after them."""
    if after.over or after.phase is not Phase.PLAY or after.turn != seat:
        return [Candidate(plays, 0.0, OF_DRAWS)]
    legal = [action for action in legal_actions(after, seat) if isinstance(action, Discard)]
    return [
        Candidate((*plays, action), value, OF_DISCARDS)
        for action, value in zip(legal, policy.discard_values(after, seat, legal), strict=True)
    ]
