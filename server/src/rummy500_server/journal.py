"""What the server must not lose: records of tables in order, and documents by kind and key, or as they are listed.

A `commit` is all or nothing and takes its place in the order when it is called, not when it is awaited; awaiting it
waits until it is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

log = structlog.stdlib.get_logger("rummy500")


@dataclass(slots=True)
class Append:
    """Records of a table, numbered densely from `first` on; the first record of a table has number 1.

    To be read only; it is not frozen because a frozen one takes five times as long to make."""

    table: str
    first: int
    records: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Put:
    """A document, in the place of the one of that kind and key. `expires`: when it is gone, in seconds since 1970.
    `listed_at`: where it stands in the list of its kind, see `newest_first`; empty: in none. `listed_for`: the digest
    of whom it is listed for; empty: everybody."""

    kind: str
    key: str
    value: bytes
    expires: float | None = None
    listed_at: str = ""
    listed_for: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as it stands in the list of its kind."""

    at: str
    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Drop:
    """No document of that kind and key any more."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Erase:
    """No records of that table any more. It is over: nothing is appended to it together with this."""

    table: str


def newest_first(unix_ms: int, name: str) -> str:
    """Where something of that moment stands in a list, which is read backwards."""
    return f"{unix_ms:013d}.{name}"


Write = Append | Put | Drop | Erase
Document = TypeVar("Document")


class JournalError(Exception):
    """Nothing of the commit was kept: the disk is full, the file damaged. The sentence is for the host."""


class DamagedDocument(JournalError):
    """A document that cannot be read any more; the others can."""


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

    async def listed(self, kind: str, *, reader: str | None, before: str = "", most: int) -> list[Listed]:
        """The list of a kind, backwards from `before` (empty: from its end), at most so many: what is listed for all,
        and for the reader of that digest (empty: nobody; None: all of it)."""
        ...

    async def forget_expired(self) -> None:
        """Makes room where expired documents lie."""
        ...

    async def close(self) -> None:
        """Waits for what was committed and lets go of the file."""
        ...


async def read_documents(journal: Journal, kind: str, read: Callable[[bytes], Document]) -> dict[str, Document]:
    """The documents of a kind by key, each as `read` understands it. Raises DamagedDocument."""
    return {key: read_document(kind, key, text, read) for key, text in await journal.documents(kind)}


def read_document(kind: str, key: str, text: bytes, read: Callable[[bytes], Document]) -> Document:
    """The document as `read` understands it. Raises DamagedDocument."""
    try:
        return read(text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedDocument(f"the database is damaged, {kind} {key!r} cannot be read: restore a backup") from error


def readable(kind: str, rows: Iterable[tuple[str, bytes]], read: Callable[[bytes], Document]) -> dict[str, Document]:
    """By key those that are not damaged; the others are logged, so that they hold up nobody."""
    found: dict[str, Document] = {}
    for key, text in rows:
        try:
            found[key] = read_document(kind, key, text, read)
        except DamagedDocument as error:
            log.error("document.damaged", kind=kind, key=key, sentence=str(error))
    return found


class MemoryJournal:
    """A journal that lasts as long as its process."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._records: dict[str, list[bytes]] = {}
        self._documents: dict[tuple[str, str], Put] = {}
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
                case Put(kind=kind, key=key):
                    self._documents[kind, key] = write
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
        put = self._documents.get((kind, key))
        return put.value if put is not None and self._lasts(put) else None

    async def documents(self, kind: str, *, after: str = "", most: int = -1) -> list[tuple[str, bytes]]:
        puts = (put for put in self._documents.values() if put.kind == kind and put.key > after and self._lasts(put))
        found = sorted((put.key, put.value) for put in puts)
        return found if most < 0 else found[:most]

    async def listed(self, kind: str, *, reader: str | None, before: str = "", most: int) -> list[Listed]:
        readers = ("", reader)
        found = [
            put
            for put in self._documents.values()
            if put.kind == kind
            and put.listed_at
            and (not before or put.listed_at < before)
            and (reader is None or put.listed_for in readers)
            and self._lasts(put)
        ]
        found.sort(key=lambda put: put.listed_at, reverse=True)
        return [Listed(put.listed_at, put.key, put.value) for put in found[:most]]

    async def forget_expired(self) -> None:
        self._documents = {name: put for name, put in self._documents.items() if self._lasts(put)}

    def _lasts(self, put: Put) -> bool:
        return put.expires is None or put.expires > self._now()

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
