"""What an empty stock does: the pile plays on, the round ends, or the pile becomes the stock."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, StockOut, StockRule, Table

RECYCLING = ("reshuffle", "flip")


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option(
            "rule", "pile_or_end", "What an empty stock does.", choices=("pile_or_end", "end_now", "reshuffle", "flip")
        ),
        Option("recycles", "none", "How often the pile may become the stock.", low=1, high=1000, none=True),
        Option("deduct", True, "Whether cards in hand count when the stock ends the round."),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "With an empty stock the pile plays on as usual, the round ends, or the pile becomes the stock."


@hookimpl
def rummy500_table_refusal(table: Table) -> str | None:
    if table.options["stock-out.recycles"] == "none" or table.text("stock-out.rule") in RECYCLING:
        return None
    return "stock-out: recycles needs the rule reshuffle or flip: change the rule, or leave recycles out"


@hookimpl
def rummy500_stock_out(table: Table) -> StockOut:
    return StockOut(
        StockRule(table.text("stock-out.rule")),
        table.number_or_none("stock-out.recycles"),
        table.flag("stock-out.deduct"),
    )
