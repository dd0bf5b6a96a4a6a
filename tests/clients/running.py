"""The `rummy500` command in tests: as a process, and at a terminal of its own."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 60.0


def environment(state: Path, **more: str) -> dict[str, str]:
    """Of a user of the client whose state lies in `state`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RUMMY500_")}
    return {**inherited, "XDG_STATE_HOME": str(state), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rummy500_client", *arguments]


def rummy500(
    *arguments: str, state: Path, at: Path | None = None, typed: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end in directory `at`."""
    return subprocess.run(
        command(*arguments),
        cwd=at or state,
        env=environment(state, **more),
        input=typed,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
        check=False,
    )


class Terminal:
    """The command at a terminal of its own, as a person has it."""

    def __init__(self, *arguments: str, state: Path, **more: str) -> None:
        self._own, theirs = pty.openpty()
        try:
            self.process = subprocess.Popen(
                command(*arguments),
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                cwd=state,
                env=environment(state, TERM="xterm", **more),
                start_new_session=True,
            )
        finally:
            os.close(theirs)
        self.text = ""
        self._read_to = 0

    def wait_for(self, *texts: str) -> str:
        """Reads on until one of the texts comes; answers it. What was read up to there is not looked at again."""
        until = time.monotonic() + PATIENCE
        while True:
            found = [(self.text.find(text, self._read_to), text) for text in texts]
            places = sorted((place, text) for place, text in found if place >= 0)
            if places:
                place, text = places[0]
                self._read_to = place + len(text)
                return text
            remaining = until - time.monotonic()
            assert remaining > 0, f"none of {texts} came; the terminal shows {self.text[-2000:]!r}"
            assert self._read(remaining), f"ended before {texts} came; the terminal shows {self.text[-2000:]!r}"

    def _read(self, seconds: float) -> bool:
        """Reads what is there; tells whether the terminal is still open."""
        readable, _, _ = select.select([self._own], [], [], seconds)
        if not readable:
            return True
        try:
            chunk = os.read(self._own, 65536)
        except OSError:
            return False
        self.text += chunk.decode(errors="replace").replace("\r\n", "\n")
        return bool(chunk)

    def type(self, line: str) -> None:
        os.write(self._own, line.encode() + b"\n")

    def press_ctrl_c(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def wait_ended(self) -> int:
        while self._read(PATIENCE):
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(OSError):
            os.close(self._own)


@contextlib.contextmanager
def terminal(*arguments: str, state: Path, **more: str) -> Iterator[Terminal]:
    shown = Terminal(*arguments, state=state, **more)
    try:
        yield shown
    finally:
        shown.close()


@contextlib.contextmanager
def server_process(database: Path, *flags: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server that the test may kill: its address and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rummy500_server", "serve", "--port", str(port), "--database", str(database), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(database.parent),
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process
    finally:
        process.kill()
        process.communicate()
