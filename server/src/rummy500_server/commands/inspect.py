"""`rummy500-server inspect`: one table, its entries, and what they give when they are played again."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from typing import Any

from rummy500_catalog import Catalog
from rummy500_engine.cards import cards_of, cards_text
from rummy500_server.archive import Archive, StoredTable
from rummy500_server.commands.database import CommandRefused, add_database, refuse, verify_known
from rummy500_server.commands.tables import values_of
from rummy500_server.folding import fold_lines, why_not
from rummy500_server.journal_file import JournalUnusable
from rummy500_server.table import Table


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "inspect",
        help="show one table, and whether its journal holds",
        description="Shows one table of a database: what it is, what its entries give when they are played again, and "
        "the entries. Prints no token, no seed, and no hand unless it is told to. A server may be running on the "
        "database. Exit status 1 when the entries do not give again what they once gave.",
    )
    parser.add_argument("table", metavar="TABLE")
    add_database(parser)
    parser.add_argument("--with-hands", action="store_true", help="the hands of the round that is being played")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        with Archive.open(arguments.database) as archive:
            stored = archive.table(arguments.table)
            if stored is None:
                verify_known(arguments.table, archive.table_names(), "table")
            assert stored is not None
            lines = archive.lines(stored.name)
    except (JournalUnusable, CommandRefused) as error:
        return refuse(error)
    values = values_of(stored)
    folded = _fold(stored, lines, values)
    if folded is not None and arguments.with_hands and folded.game.round is not None:
        values["hands"] = [cards_text(cards_of(hand)) for hand in folded.game.round.hands]
    values["entry_lines"] = [_entry_text(line) for line in lines]
    if arguments.json:
        print(json.dumps(values))
    else:
        _show(values)
    return 0 if folded is not None else 1


def _fold(stored: StoredTable, lines: list[bytes], values: dict[str, Any]) -> Table | None:
    """The table; None when its entries do not give it any more. What is to be told of it goes into `values`."""
    try:
        table = fold_lines(stored.creation, lines, Catalog())
    except Exception as error:  # whatever it is, the rest is shown
        values |= {"holds": False, "problem": why_not(error)}
        return None
    values |= {"holds": True, "events": table.sequence, "rounds": table.game.rounds_played}
    values["totals"] = list(table.game.totals)
    if table.result is not None:
        values |= {"ended": table.result.termination.name, "result": table.result.sentence}
    return table


def _entry_text(line: bytes) -> str:
    """An entry without what is secret: of kinds that are not known here only the kind is told."""
    match line.decode(errors="replace").split("\t"):
        case [("act" | "clock") as kind, seat, text, spent, _]:
            return f"{kind} seat {seat}: {text} ({spent} ms)"
        case ["join", seat, kind, name, *_]:
            return f"join seat {seat}: {name} ({kind})"
        case ["leave", seat, *_]:
            return f"leave seat {seat}"
        case [("finish" | "forfeit") as kind, seat, reason, *_]:
            return f"{kind} seat {seat}: {reason}"
        case ["close", termination, sentence, *_]:
            return f"close: {termination}, {sentence}"
        case [kind, *_]:
            return kind
    return ""


def _show(values: dict[str, Any]) -> None:
    made = datetime.fromtimestamp(values["created_ms"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    facts = {
        "table": " ".join(filter(None, (values["table"], values["title"]))),
        "state": values["state"],
        "made": made,
        "match": values["match"],
        "rules": f"{values['rules']} (digest {values['rules_digest']})",
        "players": ", ".join(name or "(free)" for name in values["players"]),
        "journal": _holds(values),
        "totals": " ".join(map(str, values.get("totals", ()))),
        "result": f"{values['result']} ({values['ended']})" if "result" in values else "",
    }
    for name, fact in facts.items():
        if fact:
            print(f"{name:8}  {fact}")
    for seat, hand in enumerate(values.get("hands", ())):
        print(f"hand {seat}    {hand}")
    print()
    for number, text in enumerate(values["entry_lines"], 1):
        print(f"{number:6}  {text}")


def _holds(values: dict[str, Any]) -> str:
    entries = f"{values['entries']} entries, {values['bytes']} bytes"
    if not values["holds"]:
        return f"{entries}: BROKEN: {values['problem']}"
    return f"{entries}: they give the same {values['events']} events again"
