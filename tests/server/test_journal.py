"""Both journals keep the same promises; the one on disk keeps them through crashes."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from rummy500_server import journal_sqlite
from rummy500_server.journal import (
    Append,
    Drop,
    Erase,
    Journal,
    JournalError,
    Listed,
    MemoryJournal,
    Put,
    StaleWriter,
)
from rummy500_server.journal_file import open_file
from rummy500_server.journal_sqlite import CHECKPOINT_AFTER, FEW_RECORDS, SqliteJournal


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "disk", "process"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[Journal]:
    opened: Journal = MemoryJournal(clock)
    if request.param != "memory":
        opened = SqliteJournal.open(tmp_path / "journal.db", durability=request.param, now=clock)
    yield opened
    await opened.close()


async def test_records_come_back_in_order_with_their_numbers(journal: Journal) -> None:
    await journal.append("t1", 1, [b"one", b"two"])
    await journal.append("t2", 1, [b"other"])
    await journal.append("t1", 3, [b"three"])

    assert await journal.read("t1") == [(1, b"one"), (2, b"two"), (3, b"three")]
    assert await journal.read("t2") == [(1, b"other")]
    assert await journal.read("t3") == []


async def test_commits_take_their_place_when_called_not_when_awaited(journal: Journal) -> None:
    commits = [journal.append("t1", number, [b"%d" % number]) for number in range(1, 501)]

    assert await journal.read("t1") == [(number, b"%d" % number) for number in range(1, 501)]
    await asyncio.gather(*commits)


@pytest.mark.parametrize("first", [1, 2, 4])
async def test_a_stale_writer_is_refused_and_writes_nothing(journal: Journal, first: int) -> None:
    await journal.append("t1", 1, [b"one", b"two"])

    with pytest.raises(StaleWriter):
        await journal.commit(Put("kind", "key", b"value"), Append("t1", first, [b"again"]))

    assert await journal.read("t1") == [(1, b"one"), (2, b"two")]
    assert await journal.get("kind", "key") is None


async def test_a_stale_writer_does_not_spoil_the_commits_of_its_group(journal: Journal) -> None:
    good = [journal.append(f"t{table}", 1, [b"one"]) for table in range(20)]
    stale = journal.append("t3", 1, [b"again"])
    later = journal.append("t3", 2, [b"two"])

    await asyncio.gather(*good, later)
    with pytest.raises(StaleWriter):
        await stale
    assert await journal.read("t3") == [(1, b"one"), (2, b"two")]


async def test_one_commit_may_hold_many_tables_and_documents(journal: Journal) -> None:
    await journal.put("kind", "gone", b"value")
    tables = [Append(f"t{table}", 1, [b"one"] * 30) for table in range(20)]

    await journal.commit(*tables, Put("kind", "key", b"value"), Drop("kind", "gone"), Append("t0", 31, [b"last"]))

    assert len(await journal.read("t0")) == 31
    assert len(await journal.read("t19")) == 30
    assert await journal.documents("kind") == [("key", b"value")]


async def test_a_document_takes_the_place_of_the_one_before(journal: Journal) -> None:
    await journal.put("kind", "key", b"old")
    await journal.put("kind", "key", b"new")
    await journal.put("other", "key", b"other")

    assert await journal.get("kind", "key") == b"new"
    assert await journal.documents("kind") == [("key", b"new")]


async def test_documents_come_in_pages(journal: Journal) -> None:
    for key in ("c", "a", "b", "d"):
        await journal.put("kind", key, key.encode())

    assert await journal.documents("kind", most=2) == [("a", b"a"), ("b", b"b")]
    assert await journal.documents("kind", after="b", most=2) == [("c", b"c"), ("d", b"d")]
    assert await journal.documents("kind", after="d") == []


async def test_erased_records_are_gone_and_others_stay(journal: Journal) -> None:
    await journal.append("t1", 1, [b"one", b"two"])
    await journal.append("t2", 1, [b"other"])
    await journal.append("t3", 1, [b"third"])

    await journal.commit(Erase("t1"), Erase("t3"), Drop("kind", "t1"), Append("t2", 2, [b"more"]))

    assert [await journal.read(table) for table in ("t1", "t3")] == [[], []]
    assert await journal.read("t2") == [(1, b"other"), (2, b"more")]


async def test_an_expired_document_is_gone(journal: Journal, clock: Clock) -> None:
    await journal.put("answer", "soon", b"value", expires=1_010.0)
    await journal.put("answer", "never", b"value")

    clock.now = 1_009.0
    assert await journal.get("answer", "soon") == b"value"
    clock.now = 1_010.0
    assert await journal.get("answer", "soon") is None
    assert await journal.documents("answer") == [("never", b"value")]
    await journal.forget_expired()
    clock.now = 1_000.0
    assert await journal.get("answer", "soon") is None


async def test_the_last_write_of_a_document_counts(journal: Journal) -> None:
    kept = journal.commit(Put("kind", "kept", b"1"), Drop("kind", "kept"), Put("kind", "kept", b"2"))
    gone = journal.commit(Put("kind", "gone", b"1"), Put("kind", "gone", b"2"), Drop("kind", "gone"))
    later = journal.commit(Put("kind", "later", b"1")), journal.commit(Drop("kind", "later"))

    assert await journal.documents("kind") == [("kept", b"2")]
    await asyncio.gather(kept, gone, *later)


async def test_a_large_commit_is_kept_whole_or_not_at_all(journal: Journal) -> None:
    records = [b"%d" % number for number in range(5_000)]
    documents = [Put("kind", f"{number:04}", b"x" * number) for number in range(1_000)]
    await journal.commit(Append("t1", 1, records), *documents)

    assert [record for _, record in await journal.read("t1")] == records
    assert len(await journal.documents("kind")) == 1_000
    with pytest.raises(StaleWriter):
        await journal.commit(
            Append("t2", 1, records), *(Drop("kind", each.key) for each in documents), Append("t1", 1, [b""])
        )
    assert await journal.read("t2") == []
    assert len(await journal.documents("kind")) == 1_000


async def test_many_writers_at_once_do_not_disturb_each_other(journal: Journal) -> None:
    async def write(table: str) -> None:
        for number in range(1, 26):
            await journal.commit(
                Append(table, number, [f"{table} {number}".encode()]), Put("last", table, b"%d" % number)
            )
            assert await journal.get("last", table) == b"%d" % number

    tables = [f"t{number}" for number in range(40)]
    await asyncio.gather(*map(write, tables))

    for table in tables:
        assert await journal.read(table) == [(number, f"{table} {number}".encode()) for number in range(1, 26)]
    assert await journal.documents("last") == sorted((table, b"25") for table in tables)


@pytest.mark.parametrize("text", [b"", b"\0", bytes(range(256)), b"x" * 1_000_000])
async def test_whatever_bytes_are_kept_come_back(journal: Journal, text: bytes) -> None:
    await journal.commit(Append("t1", 1, [text, b"next"]), Put("kind", "key", text))

    assert await journal.read("t1") == [(1, text), (2, b"next")]
    assert await journal.get("kind", "key") == text


async def test_names_that_look_alike_are_told_apart(journal: Journal) -> None:
    names = ["t", "T", "t ", "\u00e9", "e\u0301", "%", "t%", "'; DROP TABLE log"]
    for number, name in enumerate(names):
        await journal.commit(Append(name, 1, [b"%d" % number]), Put(name, "key", b"%d" % number))

    assert [await journal.read(name) for name in names] == [[(1, b"%d" % number)] for number in range(len(names))]
    assert [await journal.get(name, "key") for name in names] == [b"%d" % number for number in range(len(names))]


async def test_what_was_read_is_not_changed_by_what_is_written_later(journal: Journal) -> None:
    await journal.commit(Append("t1", 1, [b"one"]), Put("kind", "key", b"value"))
    records, documents = await journal.read("t1"), await journal.documents("kind")
    await journal.commit(Append("t1", 2, [b"two"]), Drop("kind", "key"))

    assert (records, documents) == ([(1, b"one")], [("key", b"value")])


async def test_nothing_is_a_commit_too(journal: Journal) -> None:
    await journal.commit()
    await journal.commit(Append("t1", 1, []))
    await journal.commit(Drop("kind", "never"))
    await journal.append("t1", 1, [b"one"])
    assert await journal.read("t1") == [(1, b"one")]


async def test_closing_waits_for_what_was_committed(journal: Journal) -> None:
    commits = [journal.append("t1", number, [b"x"]) for number in range(1, 101)]
    await journal.close()
    await asyncio.gather(*commits)


async def test_a_closed_journal_refuses_commits(journal: Journal) -> None:
    await journal.close()

    with pytest.raises(JournalError):
        await journal.append("t1", 1, [b"one"])


@contextlib.asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal.open(path)
    try:
        yield journal
    finally:
        await journal.close()


async def test_what_was_committed_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.append("t1", 1, [b"one"])
        await journal.put("kind", "key", b"value")

    async with opened(path) as journal:
        await journal.append("t1", 2, [b"two"])
        with pytest.raises(StaleWriter):
            await journal.append("t1", 2, [b"two"])
        assert await journal.read("t1") == [(1, b"one"), (2, b"two")]
        assert await journal.get("kind", "key") == b"value"


async def test_records_that_were_moved_are_erased_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.append("t1", 1, [b"one"])
    async with opened(path) as journal:
        await journal.append("t1", 2, [b"two"])
        await journal.commit(Erase("t1"))
        assert await journal.read("t1") == []


async def test_others_may_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.put("kind", "key", b"value")
        reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        with contextlib.closing(reader):
            before = reader.execute("SELECT count(*) FROM documents").fetchone()
            await journal.put("kind", "other", b"value")
            after = reader.execute("SELECT count(*) FROM documents").fetchone()
    assert (before, after) == ((1,), (2,))


async def test_a_long_log_is_moved_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_sqlite, "LONGEST_LOG", 10)
    async with opened(tmp_path / "journal.db") as journal:
        for number in range(1, 101):
            await journal.append("t1", number, [b"%d" % number])
        assert await journal.read("t1") == [(number, b"%d" % number) for number in range(1, 101)]
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        (left,) = connection.execute("SELECT count(*) FROM log").fetchone()
    connection.close()
    assert left < 10


async def test_a_record_that_is_none_fails_its_commit_and_not_the_journal(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(JournalError):
            await journal.append("t1", 1, cast("list[bytes]", [object()]))
        with pytest.raises(JournalError):
            await journal.put("kind", "key", b"value", expires=cast("float", 1 << 80))
        await journal.append("t1", 1, [b"one"])
        assert await journal.read("t1") == [(1, b"one")]


async def test_a_full_disk_fails_the_commit_and_keeps_what_was_there(tmp_path: Path) -> None:
    connection, lock = open_file(tmp_path / "journal.db", "disk")
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 1}")
    journal = SqliteJournal(connection, lock, Clock())

    await journal.append("t1", 1, [b"one"])
    with pytest.raises(JournalError, match="full"):
        await journal.append("t1", 2, [b"x" * 100_000])
    await journal.append("t1", 2, [b"two"])

    assert await journal.read("t1") == [(1, b"one"), (2, b"two")]
    await journal.close()


async def test_what_does_not_wait_for_the_disk_is_brought_into_the_database_now_and_then(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = SqliteJournal.open(path, durability="process")
    for number in range(1, 3 * CHECKPOINT_AFTER + 1):
        await journal.append("t1", number, [b"a record"])
    pages = Path(f"{path}-wal").stat().st_size / 4_096

    assert pages < 2.5 * CHECKPOINT_AFTER
    assert len(await journal.read("t1")) == 3 * CHECKPOINT_AFTER
    await journal.close()


async def test_a_commit_that_need_not_wait_is_done_when_it_was_called(tmp_path: Path) -> None:
    journal = SqliteJournal.open(tmp_path / "journal.db", durability="process")
    kept = asyncio.ensure_future(journal.append("t1", 1, [b"one"]))
    assert kept.done()

    asked = asyncio.ensure_future(journal.read("t1"))
    await asyncio.sleep(0)  # the question is on its way to the thread
    later = asyncio.ensure_future(journal.append("t1", 2, [b"two"]))
    assert not later.done()
    assert await asked == [(1, b"one")]
    await later
    await journal.close()


async def test_the_loop_waits_for_a_quick_disk_itself_when_little_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_sqlite, "QUICK", 3_600.0)
    async with opened(tmp_path / "journal.db") as journal:
        first = asyncio.ensure_future(journal.append("t1", 1, [b"one"]))
        assert not first.done()  # how quick the disk is was not known yet
        await first

        little = asyncio.ensure_future(journal.append("t1", 2, [b"two"]))
        assert little.done()
        much = asyncio.ensure_future(journal.append("t1", 3, [b"a record"] * (FEW_RECORDS + 1)))
        assert not much.done()
        await much

        monkeypatch.setattr(journal_sqlite, "QUICK", 0.0)
        slow = asyncio.ensure_future(journal.append("t2", 1, [b"one"]))
        assert not slow.done()
        await slow
        assert len(await journal.read("t1")) == 2 + FEW_RECORDS + 1


# --- lists


async def names_listed(journal: Journal, reader: str | None = "", *, before: str = "", most: int = 100) -> list[str]:
    return [listed.key for listed in await journal.listed("kind", reader=reader, before=before, most=most)]


async def test_a_list_is_read_backwards_in_pages(journal: Journal) -> None:
    for number in (3, 1, 5, 2, 4):
        await journal.commit(Put("kind", f"key-{number}", b"%d" % number, listed_at=f"at-{number}"))
    await journal.commit(Put("kind", "in no list", b""), Put("other", "of another kind", b"", listed_at="at-9"))

    assert await journal.listed("kind", reader="", most=2) == [
        Listed("at-5", "key-5", b"5"),
        Listed("at-4", "key-4", b"4"),
    ]
    assert await names_listed(journal, before="at-4", most=2) == ["key-3", "key-2"]
    assert await names_listed(journal, before="at-2") == ["key-1"]
    assert await names_listed(journal, before="at-1") == []


async def test_what_is_listed_for_one_is_not_shown_to_others(journal: Journal) -> None:
    for number, reader in enumerate(("", "anna", "ben", "")):
        await journal.commit(Put("kind", f"{number}", b"", listed_at=f"at-{number}", listed_for=reader))

    assert await names_listed(journal, "") == ["3", "0"]
    assert await names_listed(journal, "anna") == ["3", "1", "0"]
    assert await names_listed(journal, None) == ["3", "2", "1", "0"]


async def test_a_list_has_no_document_that_was_dropped_replaced_or_has_expired(journal: Journal, clock: Clock) -> None:
    for number in range(4):
        await journal.commit(Put("kind", f"{number}", b"", listed_at=f"at-{number}"))
    await journal.commit(Drop("kind", "0"), Put("kind", "1", b"new", listed_at="at-9"), Put("kind", "2", b""))
    await journal.commit(Put("kind", "3", b"", clock.now + 1, listed_at="at-3"))
    clock.now += 2

    assert await journal.listed("kind", reader=None, most=9) == [Listed("at-9", "1", b"new")]
