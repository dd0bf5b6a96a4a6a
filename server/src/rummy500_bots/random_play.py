"""The bot that takes any legal action, each with the same chance."""

from __future__ import annotations

import random

from rummy500_bots.decision import Decision
from rummy500_engine.actions import Action


class RandomBot:
    """The same seed and the same questions give the same answers."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def act(self, decision: Decision) -> Action:
        legal = decision.legal
        return legal[int(self._dice.random() * len(legal))]
