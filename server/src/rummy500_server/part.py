"""What belongs to the keeper of one table and does not hold it in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper


class Part:
    """A keeper holds its parts, and they refer to it weakly: a table that is let go leaves memory at once, and does not
    wait until the collector looks for cycles, which it seldom does."""

    def __init__(self, keeper: Keeper) -> None:
        self._whose = ref(keeper)

    @property
    def _keeper(self) -> Keeper:
        """Whose table it is. Whoever is called later, by a timer or by the journal, asks `_is_left` first."""
        keeper = self._whose()
        assert keeper is not None
        return keeper

    @property
    def _is_left(self) -> bool:
        """Whether the table was let go."""
        return self._whose() is None
