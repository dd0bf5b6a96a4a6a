"""The directory of one match: what its runner knows, so that the same command goes on with it, and what it leaves."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from rummy500.v1.match_pb2 import MATCH_STATE_FINISHED, Match, MatchPlan
from rummy500_client.connection import new_secret
from rummy500_client.errors import ClientError
from rummy500_client.files import make_directory
from rummy500_client.match_bots import BotSpec
from rummy500_client.state import write_whole

FORMAT = 1
SEED = "seed"
LONGEST_NAME = 64
STATE, LOCK, RECORDS, DATABASE, BOTS = "match.json", "lock", "records.jsonl", "server.db", "bots"


@dataclass
class RunnerState:
    """What a runner writes down before it makes the match. `wanted` is what was asked for, by the names of fields.
    `connections` are by bot the names of the processes by seating, in the order of seatings, `tokens` theirs; none: the
    plan was not looked at yet. `match` is the name that the server gave it, empty until that is known; `result` is
    what it came to."""

    wanted: dict[str, str]
    connections: list[dict[int, str]] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    request_id: str = field(default_factory=new_secret)
    match: str = ""
    commitment: str = ""
    result: dict[str, Any] | None = None

    @property
    def finished(self) -> Match | None:
        return None if self.result is None else ParseDict(self.result, Match())

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> RunnerState:
        """Raises ValueError, KeyError or TypeError."""
        values = json.loads(text)
        if values.pop("format") != FORMAT:
            raise ValueError("another version of this command wrote it")
        values["connections"] = [{int(at): name for at, name in own.items()} for own in values["connections"]]
        return cls(**values)

    def changes(self, wanted: Mapping[str, str]) -> list[str]:
        """How what is asked for differs from what was, in sentences."""
        names = [*self.wanted, *(name for name in wanted if name not in self.wanted)]
        return [
            _change(name, self.wanted.get(name), wanted.get(name))
            for name in names
            if self.wanted.get(name) != wanted.get(name)
        ]


def _change(name: str, before: str | None, now: str | None) -> str:
    if name.startswith("file "):
        return f"{name.removeprefix('file ')} was edited"
    if name == SEED:
        before, now = ("another" if before else None), ("this one" if now else None)
    if before is None:
        return f"{name} was not given and is {now}"
    return f"{name} was {before} and is {'not given' if now is None else now}"


def wanted_of(plan: MatchPlan, specs: Sequence[BotSpec], *, server: str) -> dict[str, str]:
    """What is asked for, by the names of the contract's fields, with the files that bots are loaded from."""
    wanted = {"server": server or "a private one"}
    for at, spec in enumerate(specs):
        wanted[f"bots[{at}]"] = f"{spec.name}={spec.kind}:{spec.what}"
        for path in spec.files:
            with contextlib.suppress(OSError), path.open("rb") as file:
                wanted[f"file {path}"] = hashlib.file_digest(file, "sha256").hexdigest()
    wanted |= dict(_leaves(MessageToDict(plan, preserving_proto_field_name=True)))
    if SEED in wanted:  # the bots might read it here
        wanted[SEED] = hashlib.sha256(wanted[SEED].encode()).hexdigest()
    return wanted


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for name, part in value.items():
                yield from _leaves(part, f"{path}.{name}" if path else name)
        case list():
            for at, part in enumerate(value):
                yield from _leaves(part, f"{path}[{at}]")
        case _:
            yield path, str(value)


def usual_name(specs: Sequence[BotSpec]) -> str:
    """The name of a match to which nobody gave one: that of its bots."""
    names = "-vs-".join(spec.name for spec in specs)
    whole = names if len(names) <= LONGEST_NAME else f"{specs[0].name}-vs-{len(specs) - 1}-others"
    return re.sub(r"[^\w.-]", "_", whole).lstrip(".") or "match"


class MatchFolder:
    """`DIR/NAME`, which belongs to one process at a time. Use it in a `with`. Raises ClientError."""

    def __init__(self, records: Path, name: str, *, fresh: bool = False) -> None:
        self.path = records / name
        self._lock = self._locked()
        if fresh and (self.path / STATE).exists():
            self._set_aside()

    def _locked(self) -> int:
        make_directory(self.path)
        try:
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ClientError(f"{self.path / LOCK} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise ClientError(
                f"another command is running the match in {self.path}: wait for its end, or give another --name"
            ) from None
        return lock

    def _set_aside(self) -> None:
        """An earlier match keeps its files, under another name."""
        number = next(n for n in range(1, 1_000_000) if not self.path.with_name(f"{self.path.name}.{n}").exists())
        try:
            self.path.rename(self.path.with_name(f"{self.path.name}.{number}"))
        except OSError as error:
            raise ClientError(f"{self.path} cannot be renamed: {error.strerror}") from None
        os.close(self._lock)
        self._lock = self._locked()

    def __enter__(self) -> MatchFolder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    @property
    def records(self) -> Path:
        return self.path / RECORDS

    @property
    def database(self) -> Path:
        """Of a private server."""
        return self.path / DATABASE

    def state(self, wanted: Mapping[str, str]) -> RunnerState | None:
        """What an earlier run wrote down; None: there was none, or it failed or was cancelled, and is set aside. Raises
        ClientError, also when something else is asked for now."""
        path = self.path / STATE
        try:
            state = RunnerState.from_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, ParseError) as error:
            raise ClientError(f"{path} cannot be read: {error}; --fresh begins anew and keeps it") from None
        if state.finished is not None and state.finished.state != MATCH_STATE_FINISHED:
            self._set_aside()
            return None
        changes = state.changes(wanted)
        if changes:
            told = "".join(f"\n  {change}" for change in changes)
            raise ClientError(
                f"{self.path} has another match:{told}\n--fresh begins anew and keeps that one's files, --name NAME or "
                "--records DIR puts this one elsewhere"
            )
        return state

    def keep(self, state: RunnerState) -> None:
        """Raises ClientError."""
        write_whole(self.path / STATE, state.to_json())

    def finish(self, state: RunnerState, match: Match) -> None:
        """Writes down what the match came to. Raises ClientError."""
        state.result = MessageToDict(match, preserving_proto_field_name=True)
        self.keep(state)

    def keep_bot(self, name: str, text: str) -> Path:
        """What became of a bot's process."""
        make_directory(self.path / BOTS)
        path = self.path / BOTS / f"{name}.txt"
        write_whole(path, text, mode=0o644)
        return path

    def drop_database(self) -> None:
        """A private server is not needed any more."""
        for path in self.path.glob(f"{DATABASE}*"):
            with contextlib.suppress(OSError):
                path.unlink()
