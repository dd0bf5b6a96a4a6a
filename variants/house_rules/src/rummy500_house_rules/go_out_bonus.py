"""Points for going out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rummy500_engine.hooks import hookimpl
from rummy500_engine.round import Round
from rummy500_engine.terms import Option, Table


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (Option("points", 25, "What going out earns.", low=-1000, high=1000),)


@hookimpl
def rummy500_sentence() -> str:
    return "Going out earns a bonus."


@hookimpl
def rummy500_adjustments(table: Table, round: Round) -> Mapping[str, Sequence[int]] | None:
    if round.out is None:
        return None
    points = table.number("go-out-bonus.points")
    return {"going out": [points if seat == round.out else 0 for seat in range(table.players)]}
