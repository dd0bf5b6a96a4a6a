"""Jokers: each stands for a card in a meld, said when it is laid, and may be exchanged for that card (RULES 2)."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_engine.actions import VariantAction
from rummy500_engine.cards import JOKER, Card
from rummy500_engine.events import Event, Exchanged
from rummy500_engine.hooks import hookimpl
from rummy500_engine.round import Round
from rummy500_engine.terms import JokerPoints, Jokers, Option, Pack, Points, Specificity, Table

NAME = "jokers"
EXCHANGE = "exchange"


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("per_deck", 2, "Jokers with each pack.", low=1, high=4),
        Option(
            "points", 15, "What a joker counts, always in hand, on the table if scores is fixed.", low=-1000, high=1000
        ),
        Option(
            "scores",
            "fixed",
            "Whether a laid joker counts its own points or its card's.",
            choices=("fixed", "represented"),
        ),
        Option("min_natural", 1, "Natural cards that a meld must have.", low=1, high=2),
        Option("exchange", "off", "Whether the exact card may take a laid joker's place.", choices=("off", "exact")),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "Jokers stand for any card in a meld; what a joker stands for is said when it is laid and never changes."


@hookimpl
def rummy500_pack(table: Table) -> Pack:
    return Pack(jokers=table.number("jokers.per_deck"))


@hookimpl
def rummy500_held_points(table: Table, card: Card) -> Points | None:
    return Points(table.number("jokers.points"), Specificity.NAMED_CARD) if card == JOKER else None


@hookimpl
def rummy500_placed_points(table: Table, card: Card) -> Points | None:
    return rummy500_held_points(table, card)


@hookimpl
def rummy500_jokers(table: Table) -> Jokers:
    return Jokers(table.number("jokers.min_natural"), JokerPoints(table.text("jokers.scores")))


@hookimpl
def rummy500_verbs(table: Table) -> Sequence[str]:
    return (EXCHANGE,) if table.text("jokers.exchange") == "exact" else ()


@hookimpl
def rummy500_actions(table: Table, round: Round, seat: int) -> list[VariantAction]:
    """An exchange for each joker on the table whose exact card the seat holds; equal jokers of one meld are one."""
    if table.text("jokers.exchange") == "off":
        return []
    held = round.hands[seat]
    wanted = {
        (placed.face, meld.id)
        for meld in round.melds
        for placed in meld.placed
        if placed.card == JOKER and held >> placed.face & 1
    }
    return [VariantAction(NAME, EXCHANGE, (face,), f"m{meld}") for face, meld in sorted(wanted)]


@hookimpl
def rummy500_perform(round: Round, seat: int, action: VariantAction) -> Sequence[Event]:
    return (Exchanged(seat, int(action.where.removeprefix("m")), action.cards[0]),)
