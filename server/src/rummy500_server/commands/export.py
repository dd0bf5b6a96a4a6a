"""`rummy500-server export`: the records of games that are over, as JSON lines."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rummy500_catalog import Catalog
from rummy500_server.archive import Archive
from rummy500_server.commands.database import CommandRefused, add_database, refuse, verify_known
from rummy500_server.commands.whole_file import verify_apart, whole_file
from rummy500_server.folding import fold_lines, why_not
from rummy500_server.games import FinishedGame, record_of
from rummy500_server.journal_file import JournalUnusable


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "export",
        help="write the records of games that are over",
        description="Writes the records of games that are over, as JSON lines (docs/records.md), all of them or those "
        "named; all or nothing. A server may be running on the database. Records of a match that goes on are left "
        "out, for they show its packs.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a record, a table or a match; none: everything")
    add_database(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="a file that is not there yet; default: stdout")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument(
        "--skip-unplayable", action="store_true", help="leave out games whose variants are others now, and say so"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        if arguments.output is not None:
            verify_apart(arguments.output, arguments.database)
        with _target(arguments.output, force=arguments.force) as file, Archive.open(arguments.database) as archive:
            games = _wanted(archive, arguments.names)
            written = _write(archive, games, file, skip=arguments.skip_unplayable)
    except (JournalUnusable, CommandRefused) as error:
        return refuse(error)
    if arguments.output is not None:
        print(f"{arguments.output}: {written} records")
    return 0


@contextlib.contextmanager
def _target(output: Path | None, *, force: bool) -> Iterator[IO[str]]:
    """What is written there is in the file, or on standard output, at the end: all of it or nothing."""
    if output is None:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
            yield spool
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout)
        return
    with whole_file(output, force=force) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def _wanted(archive: Archive, names: list[str]) -> list[FinishedGame]:
    """Raises CommandRefused for a name that is none, or of a game that is not over."""
    records = archive.records()
    if not names:
        found = [game for record in records if (game := archive.game(record)) is not None]
        return sorted((game for game in found if _is_open(archive, game)), key=_place)
    wanted: list[str] = []
    for name in names:
        match, creation = archive.match(name), archive.creation(name)
        if match is not None and not match.is_over:
            raise CommandRefused(f"the match {name} is not over: its records are open then")
        if match is not None:
            of_match = [game for record in records if record.startswith(f"{name}.") and (game := archive.game(record))]
            wanted += [game.record for game in sorted(of_match, key=_place)]
        elif creation is not None and (creation.record or name) not in records:
            raise CommandRefused(f"the game of table {name} is not over, or never began: there is no record of it")
        else:
            record = creation.record or name if creation is not None else name
            verify_known(record, [*records, *archive.match_names()], "record, table or match")
            wanted.append(record)
    games = [game for record in dict.fromkeys(wanted) if (game := archive.game(record)) is not None]
    for game in games:
        if not _is_open(archive, game):
            raise CommandRefused(f"the match {game.match} is not over: the record of {game.record} is open then")
    return games


def _place(game: FinishedGame) -> tuple[str, int, int, str]:
    """Tables by name, then matches, each in the order of deals and seatings."""
    return game.match, game.deal, game.seating, game.record


def _is_open(archive: Archive, game: FinishedGame) -> bool:
    match = archive.match(game.match)
    return match is None or match.is_over


def _write(archive: Archive, games: list[FinishedGame], file: IO[str], *, skip: bool) -> int:
    """Answers how many were written. Raises CommandRefused."""
    catalog, written = Catalog(), 0
    for game in games:
        try:
            record = _record(archive, game, catalog)
        except Exception as error:  # whatever it is, it is this game's
            sentence = f"the record of {game.record} cannot be made any more: {why_not(error)}"
            if not skip:
                raise CommandRefused(f"{sentence}; --skip-unplayable leaves such games out") from error
            print(f"left out: {sentence}", file=sys.stderr)
            continue
        file.write(record)
        written += 1
    return written


def _record(archive: Archive, game: FinishedGame, catalog: Catalog) -> str:
    match, creation = archive.match(game.match), archive.creation(game.table)
    assert creation is not None
    place = None if match is None else match.spec.place(game.deal, game.seating)
    return record_of(fold_lines(creation, archive.lines(game.table), catalog), place)
