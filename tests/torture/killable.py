"""A server process that is killed and started again, on one database and at one address."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.server.running import environment

START_SECONDS = 60.0


class KillableServer:
    """Its log goes to `log`, the next process's after the one before; `more` are environment variables."""

    def __init__(self, database: Path, log: Path, *flags: str, **more: str) -> None:
        self._database, self._log, self._flags, self._more = database, log, flags, more
        self._port = 0
        self._process: asyncio.subprocess.Process | None = None
        self.address = ""

    async def spawn(self) -> None:
        """Starts a process, which does not listen yet."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "rummy500_server", "serve", "--port", str(self._port)),
                *("--database", str(self._database), "--log-format", "json", *self._flags),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=environment() | self._more,
            )

    async def listens(self) -> None:
        """Waits until the process that was started can be spoken to."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = (await asyncio.wait_for(self._process.stdout.readline(), START_SECONDS)).decode()
        assert line.startswith("listening on "), f"the server did not start: {self.errors()}"
        self.address = line.split()[-1]
        self._port = int(self.address.rpartition(":")[2])

    @property
    def pid(self) -> int:
        """Of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        if self._process is not None:
            if self._process.returncode is None:
                self._process.kill()
            await self._process.communicate()
            self._process = None

    def errors(self) -> list[str]:
        """What the processes logged as errors, and what is no line of a log."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        return [line for line in lines if not _is_harmless(line)]


def _is_harmless(line: str) -> bool:
    try:
        return json.loads(line)["level"] not in ("error", "critical")
    except (ValueError, KeyError):
        return False
