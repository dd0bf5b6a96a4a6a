"""Other points for cards: a flat scale, a cheaper ten, another ace. A named card goes before all of them."""

from __future__ import annotations

from rummy500_engine.cards import ACE, JOKER, Card, rank_of
from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, Points, Specificity, Table

TEN = 9


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("scale", "face", "Face values, or five for 2 to 9 and ten for T to K.", choices=("face", "flat")),
        Option("ten", "10", "What a ten counts.", choices=("10", "5")),
        Option("ace", 15, "What an ace counts.", low=-1000, high=1000),
        Option("ace_low", "1", "What an ace counts at the low end of a run.", choices=("1", "5", "15")),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "Cards count other points."


@hookimpl
def rummy500_held_points(table: Table, card: Card) -> Points | None:
    if card == JOKER:
        return None
    rank = rank_of(card)
    if rank == ACE:
        return Points(table.number("values.ace"), Specificity.RANK)
    if rank == TEN:
        return Points(int(table.text("values.ten")), Specificity.RANK)
    if table.text("values.scale") == "flat":
        return Points(5 if rank < TEN else 10, Specificity.SCALE)
    return None


@hookimpl
def rummy500_placed_points(table: Table, card: Card, low: bool) -> Points | None:
    if low and rank_of(card) == ACE:
        return Points(int(table.text("values.ace_low")), Specificity.LOW_ACE)
    return rummy500_held_points(table, card)
