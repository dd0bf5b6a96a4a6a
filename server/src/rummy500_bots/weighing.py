"""How well is known which of two candidates is better: by judgement, and by what rollouts said after one turn of each
seat and after two.

Both say less than they seem to. The judgement is wrong by a candidate's `doubt`. A first round of turns says little
that is due to chance, but misses what comes later (MISSED), which the second round tells, with more noise: what it
changes is believed by how well it is known. All figures are standard deviations in points, measured over positions of
games between fair players, against rollouts to the end of the round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rummy500_engine.actions import Action

OF_DRAWS: float = 11.0
"""By which the judgement of two draws, calls or ways to lay is wrong."""
OF_DISCARDS: float = 6.5
"""By which the judgement of two discards after the same plays is wrong."""
NEAR_NOISE: float = 13.0
"""By which two rollouts from one guess differ after a turn of each seat, before any are made."""
FAR_NOISE: float = 18.0
"""The same of what the second turn of each seat changes."""
MISSED: float = 6.0
"""By which a turn of each seat misleads, and the second puts it right."""
NEVER_TOLD: float = 3.0
"""By which both mislead."""
KNOWN_BY: Final = 6
"""Rollouts of its own by which the noise of a candidate is known as well as from those of all others."""


@dataclass(slots=True)
class Candidate:
    """Actions that are weighed as one, `expected` in points, give or take `doubt`. `near` are the points by which its
    rollouts were ahead of the first candidate's from the same guesses after one turn of each seat, `far` by how much
    the second changed that."""

    actions: tuple[Action, ...]
    expected: float
    doubt: float
    near: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)

    def note(self, points: tuple[float, float], first: tuple[float, float]) -> None:
        """What a rollout came to after one and after two turns of each seat, and the first candidate's."""
        near = points[0] - first[0]
        self.near.append(near)
        self.far.append(points[1] - first[1] - near)

    def lead(self, first: Candidate) -> tuple[float, float]:
        """The points by which it is ahead of the first, as far as is known, and how well: a standard deviation."""
        judged, doubt = self.expected - first.expected, max(self.doubt, first.doubt)
        if not self.near:
            return judged, doubt
        near, near_variance = _mean(self.near, NEAR_NOISE)
        far, far_variance = _mean(self.far, FAR_NOISE)
        belief = MISSED * MISSED / (MISSED * MISSED + far_variance)
        certain = 1 / (doubt * doubt)
        trust = 1 / (near_variance + belief * far_variance + NEVER_TOLD * NEVER_TOLD)
        lead = (judged * certain + (near + belief * far) * trust) / (certain + trust)
        return lead, math.sqrt(1 / (certain + trust))


def _mean(leads: Sequence[float], noise: float) -> tuple[float, float]:
    """The mean and the variance of it."""
    count = len(leads)
    mean = sum(leads) / count
    spread = sum([(lead - mean) ** 2 for lead in leads]) + KNOWN_BY * noise * noise
    return mean, spread / (count - 1 + KNOWN_BY) / count
