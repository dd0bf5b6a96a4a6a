"""The processes of bots that are started here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rummy500_client import bot_guard
from rummy500_client.match_bots import BotSpec
from rummy500_client.options import NAME

if TYPE_CHECKING:
    from rummy500_client.bot_dial import DialledBot

TAIL_BYTES = 8 * 1024
STOP_SECONDS = 3.0


class BotGuard:
    """Sees to it that no process outlives this one, however it ends."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", str(Path(bot_guard.__file__))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
        self._lock = threading.Lock()

    def started(self, process: int) -> None:
        self._tell(f"+{process}")

    def ended(self, process: int) -> None:
        self._tell(f"-{process}")

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()


@dataclass(frozen=True)
class Ended:
    """A bot's process has ended, or the stream of one that was dialled. `exit_code` None: there is none."""

    process: BotProcess | DialledBot
    exit_code: int | None
    stderr_tail: str
    has_started: bool

    @property
    def spec(self) -> BotSpec:
        return self.process.spec

    @property
    def seating(self) -> int:
        return self.process.seating


class BotProcess:
    """The `start`-th process of a bot for a seating. `ended` is called in another thread when it ends by itself."""

    def __init__(
        self,
        spec: BotSpec,
        *,
        seating: int,
        start: int,
        environment: Mapping[str, str],
        guard: BotGuard,
        ended: Callable[[Ended], None],
    ) -> None:
        self.spec, self.seating, self.start, self.name = spec, seating, start, environment[NAME]
        self._ended, self._guard = ended, guard
        self._is_stopped = False
        self._tail = b""
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                spec.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            self._process = None
            ended(Ended(self, None, f"{spec.command()[0]}: {error.strerror}", has_started=False))
            return
        guard.started(self._process.pid)
        self._reader = threading.Thread(target=self._read, args=(self._process,), name=environment[NAME], daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(process.stderr.fileno(), TAIL_BYTES):
                self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        code = process.wait()
        if not self._is_stopped:
            self._ended(Ended(self, code, self.stderr_tail, has_started=True))

    @property
    def stderr_tail(self) -> str:
        """What it last wrote to its standard error."""
        return self._tail.decode("utf-8", errors="replace")

    def ask_to_stop(self) -> None:
        self._is_stopped = True
        self._signal(signal.SIGTERM)

    def wait_stopped(self) -> None:
        """Returns when the process and its group are gone, whatever that takes."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._guard.ended(self._process.pid)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._reader.join(STOP_SECONDS)
        assert self._process.stderr is not None
        self._process.stderr.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def stop_all(processes: Sequence[BotProcess | DialledBot]) -> None:
    for process in processes:
        process.ask_to_stop()
    for process in processes:
        process.wait_stopped()
