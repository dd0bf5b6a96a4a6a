"""The text of cards, melds and actions, written from messages and compared as NOTATION compares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rummy500.v1.action_pb2 import Action, Call, Discard, Draw, LayMeld, LayOff, LegalActions, Pass, Take
from rummy500.v1.card_pb2 import RUN_END_HIGH, RUN_END_LOW, Card, RunEnd
from rummy500.v1.meld_pb2 import Meld

CARD_TEXTS: tuple[str, ...] = ("??", *(name.removeprefix("CARD_") for name in Card.keys()[1:]))
"""The text of each card by its number; `??` for a card that may not be seen."""
JOKER = Card.CARD_JK
RANKS = "A23456789TJQK"
SUITS = "CDHS"
_NUMBERS = {text: number for number, text in enumerate(CARD_TEXTS)}
_ENDS = {RUN_END_LOW: "low", RUN_END_HIGH: "high"}


def card_text(card: int) -> str:
    return CARD_TEXTS[card] if 0 <= card < len(CARD_TEXTS) else "??"


def cards_text(cards: Iterable[int]) -> str:
    return " ".join(map(card_text, cards))


def card_number(text: str) -> int | None:
    """The number of a card that is written `TH`, `10h` or `jk`; None if the text is no card."""
    return _NUMBERS.get(text.upper().replace("10", "T", 1))


def _as(card: int, face: int) -> str:
    return f"JK={CARD_TEXTS[face]}" if card == JOKER and face not in (0, JOKER) else card_text(card)


def _all_as(cards: Sequence[int], faces: Sequence[int]) -> list[str]:
    if len(faces) != len(cards):
        return [card_text(card) for card in cards]
    return [_as(card, face) for card, face in zip(cards, faces, strict=True)]


def _line(*words: str) -> str:
    return " ".join(word for word in words if word)


def _end(end: RunEnd.ValueType) -> str:
    return _ENDS.get(end, "")


def _placed(card: str, place: int) -> str:
    return f"{card}@{place}" if place else card


def action_text(action: Action) -> str:
    """The line of notation of an action."""
    match action.WhichOneof("kind"):
        case "draw":
            return "draw"
        case "passing":
            return "pass"
        case "take":
            return take_text(action.take)
        case "lay_meld":
            return meld_text(action.lay_meld)
        case "lay_off":
            return lay_off_text(action.lay_off)
        case "discard":
            return f"discard {card_text(action.discard.card)}"
        case "call":
            return call_text(action.call)
        case "variant_part":
            return action.variant_part.text or action.variant_part.name
        case "text":
            return action.text
        case _:
            return "?"


def take_text(take: Take) -> str:
    return f"take {_placed(card_text(take.card), take.place)}"


def meld_text(meld: LayMeld) -> str:
    return _line("meld", *_all_as(meld.cards, meld.stands_for), _end(meld.end))


def lay_off_text(lay_off: LayOff) -> str:
    where = f"m{lay_off.meld}" if lay_off.meld else ""
    return _line("layoff", _as(lay_off.card, lay_off.stands_for), where, _end(lay_off.end))


def call_text(call: Call) -> str:
    called = _placed(_as(call.card, call.stands_for[0] if call.stands_for else 0), call.place)
    if call.meld:
        return _line("call", called, f"m{call.meld}", _end(call.end))
    return _line("call", called, "with", *_all_as(call.with_cards, call.stands_for[1:]), _end(call.end))


def legal_actions(legal: LegalActions) -> list[Action]:
    """Every listed action as one that can be sent, readings of jokers one by one."""
    actions = [Action(draw=Draw())] if legal.can_draw else []
    actions += [Action(take=take) for take in legal.takes]
    actions += [Action(lay_meld=reading) for meld in legal.melds for reading in _meld_readings(meld)]
    actions += [Action(lay_off=lay_off) for lay_off in legal.lay_offs]
    actions += [Action(discard=Discard(card=card)) for card in legal.discards]
    actions += [Action(call=reading) for call in legal.calls for reading in _call_readings(call)]
    actions += [Action(variant_part=part) for part in legal.others]
    if legal.can_pass:
        actions.append(Action(passing=Pass()))
    return actions


def _meld_readings(meld: LayMeld) -> list[LayMeld]:
    if not meld.readings:
        return [meld]
    return [LayMeld(cards=meld.cards, stands_for=read.stands_for, end=read.end) for read in meld.readings]


def _call_readings(call: Call) -> list[Call]:
    if not call.readings:
        return [call]
    return [
        Call(
            card=call.card,
            place=call.place,
            meld=call.meld,
            with_cards=call.with_cards,
            stands_for=read.stands_for,
            end=read.end,
        )
        for read in call.readings
    ]


def table_meld_text(meld: Meld, names: Sequence[str]) -> str:
    """`9H TH JH by anna; QH by anna`: each placement in the order laid, as scenario files and records write it."""
    faces = list(meld.stands_for) or list(meld.cards)
    later = list(meld.laid_off)
    opening = [index for index in range(len(meld.cards)) if index not in later]

    def written(index: int) -> str:
        return _as(meld.cards[index], faces[index])

    first = []
    for index in opening:
        exchanged = meld.placed_by[index] != meld.laid_by
        first.append(f"{written(index)}/{names[meld.placed_by[index]]}" if exchanged else written(index))
    parts = [f"{' '.join(first)} by {names[meld.laid_by]}"]
    parts += [f"{written(index)} by {names[meld.placed_by[index]]}" for index in later]
    return "; ".join(parts)


def shown_meld_text(meld: Meld, names: Sequence[str]) -> str:
    """`9H TH JH (anna) QH (ben)`: the cards as they lie, each row of cards of one player followed by the name."""
    faces = list(meld.stands_for) or list(meld.cards)
    words = []
    last = len(meld.cards) - 1
    for index, card in enumerate(meld.cards):
        words.append(_as(card, faces[index]))
        if index == last or meld.placed_by[index + 1] != meld.placed_by[index]:
            words.append(f"({names[meld.placed_by[index]]})")
    return " ".join(words)


def same_actions_key(text: str, pile: Sequence[str] = ()) -> tuple[str, ...]:
    """What a line of notation does, so that two lines that do the same have the same key.

    The order of a meld's cards makes no difference, but for a corner meld of thirteen, which begins with its lowest
    card; nor does a place that names the highest of equal cards of the discard `pile` (bottom card first).
    """
    verb, *words = _normal_words(text)
    if verb in ("take", "call") and words:
        words[0] = _without_top_place(words[0], pile)
    if verb == "meld":
        return (verb, *_sorted_cards(words))
    if verb == "call" and len(words) > 1 and words[1] == "with":
        return (verb, words[0], "with", *_sorted_cards(words[2:]))
    return (verb, *words)


def without_faces(key: tuple[str, ...]) -> tuple[str, ...]:
    """The key with every `JK=8S` read as `JK`: what a line says that leaves the readings out."""
    return (*key[:1], *sorted(word.partition("=")[0] for word in key[1:]))


def _normal_words(text: str) -> list[str]:
    return [_normal_word(word) for word in text.split()] or [""]


def _normal_word(word: str) -> str:
    """A card as it is printed, with its place or its face; any other word in lower case."""
    for mark in ("@", "="):
        card, found, rest = word.partition(mark)
        number = card_number(card)
        if number is not None and found:
            face = card_number(rest)
            return f"{CARD_TEXTS[number]}{mark}{rest if face is None else CARD_TEXTS[face]}"
    number = card_number(word)
    return word.lower() if number is None else CARD_TEXTS[number]


def _without_top_place(word: str, pile: Sequence[str]) -> str:
    card, _, place = word.partition("@")
    places = [index for index, lying in enumerate(pile, 1) if lying == card.partition("=")[0]]
    return card if place and places and place == str(places[-1]) else word


def _sorted_cards(words: list[str]) -> list[str]:
    end = [words.pop()] if words and words[-1] in ("low", "high") else []
    ranks = {word[0] for word in words}
    keeps_first = len(words) == 13 and len(ranks) == 13 and not end
    return [*words[:1], *sorted(words[1:]), *end] if keeps_first else [*sorted(words), *end]
