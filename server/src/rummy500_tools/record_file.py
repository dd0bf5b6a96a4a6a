"""Opens a file of game records and composes the rules that they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rummy500_arena.verification import Record, RecordUnreadable, RulesFor, records_in
from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_engine.terms import RulesRefused, VariantError

HOLDS, DIFFERS, UNREADABLE = 0, 1, 2
"""Exit codes."""


class NoRecord(Exception):
    """A file that cannot be read or holds no records; `args[0]` is one sentence."""


def read_records(path: str) -> list[Record]:
    """The records of a file; `-` is standard input. Raises NoRecord."""
    try:
        if path == "-":
            return list(records_in(sys.stdin))
        with open(path, encoding="utf-8") as file:
            return list(records_in(file))
    except OSError as error:
        raise NoRecord(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise NoRecord(f"{path}: this is no text in UTF-8") from None
    except RecordUnreadable as unreadable:
        raise NoRecord(f"{path}: {unreadable}") from None


def add_choice_of_record(parser: argparse.ArgumentParser, *, seat: str) -> None:
    """The arguments of a command about one game; `seat` says what it is asked for."""
    parser.add_argument("record", metavar="RECORD", help="JSON lines as `rummy500 match` writes them; - for stdin")
    parser.add_argument("--seat", metavar="NAME", help=f"{seat} (a name, or a seat number)")
    parser.add_argument("--game", type=int, default=1, metavar="N", help="the N-th record of the file (default 1)")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A record, the seat that is asked for, None for all, and how many records its file holds."""

    record: Record
    seat: int | None
    of: int


def chosen_record(arguments: argparse.Namespace) -> Chosen:
    """Raises NoRecord."""
    records = read_records(arguments.record)
    if not 1 <= arguments.game <= len(records):
        raise NoRecord(f"there is no game {arguments.game}: the file holds {len(records)}")
    record = records[arguments.game - 1]
    return Chosen(record, _seat_of(record, arguments.seat), len(records))


def _seat_of(record: Record, name: str | None) -> int | None:
    """The seat of a player by its name or number. Raises NoRecord."""
    if name is None:
        return None
    players = [str(player) for player in record.lines[0].get("players", ())]
    if name in players:
        return players.index(name)
    if name.isascii() and name.isdecimal() and int(name) < len(players):
        return int(name)
    raise NoRecord(f"nobody is called {name!r}; the players are {', '.join(players)}")


def installed_rules() -> RulesFor:
    """Composes the rules of records from the variants that are installed here."""
    catalog = Catalog()

    def rules_for(variants: Sequence[str], options: Mapping[str, Any], players: int) -> Rules:
        try:
            return catalog.rules("classic", variants, options, players=players)
        except VariantError as error:
            raise RulesRefused(str(error)) from error

    return rules_for


def fail(command: str, sentence: str) -> int:
    print(f"rummy500 {command}: {sentence}", file=sys.stderr)
    return UNREADABLE
