"""Lay-offs go on the melds of one's own side only."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl


@hookimpl
def rummy500_sentence() -> str:
    return "Lay off on your own (or your side's) melds only."


@hookimpl
def rummy500_own_melds_only() -> bool:
    return True
