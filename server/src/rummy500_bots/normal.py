"""The bot of a fair player: it takes useful cards from the pile, lays what it can, and does not feed the others."""

from __future__ import annotations

from rummy500_bots.decision import Decision
from rummy500_bots.guesses import plain_guess
from rummy500_bots.judgement import Style
from rummy500_bots.knowledge import knowledge_of
from rummy500_bots.policy import Policy
from rummy500_engine.actions import Action
from rummy500_engine.guess import guessed_round


class NormalBot:
    """Keeps nothing of the game: the answer follows from the question alone."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._policy: Policy | None = None

    def act(self, decision: Decision) -> Action:
        view, rules = decision.view, decision.rules
        assert view.seat is not None
        if self._policy is None or self._policy.rules is not rules:
            self._policy = Policy(rules, self._style)
        round = guessed_round(rules, view, plain_guess(knowledge_of(rules, view)))
        return self._policy.choose(round, view.seat, decision.legal)
