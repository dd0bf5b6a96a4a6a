"""What one table writes to the journal, and whether all of it is durable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rummy500_server.commits import Commits
from rummy500_server.journal import Append, JournalError, Write
from rummy500_server.part import Part

if TYPE_CHECKING:
    from rummy500_server.keeper import Keeper


class Scribe(Part):
    """`written` entries of the table are in the journal. Its keeper publishes when nothing is left to write."""

    def __init__(self, keeper: Keeper, commits: Commits, *, written: int) -> None:
        super().__init__(keeper)
        self._table = keeper.table.name
        self._commits = commits
        self._written = written
        self._lines: list[bytes] = []
        self._writes: list[Write] = []
        self._in_flight = 0
        self.is_lost = False
        """Something was not kept: what is in memory is ahead of the journal, and stays so."""

    @property
    def is_durable(self) -> bool:
        return not self._in_flight and not self._lines and not self._writes

    def note(self, line: bytes) -> None:
        """The next entry of the table."""
        self._lines.append(line)
        self._commits.touch(self)

    def keep(self, writes: Sequence[Write]) -> None:
        """Kept together with the entries that were noted in this turn of the loop, or not at all."""
        if writes:
            self._writes += writes
            self._commits.touch(self)

    async def durable(self) -> None:
        """Waits until all that was written before is durable. Raises JournalError."""
        await self._commits.durable()
        if self.is_lost:
            raise JournalError(f"table {self._table} is ahead of what was kept of it")

    # --- as a Writer

    def take_writes(self) -> Sequence[Write]:
        self._in_flight += 1
        if self.is_lost:
            return ()
        writes, self._writes = self._writes, []
        if self._lines:
            writes.append(Append(self._table, self._written + 1, self._lines))
            self._written += len(self._lines)
            self._lines = []
        return writes

    def committed(self) -> None:
        self._in_flight -= 1
        keeper = self._whose()
        if keeper is not None and self.is_durable and not self.is_lost:
            keeper.publish()

    def lost(self, error: JournalError) -> None:
        self._in_flight -= 1
        if not self.is_lost:
            self.is_lost = True
            if not self._is_left:
                self._keeper.tell_lost()
