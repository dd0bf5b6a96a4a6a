"""What a host does with a database: look at it, copy it, take records out, and drop what is old."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import stat
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.server.running import TOKEN, channel_to, running_app, server_process
from tests.server.test_games import Client
from tests.server.test_matches import builtin, plan, rules_for, run

from rummy500.v1 import match_service_pb2 as pb
from rummy500.v1 import rules_pb2, table_service_pb2
from rummy500_arena.verification import records_in, verify
from rummy500_server.__main__ import main
from rummy500_server.creation import Creation
from rummy500_server.identity import digest_of
from rummy500_server.journal import Put
from rummy500_server.journal_file import move_log
from rummy500_server.journal_sqlite import SqliteJournal

DAY = 86_400
NOBODY = 65_534
ONE_ROUND = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="max_rounds", value="1")])
ANNA = "the-secret-of-anna-0001"
_Command = Callable[..., Awaitable[tuple[int, str, str]]]


@dataclass(frozen=True, slots=True)
class Games:
    """A database with three tables and a match of two games that is over."""

    database: Path
    finished: str
    playing: str
    open: str
    match: str


async def play_some(database: Path) -> Games:
    async with running_app(database=str(database)) as app, channel_to(app.address) as channel:
        client = Client(channel)
        finished = await client.table("easy", "easy", seats=2, rules=ONE_ROUND, title="An evening")
        await client.played(finished)
        playing = await client.table("easy", seats=2, rules=ONE_ROUND, start_when_full=True)
        join = table_service_pb2.JoinTableRequest(table=playing, name="Anna", seat_secret=ANNA)
        await client.tables.JoinTable(join)
        never = await client.table(seats=3)
        match = await run(client.matches, plan(builtin("easy"), builtin("random"), deals=1))
    return Games(database, finished, playing, never, match.name)


@pytest.fixture(scope="module")
async def games(tmp_path_factory: pytest.TempPathFactory) -> Games:
    """For tests that leave the database as it is."""
    return await play_some(tmp_path_factory.mktemp("games") / "games.db")


@pytest.fixture
def own(games: Games, tmp_path: Path) -> Games:
    """A copy that a test may change."""
    shutil.copy(games.database, tmp_path / "own.db")
    with closing(sqlite3.connect(tmp_path / "own.db", isolation_level=None)) as connection:
        move_log(connection)
    return Games(tmp_path / "own.db", games.finished, games.playing, games.open, games.match)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> _Command:
    async def run(*words: str | Path) -> tuple[int, str, str]:
        status = await asyncio.to_thread(main, list(map(str, words)))
        return status, *capsys.readouterr()

    return run


# --- tables and inspect


async def test_tables_are_listed_with_state_players_and_rules(games: Games, command: _Command) -> None:
    status, output, _ = await command("tables", "--database", games.database)

    lines = {line.split()[0]: line for line in output.splitlines()}
    assert status == 0
    assert set(lines) == {"TABLE", games.finished, games.playing, games.open}
    assert lines[games.finished].split()[1:3] == ["finished", lines[games.finished].split()[2]]
    assert "max_rounds=1" in lines[games.finished]
    assert lines[games.playing].split()[1] == "playing"
    assert lines[games.playing].endswith(", Anna")
    assert lines[games.open].split()[1] == "open"
    assert lines[games.open].endswith("(free), (free), (free)")


async def test_a_listing_for_programs_has_those_of_matches_too(games: Games, command: _Command) -> None:
    _, output, _ = await command("tables", "--json", "--matches", "--state", "finished", "--database", games.database)

    tables = [json.loads(line) for line in output.splitlines()]
    assert sorted(table["match"] for table in tables) == ["", games.match, games.match]
    assert all(table["entries"] > 2 and table["bytes"] > 100 for table in tables)


async def test_a_table_is_shown_with_its_entries_and_what_they_give(games: Games, command: _Command) -> None:
    status, output, _ = await command("inspect", games.finished, "--database", games.database)

    assert status == 0
    assert "An evening" in output
    assert "they give the same" in output
    assert "won with" in output
    assert "  start\n" in output


async def test_hands_are_shown_to_those_who_say_so(games: Games, command: _Command) -> None:
    _, output, _ = await command("inspect", games.playing, "--json", "--database", games.database)
    _, with_hands, _ = await command("inspect", games.playing, "--json", "--with-hands", "--database", games.database)

    assert "hands" not in json.loads(output)
    assert [len(hand.split()) for hand in json.loads(with_hands)["hands"]][1] == 13


async def test_no_command_prints_a_secret(games: Games, command: _Command) -> None:
    """Seeds, tokens and their digests stay in the file."""
    with closing(sqlite3.connect(games.database)) as connection:
        texts = [text for (text,) in connection.execute("SELECT value FROM documents WHERE kind = 'table'")]
    secrets = {Creation.from_json(text).secret.hex() for text in texts}
    secrets |= {ANNA, digest_of(ANNA), TOKEN, digest_of(TOKEN)}
    printed = ""
    for words in (["tables", "--matches"], ["tables", "--matches", "--json"], ["check"]):
        printed += (await command(*words, "--database", games.database))[1]
    for table in (games.finished, games.playing, games.open):
        for form in ([], ["--json"]):
            printed += (await command("inspect", table, *form, "--with-hands", "--database", games.database))[1]

    assert len(printed) > 1_000
    assert [secret for secret in secrets if secret in printed] == []


@pytest.mark.parametrize("words", [["inspect"], ["export"]])
async def test_a_wrong_name_is_one_sentence_with_near_names(games: Games, command: _Command, words: list[str]) -> None:
    wrong = games.finished[:-1] + "~"
    status, output, errors = await command(*words, wrong, "--database", games.database)

    assert (status, output) == (2, "")
    (sentence,) = errors.splitlines()
    assert sentence.startswith("rummy500-server: there is no ")
    assert f"did you mean {games.finished}" in sentence


@pytest.mark.parametrize("words", [["tables"], ["check"], ["export"], ["backup", "b.db"], ["prune", "--older-than=1d"]])
async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, command: _Command, words: list[str]) -> None:
    status, _, errors = await command(*words, "--database", tmp_path / "none.db")

    assert status == 2
    assert errors == f"rummy500-server: there is no database {tmp_path}/none.db: name another with --database\n"
    assert list(tmp_path.iterdir()) == []


async def test_a_file_of_another_program_is_refused(tmp_path: Path, command: _Command) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna, " * 500)
    status, _, errors = await command("tables", "--database", letter)

    assert status == 2
    assert "is damaged" in errors


# --- what a killed server left, and directories that are not the caller's


@pytest.fixture(scope="module")
async def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a server that was killed, with its write-ahead log."""
    database = tmp_path_factory.mktemp("killed") / "games.db"
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client(channel)
        await client.played(await client.table("random", "random", seats=2, rules=ONE_ROUND))
        server.signal(signal.SIGKILL)
        await server.ended()
    assert Path(f"{database}-wal").stat().st_size
    return database


@pytest.fixture
def locked_up() -> Iterator[Path]:
    """A directory in which nothing can be written, also by who may do everything otherwise, once it is filled."""
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    os.seteuid(os.getuid())
    directory.chmod(0o700)
    shutil.rmtree(directory)


def lock_up(directory: Path, *files: Path) -> Path:
    for file in files:
        (directory / file.name).write_bytes(file.read_bytes())
        (directory / file.name).chmod(0o644)
    directory.chmod(0o555)
    if os.getuid() == 0:
        os.seteuid(NOBODY)
    return directory / files[0].name


def content(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


READERS = [["tables"], ["check"], ["export"]]


@pytest.mark.parametrize("words", READERS)
async def test_a_command_reads_what_a_killed_server_left(killed: Path, command: _Command, words: list[str]) -> None:
    before = content(killed.parent)
    status, output, _ = await command(*words, "--database", killed)
    after = content(killed.parent)

    assert status == 0
    assert len(output) > 40
    assert after["games.db"] == before["games.db"]
    assert after["games.db-wal"] == before["games.db-wal"]


@pytest.mark.parametrize("words", READERS)
async def test_a_command_leaves_nothing_beside_a_database_at_rest(
    own: Games, command: _Command, words: list[str]
) -> None:
    with closing(sqlite3.connect(own.database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = content(own.database.parent)
    assert (await command(*words, "--database", own.database))[0] == 0
    assert content(own.database.parent) == before


@pytest.mark.parametrize("words", READERS)
async def test_a_command_reads_where_nothing_can_be_written(
    own: Games, command: _Command, locked_up: Path, words: list[str]
) -> None:
    with closing(sqlite3.connect(own.database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    status, output, _ = await command(*words, "--database", lock_up(locked_up, own.database))
    assert status == 0
    assert len(output) > 40


@pytest.mark.parametrize("words", READERS)
async def test_what_a_killed_server_left_where_nothing_can_be_written_is_one_sentence(
    killed: Path, command: _Command, locked_up: Path, words: list[str]
) -> None:
    database = lock_up(locked_up, killed, Path(f"{killed}-wal"))
    status, output, errors = await command(*words, "--database", database)
    assert (status, output) == (2, "")
    assert errors.endswith("start a server with it once, or copy all of them to a directory of yours\n")
    assert errors.count("\n") == 1


async def test_a_copy_where_nothing_can_be_written_is_refused(own: Games, command: _Command, locked_up: Path) -> None:
    database = lock_up(locked_up, own.database)
    status, _, errors = await command("backup", locked_up / "copy.db", "--database", database)
    assert status == 2
    assert errors == f"rummy500-server: {locked_up}/copy.db cannot be written: Permission denied\n"


# --- check


async def test_a_document_that_was_changed_is_found(own: Games, command: _Command) -> None:
    with closing(sqlite3.connect(own.database)) as connection, connection:
        connection.execute("UPDATE documents SET value = x'7b' WHERE kind IN ('table', 'game', 'match')")
    status, output, _ = await command("check", "--database", own.database)
    listed, _, errors = await command("tables", "--database", own.database)

    assert (status, listed) == (1, 2)
    assert output.count("cannot be read: restore a backup") == 9
    assert errors.count("cannot be read: restore a backup\n") == 1


async def test_a_whole_database_is_found_whole(games: Games, command: _Command) -> None:
    status, output, _ = await command("check", "--database", games.database)

    assert status == 0
    assert "5 tables" in output
    assert output.endswith("all hold\n")


async def test_an_entry_that_was_changed_is_found(own: Games, command: _Command) -> None:
    with closing(sqlite3.connect(own.database)) as connection:
        connection.execute(
            "UPDATE records SET record = replace(CAST(record AS TEXT), 'Anna', 'Berta') WHERE owner = ?",
            (own.playing,),
        )
        connection.execute("UPDATE records SET record = CAST(record AS BLOB)")
        connection.commit()
    status, output, _ = await command("check", "--database", own.database)
    inspected, shown, _ = await command("inspect", own.playing, "--database", own.database)

    assert (status, inspected) == (1, 1)
    assert f"table {own.playing}: entry 2 of table {own.playing} does not give the events that it once gave" in output
    assert "BROKEN" in shown


async def test_a_damaged_entry_is_told_and_stops_nothing(own: Games, command: _Command) -> None:
    with closing(sqlite3.connect(own.database)) as connection:
        connection.execute(
            "UPDATE records SET record = ? WHERE owner = ? AND sequence = 1",
            (b"join\t9\tjoined\tAnna\tx\t\ty", own.playing),
        )
        connection.commit()
    status, output, _ = await command("check", "--database", own.database)
    inspected, shown, _ = await command("inspect", own.playing, "--database", own.database)

    assert (status, inspected) == (1, 1)
    assert f"table {own.playing}: a mistake of this server: IndexError" in output
    assert "5 tables" in output
    assert "IndexError" in shown


# --- export


async def test_all_records_are_exported_and_hold(games: Games, command: _Command, tmp_path: Path) -> None:
    status, output, _ = await command("export", "--output", tmp_path / "all.jsonl", "--database", games.database)

    found = list(records_in((tmp_path / "all.jsonl").read_text().splitlines()))
    assert (status, output) == (0, f"{tmp_path}/all.jsonl: 3 records\n")
    assert [verify(record, rules_for) for record in found] == [None] * 3
    assert stat.S_IMODE((tmp_path / "all.jsonl").stat().st_mode) == 0o600


async def test_records_are_exported_by_table_and_by_match(games: Games, command: _Command) -> None:
    _, of_table, _ = await command("export", games.finished, "--database", games.database)
    _, of_match, _ = await command("export", games.match, "--database", games.database)

    assert len(list(records_in(of_table.splitlines()))) == 1
    assert [record.lines[0]["match"]["deal"] for record in records_in(of_match.splitlines())] == [0, 0]


async def test_a_game_that_is_not_over_has_no_record_yet(games: Games, command: _Command) -> None:
    status, output, errors = await command("export", games.finished, games.playing, "--database", games.database)

    assert (status, output) == (2, "")
    assert "is not over" in errors


async def test_a_file_that_is_there_is_left_alone(games: Games, command: _Command, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    for words in (["export", "--output", there], ["backup", there]):
        status, _, errors = await command(*words, "--database", games.database)
        assert status == 2
        assert "is there already" in errors
    assert there.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [there]
    assert (await command("backup", there, "--force", "--database", games.database))[0] == 0


@pytest.mark.parametrize("end", ["", "-wal", ".lock"])
async def test_nothing_is_written_over_the_database_itself(own: Games, command: _Command, end: str) -> None:
    before = own.database.read_bytes()
    place = own.database.with_name(own.database.name + end)
    for words in (["export", "--output", place], ["backup", place]):
        status, _, errors = await command(*words, "--force", "--database", own.database)

        assert status == 2
        assert "is the database itself, or a file of its: choose another name" in errors
    assert own.database.read_bytes() == before


async def test_a_database_that_was_never_used_stays_empty(tmp_path: Path, command: _Command) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    for words in (["prune", "--older-than", "1d", "--dry-run"], ["prune", "--older-than", "1d"], ["check"]):
        status, _, errors = await command(*words, "--database", empty)

        assert status == 2
        assert "is empty: no server has used it yet" in errors
    assert list(tmp_path.iterdir()) == [empty]
    assert not empty.stat().st_size


async def test_an_export_that_fails_leaves_nothing_behind(own: Games, command: _Command, tmp_path: Path) -> None:
    with closing(sqlite3.connect(own.database)) as connection:
        connection.execute("DELETE FROM records WHERE owner = ? AND sequence = 3", (own.finished,))
        connection.commit()
    words = ["export", "--output", tmp_path / "all.jsonl", "--database", own.database]
    status, _, errors = await command(*words)
    skipped, output, told = await command(*words, "--skip-unplayable")

    assert status == 2
    assert f"the record of {own.finished} cannot be made any more" in errors
    assert (skipped, output) == (0, f"{tmp_path}/all.jsonl: 2 records\n")
    assert told.startswith(f"left out: the record of {own.finished}")


# --- backup


async def test_a_running_server_is_looked_at_and_backed_up(tmp_path: Path, command: _Command) -> None:
    database, copy = tmp_path / "games.db", tmp_path / "copy.db"
    async with running_app(database=str(database)) as app, channel_to(app.address) as channel:
        client = Client(channel)
        first = await client.table("easy", "easy", seats=2, rules=ONE_ROUND)
        await client.played(first)
        status, output, _ = await command("backup", copy, "--database", database)
        second = await client.table("easy", "easy", seats=2, rules=ONE_ROUND)
        await client.played(second)
        _, listed, _ = await command("tables", "--database", database)
        pruned, _, refused = await command("prune", "--older-than", "1d", "--database", database)
    assert (status, pruned) == (0, 2)
    assert output.startswith(f"{copy}: ")
    assert first in listed
    assert second in listed
    assert "is in use by another server; it prunes by itself" in refused
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    async with running_app(database=str(copy)) as app, channel_to(app.address) as channel:
        lines = await Client(channel).holds(first)
        assert lines[-1]["type"] == "end"
        listed_again = await Client(channel).tables.ListTables(table_service_pb2.ListTablesRequest())
        assert [table.name for table in listed_again.tables] == [first]


# --- prune


def make_older(games: Games, days: int, *, keep_match: bool = False) -> None:
    """Moves everything in the database into the past."""
    by = days * DAY * 1000

    async def move() -> None:
        journal = SqliteJournal.open(games.database)
        for kind, field in (("table", "created_ms"), ("game", "finished_ms"), ("match", "finished_ms")):
            for key, text in await journal.documents(kind):
                values = json.loads(text)
                values[field] -= 0 if kind == "match" and keep_match else by
                await journal.commit(Put(kind, key, json.dumps(values).encode()))
        await journal.close()

    asyncio.run(move())


async def test_what_is_old_is_dropped_and_what_is_not_over_stays(own: Games, command: _Command) -> None:
    await asyncio.to_thread(make_older, own, 40)
    before = own.database.stat().st_size
    _, dry, _ = await command("prune", "--older-than", "30d", "--dry-run", "--database", own.database)
    assert dry == f"{own.database}: would drop 3 tables and 1 matches\n"
    _, output, _ = await command("prune", "--older-than", "30d", "--database", own.database)
    assert output == f"{own.database}: dropped 3 tables and 1 matches\n"
    assert own.database.stat().st_size < before
    with closing(sqlite3.connect(own.database)) as connection:
        owners = {owner for (owner,) in connection.execute("SELECT owner FROM records")}
        kinds = dict(connection.execute("SELECT kind, count(*) FROM documents GROUP BY kind").fetchall())
    assert owners <= {own.playing, own.open}
    assert (kinds["table"], kinds["open_table"]) == (2, 2)
    assert not {"game", "match", "ended_table"} & set(kinds)
    assert (await command("check", "--database", own.database))[0] == 0


async def test_nothing_is_dropped_that_is_younger(own: Games, command: _Command) -> None:
    await asyncio.to_thread(make_older, own, 20)
    _, output, _ = await command("prune", "--older-than", "30d", "--database", own.database)
    assert output == f"{own.database}: dropped 0 tables and 0 matches\n"
    assert len((await command("export", "--database", own.database))[1]) > 1_000


async def test_the_games_of_a_match_stay_as_long_as_the_match(own: Games, command: _Command) -> None:
    await asyncio.to_thread(make_older, own, 40, keep_match=True)
    _, output, _ = await command("prune", "--older-than", "30d", "--database", own.database)
    assert output == f"{own.database}: dropped 1 tables and 0 matches\n"
    assert len(list(records_in((await command("export", own.match, "--database", own.database))[1].splitlines()))) == 2


@pytest.mark.parametrize("age", ["", "30", "-1d", "30 d", "1w", "9999999d"])
async def test_an_age_that_is_none_is_refused(tmp_path: Path, age: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["prune", f"--older-than={age}", "--database", str(tmp_path / "games.db")])
    assert ended.value.code == 2
    assert "a number of days, hours or minutes is wanted" in capsys.readouterr().err


async def test_a_server_forgets_what_it_has_kept_long_enough(own: Games) -> None:
    await asyncio.to_thread(make_older, own, 40)
    async with running_app(database=str(own.database), keep_records_days=30) as app, channel_to(app.address) as channel:
        until = time.monotonic() + 30
        client = Client(channel)
        while len((await client.tables.ListTables(table_service_pb2.ListTablesRequest())).tables) > 2:
            assert time.monotonic() < until
            await asyncio.sleep(0)
        matches = await client.matches.ListMatches(pb.ListMatchesRequest())
        assert list(matches.matches) == []
        assert list((await client.matches.ListGames(pb.ListGamesRequest())).games) == []
