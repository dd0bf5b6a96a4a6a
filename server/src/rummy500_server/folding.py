"""A table folded from what the journal keeps of it, by the rules that are installed now."""

from __future__ import annotations

from collections.abc import Iterable

from rummy500_catalog import Catalog
from rummy500_engine.refusals import Refused
from rummy500_engine.terms import RulesRefused, VariantError
from rummy500_server.creation import Creation
from rummy500_server.entries import UnreadableEntry, read_entry
from rummy500_server.table import FoldMismatch, Table, fold

CannotFold = (RulesRefused, VariantError, FoldMismatch, Refused, UnreadableEntry)
"""What is raised when rules or code are others now, or the journal is damaged. Anything else is a mistake of ours."""


def why_not(error: Exception) -> str:
    """Why a table could not be folded, for the host."""
    return str(error) if isinstance(error, CannotFold) else f"a mistake of this server: {type(error).__name__}: {error}"


def fold_lines(creation: Creation, lines: Iterable[bytes], catalog: Catalog) -> Table:
    """Raises one of `CannotFold`."""
    rules = creation.choice.rules(catalog, creation.players)
    if creation.difference(rules):
        raise FoldMismatch(creation.difference(rules))
    return fold(creation, rules, [read_entry(line, rules) for line in lines])
