"""`rummy500-server tables`: which tables a database holds."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from rummy500_catalog import DEFAULT_PRESET
from rummy500_server.archive import Archive, StoredState, StoredTable
from rummy500_server.commands.database import add_database, age_text, refuse, size_text
from rummy500_server.journal_file import JournalUnusable
from rummy500_server.rules_wire import Choice


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "tables",
        help="list the tables of a database",
        description="Lists the tables of a database, newest first; a server may be running on it.",
    )
    add_database(parser)
    states = [state.value for state in StoredState]
    parser.add_argument("--state", choices=states, help="only tables in this state")
    parser.add_argument("--matches", action="store_true", help="the tables of matches too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        with Archive.open(arguments.database) as archive:
            tables = [
                table
                for table in archive.tables()
                if (arguments.matches or table.creation.is_listed) and arguments.state in (None, table.state.value)
            ]
    except JournalUnusable as error:
        return refuse(error)
    tables.sort(key=lambda table: table.creation.created_ms, reverse=True)
    if arguments.json:
        print("".join(json.dumps(values_of(table)) + "\n" for table in tables), end="")
        return 0
    rows = [("TABLE", "STATE", "AGE", "RULES", "ENTRIES", "SIZE", "PLAYERS"), *map(_row, tables)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def values_of(table: StoredTable) -> dict[str, Any]:
    """What there is to know of a table without folding it."""
    creation = table.creation
    return {
        "table": table.name,
        "state": table.state.value,
        "title": creation.title,
        "created_ms": creation.created_ms,
        "rules": rules_text(creation.choice),
        "rules_digest": creation.digest,
        "players": list(table.players),
        "match": creation.match,
        "record": table.record,
        "entries": table.entries,
        "bytes": table.size,
    }


def rules_text(choice: Choice) -> str:
    """Preset, variants and options as one writes them."""
    options = (f"{name}={value}" for name, value in sorted(choice.options.items()))
    return " ".join((choice.preset or DEFAULT_PRESET, *(f"+{name}" for name in choice.variants), *options))


def _row(table: StoredTable) -> tuple[str, ...]:
    return (
        table.name,
        table.state.value,
        age_text(time.time() - table.creation.created_ms / 1000),
        rules_text(table.creation.choice),
        str(table.entries),
        size_text(table.size),
        ", ".join(name or "(free)" for name in table.players),
    )
