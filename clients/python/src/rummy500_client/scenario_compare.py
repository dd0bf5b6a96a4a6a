"""Compares what a scenario wants with what the server shows; the first difference is told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rummy500.v1.card_pb2 import RUN_END_HIGH, RUN_END_LOW
from rummy500.v1.event_pb2 import Event
from rummy500.v1.meld_pb2 import MELD_KIND_SET, Meld
from rummy500.v1.view_pb2 import PHASE_GAME_OVER, PHASE_ROUND_OVER, View
from rummy500_client.describe import phase_text
from rummy500_client.notation import (
    JOKER,
    action_text,
    card_number,
    card_text,
    cards_text,
    legal_actions,
    same_actions_key,
    table_meld_text,
    without_faces,
)

_PLACEMENT = re.compile(r"(?P<cards>.+?)(?:\s+(?P<end>low|high))?\s+by\s+(?P<name>\S+)", re.IGNORECASE)


class Differs(Exception):
    """The first thing that does not hold, as a sentence."""


class Seen:
    """What the table shows when the comparison is made: `view_of(seat)` asks for a seat's view, `events` are all."""

    def __init__(self, players: Sequence[str], view_of: Callable[[int], View], events: Sequence[Event]) -> None:
        self.players = players
        self.view_of = view_of
        self.view = view_of(0)
        self.events = events

    def seat(self, name: str) -> int:
        return self.players.index(name)

    def name(self, seat: int) -> str:
        return self.players[seat]


def expect(where: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise Differs(f"{where}: wanted {wanted}, got {found}")


def verify_then(where: str, then: Mapping[str, Any], seen: Seen) -> None:
    """Raises Differs at the first field that does not hold."""
    for field, wanted in then.items():
        _verify(f"{where}.{field}", field, wanted, seen)


def _verify(where: str, field: str, wanted: Any, seen: Seen) -> None:
    view = seen.view
    is_over = view.phase in (PHASE_ROUND_OVER, PHASE_GAME_OVER)
    match field:
        case "turn":
            expect(where, wanted, seen.name(view.turn))
        case "phase":
            expect(where, wanted, phase_text(view))
        case "hands":
            for name, text in wanted.items():
                _verify_hand(f"{where}.{name}", text, seen.view_of(seen.seat(name)))
        case "melds":
            _verify_melds(where, wanted, seen)
        case "discards":
            expect(where, cards_text(_cards(wanted)), cards_text(view.discards))
        case "stock_count":
            expect(where, wanted, view.stock_count)
        case "round_over":
            expect(where, wanted, is_over)
        case "game_over":
            expect(where, wanted, view.phase == PHASE_GAME_OVER)
        case "scores":
            expect(where, wanted, {name: view.totals[seen.seat(name)] for name in wanted})
        case "legal" | "legal_includes" | "legal_excludes":
            lists = wanted if isinstance(wanted, dict) else {seen.name(view.turn): wanted}
            for name, texts in lists.items():
                _verify_legal(f"{where}.{name}", field, texts, seen.view_of(seen.seat(name)))
        case _:
            _verify_score(where, field, wanted, seen)


def _verify_score(where: str, field: str, wanted: Any, seen: Seen) -> None:
    """What only the events of the round's end tell."""
    scored = next((event.round_scored for event in reversed(seen.events) if event.HasField("round_scored")), None)
    # A table that was set up at a position ends with its round; only the phase tells whether the game was won, too.
    is_won = seen.view.phase == PHASE_GAME_OVER
    won = next((event.game_won.result for event in seen.events if is_won and event.HasField("game_won")), None)
    match field:
        case "round_scores":
            scores = {score.seat: score.round_score for score in scored.scores} if scored else {}
            expect(where, wanted, {name: scores.get(seen.seat(name)) for name in wanted})
        case "winners":
            expect(where, sorted(wanted), sorted(seen.name(seat) for seat in won.winners) if won else [])
        case "next_dealer":
            is_known = scored is not None and scored.HasField("next_dealer")
            expect(where, wanted, seen.name(scored.next_dealer) if scored and is_known else None)
        case "settlement":
            paid = dict(zip(seen.players, won.settlement, strict=False)) if won else {}
            expect(where, wanted, {name: paid.get(name) for name in wanted})
        case _:
            raise Differs(f"{where}: this client cannot compare it")


def _cards(text: str) -> list[int]:
    numbers = [card_number(word) for word in text.split()]
    if None in numbers:
        raise Differs(f"{text!r} is no list of cards")
    return [number for number in numbers if number is not None]


def _verify_hand(where: str, text: str, view: View) -> None:
    if Counter(_cards(text)) != Counter(view.hand):
        raise Differs(f"{where}: wanted {text or 'no cards'}, got {cards_text(view.hand) or 'no cards'}")


def _verify_melds(where: str, wanted: Sequence[str], seen: Seen) -> None:
    found = list(seen.view.melds)
    if len(found) != len(wanted) or not all(
        _is_meld(text, meld, seen) for text, meld in zip(wanted, found, strict=True)
    ):
        raise Differs(f"{where}: wanted {wanted}, got {[table_meld_text(meld, seen.players) for meld in found]}")


def _is_meld(text: str, meld: Meld, seen: Seen) -> bool:
    """Whether a meld is the one written: the opening's cards in any order, then each placement in turn."""
    opening, *later = [_PLACEMENT.fullmatch(part.strip()) for part in text.split(";")]
    if opening is None or None in later or len(later) != len(meld.laid_off):
        return False
    first = sorted(set(range(len(meld.cards))) - set(meld.laid_off))
    if seen.name(meld.laid_by) != opening["name"] or not _has_ace_end(opening["end"], meld):
        return False
    wanted = sorted(_placed(word, opening["name"]) for word in opening["cards"].split())
    if wanted != sorted(_placed(_written(meld, index), seen.name(meld.placed_by[index])) for index in first):
        return False
    lying = set(first)
    for index, placement in zip(meld.laid_off, later, strict=True):
        assert placement is not None
        if _placed(placement["cards"], placement["name"]) != _placed(
            _written(meld, index), seen.name(meld.placed_by[index])
        ):
            return False
        if placement["end"] and meld.kind != MELD_KIND_SET and (placement["end"] == "low") != (index < min(lying)):
            return False
        lying.add(index)
    return True


def _has_ace_end(end: str | None, meld: Meld) -> bool:
    return end is None or meld.ace == (RUN_END_LOW if end.lower() == "low" else RUN_END_HIGH)


def _placed(word: str, owner: str) -> tuple[str, str]:
    """A card as it is printed and who is credited; `9C/anna` names another owner."""
    card, slash, other = word.partition("/")
    name, equals, face = card.partition("=")
    number, stands = card_number(name), card_number(face)
    text = card_text(number or 0) + (f"={card_text(stands or 0)}" if equals else "")
    return text, other if slash else owner


def _written(meld: Meld, index: int) -> str:
    card = meld.cards[index]
    return f"JK={card_text(meld.stands_for[index])}" if card == JOKER and meld.stands_for else card_text(card)


def is_listed(text: str, view: View) -> bool:
    """Whether a line of notation does what one of the listed actions does."""
    return _Listing(view).has(text)


class _Listing:
    """The legal actions of a view by what they do."""

    def __init__(self, view: View) -> None:
        self._pile = [card_text(card) for card in view.discards]
        self.texts = {self.key(action_text(action)): action_text(action) for action in _actions(view)}

    def key(self, text: str) -> tuple[str, ...]:
        return same_actions_key(text, self._pile)

    def matches(self, text: str) -> list[tuple[str, ...]]:
        """The keys that the line may mean: one, or none, or several when it is ambiguous."""
        key = self.key(text)
        if key in self.texts:
            return [key]
        if key[-1] in ("low", "high") and key[:-1] in self.texts:
            return [key[:-1]]
        if "JK" in key:
            return [listed for listed in self.texts if without_faces(listed) == without_faces(key)]
        return []

    def has(self, text: str) -> bool:
        return len(self.matches(text)) == 1


def _actions(view: View) -> Sequence[Any]:
    return legal_actions(view.legal_actions)


def _verify_legal(where: str, field: str, texts: Sequence[str], view: View) -> None:
    listing = _Listing(view)
    matched = [listing.matches(text) for text in texts]
    if field == "legal_excludes":
        expect(where, [], [text for text, keys in zip(texts, matched, strict=True) if keys])
        return
    expect(f"{where}, not legal", [], [text for text, keys in zip(texts, matched, strict=True) if not keys])
    if field == "legal":
        named = {key for keys in matched for key in keys}
        expect(f"{where}, also legal", [], [text for key, text in listing.texts.items() if key not in named])
