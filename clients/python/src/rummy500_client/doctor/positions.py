"""Positions in which the bot, in seat 0, must do one thing or decide one thing, as scenario files write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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


_OTHER = "2C 3D 5H 8S JC"
DISCARD = Case("discard", "nothing can be laid: only discards", {
    "hands": {"bot": "4C 6D 9H QS", "other": _OTHER}, "discards": "KD", "stock": "2S 7C TH", "phase": "play",
})  # fmt: skip
CASES = (
    Case("draw", "a turn begins: draw, or take", {
        "hands": {"bot": "4C 6D 9H QS", "other": _OTHER}, "discards": "KD", "stock": "2S 7C TH",
    }),
    Case("take", "the top card of the pile makes a set", {
        "hands": {"bot": "7S 7H 2D KC 9D", "other": _OTHER}, "discards": "KS 7D", "stock": "2S 7C TH",
    }),
    Case("dig", "a card within the pile makes a run", {
        "hands": {"bot": "TH JH 3C 4D", "other": _OTHER}, "discards": "4S JD 9H 2D 6S", "stock": "2S 7C 5D",
    }),
    Case("duty", "9H was dug and must be used in this turn", {
        "hands": {"bot": "9H 2D 6S TH JH 3C", "other": _OTHER}, "discards": "4S JD", "stock": "5D KC 8C",
        "phase": "play", "taken": {"kind": "pile", "card": "9H", "count": 3, "must_use": True},
    }),
    Case("meld", "a set and a run can be laid", {
        "hands": {"bot": "7S 7H 7D 4C 5C 6C KD 2S", "other": _OTHER}, "discards": "KS", "stock": "3S TC TH",
        "phase": "play",
    }),
    Case("layoff", "cards fit melds on the table", {
        "hands": {"bot": "7C 6H KD 2S", "other": "2C 3D TD 8S JC"}, "melds": ["7S 7H 7D by other", "3H 4H 5H by other"],
        "discards": "KS", "stock": "3S TC TH", "phase": "play",
    }),
    Case("ace", "an ace fits both ends of a run", {
        "hands": {"bot": "AS 4D 9C", "other": _OTHER.replace("8S", "8D")},
        "melds": ["2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS by other"], "discards": "KC", "stock": "3C TC TH",
        "phase": "play",
    }),
    DISCARD,
    Case("banned-discard", "the card that was taken alone may not be thrown back", {
        "hands": {"bot": "9H 2D 6S KC", "other": _OTHER}, "discards": "4S JD", "stock": "5D KH 8C",
        "phase": "play", "taken": {"kind": "pile", "card": "KC", "count": 1},
    }),
    Case("empty-stock", "the stock is empty: take what can be used, or pass", {
        "hands": {"bot": "9C 9S 4D 5C", "other": _OTHER}, "discards": "2H 9D", "stock": "",
    }),
    Case("empty-stock-duty", "with an empty stock every card taken must be used", {
        "hands": {"bot": "7C 7D 9S 2D", "other": "3C 4H"}, "melds": ["TC JC QC by other"], "discards": "2H 7H KC",
        "stock": "",
    }),
    Case("going-out", "the last cards can be laid", {
        "hands": {"bot": "7S 7H 7D 6C", "other": _OTHER}, "melds": ["3C 4C 5C by other"], "discards": "KS",
        "stock": "3S TC TH", "phase": "play",
    }),
    Case("going-out-discard", "going out needs a discard here", {
        "rules": {"preset": "strict"}, "hands": {"bot": "7S 7H 7D 6C", "other": _OTHER}, "discards": "KS",
        "stock": "3S TC TH", "phase": "play",
    }),
    Case("call", "a discard may be called with Rummy!", {
        "rules": {"preset": "pagat"}, "hands": {"bot": "KC 3H 5S", "other": "2H 4C"}, "melds": ["7D 8D 9D by bot"],
        "discards": "5H TD", "stock": "3C 4S 6C 8C", "phase": "call",
        "call": {"card": "TD", "by": "other", "waiting": ["bot"]},
    }),
    Case("joker", "a joker has several readings, and one must be said", {
        "rules": {"variants": ["jokers"]}, "hands": {"bot": "QH KH JK 3S 5D 8C", "other": _OTHER}, "discards": "KS",
        "stock": "3H 4S TC", "phase": "play",
    }),
    Case("exchange", "a variant adds an action of its own: a joker can be exchanged", {
        "rules": {"variants": ["jokers"], "options": {"jokers.exchange": "exact"}},
        "hands": {"bot": "9C 4D QS", "other": _OTHER}, "melds": ["9S 9H JK=9C by other"], "discards": "KS",
        "stock": "3S TC TH", "phase": "play",
    }),
    Case("two-packs", "equal cards of two packs", {
        "rules": {"variants": ["two-decks"]}, "hands": {"bot": "9S 9S 9H 9H 9D 4D", "other": "4C 4C KD KD JC JC"},
        "discards": "KS 2C 2C KS", "stock": "3D TC TH 3D", "phase": "play",
    }),
    Case("long-pile", "many cards lie in the pile, and many takes are legal", {
        "hands": {"bot": "7S 7H 8D 8C 9D 9C TS TH JS JH QS QH", "other": "2S 3S"},
        "discards": "7D KD 8S KH 9S KC TD 6D JD 6H QD 5D 7C 5C 8H 4C 9H 4D TC 3C JC 3D QC 2D", "stock": "2C 3H 4H 5H",
    }),
)  # fmt: skip
"""Each is played from its position to the end of the round."""
