"""`rummy500-server backup`: a consistent copy of the database, also while a server is running on it."""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path
from typing import Any

from rummy500_server.archive import Archive
from rummy500_server.commands.database import CommandRefused, add_database, refuse, size_text
from rummy500_server.commands.whole_file import verify_apart, whole_file
from rummy500_server.journal_file import JournalUnusable


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "backup",
        help="copy the database, also while a server is running on it",
        description="Writes a copy of the database as it stands at one moment, whole or not at all; a server may be "
        "running on it and is not held up. To restore: stop the server, put the copy in the place of the database, "
        "and remove the files beside it that end in -wal and -shm.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")
    add_database(parser)
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        verify_apart(arguments.file, arguments.database)
        with whole_file(arguments.file, force=arguments.force) as partial, Archive.open(arguments.database) as archive:
            _copy(archive, partial)
    except (JournalUnusable, CommandRefused) as error:
        return refuse(error)
    print(f"{arguments.file}: {size_text(arguments.file.stat().st_size)}")
    return 0


def _copy(archive: Archive, partial: Path) -> None:
    try:
        archive.copy_to(partial)
        with Archive.open(partial) as copy:
            problems = copy.problems()
    except sqlite3.Error as error:
        raise CommandRefused(f"the copy could not be made: {error}") from error
    finally:
        for rest in ("-wal", "-shm"):
            partial.with_name(partial.name + rest).unlink(missing_ok=True)
    if problems:
        raise CommandRefused(f"the copy would be damaged, as the database is: {problems[0]}")
