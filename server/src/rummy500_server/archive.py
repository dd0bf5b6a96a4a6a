"""A database as it stood at one moment, read from outside; a server may be writing to it meanwhile."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from rummy500_server.creation import Creation
from rummy500_server.database_lock import is_in_use
from rummy500_server.games import GAME, RECORD, FinishedGame
from rummy500_server.journal import JournalError, read_document
from rummy500_server.journal_file import JournalUnusable, has_rest, sentence_of, verify_ours
from rummy500_server.lobby import BROKEN_TABLE, OPEN_TABLE, TABLE
from rummy500_server.match_document import MatchDocument
from rummy500_server.matches import MATCH

_ACTIONS = (b"act\t", b"clock\t")
"""How entries that are actions begin."""


class StoredState(Enum):
    """`TableState`, and what has become of a table that could not be folded any more."""

    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    CLOSED = "closed"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table without folding it. `players` by seat, empty for a free one; `size` is that of its entries in bytes."""

    creation: Creation
    state: StoredState
    players: tuple[str, ...]
    entries: int
    size: int

    @property
    def name(self) -> str:
        return self.creation.name

    @property
    def record(self) -> str:
        return self.creation.record or self.creation.name


class Archive:
    """What it answers is all of the same moment, that of `open`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[Archive]:
        """Nothing is changed or left behind where no server runs on it. Raises JournalUnusable, also when it turns out
        to be damaged while it is read, or when a server has begun to write to it meanwhile."""
        if not path.is_file():
            raise JournalUnusable(f"there is no database {path}: name another with --database")
        connection: sqlite3.Connection | None = None
        try:
            is_still = not has_rest(path) and not is_in_use(path)
            stamp, how = _stamp(path), "immutable=1" if is_still else "mode=ro"
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
            connection.execute("BEGIN")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise JournalUnusable(f"the database {path} is empty: no server has used it yet")
            verify_ours(connection, path)
            yield cls(connection)
            if is_still and (_stamp(path) != stamp or has_rest(path)):
                raise JournalUnusable(f"a server began to write to the database {path} meanwhile: do it again")
        except JournalError as error:
            raise JournalUnusable(f"{path}: {error}") from error
        except sqlite3.Error as error:
            raise JournalUnusable(sentence_of(path, error)) from error
        finally:
            if connection is not None:
                connection.close()

    # --- documents

    def creation(self, table: str) -> Creation | None:
        found = self._document(TABLE, table)
        return None if found is None else read_document(TABLE, table, found, Creation.from_json)

    def game(self, record: str) -> FinishedGame | None:
        key = self._document(RECORD, record)
        found = self._document(GAME, record if key is None else key.decode())
        return None if found is None else read_document(GAME, record, found, FinishedGame.from_json)

    def match(self, name: str) -> MatchDocument | None:
        found = self._document(MATCH, name) if name else None
        return None if found is None else read_document(MATCH, name, found, MatchDocument.from_json)

    def records(self) -> list[str]:
        """The names of all games that are over, those of a match in its order."""
        keys = {key.decode(): record for record, key in self._documents(RECORD)}
        return [keys.get(key, key) for key in self._keys(GAME)]

    def table_names(self) -> list[str]:
        return self._keys(TABLE)

    def match_names(self) -> list[str]:
        return self._keys(MATCH)

    def _document(self, kind: str, key: str) -> bytes | None:
        row = self._connection.execute("SELECT value FROM documents WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else bytes(row[0])

    def _documents(self, kind: str) -> Iterator[tuple[str, bytes]]:
        return self._connection.execute("SELECT key, value FROM documents WHERE kind = ?", (kind,))

    def _keys(self, kind: str) -> list[str]:
        rows = self._connection.execute("SELECT key FROM documents WHERE kind = ? ORDER BY key", (kind,))
        return [key for (key,) in rows]

    def damaged(self) -> list[str]:
        """The documents that cannot be read, each a sentence."""
        readers: dict[str, Callable[[bytes], object]] = {
            TABLE: Creation.from_json,
            GAME: FinishedGame.from_json,
            MATCH: MatchDocument.from_json,
        }
        found: list[str] = []
        for kind, read in readers.items():
            for key, text in self._documents(kind):
                try:
                    read_document(kind, key, text, read)
                except JournalError as error:
                    found.append(str(error))
        return found

    # --- tables

    def tables(self) -> Iterator[StoredTable]:
        """All of them, in no order."""
        return map(self._table, self.table_names())

    def table(self, name: str) -> StoredTable | None:
        return None if self._document(TABLE, name) is None else self._table(name)

    def _table(self, name: str) -> StoredTable:
        creation = self.creation(name)
        assert creation is not None
        lines = self.lines(name)
        entries = [line.decode(errors="replace").split("\t") for line in lines if not line.startswith(_ACTIONS)]
        kinds = {entry[0] for entry in entries}
        if self._document(BROKEN_TABLE, name) is not None:
            state = StoredState.BROKEN
        elif self._document(OPEN_TABLE, name) is not None:
            state = StoredState.PLAYING if "start" in kinds else StoredState.OPEN
        else:
            state = StoredState.CLOSED if "close" in kinds else StoredState.FINISHED
        return StoredTable(
            creation=creation,
            state=state,
            players=_players(creation, entries),
            entries=len(lines),
            size=sum(map(len, lines)),
        )

    def lines(self, table: str) -> list[bytes]:
        rows = self._connection.execute("SELECT record FROM records WHERE owner = ? ORDER BY sequence", (table,))
        return [*(record for (record,) in rows), *self._log.get(table, ())]

    @cached_property
    def _log(self) -> dict[str, list[bytes]]:
        """What has not been moved into the records yet, by table; it has no index, and is read through once."""
        lines: dict[str, list[bytes]] = {}
        for owner, record in self._connection.execute("SELECT owner, record FROM log ORDER BY position"):
            lines.setdefault(owner, []).append(record)
        return lines

    # --- the file

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the file; nothing: it is whole."""
        found = [text for (text,) in self._connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def copy_to(self, path: Path) -> None:
        """Writes the whole of it into a new database."""
        copy = sqlite3.connect(path)
        try:
            self._connection.backup(copy)
        finally:
            copy.close()


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _players(creation: Creation, entries: list[list[str]]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    is_started = False
    for entry in entries:
        match entry:
            case ["join", seat, _, name, *_]:
                names[seat] = name
            case ["leave", seat, *_] if not is_started:
                names.pop(seat, None)
            case ["start", *_]:
                is_started = True
    return tuple(names.get(str(seat), "") for seat in range(creation.players))
