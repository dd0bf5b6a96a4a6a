"""What a disk holds after the power went: rebuilt from the trace of a server's writes and syncs (`disk_trace.c`)."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = struct.Struct("<cIQQ")
SECTOR = 512
"""A disk writes so many bytes or none of them."""


def compile_trace(compiler: str, place: Path) -> Path:
    """The library that a server is preloaded with."""
    library = place / "disk_trace.so"
    source = Path(__file__).with_name("disk_trace.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@dataclass(frozen=True, slots=True)
class Change:
    """`kind`: w(rite), t(runcate), s(ync) or u(nlink); `end` is where its note ends in the trace."""

    kind: str
    path: Path
    offset: int
    length: int
    written: bytes
    end: int


def changes(trace: bytes) -> Iterator[Change]:
    """A note that was not written to its end did not happen."""
    at = 0
    while at + _HEAD.size <= len(trace):
        kind, name, offset, length = _HEAD.unpack_from(trace, at)
        at += _HEAD.size
        path, at = Path(trace[at : at + name].decode()), at + name
        size = length if kind == b"w" else 0
        if at + size > len(trace):
            return
        yield Change(kind.decode(), path, offset, length, trace[at : at + size], at + size)
        at += size


@dataclass(slots=True)
class _File:
    synced: bytearray = field(default_factory=bytearray)
    unsynced: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.unsynced:
            _make(self.synced, change)
        self.unsynced.clear()

    def after_cut(self, dice: random.Random, luck: float) -> bytes:
        content = bytearray(self.synced)
        for change in self.unsynced:
            if change.kind == "t":
                if dice.random() < luck:
                    _make(content, change)
                continue
            for start in range(0, change.length, SECTOR):
                part = change.written[start : start + SECTOR]
                if dice.random() < luck:
                    _make(content, Change("w", change.path, change.offset + start, len(part), part, change.end))
        return bytes(content)


def _make(content: bytearray, change: Change) -> None:
    if change.kind == "t":
        del content[change.length :]
        content.extend(bytes(change.length - len(content)))
        return
    content.extend(bytes(max(0, change.offset + change.length - len(content))))
    content[change.offset : change.offset + change.length] = change.written


class Disk:
    """The files of one directory, as changes are made one after the other."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[Path, _File] = {}
        self._listed: dict[Path, _File] = {}
        """The directory as it was last synced."""

    def make(self, change: Change) -> None:
        if change.path == self._directory:
            self._listed = dict(self._files)
        elif change.kind == "u":
            self._files.pop(change.path, None)
        elif change.kind == "s":
            self._files.setdefault(change.path, _File()).sync()
        else:
            self._files.setdefault(change.path, _File()).unsynced.append(change)

    def after_cut(self, dice: random.Random, luck: float) -> dict[str, bytes]:
        """What is left when the power goes now: all that was synced, and each sector of the rest with probability
        `luck`; so it is with names that the directory has got, or lost, since it was synced."""
        left: dict[str, bytes] = {}
        for path in {**self._files, **self._listed}:
            now, listed = self._files.get(path), self._listed.get(path)
            file = now if now is listed or dice.random() < luck else listed
            if file is not None:
                left[path.name] = file.after_cut(dice, luck)
        return left


def disks_after(
    trace: bytes, directory: Path, cuts: Iterable[int], dice: random.Random, luck: float
) -> Iterator[tuple[int, dict[str, bytes]]]:
    """For each place of the trace, in order: what is left of the files when the power goes there."""
    disk, coming = Disk(directory), changes(trace)
    change = next(coming, None)
    for cut in sorted(cuts):
        while change is not None and change.end <= cut:
            disk.make(change)
            change = next(coming, None)
        yield cut, disk.after_cut(dice, luck)
