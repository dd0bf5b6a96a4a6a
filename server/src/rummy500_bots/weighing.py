"""How well is known which of two candidates is better: by judgement, and by what rollouts came to at a near look, after
few turns, and at a far one.

All of them say less than they seem to (`rummy500_bots.outlook`). A near look has little of chance in it, but misses
what comes later, which a far one tells, with more noise: what it changes is believed by how well it is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rummy500_bots.outlook import FAR_NOISE, MISSED, NEAR_NOISE, NEVER_TOLD
from rummy500_engine.actions import Action

KNOWN_BY: Final = 6
"""Rollouts of its own by which the noise of a candidate is known as well as from those of all others."""


@dataclass(slots=True)
class Candidate:
    """Actions that are weighed as one, `expected` in points, give or take `doubt`. `near` are the points by which its
    rollouts were ahead of the first candidate's from the same guesses at a near look, `far` by how much a far look
    changed that."""

    actions: tuple[Action, ...]
    expected: float
    doubt: float
    near: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)

    def note(self, points: tuple[float, float], first: tuple[float, float]) -> None:
        """What a rollout came to at the near and at the far look, and the first candidate's."""
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
        belief = MISSED**2 / (MISSED**2 + far_variance)
        certain = 1 / (doubt * doubt)
        trust = 1 / (near_variance + belief * far_variance + NEVER_TOLD**2)
        lead = (judged * certain + (near + belief * far) * trust) / (certain + trust)
        return lead, math.sqrt(1 / (certain + trust))


def _mean(leads: Sequence[float], noise: float) -> tuple[float, float]:
    """The mean and the variance of it."""
    count = len(leads)
    mean = sum(leads) / count
    spread = sum([(lead - mean) ** 2 for lead in leads]) + KNOWN_BY * noise * noise
    return mean, spread / (count - 1 + KNOWN_BY) / count
