"""At the end the winner collects from each opponent the difference of the totals."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl


@hookimpl
def rummy500_sentence() -> str:
    return "At the end the winner collects from each opponent (or side) the difference of the totals."


@hookimpl
def rummy500_settles() -> bool:
    return True
