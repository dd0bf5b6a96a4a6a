"""`rummy500-server check`: whether a database is whole, and every table gives again what it once gave."""

from __future__ import annotations

import argparse
from typing import Any

from rummy500_catalog import Catalog
from rummy500_server.archive import Archive
from rummy500_server.commands.database import add_database, refuse
from rummy500_server.folding import fold_lines, why_not
from rummy500_server.journal import JournalError
from rummy500_server.journal_file import JournalUnusable


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="verify a database and every table in it",
        description="Verifies that the file is whole and that the entries of every table give again the events that "
        "they once gave; a server may be running on it. Exit status 1 when something does not hold, each on a line.",
    )
    add_database(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    catalog, entries, tables, problems = Catalog(), 0, 0, 0
    try:
        with Archive.open(arguments.database) as archive:
            for sentence in (*archive.problems(), *archive.damaged()):
                problems += 1
                print(f"{arguments.database}: {sentence}")
            for name in archive.table_names():
                lines = archive.lines(name)
                tables, entries = tables + 1, entries + len(lines)
                try:
                    creation = archive.creation(name)
                    assert creation is not None
                    fold_lines(creation, lines, catalog)
                except JournalError:
                    continue  # its document is damaged, which was said
                except Exception as error:  # whatever it is, the next table is looked at
                    problems += 1
                    print(f"table {name}: {why_not(error)}")
    except JournalUnusable as error:
        return refuse(error)
    found = "all hold" if not problems else f"{problems} problems"
    print(f"{arguments.database}: {tables} tables, {entries} entries: {found}")
    return 1 if problems else 0
