"""What an expert at a table of so many believes of its judgement and of looking ahead: a near look is after one turn of
each seat, a far one after two.

All figures are standard deviations in points. Those for larger tables were measured over positions of games between
fair players: what was judged, and what rollouts came to after some turns, against what rollouts to the end of the round
came to. Those for few players were found by playing: there looking ahead is believed less than that would say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rummy500_bots.styles import AMONG_MANY, EXPERT, Style


@dataclass(frozen=True, slots=True)
class Outlook:
    style: Style
    """How it judges."""
    of_draws: float
    """By which the judgement of two draws, calls or ways to lay is wrong."""
    of_discards: float
    """By which the judgement of two discards after the same plays is wrong."""
    near_noise: float
    """By which near looks from two guesses differ."""
    far_noise: float
    """By which what far looks add to near ones differs."""
    missed: float
    """By which a near look misleads, and a far one puts it right."""
    never_told: float
    """By which both mislead."""


FEW: Final = 3
"""Players at a table where the judgement found by playing is the better one."""
OF_FEW: Final = Outlook(
    style=EXPERT, of_draws=12.0, of_discards=12.0, near_noise=40.0, far_noise=20.0, missed=100.0, never_told=1.0
)
OF_MANY: Final = Outlook(
    style=AMONG_MANY, of_draws=11.0, of_discards=5.0, near_noise=14.0, far_noise=18.0, missed=6.0, never_told=3.0
)


def outlook_of(players: int) -> Outlook:
    return OF_FEW if players <= FEW else OF_MANY
