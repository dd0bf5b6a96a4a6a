"""Who deals next, and a deal that opens with a discard."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Deal, Option, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("winner_deals", False, "Whether the highest score of a round deals the next."),
        Option("extra_card", False, "Whether the dealer's left gets a card more, and opens with a discard."),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "Another dealer, or another opening."


@hookimpl
def rummy500_deal(table: Table) -> Deal:
    return Deal(table.flag("deal.extra_card"), table.flag("deal.winner_deals"))
