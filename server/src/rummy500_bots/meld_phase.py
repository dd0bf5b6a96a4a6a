"""The best way to play a whole meld phase: which melds and lay-offs, in which order, found exactly on the engine.

Every step is an action that the engine lists and applies, so duties, minimums, ways of going out and whatever a variant
forbids are kept without being known here. The search goes through the hands that can be left, each once, and turns back
where not even all cards of a hand could earn more than was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rummy500_engine.actions import Action, Discard
from rummy500_engine.cards import DISTINCT, JOKER_BIT, Mask, cards_of
from rummy500_engine.finish import reachable
from rummy500_engine.legal import legal_actions
from rummy500_engine.round import Round
from rummy500_engine.terms import Phase

MOST_HANDS = 2_000
"""Hands after which the search stops looking for more points."""


@dataclass(frozen=True, slots=True)
class MeldPhase:
    """`plays` in order; `points` is the score of the seat if the round ended after them. `is_exact`: no other plays
    earn more; otherwise the search was broken off and there may be better ones."""

    plays: tuple[Action, ...]
    points: int
    is_exact: bool


def best_meld_phase(
    round: Round, seat: int, *, most_hands: int = MOST_HANDS, is_late: Callable[[], bool] = lambda: False
) -> MeldPhase:
    """The plays of most points for the seat in turn, which has drawn. The round is left as it is. The search is broken
    off after so many hands, or when `is_late` says so."""
    assert round.phase is Phase.PLAY
    assert round.turn == seat
    return _Search(seat, most_hands, is_late).found(round)


class _Search:
    def __init__(self, seat: int, most_hands: int, is_late: Callable[[], bool]) -> None:
        self._seat = seat
        self._left = most_hands
        self._is_late = is_late
        self._seen: dict[object, int] = {}
        self._best: tuple[int, tuple[Action, ...]] | None = None

    def found(self, round: Round) -> MeldPhase:
        self._visit(round, ())
        assert self._best is not None, "from every position the turn can be finished"
        points, plays = self._best
        return MeldPhase(plays, points, self._left > 0)

    def _visit(self, round: Round, plays: tuple[Action, ...]) -> None:
        points = round.scores()[self._seat].points
        if round.phase is not Phase.PLAY or round.turn != self._seat:
            self._note(points, plays)
            return
        key = (round.hands[self._seat], tuple([(meld.start, meld.length, meld.fits) for meld in round.melds]))
        if self._seen.get(key, points - 1) >= points:
            return
        self._seen[key] = points
        legal = legal_actions(round, self._seat)
        if any(isinstance(action, Discard) for action in legal):
            self._note(points, plays)
        if self._best is not None and points + self._most(round) <= self._best[0]:
            return
        for action in sorted((action for action in legal if not isinstance(action, Discard)), key=_size, reverse=True):
            if self._left <= 0 and self._best is not None:
                return
            self._left = 0 if self._is_late() else self._left - 1
            after = round.clone()
            after.apply(self._seat, action)
            self._visit(after, (*plays, action))

    def _note(self, points: int, plays: tuple[Action, ...]) -> None:
        if self._best is None or points > self._best[0]:
            self._best = points, plays

    def _most(self, round: Round) -> int:
        """More than the cards of the hand can still add to the score."""
        rules, hand = round.rules, round.hands[self._seat]
        usable: Mask = hand
        if not hand & JOKER_BIT and not rules.actions and not rules.twins:
            usable = rules.catalogue.meldable(hand) | reachable(rules, self._seat, hand & DISTINCT, round.melds)
        placed, low, held = rules.placed_points, rules.low_ace_points, rules.held_points
        bonus = 1_000_000 if rules.adjustments else 0
        return bonus + sum([max(placed[card], low[card]) + held[card] for card in cards_of(usable)])


def _size(action: Action) -> int:
    return len(getattr(action, "cards", (0,)))
