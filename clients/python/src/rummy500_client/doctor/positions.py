"""Positions in which the bot, in seat 0, must do one thing or decide one thing, as scenario files write them.

They stand in positions.json: which variant a position is about is for the server to know. Each is played from its
position to the end of the round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NOTHING_TO_LAY = "discard"
"""The position in which only discards are legal."""


@dataclass(frozen=True)
class Case:
    """`what` is asked of the bot in the position."""

    name: str
    what: str
    position: Mapping[str, Any]

    @property
    def text(self) -> str:
        """As CreateTable takes it."""
        return json.dumps(
            {"id": self.name, "title": self.what, "players": ["bot", "other"], "turn": "bot", **self.position}
        )


@cache
def cases() -> Mapping[str, Case]:
    """By name."""
    text = files(__package__).joinpath("positions.json").read_text(encoding="utf-8")
    return {case["name"]: Case(**case) for case in json.loads(text)}
