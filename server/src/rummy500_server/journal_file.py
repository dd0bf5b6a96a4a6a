"""The file of a journal: whether it is ours and whole, its schema, and the steps that bring an older one up to date.

Nothing is written to a file before all of that is known.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from rummy500_server.database_lock import DatabaseInUse, DatabaseLock

APPLICATION = 0x52353030
"""Marks the file as ours: "R500" in SQLite's application_id."""
STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE about (schema INTEGER NOT NULL)",
        "INSERT INTO about VALUES (0)",
        "CREATE TABLE log (position INTEGER PRIMARY KEY, owner TEXT NOT NULL, sequence INTEGER NOT NULL,"
        " record BLOB NOT NULL)",
        "CREATE TABLE records (owner TEXT NOT NULL, sequence INTEGER NOT NULL, record BLOB NOT NULL,"
        " PRIMARY KEY (owner, sequence)) WITHOUT ROWID",
        "CREATE TABLE documents (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires REAL,"
        " PRIMARY KEY (kind, key)) WITHOUT ROWID",
        f"PRAGMA application_id = {APPLICATION}",
    ),
    (
        "ALTER TABLE documents ADD COLUMN listed_at TEXT",
        "ALTER TABLE documents ADD COLUMN listed_for TEXT",
        "CREATE INDEX lists ON documents (kind, listed_at) WHERE listed_at > ''",
        # Tables that are over are listed by when they were made, private ones for their owner.
        "CREATE TEMP TABLE made AS SELECT key AS name, json_extract(text, '$.created_ms') AS ms,"
        " json_extract(text, '$.match') AS match,"
        " CASE WHEN json_extract(text, '$.private') THEN json_extract(text, '$.owner') END AS listed_for FROM"
        " (SELECT key, CAST(value AS TEXT) AS text FROM documents WHERE kind = 'table') WHERE json_valid(text)",
        "CREATE INDEX temp.made_names ON made (name)",
        "UPDATE documents SET listed_at = (SELECT printf('%013d.%s', ms, name) FROM made WHERE name = documents.key),"
        " listed_for = (SELECT listed_for FROM made WHERE name = documents.key)"
        " WHERE kind = 'ended_table'",
        "INSERT OR IGNORE INTO documents (kind, key, value, listed_at, listed_for)"
        " SELECT 'ended_table', name, x'', printf('%013d.%s', ms, name), listed_for FROM made"
        " WHERE match = '' AND name IN (SELECT key FROM documents WHERE kind = 'broken_table')",
        # Games are listed by when they ended, and have keys in the order of their match.
        "CREATE TEMP TABLE played AS SELECT key, json_extract(text, '$.finished_ms') AS ms,"
        " json_extract(text, '$.table') AS name, json_extract(text, '$.match') AS match,"
        " json_extract(text, '$.deal') AS deal, json_extract(text, '$.seating') AS seating FROM"
        " (SELECT key, CAST(value AS TEXT) AS text FROM documents WHERE kind = 'game') WHERE json_valid(text)",
        "CREATE INDEX temp.played_keys ON played (key)",
        "UPDATE documents SET listed_at = (SELECT printf('%013d.%s', ms, key) FROM played WHERE key = documents.key),"
        " listed_for = (SELECT made.listed_for FROM played JOIN made ON made.name = played.name"
        " WHERE played.key = documents.key) WHERE kind = 'game'",
        "INSERT INTO documents (kind, key, value) SELECT 'record', key,"
        " CAST(printf('%s.%010d.%06d', match, deal, seating) AS BLOB) FROM played WHERE match <> ''",
        "UPDATE documents SET key = (SELECT printf('%s.%010d.%06d', match, deal, seating) FROM played"
        " WHERE key = documents.key) WHERE kind = 'game' AND key IN (SELECT key FROM played WHERE match <> '')",
        "DROP TABLE made",
        "DROP TABLE played",
    ),
)
"""Step n brings a file of schema n to n + 1; an empty file has schema 0. A step is never changed, one is added."""
CHECKED_BYTES = 1 << 30
"""Larger files are not looked through when they are opened: it takes ten seconds for so many bytes."""
STATEMENTS_KEPT = 256
_MAGIC = b"SQLite format 3\0"
_APPLICATION_AT = 68
_HEADER = 100
_RESTORE = "restore a backup of it, or name another file"


class JournalUnusable(Exception):
    """The file cannot be used; the sentence says why, and nothing in it was changed."""


def open_file(path: Path, durability: str) -> tuple[sqlite3.Connection, DatabaseLock]:
    """The file as its one writer has it, made when there is none. Raises JournalUnusable."""
    _verify_place(path)
    try:
        lock = DatabaseLock.acquire(path)
    except DatabaseInUse as error:
        raise JournalUnusable(f"the database {path} is in use by another server") from error
    except OSError as error:
        raise JournalUnusable(f"the database {path} cannot be locked: {error.strerror}") from error
    try:
        with _told_of(path):
            _verify_before_writing(path)
            return _connect(path, durability), lock
    except JournalUnusable:
        lock.release()
        raise


def _verify_place(path: Path) -> None:
    """Raises JournalUnusable when no file can be there, or be written; makes none."""
    try:
        if path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        elif not path.parent.is_dir():
            raise JournalUnusable(f"the database {path} cannot be made: there is no directory {path.parent}")
    except OSError as error:
        raise JournalUnusable(
            f"the database {path} cannot be opened for writing: {error.strerror}; give it to the user who runs the"
            " server, or name another file"
        ) from error


def _verify_before_writing(path: Path) -> None:
    """Reads only. Raises JournalUnusable or sqlite3.Error."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        header = file.read(_HEADER)
    is_unwritten = not header.strip(b"\0")
    """The first one who made the file died before it was written; SQLite rolls back what there is."""
    if not is_unwritten:
        _verify_header(path, header)
        _verify_whole(path)


def _verify_header(path: Path, header: bytes) -> None:
    if not header.startswith(_MAGIC):
        raise JournalUnusable(f"the file {path} is no database, or damaged: {_RESTORE}; nothing was changed")
    if int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") != APPLICATION:
        raise JournalUnusable(f"the database {path} belongs to another program: name another file; nothing was changed")


def has_rest(path: Path) -> bool:
    """Whether part of the database is in a file beside it: a server runs, or was killed."""
    beside = (Path(f"{path}{end}") for end in ("-wal", "-journal"))
    return any(each.exists() and each.stat().st_size for each in beside)


def _verify_whole(path: Path) -> None:
    how = "mode=ro" if has_rest(path) else "immutable=1"  # which leaves nothing beside the file
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
    with contextlib.closing(connection):
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")  # the first look, which finds what is unfinished
        except sqlite3.OperationalError as error:
            if _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                return  # somebody died while making it; only a writer can roll that back
            raise
        _verify_known(connection, path)
        if path.stat().st_size <= CHECKED_BYTES:
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise JournalUnusable(f"the database {path} is damaged ({problem}): {_RESTORE}; nothing was changed")


def verify_ours(connection: sqlite3.Connection, path: Path) -> None:
    """For a reader. Raises JournalUnusable when another program, or another version of this one, has made the file."""
    if schema_of(connection):
        _verify_known(connection, path)
    if 0 < schema_of(connection) < len(STEPS):
        raise JournalUnusable(f"the database {path} is that of an older server: start this one with it once")


def _verify_known(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise JournalUnusable(f"the database {path} belongs to another program: name another file; nothing was changed")
    schema = schema_of(connection)
    if schema > len(STEPS):
        raise JournalUnusable(
            f"the database {path} has schema {schema}, and this server knows schemas up to {len(STEPS)}: use the server"
            " that wrote it, or a newer one; nothing was changed"
        )


def schema_of(connection: sqlite3.Connection) -> int:
    """0: the file is empty."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    row = connection.execute("SELECT schema FROM about").fetchone()
    if row is None:
        raise sqlite3.DatabaseError("it says nothing of its schema")
    return int(row[0])


def _connect(path: Path, durability: str) -> sqlite3.Connection:
    """Raises JournalUnusable, sqlite3.Error or OSError."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    os.chmod(path, 0o600)  # it holds hands, seeds and digests of tokens
    connection = sqlite3.connect(
        path, timeout=0.5, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS_KEPT
    )
    try:
        bring_up_to_date(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'disk' else 'NORMAL'}")
        move_log(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """All steps that are missing, or none. Raises JournalUnusable or sqlite3.Error."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if schema_of(connection):
            _verify_known(connection, path)
        for number in range(schema_of(connection), len(STEPS)):
            for statement in STEPS[number]:
                connection.execute(statement)
            connection.execute("UPDATE about SET schema = ?", (number + 1,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def move_log(connection: sqlite3.Connection) -> None:
    """Moves the log into the records, in one transaction."""
    connection.execute("BEGIN")
    connection.execute("INSERT INTO records SELECT owner, sequence, record FROM log ORDER BY owner, sequence")
    connection.execute("DELETE FROM log")
    connection.execute("COMMIT")


@contextlib.contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """What goes wrong with the file, as a sentence for the host."""
    try:
        yield
    except sqlite3.Error as error:
        raise JournalUnusable(sentence_of(path, error)) from error
    except OSError as error:
        raise JournalUnusable(f"the database {path} cannot be used: {error.strerror}") from error


def sentence_of(path: Path, error: sqlite3.Error) -> str:
    """What is wrong with the file, for the host."""
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the database {path} is locked by another program: end that, or name another file"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return f"the database {path} is damaged: {_RESTORE}; nothing was changed"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and has_rest(path):
        return (
            f"the database {path} is not whole without the files beside it that a killed server left, and these can be "
            "read only where one may write: start a server with it once, or copy all of them to a directory of yours"
        )
    if code == sqlite3.SQLITE_READONLY:
        return f"the database {path} cannot be written: give it to the user who runs the server"
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"the database {path} cannot be written ({error}): make room on its disk"
    return f"the database {path} cannot be used: {error}"


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
