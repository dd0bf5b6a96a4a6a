"""The bot that takes any legal action, each with the same chance."""

from __future__ import annotations

from rummy500_bots.decision import Decision
from rummy500_engine.actions import Action
from rummy500_engine.terms import Phase
from rummy500_engine.view import View

_WORD = (1 << 64) - 1


class RandomBot:
    """Its dice follow from the seed and from where the game stands, not from what it was asked before: a bot that is
    made anew in mid-game plays on as the first one would have."""

    def __init__(self, seed: int) -> None:
        self._seed = seed & _WORD
        self._place = 0
        self._repeats = 0

    def act(self, decision: Decision) -> Action:
        legal = decision.legal
        place = place_of(decision.view)
        self._repeats = self._repeats + 1 if place == self._place else 0
        self._place = place
        return legal[_mixed(_mixed(self._seed ^ place) + self._repeats) * len(legal) >> 64]


def place_of(view: View) -> int:
    """Where the game stands: another number for each decision of a seat, but for an action that changes no count."""
    place = view.round << 40 | view.turns_played << 20 | len(view.melds) << 10 | len(view.hand)
    return place << 1 | (view.phase is Phase.POLL)


def _mixed(word: int) -> int:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014)."""
    word = (word + 0x9E3779B97F4A7C15) & _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31
