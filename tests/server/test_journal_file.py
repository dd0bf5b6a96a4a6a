"""A file that cannot be used is refused with one sentence that says what to do, and stays as it was, byte for byte."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rummy500_server import journal_file
from rummy500_server.database_lock import lock_path
from rummy500_server.journal_file import APPLICATION, JournalUnusable, open_file

Content = list[tuple[object, ...]]
PLACES = 120
"""Places at which a file is damaged, evenly over all of it."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    connection, lock = open_file(path, "disk")
    try:
        yield connection
    finally:
        connection.close()
        lock.release()


def content(connection: sqlite3.Connection) -> Content:
    connection.text_factory = bytes  # a damaged name may be no text
    statements = ("SELECT * FROM records", "SELECT * FROM log", "SELECT * FROM documents")
    return [row for statement in statements for row in connection.execute(statement)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Content]:
    """The bytes of a file with some content, and the content."""
    path = tmp_path_factory.mktemp("filled") / "games.db"
    with opened(path) as connection:
        for table in range(40):
            rows = [(f"t-{table:012x}", number, b"act\t0\tdraw\t%d\t" % number) for number in range(1, 41)]
            connection.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
            connection.execute(
                "INSERT INTO documents (kind, key, value) VALUES ('table', ?, ?)", (f"t-{table}", b"{}" * 200)
            )
    with opened(path) as connection:
        found = content(connection)
    return path.read_bytes(), found


def beside(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def refused(path: Path) -> str:
    """What the refusal says; nothing beside the file, and nothing in it, has changed."""
    before = beside(path)
    with pytest.raises(JournalUnusable) as caught:
        open_file(path, "disk")
    assert beside(path) == before
    return str(caught.value)


def of_another_program(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def of_another_program_that_died(path: Path) -> None:
    """What it has written last is beside its file only."""
    with contextlib.closing(sqlite3.connect(path.with_name("theirs"))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE theirs (x)")
        for end in ("", "-wal"):
            path.with_name(path.name + end).write_bytes(path.with_name("theirs" + end).read_bytes())


def of_a_newer_server(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE about (schema INTEGER NOT NULL)")
        connection.execute("INSERT INTO about VALUES (99)")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def a_letter(path: Path) -> None:
    path.write_bytes(b"no database at all, but somebody's text\n" * 100)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (of_another_program, "belongs to another program: name another file; nothing was changed"),
        (of_another_program_that_died, "belongs to another program: name another file; nothing was changed"),
        (of_a_newer_server, "has schema 99, and this server knows schemas up to 2: use the server that wrote it"),
        (a_letter, "is no database, or damaged: restore a backup of it, or name another file; nothing was changed"),
    ],
)
def test_a_file_that_is_not_ours_is_refused(tmp_path: Path, make: Callable[[Path], None], sentence: str) -> None:
    make(tmp_path / "games.db")
    assert sentence in refused(tmp_path / "games.db")


@pytest.mark.parametrize("place", range(PLACES))
def test_a_file_that_is_damaged_somewhere_is_refused_or_reads_on(
    tmp_path: Path, filled: tuple[bytes, Content], place: int
) -> None:
    """Damage inside a record is not the file's affair: digests find it when the table is folded."""
    whole, found = filled
    start = place * len(whole) // PLACES
    path = tmp_path / "games.db"
    path.write_bytes(whole[:start] + b"\xa5" * 64 + whole[start + 64 :])
    damaged = path.read_bytes()
    said, read = "", found
    try:
        with opened(path) as connection:
            read = content(connection)
    except JournalUnusable as unusable:
        said = str(unusable)
    if said:
        assert path.read_bytes() == damaged
        assert "nothing was changed" in said
    assert len(read) == len(found)
    assert sum(one != other for one, other in zip(read, found, strict=True)) <= 4


@pytest.mark.parametrize("length", [1, 99, 100, 4_096, 20_000])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, filled: tuple[bytes, Content], length: int) -> None:
    path = tmp_path / "games.db"
    path.write_bytes(filled[0][:length])
    assert "damaged" in refused(path)


def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusable, match=f"there is no directory {tmp_path / 'missing'}"):
        open_file(tmp_path / "missing" / "games.db", "disk")
    assert "cannot be opened for writing: Is a directory" in refused(tmp_path)


def test_a_file_that_may_only_be_read_is_refused(filled: tuple[bytes, Content]) -> None:
    """Root may write everything, so somebody else tries."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "games.db")
        path.write_bytes(filled[0])
        path.chmod(0o444)
        with as_nobody(Path(directory)):
            sentence = refused(path)
    assert "cannot be opened for writing: Permission denied; give it to the user who runs the server" in sentence


@contextlib.contextmanager
def as_nobody(directory: Path) -> Iterator[None]:
    """For root: a user without rights, whose the directory is."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(directory, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_disk_that_is_full_at_the_start_is_refused(tmp_path: Path, filled: tuple[bytes, Content]) -> None:
    path = tmp_path / "games.db"
    path.write_bytes(filled[0])
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        with pytest.raises(JournalUnusable, match="make room on its disk"):
            open_file(path, "disk")
        with pytest.raises(JournalUnusable, match="make room on its disk"):
            open_file(tmp_path / "new.db", "disk")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    assert path.read_bytes() == filled[0]
    with opened(path) as connection:
        assert content(connection) == filled[1]


def test_a_second_owner_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with opened(path) as connection:
        with pytest.raises(JournalUnusable, match="is in use by another server"):
            open_file(path, "disk")
        connection.execute("INSERT INTO records VALUES ('t', 1, x'00')")


def test_what_a_server_keeps_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    path.touch(0o666)
    with opened(path) as connection:
        connection.execute("INSERT INTO records VALUES ('t', 1, x'00')")
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("games.db", "games.db-wal", "games.db-shm", "games.db.lock"), 0o600)


def test_one_who_died_while_making_the_file_leaves_nothing_that_is_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    path.write_bytes(bytes(8_192))
    assert "is damaged" in refused(path)
    path.write_bytes(b"")
    with opened(path) as connection:
        assert content(connection) == []


# --- schemas


def test_an_older_file_is_brought_up_to_date_and_keeps_what_is_in_it(
    tmp_path: Path, filled: tuple[bytes, Content], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.db"
    path.write_bytes(filled[0])
    later = ("CREATE TABLE more (x)", "INSERT INTO more SELECT count(*) FROM records"), ("INSERT INTO more VALUES (7)",)
    monkeypatch.setattr(journal_file, "STEPS", journal_file.STEPS + later)

    with opened(path) as connection:
        assert content(connection) == filled[1]
        assert connection.execute("SELECT x FROM more").fetchall() == [(40 * 40,), (7,)]
        assert journal_file.schema_of(connection) == len(journal_file.STEPS)
    with opened(path) as connection:
        assert connection.execute("SELECT count(*) FROM more").fetchone() == (2,)

    monkeypatch.undo()
    assert "has schema 4, and this server knows schemas up to 2" in refused(path)


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, filled: tuple[bytes, Content], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.db"
    path.write_bytes(filled[0])
    monkeypatch.setattr(
        journal_file, "STEPS", (*journal_file.STEPS, ("DELETE FROM records",), ("INSERT INTO nowhere VALUES (1)",))
    )
    assert "no such table: nowhere" in refused(path)
    monkeypatch.undo()
    with opened(path) as connection:
        assert content(connection) == filled[1]


def test_a_reader_of_an_older_file_is_told_to_start_the_server_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "games.db") as connection:
        monkeypatch.setattr(journal_file, "STEPS", (*journal_file.STEPS, ()))
        with pytest.raises(JournalUnusable, match="that of an older server: start this one with it once"):
            journal_file.verify_ours(connection, tmp_path / "games.db")


def test_a_lock_that_a_killed_process_left_behind_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    lock_path(path).write_bytes(b"")
    with opened(path) as connection:
        connection.execute("INSERT INTO records VALUES ('t', 1, x'00')")
    assert [each.name for each in tmp_path.iterdir()] == ["games.db"]
