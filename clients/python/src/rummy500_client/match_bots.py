"""The bots of a match as the command line names them, and the processes of those that are started here."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rummy500.v1.match_pb2 import ConnectedBot, MatchBot
from rummy500_client.bot_class import is_class_path
from rummy500_client.connection import verify_address
from rummy500_client.errors import ClientError
from rummy500_client.options import read_builtin

NAME_OF_A_BOT = re.compile(r"[\w.-]{1,48}")
_NAMED = re.compile(rf"({NAME_OF_A_BOT.pattern})=(.+:.*)", re.DOTALL)
_FORMS = "builtin:NAME, connected:NAME, FILE.py:CLASS, MODULE:CLASS, cmd:COMMAND or dial:HOST:PORT"


@dataclass(frozen=True)
class BotSpec:
    """A bot of a match. `kind` is builtin, connected, class, cmd or dial; the last three have a connection for each
    seating that is made from here."""

    name: str
    kind: str
    what: str

    @property
    def is_started_here(self) -> bool:
        return self.kind in ("class", "cmd", "dial")

    @property
    def files(self) -> list[Path]:
        """The files by which the bot is what it is, as far as its name tells."""
        words = {"class": lambda: [self.what.rpartition(":")[0]], "cmd": self.command}.get(self.kind, list)()
        return [Path(word) for word in words if Path(word).is_file()]

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
        case "dial":
            return BotSpec(given or verify_address(what).replace(":", "-")[:48], kind, verify_address(what))
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
    return MatchBot(name=spec.name, connected=ConnectedBot(names=names, is_relayed=spec.kind == "dial"))
