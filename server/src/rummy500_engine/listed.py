"""What a listed action means, without asking again whether it is legal: for who lists and plays thousands a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rummy500_engine.actions import Action, LayMeld, LayOff, Take
from rummy500_engine.readings import lay_off_readings, one_reading
from rummy500_engine.turn import Move

if TYPE_CHECKING:
    from rummy500_engine.round import Round


def move_of(round: Round, action: Action) -> Move:
    """As `legal.verify` answers for an action that has been listed for the round as it stands."""
    match action:
        case Take(card, place):
            pile = round.pile
            return place - 1 if place else len(pile) - 1 - pile[::-1].index(card)
        case LayMeld():
            return one_reading(round.rules, action)
        case LayOff(_, number):
            return lay_off_readings(round.melds[number - 1], action)[0]
        case _:
            return None
