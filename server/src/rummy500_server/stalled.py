"""Tables that held a whole server up: noted beside the database by the process that ends for it, ended by the next."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rummy500_server.settings import IN_MEMORY, Settings


class StalledTables:
    """Table and who held it up, a line each, in a file that is there only between two processes."""

    def __init__(self, settings: Settings) -> None:
        self._path = None if settings.database == IN_MEMORY else Path(f"{settings.database}.stalled")

    def note(self, table: str, held_up_by: str) -> None:
        """Called by a process that is about to end."""
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([table, held_up_by]) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> dict[str, str]:
        """Who held up which table."""
        if self._path is None or not self._path.exists():
            return {}
        lines = self._path.read_text(encoding="utf-8").splitlines()
        return {str(table): str(held_up_by) for table, held_up_by in map(json.loads, lines)}

    def forget(self) -> None:
        """They have been ended, and their end is durable."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
