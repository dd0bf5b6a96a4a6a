"""The queen that is worth more, melded and caught."""

from __future__ import annotations

from rummy500_engine.cards import Card, read_card
from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, Points, Specificity, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("points", 40, "What that queen is worth, melded and caught.", low=-1000, high=1000),
        Option("card", "QS", "Which queen it is.", choices=("QS", "QH")),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "One queen, the queen of spades unless said otherwise, is worth more, melded and caught."


@hookimpl
def rummy500_held_points(table: Table, card: Card) -> Points | None:
    return _points(table, card)


@hookimpl
def rummy500_placed_points(table: Table, card: Card) -> Points | None:
    return _points(table, card)


def _points(table: Table, card: Card) -> Points | None:
    if card != read_card(table.text("queen-of-spades.card")):
        return None
    return Points(table.number("queen-of-spades.points"), Specificity.NAMED_CARD)
