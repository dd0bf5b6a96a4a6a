"""The bot of a fair player: it takes useful cards from the pile, lays what it can, and does not feed the others."""

from __future__ import annotations

from rummy500_bots.decision import Advice, Decision
from rummy500_bots.guesses import plain_guess
from rummy500_bots.knowledge import knowledge_of
from rummy500_bots.policy import Policy, policy_of
from rummy500_bots.reasons import reason
from rummy500_bots.styles import Style
from rummy500_engine.actions import Action
from rummy500_engine.guess import guessed_round
from rummy500_engine.round import Round


class NormalBot:
    """Keeps nothing of the game: the answer follows from the question alone."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def act(self, decision: Decision) -> Action:
        return self._decided(decision)[0]

    def advise(self, decision: Decision) -> Advice:
        action, round, policy = self._decided(decision)
        assert decision.view.seat is not None
        return Advice((action,), reason(round, decision.view.seat, (action,), policy))

    def _decided(self, decision: Decision) -> tuple[Action, Round, Policy]:
        view, rules = decision.view, decision.rules
        assert view.seat is not None
        policy = policy_of(rules, self._style)
        round = guessed_round(rules, view, plain_guess(knowledge_of(rules, view)))
        return policy.choose(round, view.seat, decision.legal), round, policy
