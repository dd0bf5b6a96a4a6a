"""What the server must not lose: records of tables in order, and documents by kind and key.

A `commit` is all or nothing and takes its place in the order when it is called, not when it is awaited; awaiting it
waits until it is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar


@dataclass(slots=True)
class Append:
    """Records of a table, numbered densely from `first` on; the first record of a table has number 1.

    To be read only; it is not frozen because a frozen one takes five times as long to make."""

    table: str
    first: int
    records: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Put:
    """A document, in the place of the one of that kind and key. `expires`: when it is gone, in seconds since 1970."""

    kind: str
    key: str
    value: bytes
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """No document of that kind and key any more."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Erase:
    """No records of that table any more. It is over: nothing is appended to it together with this."""

    table: str


Write = Append | Put | Drop | Erase
Document = TypeVar("Document")


class JournalError(Exception):
    """Nothing of the commit was kept: the disk is full, the file damaged. The sentence is for the host."""


class StaleWriter(JournalError):
    """The records do not continue the table: somebody else has written, or they were written before."""


class Journal(Protocol):
    """One process owns a journal."""

    def commit(self, *writes: Write) -> Awaitable[None]:
        """Keeps all writes or none. Raises, when awaited, StaleWriter or JournalError."""
        ...

    def append(self, table: str, first: int, records: Sequence[bytes]) -> Awaitable[None]:
        """`commit(Append(table, first, records))`."""
        ...

    def put(self, kind: str, key: str, value: bytes, *, expires: float | None = None) -> Awaitable[None]:
        """`commit(Put(kind, key, value, expires))`."""
        ...

    async def read(self, table: str) -> list[tuple[int, bytes]]:
        """The records of a table, in order, with their numbers. Sees every commit called before."""
        ...

    async def get(self, kind: str, key: str) -> bytes | None:
        """The document, unless it has expired."""
        ...

    async def documents(self, kind: str, *, after: str = "", most: int = -1) -> list[tuple[str, bytes]]:
        """The documents of a kind that have not expired, by key: those with a key behind `after`, at most so many."""
        ...

    async def forget_expired(self) -> None:
        """Makes room where expired documents lie."""
        ...

    async def close(self) -> None:
        """Waits for what was committed and lets go of the file."""
        ...


async def read_documents(journal: Journal, kind: str, read: Callable[[bytes], Document]) -> dict[str, Document]:
    """The documents of a kind by key, each as `read` understands it. Raises JournalError when one is damaged."""
    found: dict[str, Document] = {}
    for key, text in await journal.documents(kind):
        try:
            found[key] = read(text)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise JournalError(f"the database is damaged, {kind} {key!r} cannot be read: restore a backup") from error
    return found


class MemoryJournal:
    """A journal that lasts as long as its process."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._records: dict[str, list[bytes]] = {}
        self._documents: dict[tuple[str, str], tuple[bytes, float | None]] = {}
        self._is_closed = False

    def commit(self, *writes: Write) -> Awaitable[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            done.set_exception(JournalError("the journal is closed"))
            return done
        try:
            verify_continues(writes, lambda table: len(self._records.get(table, ())))
        except StaleWriter as stale:
            done.set_exception(stale)
            return done
        for write in writes:
            match write:
                case Append(table=table, records=records):
                    self._records.setdefault(table, []).extend(records)
                case Put(kind=kind, key=key, value=value, expires=expires):
                    self._documents[kind, key] = (value, expires)
                case Drop(kind=kind, key=key):
                    self._documents.pop((kind, key), None)
                case Erase(table=table):
                    self._records.pop(table, None)
        done.set_result(None)
        return done

    def append(self, table: str, first: int, records: Sequence[bytes]) -> Awaitable[None]:
        return self.commit(Append(table, first, records))

    def put(self, kind: str, key: str, value: bytes, *, expires: float | None = None) -> Awaitable[None]:
        return self.commit(Put(kind, key, value, expires))

    async def read(self, table: str) -> list[tuple[int, bytes]]:
        return list(enumerate(self._records.get(table, ()), start=1))

    async def get(self, kind: str, key: str) -> bytes | None:
        value, expires = self._documents.get((kind, key), (None, None))
        return None if expires is not None and expires <= self._now() else value

    async def documents(self, kind: str, *, after: str = "", most: int = -1) -> list[tuple[str, bytes]]:
        now = self._now()
        found = sorted(
            (key, value)
            for (of_kind, key), (value, expires) in self._documents.items()
            if of_kind == kind and key > after and (expires is None or expires > now)
        )
        return found if most < 0 else found[:most]

    async def forget_expired(self) -> None:
        now = self._now()
        self._documents = {
            name: (value, expires)
            for name, (value, expires) in self._documents.items()
            if expires is None or expires > now
        }

    async def close(self) -> None:
        self._is_closed = True


def verify_continues(writes: Sequence[Write], last_number: Callable[[str], int]) -> dict[str, int]:
    """The last number of each table after these writes. Raises StaleWriter when one does not continue its table."""
    last: dict[str, int] = {}
    for write in writes:
        if isinstance(write, Append):
            before = last[write.table] if write.table in last else last_number(write.table)
            if write.first != before + 1:
                raise StaleWriter(
                    f"table {write.table}: record {write.first} cannot follow record {before}; another writer was here"
                )
            last[write.table] = before + len(write.records)
    return last
