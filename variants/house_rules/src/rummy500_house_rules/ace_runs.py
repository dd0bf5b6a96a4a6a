"""Where an ace may stand in a run: low, high, or in the middle of runs that go round the corner."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import AceEnds, Option, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    choices = ("low_or_high", "low_only", "high_only", "corner")
    return (Option("ends", "low_or_high", "Where an ace may stand in a run.", choices=choices),)


@hookimpl
def rummy500_sentence() -> str:
    return "An ace stands low, high, or round the corner (K-A-2), as the table says."


@hookimpl
def rummy500_ace_ends(table: Table) -> AceEnds:
    return AceEnds(table.text("ace-runs.ends"))
