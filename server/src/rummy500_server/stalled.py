"""Tables and matches that held a whole server up: noted beside the database by the process that ends for it, ended by
the next."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from rummy500_server.settings import IN_MEMORY, Settings


@dataclass(frozen=True, slots=True)
class Stall:
    """`name` is a table's or a match's. `while_folding`: the table cannot be folded any more."""

    name: str
    held_up_by: str
    while_folding: bool = False

    @property
    def sentence(self) -> str:
        return f"it held the whole server up: {self.held_up_by}"


class Stalls:
    """A stall a line, in a file that is there only between two processes."""

    def __init__(self, settings: Settings) -> None:
        self._path = None if settings.database == IN_MEMORY else Path(f"{settings.database}.stalled")

    def note(self, stall: Stall) -> None:
        """Called by a process that is about to end."""
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([stall.name, stall.held_up_by, stall.while_folding]) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> dict[str, Stall]:
        """By name, the last of each. A line that was not written to its end does not count: it stalls again."""
        stalls: dict[str, Stall] = {}
        if self._path is None or not self._path.exists():
            return stalls
        for line in self._path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                name, held_up_by, while_folding = json.loads(line)
                stalls[name] = Stall(name, held_up_by, while_folding)
        return stalls

    def forget(self) -> None:
        """They have been ended, and their end is durable."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
