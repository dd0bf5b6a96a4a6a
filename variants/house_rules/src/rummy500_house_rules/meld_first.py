"""A meld of one's own comes before any lay-off, and may have to reach a minimum."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import FirstMeld, Option, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("minimum", 0, "Points that the first meld, or the melds of its turn, must reach.", low=0, high=1000),
        Option("scope", "turn", "Whether all melds of the turn count, or a single one.", choices=("turn", "single")),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "No lay-off before a meld of one's own in this round."


@hookimpl
def rummy500_first_meld(table: Table) -> FirstMeld:
    return FirstMeld(True, table.number("meld-first.minimum"), table.text("meld-first.scope") == "single")
