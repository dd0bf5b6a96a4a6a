"""What an action that is asked for can mean, and when two mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rummy500_engine.actions import TAKES, Action, Call, LayMeld, LayOff, Take
from rummy500_engine.calls import canonical_call
from rummy500_engine.cards import JOKER, cards_of, cards_text
from rummy500_engine.melds import Meld, Shape
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.rules import Rules
from rummy500_engine.turn import Fit

if TYPE_CHECKING:
    from rummy500_engine.round import Round


def one_reading(rules: Rules, meld: LayMeld) -> Shape:
    shapes = rules.catalogue.readings(meld)
    if not shapes:
        raise Refused(Refusal.NOT_A_MELD, f"{cards_text(meld.cards)} is neither a set nor a run of this table")
    if len(shapes) > 1:
        readings = "; ".join(cards_text(shape.faces) for shape in shapes[:4])
        raise Refused(Refusal.AMBIGUOUS, f"{cards_text(meld.cards)} can be read as {readings}: say which")
    return shapes[0]


def lay_off_readings(meld: Meld, action: LayOff) -> list[Fit]:
    """The faces and ends that a lay-off on this meld can mean."""
    if action.card != JOKER:
        ends = meld.ends_taking(action.card)
        return [Fit(action.card, end) for end in ends if action.end is None or action.end is end]
    faces = [action.stands_for] if action.stands_for is not None else cards_of(meld.fits)
    readings = [Fit(face, end) for face in faces for end in meld.ends_taking(face)]
    if action.end is None:
        return readings
    return [fit for fit in readings if fit.end is action.end]


def canonical(round: Round, action: Action) -> Action:
    """The form in which the action is listed. An action without one legal meaning is returned as it is."""
    match action:
        case Take(card, place) if place:
            pile = round.pile
            highest = len(pile) - pile[::-1].index(card) if card in pile else 0
            return TAKES[card] if place == highest else action
        case LayMeld():
            shapes = round.rules.catalogue.readings(action)
            return round.rules.catalogue.listed(shapes[0]) if len(shapes) == 1 else action
        case LayOff(card, number) if 1 <= number <= len(round.melds):
            meld = round.melds[number - 1]
            readings = lay_off_readings(meld, action)
            if len(readings) != 1:
                return action
            face, end = readings[0]
            two_ends = len(meld.ends_taking(face)) > 1
            return LayOff(card, number, end if two_ends else None, face if card == JOKER else None)
        case Call():
            return canonical_call(round, action)
        case _:
            return action
