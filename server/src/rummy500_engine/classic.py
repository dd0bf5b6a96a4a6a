"""The classic game (RULES 1) as the first plugin: it answers every question that has a classic answer."""

from __future__ import annotations

from rummy500_engine.cards import ACE, JOKER, Card, rank_of
from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import (
    AceEnds,
    Deal,
    FirstMeld,
    GoingOut,
    Jokers,
    Option,
    Pack,
    Points,
    Sets,
    Specificity,
    StockOut,
    Table,
    TakeDuty,
)

POINTS_LIMIT = 1000
"""Wherever an option says points, it may be from minus to plus this (RULES 1)."""

_FACE_POINTS = (15, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("target", 500, "The total at which a game is won.", low=1, high=10_000),
        Option(
            "deal", "auto", "Cards each: auto deals 13 to two players and 7 to more.", low=3, high=20, choices=("auto",)
        ),
        Option("deal_two", "none", "Takes the place of deal at a table of two.", low=3, high=20, none=True),
        Option("max_turns", 300, "A round ends after so many turns.", low=1, high=10_000),
        Option("max_rounds", 100, "After so many rounds the highest total wins.", low=1, high=1_000),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "The classic game."


@hookimpl
def rummy500_pack(table: Table) -> Pack:
    return Pack(decks=1, jokers=0)


@hookimpl
def rummy500_held_points(table: Table, card: Card) -> Points | None:
    if card == JOKER:
        return None  # worth nothing unless a variant that brings jokers says so
    return Points(_FACE_POINTS[rank_of(card)], Specificity.FACE)


@hookimpl
def rummy500_placed_points(table: Table, card: Card, low: bool) -> Points | None:
    if card == JOKER:
        return None
    if low and rank_of(card) == ACE:
        return Points(1, Specificity.LOW_ACE)
    return Points(_FACE_POINTS[rank_of(card)], Specificity.FACE)


@hookimpl
def rummy500_jokers(table: Table) -> Jokers:
    return Jokers()


@hookimpl
def rummy500_ace_ends(table: Table) -> AceEnds:
    return AceEnds.LOW_OR_HIGH


@hookimpl
def rummy500_sets(table: Table) -> Sets:
    return Sets()


@hookimpl
def rummy500_going_out(table: Table) -> GoingOut:
    return GoingOut.ANY


@hookimpl
def rummy500_first_meld(table: Table) -> FirstMeld:
    return FirstMeld()


@hookimpl
def rummy500_take_duty(table: Table) -> TakeDuty:
    return TakeDuty()


@hookimpl
def rummy500_own_melds_only(table: Table) -> bool:
    return False


@hookimpl
def rummy500_stock_out(table: Table) -> StockOut:
    return StockOut()


@hookimpl
def rummy500_deal(table: Table) -> Deal:
    return Deal()


@hookimpl
def rummy500_sides(table: Table) -> tuple[int, ...]:
    return tuple(range(table.players))


@hookimpl
def rummy500_settles(table: Table) -> bool:
    return False
