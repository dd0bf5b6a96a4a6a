"""An easy player written with the SDK: it draws, melds the longest meld it has, and throws its highest loose card."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_client import Answer, Bot, Request


class EasyBot(Bot):
    """Keeps pairs and neighbours of a suit, so that melds can grow."""

    def act(self, request: Request) -> Answer | Sequence[Answer]:
        melds = [action for action in request.legal if action.kind == "meld"]
        if melds:
            return max(melds, key=lambda meld: sum(map(request.points, meld.cards)))
        for kind in ("layoff", "draw"):
            for action in request.legal:
                if action.kind == kind:
                    return action
        discards = [action for action in request.legal if action.kind == "discard"]
        if discards:
            return max(discards, key=lambda discard: self._dispensable(discard.cards[0], request))
        return request.legal[0]

    def _dispensable(self, card: str, request: Request) -> tuple[bool, int]:
        others = [other for other in request.hand if other != card]
        is_loose = not any(_belong_together(card, other) for other in others)
        return is_loose, request.points(card)


def _belong_together(one: str, other: str) -> bool:
    """Two cards of a rank, or of a suit and at most one rank apart."""
    ranks = "A23456789TJQKA"
    if one[0] == other[0]:
        return True
    return one[1] == other[1] and abs(ranks.index(one[0]) - ranks.index(other[0])) <= 1
