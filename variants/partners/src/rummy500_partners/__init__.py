"""Partners: four players in two sides or six in three, seated half-way round the table; a side's score is the sum."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Table


@hookimpl
def rummy500_sentence() -> str:
    return "Partners sit half-way round the table; a side's score is the sum of its players'."


@hookimpl
def rummy500_table_refusal(table: Table) -> str | None:
    if table.players in (4, 6):
        return None
    return f"partners are for four or six players, not {table.players}: change the number of seats, or play without"


@hookimpl
def rummy500_sides(table: Table) -> tuple[int, ...]:
    return tuple(seat % (table.players // 2) for seat in range(table.players))
