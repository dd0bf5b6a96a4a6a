"""A player with no cards and no discard stays in, draws from the stock only, and is out with a discard."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import GoingOut


@hookimpl
def rummy500_sentence() -> str:
    return "A player without cards floats: draws from the stock only, and is out when a turn ends with a discard."


@hookimpl
def rummy500_going_out() -> GoingOut:
    return GoingOut.FLOATING
