"""The process of the bot under examination: started, looked at from outside, and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from rummy500_client.errors import ClientError

KEPT = 8 * 1024
STOP_SECONDS = 3.0


class Patient:
    """Raises ClientError when the command does not start. `shows_stderr`: what it says there is shown as well."""

    def __init__(self, command: list[str], environment: Mapping[str, str], *, shows_stderr: bool = False) -> None:
        self._shows_stderr = shows_stderr
        self.began = time.monotonic()
        self.stdout, self.stderr = b"", b""
        self.stdout_bytes = self.stderr_bytes = 0
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ClientError(f"{command[0]} does not start: {error.strerror}") from None
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_stdout, self._read_stderr)]
        for reader in self._readers:
            reader.start()

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stdout.fileno(), KEPT):
                self.stdout_bytes += len(chunk)
                self.stdout = (self.stdout + chunk)[:KEPT]

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), KEPT):
                self.stderr_bytes += len(chunk)
                self.stderr = (self.stderr + chunk)[-KEPT:]
                if self._shows_stderr:
                    sys.stderr.write(chunk.decode("utf-8", errors="replace"))
                    sys.stderr.flush()

    @property
    def exit_code(self) -> int | None:
        """None: it runs."""
        return self._process.poll()

    @property
    def last_line(self) -> str:
        """What it last wrote to its standard error."""
        lines = self.stderr.decode("utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    def ended_text(self) -> str:
        """How it ended; it must have."""
        code = self._process.wait()
        for reader in self._readers:
            reader.join(STOP_SECONDS)
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"the bot ended {how}; it last said: {self.last_line}"

    def close_stdin(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def terminate(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def has_others(self) -> bool:
        """Whether processes of its group are left."""
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def stop(self) -> None:
        """Returns when it is gone, whatever that takes."""
        self.terminate()
        self.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.close_stdin()
        for reader in self._readers:
            reader.join(STOP_SECONDS)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def memory(self) -> int | None:
        """Bytes that its processes hold in memory; None where the system does not tell."""
        pages = [int(text.split()[1]) for text in self._proc("statm")]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") if pages else None

    def processor_seconds(self) -> float | None:
        """Processor time that its processes have used; None where the system does not tell."""
        fields = [text.rpartition(")")[2].split() for text in self._proc("stat")]
        ticks = [int(field[11]) + int(field[12]) for field in fields]
        return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None

    def _proc(self, file: str) -> list[str]:
        """That file of /proc for each process of the bot's group."""
        texts = []
        for directory in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, IndexError):
                stat = (directory / "stat").read_text(encoding="utf-8", errors="replace")
                if int(stat.rpartition(")")[2].split()[2]) == self._process.pid:
                    texts.append((directory / file).read_text(encoding="utf-8", errors="replace"))
        return texts
