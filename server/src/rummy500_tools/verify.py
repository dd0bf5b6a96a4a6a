"""`rummy500 verify`: plays records again through the engine and names the first line that differs."""

from __future__ import annotations

import argparse
from typing import Any

from rummy500_arena.verification import Record, RecordUnreadable, RulesFor, verify
from rummy500_tools.record_file import DIFFERS, HOLDS, NoRecord, fail, installed_rules, read_records


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help="play game records again through the engine",
        description="Plays game records again through the engine, without a server. Prints one line for each file: how "
        "many records hold, or the first line at which a record and the engine differ. Exit code 0 when all hold, 1 "
        "when one differs, 2 when a file is no record.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="JSON lines as `rummy500 match` writes them; - for stdin"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    rules_for = installed_rules()
    return max(_verify_file(path, rules_for) for path in arguments.files)


def _verify_file(path: str, rules_for: RulesFor) -> int:
    try:
        records = read_records(path)
        for record in records:
            difference = verify(record, rules_for)
            if difference is not None:
                print(f"{path}: line {difference.line}{_where(record)}: {difference.sentence}")
                return DIFFERS
    except NoRecord as error:
        return fail("verify", str(error))
    except RecordUnreadable as unreadable:
        return fail("verify", f"{path}: {unreadable}")
    held = "1 record holds" if len(records) == 1 else f"{len(records)} records hold"
    print(f"{path}: {held}")
    return HOLDS


def _where(record: Record) -> str:
    match record.lines[0].get("match"):
        case {"deal": deal, "rotation": rotation}:
            return f" (deal {deal}, rotation {rotation})"
        case _:
            return ""
