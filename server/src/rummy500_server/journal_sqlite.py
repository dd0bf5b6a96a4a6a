"""A journal in one SQLite file, written by one thread that commits whatever has gathered meanwhile as one group.

Where a commit need not wait for the disk, or is small and the disk is quick, the loop makes it itself while the thread
rests: it takes less time than to wake the thread and to be woken by it.

New records go to the end of `log`, which is the cheapest thing to sync; when the log is long, and when the file is
opened, they are moved into `records`, keyed by table and sequence. One process writes (`database_lock`), others may
read meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rummy500_server.database_lock import DatabaseLock
from rummy500_server.journal import Append, Drop, Erase, JournalError, Listed, Put, StaleWriter, Write, verify_continues
from rummy500_server.journal_file import STATEMENTS_KEPT, move_log, open_file

LONGEST_GROUP = 4_096
CHECKPOINT_AFTER = 1_000
"""Commits before the thread brings them into the database, which takes some syncs of the disk."""
QUICK = 0.001
"""Seconds: when the last commit took less, the loop itself waits for the disk with the next."""
FEW_RECORDS = 2
"""If that has no more records: with more, other tables are at work too, and go on while the thread waits."""
LONGEST_LOG = 50_000
"""Records in the log before they are moved: some 60 ms of work."""
ROWS_A_STATEMENT = STATEMENTS_KEPT // 2
_BEHIND_ALL = "\U0010ffff"
"""Greater than any place."""
_FULL = 2
"""Of SQLite's `synchronous`: from this one on a commit waits until it is on the disk."""


@dataclass(frozen=True, slots=True)
class _Commit:
    writes: tuple[Write, ...]
    done: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class _Question:
    ask: Callable[[sqlite3.Connection], Any]
    done: asyncio.Future[Any]


_Job = _Commit | _Question
_Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]


class SqliteJournal:
    """See `rummy500_server.journal.Journal` for what the methods promise."""

    def __init__(
        self, connection: sqlite3.Connection, lock: DatabaseLock, now: Callable[[], float] = time.time
    ) -> None:
        self._lock = lock
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = _Writer(connection, self._jobs, self._tell)
        self._at_work = 0
        """Jobs that the thread was given and has not told of."""
        self._is_closed = False
        self._writer.start()

    @classmethod
    def open(cls, path: Path, *, durability: str = "disk", now: Callable[[], float] = time.time) -> SqliteJournal:
        """Opens or makes the file. Raises JournalUnusable."""
        connection, lock = open_file(path, durability)
        return cls(connection, lock, now)

    def commit(self, *writes: Write) -> Awaitable[None]:
        done: asyncio.Future[None] = self._loop.create_future()
        commit = _Commit(writes, done)
        outcomes = None if self._at_work or self._is_closed else self._writer.commit_at_once(commit)
        if outcomes is None:
            self._give(commit)
        else:
            _settle(outcomes)
        return done

    def append(self, table: str, first: int, records: Sequence[bytes]) -> Awaitable[None]:
        return self.commit(Append(table, first, records))

    def put(self, kind: str, key: str, value: bytes, *, expires: float | None = None) -> Awaitable[None]:
        return self.commit(Put(kind, key, value, expires))

    async def read(self, table: str) -> list[tuple[int, bytes]]:
        rows: list[tuple[int, bytes]] = await self._ask(
            "SELECT sequence, record FROM records WHERE owner = ?1"
            " UNION ALL SELECT sequence, record FROM log WHERE owner = ?1 ORDER BY sequence",
            table,
        )
        return rows

    async def get(self, kind: str, key: str) -> bytes | None:
        rows: list[tuple[bytes]] = await self._ask(
            "SELECT value FROM documents WHERE kind = ? AND key = ? AND (expires IS NULL OR expires > ?)",
            kind,
            key,
            self._now(),
        )
        return rows[0][0] if rows else None

    async def documents(self, kind: str, *, after: str = "", most: int = -1) -> list[tuple[str, bytes]]:
        rows: list[tuple[str, bytes]] = await self._ask(
            "SELECT key, value FROM documents WHERE kind = ? AND key > ? AND (expires IS NULL OR expires > ?)"
            " ORDER BY key LIMIT ?",
            kind,
            after,
            self._now(),
            most,
        )
        return rows

    async def listed(self, kind: str, *, reader: str | None, before: str = "", most: int) -> list[Listed]:
        rows: list[tuple[str, str, bytes]] = await self._ask(
            "SELECT listed_at, key, value FROM documents WHERE kind = ?1 AND listed_at > '' AND listed_at < ?2"
            " AND (?3 IS NULL OR listed_for IS NULL OR listed_for = ?3) AND (expires IS NULL OR expires > ?4)"
            " ORDER BY listed_at DESC LIMIT ?5",
            kind,
            before or _BEHIND_ALL,
            reader,
            self._now(),
            most,
        )
        return [Listed(*row) for row in rows]

    async def forget_expired(self) -> None:
        await self._ask("DELETE FROM documents WHERE expires <= ?", self._now())

    async def close(self) -> None:
        if self._is_closed:
            await asyncio.to_thread(self._writer.join)
            return
        self._is_closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._writer.join)
        self._lock.release()

    def _ask(self, statement: str, *values: object) -> Awaitable[Any]:
        done: asyncio.Future[Any] = self._loop.create_future()
        self._give(_Question(lambda connection: connection.execute(statement, values).fetchall(), done))
        return done

    def _give(self, job: _Job) -> None:
        if self._is_closed:
            job.done.set_exception(JournalError("the journal is closed"))
            return
        self._at_work += 1
        self._jobs.put(job)

    def _tell(self, outcomes: list[_Outcome]) -> None:
        """Called by the thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._told, outcomes)

    def _told(self, outcomes: list[_Outcome]) -> None:
        self._at_work -= len(outcomes)
        _settle(outcomes)


class _Writer(threading.Thread):
    """Owns the connection. Each round takes all jobs that wait; commits between two questions are one transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        jobs: queue.SimpleQueue[_Job | None],
        tell: Callable[[list[_Outcome]], None],
    ) -> None:
        super().__init__(name="journal", daemon=True)
        self._connection, self._jobs, self._tell = connection, jobs, tell
        self._last: dict[str, int] = {}
        self._in_log = 0
        self._busy = threading.Lock()
        self._waits_for_disk = connection.execute("PRAGMA synchronous").fetchone()[0] >= _FULL
        self._took = QUICK
        """Seconds of the last commit."""
        self._not_in_database = 0
        """Commits since the last checkpoint."""
        connection.execute("PRAGMA wal_autocheckpoint = 0")

    def run(self) -> None:
        is_open = True
        while is_open:
            jobs: list[_Job] = []
            job = self._jobs.get()
            while job is not None:
                jobs.append(job)
                if len(jobs) == LONGEST_GROUP or self._jobs.empty():
                    break
                job = self._jobs.get()
            is_open = job is not None
            with self._busy:
                self._tell(self._do(jobs))
                if self._in_log >= LONGEST_LOG:
                    self._move_log()
                if self._not_in_database >= CHECKPOINT_AFTER:
                    self._checkpoint()
        self._connection.close()

    def commit_at_once(self, commit: _Commit) -> list[_Outcome] | None:
        """Commits in the caller's thread; only while this one has nothing to do. None: it was not done."""
        is_due = self._in_log >= LONGEST_LOG or self._not_in_database >= CHECKPOINT_AFTER
        is_slow = self._waits_for_disk and not (self._took < QUICK and _is_small(commit))
        if is_slow or is_due or not self._busy.acquire(blocking=False):
            return None
        try:
            return self._commit([commit])
        finally:
            self._busy.release()

    def _do(self, jobs: list[_Job]) -> list[_Outcome]:
        outcomes: list[_Outcome] = []
        group: list[_Commit] = []
        for job in jobs:
            if isinstance(job, _Commit):
                group.append(job)
                continue
            outcomes += self._commit(group)
            group = []
            try:
                outcomes.append((job.done, job.ask(self._connection), None))
            except Exception as error:  # whatever it is, the others are served
                outcomes.append((job.done, None, JournalError(f"the journal cannot be read: {error}")))
        return outcomes + self._commit(group)

    def _commit(self, group: list[_Commit]) -> list[_Outcome]:
        if not group:
            return []
        outcomes: list[_Outcome] = []
        kept: list[_Commit] = []
        rows: list[object] = []
        others: list[Put | Drop | Erase] = []
        last: dict[str, int] = {}

        def last_number(table: str) -> int:
            return last[table] if table in last else self._last_number(table)

        try:
            for commit in group:
                try:
                    last |= verify_continues(commit.writes, last_number)
                except StaleWriter as stale:
                    outcomes.append((commit.done, None, stale))
                    continue
                kept.append(commit)
                for write in commit.writes:
                    if isinstance(write, Append):
                        for number, record in enumerate(write.records, start=write.first):
                            rows += (write.table, number, record)
                    else:
                        others.append(write)
            began = time.perf_counter()
            self._write(rows, others)
            self._took = time.perf_counter() - began
        except Exception as error:  # whatever it is, the others are served
            if self._connection.in_transaction:
                self._connection.rollback()
            problem = f"the journal cannot be written: {error}"
            return outcomes + [(commit.done, None, JournalError(problem)) for commit in kept]
        self._last |= last
        for write in others:
            if isinstance(write, Erase):
                self._last.pop(write.table, None)
        self._in_log += len(rows) // 3
        self._not_in_database += 1
        return outcomes + [(commit.done, None, None) for commit in kept]

    def _write(self, rows: list[object], others: list[Put | Drop | Erase]) -> None:
        """One transaction of few statements: each gives up and takes back the interpreter's lock."""
        step = 3 * ROWS_A_STATEMENT
        many = len(rows) > step or bool(others)
        if many:
            self._connection.execute("BEGIN")
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            self._connection.execute(_insert(len(part) // 3), part)
        for write in others:
            match write:
                case Put(kind=kind, key=key, value=value, expires=expires, listed_at=listed_at, listed_for=listed_for):
                    self._connection.execute(
                        "INSERT OR REPLACE INTO documents (kind, key, value, expires, listed_at, listed_for)"
                        " VALUES (?, ?, ?, ?, ?, ?)",
                        (kind, key, value, expires, listed_at or None, listed_for or None),
                    )
                case Drop(kind=kind, key=key):
                    self._connection.execute("DELETE FROM documents WHERE kind = ? AND key = ?", (kind, key))
        erased = [write.table for write in others if isinstance(write, Erase)]
        if erased:
            for place in ("records", "log"):
                found = f"DELETE FROM {place} WHERE owner IN (SELECT value FROM json_each(?))"
                self._connection.execute(found, (json.dumps(erased),))
        if many:
            self._connection.execute("COMMIT")

    def _last_number(self, table: str) -> int:
        if table not in self._last:
            # Whatever is in the log was written since it was last moved, and is remembered.
            found = self._connection.execute("SELECT max(sequence) FROM records WHERE owner = ?", (table,)).fetchone()
            self._last[table] = found[0] or 0
        return self._last[table]

    def _move_log(self) -> None:
        try:
            move_log(self._connection)
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.rollback()
            return  # nothing is lost: the log stays as it is, and the next commit reports what is wrong
        self._last.clear()
        self._in_log = 0

    def _checkpoint(self) -> None:
        self._not_in_database = 0
        with suppress(sqlite3.Error):  # nothing is lost: it stays in the write-ahead log until the next time
            self._connection.execute("PRAGMA wal_checkpoint")


def _is_small(commit: _Commit) -> bool:
    records = [len(write.records) if isinstance(write, Append) else 1 for write in commit.writes]
    return sum(records) <= FEW_RECORDS


def _settle(outcomes: list[_Outcome]) -> None:
    for done, value, error in outcomes:
        if done.done():
            continue  # whoever waited was cancelled
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)


def _insert(rows: int) -> str:
    return "INSERT INTO log (owner, sequence, record) VALUES " + ", ".join(["(?, ?, ?)"] * rows)
