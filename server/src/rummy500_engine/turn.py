"""What bears on finishing a turn, as the search for its end passes it on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rummy500_engine.actions import End
from rummy500_engine.cards import JOKER, Card, Mask
from rummy500_engine.melds import Meld, Shape
from rummy500_engine.rules import Rules


class Fit(NamedTuple):
    """One reading of a lay-off: the face that the card stands for and the end of the run, None for a set."""

    face: Card
    end: End | None


Move = int | Shape | Fit | None
"""What an action means here: a Take's index in the pile, a LayMeld's shape, a LayOff's fit."""


class TurnState(NamedTuple):
    """What bears on finishing a turn.

    `must` is the part of `hand` that must still be used, `target` the deepest card taken (None: none taken);
    `melded` says whether the seat had a meld before this turn, `laid_points` and `laid` what it melded in it (the
    points of its melds; whether any), `best` the points of the meld that it lays first: the best of the plan, whose
    melds may be laid in any order; `lays_off` whether a lay-off was made in the plan; `first_play`: the next play must
    contain the target; `own` are melds of the plan that nothing needs to be laid off on any more.
    """

    seat: int
    hand: Mask
    must: Mask
    target: Card | None
    banned: Card | None
    melds: tuple[Meld, ...]
    melded: bool
    laid: bool = False
    laid_points: int = 0
    best: int = 0
    lays_off: bool = False
    first_play: bool = False
    new_meld: bool = False
    own: tuple[Meld, ...] = ()


def can_lay_off_on(rules: Rules, seat: int, meld: Meld) -> bool:
    """Whether the meld is open to the seat at this table (RULES 2, `own-melds`): a meld is its opener's."""
    return not rules.own_melds_only or rules.sides[meld.opener] == rules.sides[seat]


def fits_some_meld(melds: Sequence[Meld], card: Card) -> bool:
    """Whether the card fits any meld on the table, whoever might lay it there; a joker fits as any card."""
    if card == JOKER:
        return any(meld.fits for meld in melds)
    return any(meld.fits >> card & 1 for meld in melds)
