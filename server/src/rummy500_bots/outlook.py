"""What an expert believes of its judgement and of looking ahead: a near look is after one turn of each seat, a far one
after two.

All figures are standard deviations in points, measured over positions of games between fair players: what was judged,
and what rollouts came to after some turns, against what rollouts to the end of the round from the real hands came to.
"""

from __future__ import annotations

from typing import Final

OF_DRAWS: Final = 11.0
"""By which the judgement of two draws, calls or ways to lay is wrong."""
OF_DISCARDS: Final = 6.0
"""By which the judgement of two discards after the same plays is wrong."""
NEAR_NOISE: Final = 14.0
"""By which near looks from two guesses differ."""
FAR_NOISE: Final = 18.0
"""By which what far looks add to near ones differs."""
MISSED: Final = 6.0
"""By which a near look misleads, and a far one puts it right."""
NEVER_TOLD: Final = 3.0
"""By which both mislead."""
