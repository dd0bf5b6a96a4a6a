"""Opens a file of game records and composes the rules that they name."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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
