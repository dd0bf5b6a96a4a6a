"""`rummy500-server prune`: drops what has been over for a while, and gives its room back to the disk."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from rummy500_server.commands.database import CommandRefused, add_database, read_age, refuse
from rummy500_server.database_lock import DatabaseInUse
from rummy500_server.journal import JournalError
from rummy500_server.journal_file import JournalUnusable
from rummy500_server.journal_sqlite import SqliteJournal
from rummy500_server.retention import Pruned, Retention


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "prune",
        help="drop tables, records and matches that have been over for a while",
        description="Drops tables with their records, and matches with all of theirs, that have been over for as long "
        "as it is told, and answers to requests that have expired; what is not over stays. No server may be running on "
        "the database: a running server prunes by itself with --keep-records-days.",
    )
    parser.add_argument("--older-than", type=read_age, required=True, metavar="AGE", help="30d, 12h or 45m")
    add_database(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be dropped")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        if not arguments.database.is_file():
            raise CommandRefused(f"there is no database {arguments.database}: name another with --database")
        if not arguments.database.stat().st_size:
            raise CommandRefused(f"the database {arguments.database} is empty: no server has used it yet")
        pruned = asyncio.run(_prune(arguments.database, arguments.older_than, dry_run=arguments.dry_run))
        if not arguments.dry_run:
            _shrink(arguments.database)
    except (JournalUnusable, JournalError, CommandRefused) as error:
        hint = "; it prunes by itself with --keep-records-days" if isinstance(error.__cause__, DatabaseInUse) else ""
        return refuse(f"{error}{hint}")
    would = "would drop" if arguments.dry_run else "dropped"
    print(f"{arguments.database}: {would} {pruned.tables} tables and {pruned.matches} matches")
    return 0


async def _prune(database: Path, seconds: float, *, dry_run: bool) -> Pruned:
    journal = SqliteJournal.open(database)
    try:
        if not dry_run:
            await journal.forget_expired()
        return await Retention(journal).sweep(seconds, dry_run=dry_run)
    finally:
        await journal.close()


def _shrink(database: Path) -> None:
    """Raises CommandRefused when there is no room to write the file anew; what was dropped is dropped."""
    try:
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise CommandRefused(f"{database}: pruned, but the file could not be made smaller: {error}") from error
