"""The text of actions and melds, written and read (NOTATION)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from rummy500_engine.actions import (
    DRAW,
    PASS,
    Action,
    Call,
    Discard,
    Draw,
    End,
    LayMeld,
    LayOff,
    Pass,
    Take,
    VariantAction,
)
from rummy500_engine.cards import JOKER, Card, UnreadableCard, card_text, read_card
from rummy500_engine.melds import Kind, Meld, Placed
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.rules import Rules

LONGEST_TEXT = 500
"""Characters that a line of notation may have."""
VERBS = "draw, take, meld, layoff, discard, pass, call"
_MELD_NUMBER = re.compile(r"m(\d{1,3})", re.IGNORECASE)
_PLACE = re.compile(r"(.+)@(\d{1,3})")


def card_as(card: Card, face: Card | None) -> str:
    """A card, and for a joker what it stands for, if said."""
    if card != JOKER or face is None or face == JOKER:
        return card_text(card)
    return f"JK={card_text(face)}"


def write_action(action: Action) -> str:
    match action:
        case Draw():
            return "draw"
        case Pass():
            return "pass"
        case Take(card, place):
            return f"take {_placed(card, place)}"
        case LayMeld(cards, stands_for, end):
            return " ".join(("meld", *_cards_as(cards, stands_for), *_end(end)))
        case LayOff(card, meld, end, face):
            where = [f"m{meld}"] if meld else []
            return " ".join(("layoff", card_as(card, face), *where, *_end(end)))
        case Discard(card):
            return f"discard {card_text(card)}"
        case Call(card, place, meld, with_cards, stands_for, end):
            face, faces = (stands_for[0], stands_for[1:]) if stands_for else (None, ())
            called = f"{card_as(card, face)}@{place}" if place else card_as(card, face)
            if meld:
                return " ".join(("call", called, f"m{meld}", *_end(end)))
            return " ".join(("call", called, "with", *_cards_as(with_cards, faces), *_end(end)))
        case VariantAction(_, verb, cards, where):
            return " ".join((verb, *map(card_text, cards), *([where] if where else [])))
        case _:
            assert_never(action)


def _placed(card: Card, place: int) -> str:
    return f"{card_text(card)}@{place}" if place else card_text(card)


def _cards_as(cards: Sequence[Card], stands_for: Sequence[Card]) -> list[str]:
    faces: Sequence[Card | None] = stands_for or [None] * len(cards)
    return [card_as(card, face) for card, face in zip(cards, faces, strict=True)]


def _end(end: End | None) -> list[str]:
    return [end.value] if end is not None else []


def read_action(text: str, rules: Rules) -> Action:
    """Reads a line. Raises Refused(UNKNOWN_ACTION) if it is no action of a table with these rules."""
    if len(text) > LONGEST_TEXT:
        raise _unknown(f"a line of more than {LONGEST_TEXT} characters")
    words = text.split()
    if not words:
        raise _unknown("an empty line")
    verb, rest = words[0].lower(), words[1:]
    try:
        return _read(verb, rest, rules)
    except UnreadableCard as unreadable:
        raise _unknown(str(unreadable)) from None


def _unknown(what: str) -> Refused:
    return Refused(Refusal.UNKNOWN_ACTION, f"{what}; an action is one of {VERBS} with its cards")


def _read(verb: str, words: list[str], rules: Rules) -> Action:
    if verb in rules.verbs:
        return _read_variant_action(verb, words, rules)
    match verb, words:
        case "draw", []:
            return DRAW
        case "pass", []:
            return PASS
        case "take", [card]:
            return Take(*_read_placed(card))
        case "discard", [card]:
            return Discard(read_card(card))
        case "meld", [_, *_]:
            end = _read_end(words)
            cards, faces = _read_cards_as(words)
            return LayMeld(cards, faces, end)
        case "layoff", [card, *where]:
            end = _read_end(where)
            meld = _read_meld_number(where)
            (played,), faces = _read_cards_as([card])
            return LayOff(played, meld, end, faces[0] if faces and faces[0] != JOKER else None)
        case "call", [card, *where]:
            return _read_call(card, where)
        case _:
            raise _unknown(f"{' '.join((verb, *words))!r} cannot be read")


def _read_call(card: str, where: list[str]) -> Call:
    found = _PLACE.fullmatch(card)
    name, place = (found[1], int(found[2])) if found is not None else (card, 0)
    end = _read_end(where)
    melds = bool(where) and where[0].lower() == "with"
    (called, *others), faces = _read_cards_as([name, *where[1:]] if melds else [name])
    return Call(called, place, 0 if melds else _read_meld_number(where), tuple(others), faces, end)


def _read_variant_action(verb: str, words: list[str], rules: Rules) -> VariantAction:
    cards = []
    while words:
        try:
            cards.append(read_card(words[0]))
        except UnreadableCard:
            break
        words = words[1:]
    return VariantAction(rules.verbs[verb], verb, tuple(cards), " ".join(words))


def read_as_meld(text: str) -> LayMeld:
    """Reads the cards of a meld, with the end of a run of thirteen if it is said. Raises Refused."""
    words = text.split()
    end = _read_end(words)
    try:
        cards, faces = _read_cards_as(words)
    except UnreadableCard as unreadable:
        raise _unknown(str(unreadable)) from None
    return LayMeld(cards, faces, end)


def _read_placed(word: str) -> tuple[Card, int]:
    found = _PLACE.fullmatch(word)
    if found is None:
        return read_card(word), 0
    return read_card(found[1]), int(found[2])


def _read_end(words: list[str]) -> End | None:
    """Takes `low` or `high` off the end of the words."""
    if words and words[-1].lower() in ("low", "high"):
        return End(words.pop().lower())
    return None


def _read_meld_number(words: list[str]) -> int:
    if not words:
        return 0
    found = _MELD_NUMBER.fullmatch(words[0])
    if found is None or len(words) > 1:
        raise _unknown(f"{' '.join(words)!r} names no meld; melds are m1, m2, …")
    return int(found[1])


def _read_cards_as(words: Sequence[str]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Cards and, if any joker says what it stands for, the faces; a joker that does not say is a JOKER among them."""
    cards, faces = [], []
    for word in words:
        name, _, face = word.partition("=")
        card = read_card(name)
        stands = read_card(face) if face else card
        if face and (card != JOKER or stands == JOKER):
            raise _unknown(f"{word!r}: only a joker stands for a card, as JK=8S")
        cards.append(card)
        faces.append(stands)
    said = tuple(faces)
    return tuple(cards), () if said == tuple(cards) else said


# --- melds on the table


def write_meld(meld: Meld, names: Sequence[str]) -> str:
    """`9H TH JH by anna; QH by anna; 8H by ben`: each placement, in the order laid."""
    opening, later = meld.placed[: meld.opening], meld.placed[meld.opening :]
    opener = meld.opener
    first = " ".join(_write_placed(placed, opener, names) for placed in opening)
    parts = [f"{first} by {names[opener]}"]
    unsaid = _ends_unsaid(meld)
    for placed in later:
        end = f" {'low' if placed.low else 'high'}" if placed.face in unsaid else ""
        parts.append(f"{card_as(placed.card, placed.face)}{end} by {names[placed.seat]}")
    return "; ".join(parts)


def _write_placed(placed: Placed, opener: int, names: Sequence[str]) -> str:
    text = card_as(placed.card, placed.face)
    return text if placed.seat == opener else f"{text}/{names[placed.seat]}"


def _ends_unsaid(meld: Meld) -> set[Card]:
    """The faces laid off last on a run of all thirteen ranks, whose end the text must say."""
    if meld.kind is Kind.SET or meld.length < 13 or meld.opening == 13:
        return set()
    return {meld.placed[-1].face}
