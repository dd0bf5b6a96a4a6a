"""Two or three packs: equal cards, and how sets take them."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, Pack, Sets, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("decks", 2, "Packs in play.", low=2, high=3),
        Option("identical_in_set", False, "Whether a set may hold two cards of one suit."),
        Option("set_max", 4, "Cards that a set may hold.", low=4, high=4, none=True),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "More packs; equal cards are the same to every rule, and a run never holds a rank twice."


@hookimpl
def rummy500_pack(table: Table) -> Pack:
    return Pack(decks=table.number("two-decks.decks"))


@hookimpl
def rummy500_sets(table: Table) -> Sets:
    return Sets(table.number_or_none("two-decks.set_max"), table.flag("two-decks.identical_in_set"))
