"""Going out needs a discard, which may have to fit no meld on the table."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import GoingOut, Option, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (Option("unplayable", False, "Whether the last discard may fit no meld, whoever might lay it there."),)


@hookimpl
def rummy500_sentence() -> str:
    return "Going out needs a discard: no play may leave you without one."


@hookimpl
def rummy500_going_out(table: Table) -> GoingOut:
    return GoingOut.DISCARD_UNPLAYABLE if table.flag("must-discard.unplayable") else GoingOut.DISCARD
