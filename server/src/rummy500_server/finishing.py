"""What the clock plays for a seat whose time is over: a legal turn that is over soon and gives little away."""

from __future__ import annotations

from rummy500_engine.actions import DRAW, PASS, Action, Call, Discard, LayMeld, LayOff
from rummy500_engine.game import Game

MOST_STEPS = 256
"""A turn that is not over after so many actions never ends: a variant's action goes round in a circle."""


def finishing_action(game: Game, seat: int) -> Action:
    """The next action that brings the seat's turn nearer to its end. The seat must be asked.

    Answers a poll with a pass; draws if it can, else passes, else takes; throws the lowest legal discard; and while
    there is none, plays what a duty wants. After every legal play the turn can still be finished (RULES 1.10), so
    no play has to be taken back.
    """
    legal = game.legal_actions(seat)
    if game.round is not None and game.round.poll is not None and PASS in legal:
        return PASS
    if DRAW in legal:
        return DRAW
    if PASS in legal:
        return PASS
    discards = [action for action in legal if isinstance(action, Discard)]
    if discards:
        points = game.rules.held_points
        return min(discards, key=lambda discard: (points[discard.card], discard.card))
    return min(legal, key=lambda action: _rank(game, seat, action))


def _rank(game: Game, seat: int, action: Action) -> tuple[int, int]:
    """Plays that meet a duty first, then those that put most cards on the table; what a variant adds comes last."""
    assert game.round is not None
    owed = game.round.must_use
    match action:
        case LayMeld(cards):
            return -sum(owed >> card & 1 for card in cards), -len(cards)
        case LayOff(card):
            return -(owed >> card & 1), -1
        case Call():
            return 0, 0
    return 1, 0
