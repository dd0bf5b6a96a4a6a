"""The bots of a match as the command line names them, and the processes of those that are started here."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rummy500.v1.match_pb2 import ConnectedBot, MatchBot
from rummy500_client.bot_class import is_class_path
from rummy500_client.errors import ClientError
from rummy500_client.options import NAME, read_builtin

TAIL_BYTES = 8 * 1024
STOP_SECONDS = 3.0
NAME_OF_A_BOT = re.compile(r"[\w.-]{1,48}")
_NAMED = re.compile(rf"({NAME_OF_A_BOT.pattern})=(.+:.*)", re.DOTALL)
_FORMS = "builtin:NAME, connected:NAME, FILE.py:CLASS, MODULE:CLASS or cmd:COMMAND"


@dataclass(frozen=True)
class BotSpec:
    """A bot of a match. `kind` is builtin, connected, class or cmd; the last two are started here."""

    name: str
    kind: str
    what: str

    @property
    def is_started_here(self) -> bool:
        return self.kind in ("class", "cmd")

    def command(self) -> list[str]:
        """Raises ClientError when the command cannot be read."""
        if self.kind == "class":
            return [sys.executable, "-m", "rummy500_client", "bot", "run", self.what, "--exit-with-stdin"]
        try:
            return shlex.split(self.what)
        except ValueError as error:
            raise ClientError(f"the command of bot {self.name} cannot be read: {error}") from None


def read_bots(texts: Sequence[str]) -> list[BotSpec]:
    """Reads each `--bot`; bots of one name are told apart by a number. Raises ClientError."""
    if len(texts) < 2:
        raise ClientError(f"a match needs two bots at least: --bot twice, each {_FORMS}")
    specs: list[BotSpec] = []
    for text in texts:
        spec = read_bot(text)
        known = {other.name for other in specs}
        number = next(number for number in range(1, len(texts) + 1) if _numbered(spec.name, number) not in known)
        specs.append(BotSpec(_numbered(spec.name, number), spec.kind, spec.what))
    return specs


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def read_bot(text: str) -> BotSpec:
    """Reads one bot. Raises ClientError."""
    named = _NAMED.fullmatch(text)
    given, rest = (named[1], named[2]) if named else ("", text)
    kind, colon, what = rest.partition(":")
    if not colon or not what.strip():
        raise ClientError(f"bot {text!r}: a bot is {_FORMS}")
    match kind:
        case "builtin":
            return BotSpec(given or read_builtin(what).name, kind, what)
        case "connected":
            return BotSpec(given or what, kind, what)
        case "cmd":
            spec = BotSpec(given, "cmd", what)
            words = spec.command()
            if not words:
                raise ClientError(f"bot {text!r} names no command")
            return BotSpec(given or Path(words[0]).name[:48], "cmd", what)
        case _:
            return _read_class(text, rest, given)


def _read_class(text: str, rest: str, given: str) -> BotSpec:
    if not is_class_path(rest):
        raise ClientError(f"bot {text!r}: a bot is {_FORMS}")
    where, _, name = rest.rpartition(":")
    if where.endswith(".py") and not Path(where).is_file():
        raise ClientError(f"bot {text!r}: {where} is not there")
    return BotSpec(given or name, "class", rest)


def match_bot(spec: BotSpec, streams: Iterable[str] = ()) -> MatchBot:
    """The bot as the server is told. `streams` are the names of the processes that are started for it, one for each
    seating in which it sits, in the server's order; they may still be missing when a plan is only looked at."""
    if spec.kind == "builtin":
        return MatchBot(name=spec.name, builtin=read_builtin(spec.what))
    names = streams if spec.is_started_here else [spec.what]
    return MatchBot(name=spec.name, connected=ConnectedBot(names=names))


@dataclass(frozen=True)
class Ended:
    """A bot's process has ended: `exit_code` None when it could not be started."""

    spec: BotSpec
    seating: int
    exit_code: int | None
    stderr_tail: str


class BotProcess:
    """One process of a bot, for one seating. `ended` is called in another thread, when it ends by itself."""

    def __init__(
        self, spec: BotSpec, *, seating: int, environment: Mapping[str, str], ended: Callable[[Ended], None]
    ) -> None:
        self.spec = spec
        self.seating = seating
        self._ended = ended
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
            ended(Ended(spec, seating, None, f"{spec.command()[0]}: {error.strerror}"))
            return
        self._reader = threading.Thread(target=self._read, args=(self._process,), name=environment[NAME], daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(process.stderr.fileno(), TAIL_BYTES):
                self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        code = process.wait()
        if not self._is_stopped:
            self._ended(Ended(self.spec, self.seating, code, self.stderr_tail))

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


def stop_all(processes: Sequence[BotProcess]) -> None:
    for process in processes:
        process.ask_to_stop()
    for process in processes:
        process.wait_stopped()
