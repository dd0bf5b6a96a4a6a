"""Actions and legal actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

from google.protobuf.struct_pb2 import Struct

from rummy500.v1 import action_pb2, card_pb2, variant_part_pb2
from rummy500_engine.actions import (
    DISCARDS,
    DRAW,
    PASS,
    TAKES,
    Action,
    Call,
    Discard,
    Draw,
    LayMeld,
    LayOff,
    Pass,
    Take,
    VariantAction,
)
from rummy500_engine.cards import JOKER, Card
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.rules import Rules
from rummy500_server.status import bad_request
from rummy500_server.translate.cards import CARDS, END, WIRE, card_from, cards_from, end_from, wire_cards

MOST_CARDS = 64
LONGEST_NAME = 64
LONGEST_TEXT = 1_024

text_of = lru_cache(maxsize=1 << 12)(write_action)
"""The line of notation of an action; most actions come again and again."""


def action_from(message: action_pb2.Action, rules: Rules, field: str) -> Action:
    """The action asked for. Raises Failure BAD_REQUEST naming the field, or Refused when a text cannot be read."""
    kind = message.WhichOneof("kind")
    match kind:
        case "discard":
            number = message.discard.card
            return DISCARDS[CARDS[number]] if number in CARDS else Discard(card_from(number, f"{field}.discard.card"))
        case "draw":
            return DRAW
        case "take":
            card, place = card_from(message.take.card, f"{field}.take.card"), message.take.place
            return Take(card, place) if place else TAKES[card]
        case "lay_meld":
            return _meld_from(message.lay_meld, f"{field}.lay_meld")
        case "lay_off":
            return _lay_off_from(message.lay_off, f"{field}.lay_off")
        case "passing":
            return PASS
        case "call":
            return _call_from(message.call, f"{field}.call")
        case "text":
            if not message.text or len(message.text) > LONGEST_TEXT:
                raise bad_request(f"{field}.text", f"a line of notation has 1 to {LONGEST_TEXT} characters")
            return read_action(message.text, rules)
        case "variant_part":
            return _variant_action_from(message.variant_part, rules, f"{field}.variant_part")
        case None:
            raise bad_request(field, "an action is needed: set one of the fields of Action")
        case _:
            assert_never(kind)


def _meld_from(meld: action_pb2.LayMeld, field: str) -> LayMeld:
    cards = cards_from(meld.cards, f"{field}.cards", most=MOST_CARDS)
    stands_for = cards_from(meld.stands_for, f"{field}.stands_for", most=MOST_CARDS)
    _verify_parallel(cards, stands_for, f"{field}.stands_for")
    return LayMeld(cards, _said(cards, stands_for), end_from(meld.end, f"{field}.end"))


def _lay_off_from(lay_off: action_pb2.LayOff, field: str) -> LayOff:
    card = card_from(lay_off.card, f"{field}.card")
    face = card_from(lay_off.stands_for, f"{field}.stands_for") if lay_off.stands_for else None
    if face is not None and card != JOKER and face != card:
        raise bad_request(f"{field}.stands_for", "only a joker stands for another card")
    return LayOff(card, lay_off.meld, end_from(lay_off.end, f"{field}.end"), face if card == JOKER else None)


def _call_from(call: action_pb2.Call, field: str) -> Call:
    card = card_from(call.card, f"{field}.card")
    others = cards_from(call.with_cards, f"{field}.with_cards", most=MOST_CARDS)
    stands_for = cards_from(call.stands_for, f"{field}.stands_for", most=MOST_CARDS + 1)
    _verify_parallel((card, *others), stands_for, f"{field}.stands_for")
    end = end_from(call.end, f"{field}.end")
    return Call(card, call.place, call.meld, others, _said((card, *others), stands_for), end)


def _verify_parallel(cards: tuple[Card, ...], stands_for: tuple[Card, ...], field: str) -> None:
    """What cards stand for is said of all of them or of none, and only a joker stands for another card."""
    if stands_for and len(stands_for) != len(cards):
        raise bad_request(
            field, f"{len(stands_for)} cards; it is empty or parallel to the {len(cards)} cards of the meld"
        )
    for index, (card, face) in enumerate(zip(cards, stands_for, strict=False)):
        if card != JOKER and face != card:
            raise bad_request(f"{field}[{index}]", "only a joker stands for another card")


def _said(cards: tuple[Card, ...], stands_for: tuple[Card, ...]) -> tuple[Card, ...]:
    return () if stands_for == cards else stands_for


def _variant_action_from(part: variant_part_pb2.VariantPart, rules: Rules, field: str) -> Action:
    if part.text:
        if len(part.text) > LONGEST_TEXT:
            raise bad_request(f"{field}.text", f"a line of notation has at most {LONGEST_TEXT} characters")
        return read_action(part.text, rules)
    for name, value in (("variant", part.variant), ("name", part.name)):
        if not value or len(value) > LONGEST_NAME:
            raise bad_request(f"{field}.{name}", f"1 to {LONGEST_NAME} characters are wanted")
    cards = cards_from(part.cards, f"{field}.cards", most=256)
    where = part.fields.fields["where"].string_value if "where" in part.fields.fields else ""
    return VariantAction(part.variant, part.name, cards, where)


# --- to the wire


def legal_bytes(legal: Sequence[Action], *, complete: bool) -> bytes:
    """The actions as a LegalActions, serialized, grouped by kind."""
    try:
        pieces = list(map(_PIECES.__getitem__, map(id, legal)))
    except KeyError:
        pieces = list(map(_piece, legal))
    if b"" in pieces:
        pieces.append(_readings_bytes(legal))
    if complete:
        pieces.append(_COMPLETE)
    return b"".join(pieces)


_COMPLETE = action_pb2.LegalActions(complete=True).SerializeToString()
REMEMBERED_ACTIONS = 1 << 16
_PIECES: dict[int, bytes] = {}
"""By identity: the engine lists the same objects again and again, and hashing one takes longer than joining it."""
_WRITTEN: list[Action] = []
"""The actions of these pieces: kept, so that none of their identities is given to another."""


def _piece(action: Action) -> bytes:
    """A listing of this action alone; nothing for one that is listed together with its other readings."""
    known = _PIECES.get(id(action))
    if known is not None:
        return known
    if isinstance(action, LayMeld | Call) and action.stands_for:
        return b""
    listing = action_pb2.LegalActions()
    _listed_into(listing, action)
    piece = listing.SerializeToString()
    if len(_PIECES) >= REMEMBERED_ACTIONS:
        _PIECES.clear()
        _WRITTEN.clear()
    _PIECES[id(action)] = piece
    _WRITTEN.append(action)
    return piece


def _listed_into(message: action_pb2.LegalActions, action: Action) -> None:
    match action:
        case Discard(card):
            message.discards.append(WIRE[card])
        case LayOff(card, meld, end, face):
            stands_for = card_pb2.CARD_UNSPECIFIED if face is None else WIRE[face]
            message.lay_offs.add(card=WIRE[card], meld=meld, end=END[end], stands_for=stands_for)
        case LayMeld(cards, _, end):
            message.melds.add(cards=wire_cards(cards), end=END[end])
        case Take(card, place):
            message.takes.add(card=WIRE[card], place=place)
        case Draw():
            message.can_draw = True
        case Pass():
            message.can_pass = True
        case Call(card, place, meld, with_cards, _, end):
            others = wire_cards(with_cards)
            message.calls.add(card=WIRE[card], place=place, meld=meld, with_cards=others, end=END[end])
        case VariantAction():
            variant_action_into(message.others.add(), action)
        case _:
            assert_never(action)


def _readings_bytes(legal: Sequence[Action]) -> bytes:
    """The melds and calls with jokers, each once with all its readings."""
    melds: dict[tuple[Card, ...], list[LayMeld]] = {}
    calls: dict[tuple[object, ...], list[Call]] = {}
    for action in legal:
        if isinstance(action, LayMeld) and action.stands_for:
            melds.setdefault(tuple(sorted(action.cards)), []).append(action)
        elif isinstance(action, Call) and action.stands_for:
            key = (action.card, action.place, action.meld, tuple(sorted(action.with_cards)))
            calls.setdefault(key, []).append(action)
    message = action_pb2.LegalActions()
    for cards, readings in melds.items():
        _joker_meld_into(message.melds.add(), cards, readings)
    for called in calls.values():
        _joker_call_into(message.calls.add(), called)
    return message.SerializeToString()


def _joker_meld_into(message: action_pb2.LayMeld, cards: tuple[Card, ...], melds: list[LayMeld]) -> None:
    """One entry for the natural cards and the number of jokers, with every reading."""
    message.cards.extend(wire_cards(cards))
    readings = [(_faces_along(cards, meld.cards, meld.stands_for), meld) for meld in melds]
    if len(readings) == 1:
        message.stands_for.extend(wire_cards(readings[0][0]))
        message.end = END[melds[0].end]
        return
    for faces, meld in readings:
        message.readings.add(stands_for=wire_cards(faces), end=END[meld.end])


def _joker_call_into(message: action_pb2.Call, calls: list[Call]) -> None:
    first = calls[0]
    others = tuple(sorted(first.with_cards))
    message.card, message.place, message.meld = WIRE[first.card], first.place, first.meld
    message.with_cards.extend(wire_cards(others))
    readings = []
    for call in calls:
        said = call.stands_for if len(call.stands_for) > len(call.with_cards) else (call.card, *call.stands_for)
        readings.append(((said[0], *_faces_along(others, call.with_cards, said[1:])), call))
    if len(readings) == 1:
        message.stands_for.extend(wire_cards(readings[0][0]))
        message.end = END[first.end]
        return
    for faces, call in readings:
        message.readings.add(stands_for=wire_cards(faces), end=END[call.end])


def _faces_along(cards: tuple[Card, ...], asked: tuple[Card, ...], faces: tuple[Card, ...]) -> tuple[Card, ...]:
    """What each of these cards stands for when `asked`, the same cards in another order, stand for `faces`."""
    stand_ins = iter([face for card, face in zip(asked, faces, strict=True) if card == JOKER])
    return tuple(next(stand_ins) if card == JOKER else card for card in cards)


def variant_action_into(message: variant_part_pb2.VariantPart, action: VariantAction) -> None:
    message.variant, message.name = action.variant, action.verb
    message.cards.extend(wire_cards(action.cards))
    if action.where:
        message.fields.CopyFrom(Struct())
        message.fields["where"] = action.where
    message.text = text_of(action)
