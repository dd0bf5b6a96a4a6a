"""What one viewer sees, as a message; and refusals."""

from __future__ import annotations

from dataclasses import dataclass

from rummy500.v1 import meld_pb2, refusal_pb2, view_pb2
from rummy500_engine.actions import End
from rummy500_engine.cards import ACE, JOKER, rank_of
from rummy500_engine.legal import LISTED_AT_MOST
from rummy500_engine.melds import Kind, Meld
from rummy500_engine.refusals import Refusal
from rummy500_engine.terms import Phase
from rummy500_engine.view import View
from rummy500_server.translate.actions import legal_into
from rummy500_server.translate.cards import END, WIRE, wire_cards
from rummy500_server.translate.events import CALL, struct_of

LONGEST_SENTENCE = 512

_PHASE: dict[Phase, view_pb2.Phase.ValueType] = {
    Phase.DRAW: view_pb2.PHASE_DRAW,
    Phase.PLAY: view_pb2.PHASE_PLAY,
    Phase.POLL: view_pb2.PHASE_UNSPECIFIED,
    Phase.OVER: view_pb2.PHASE_ROUND_OVER,
}


@dataclass(frozen=True, slots=True)
class ClockFace:
    """The clock of the open decision: milliseconds left, and when they are over, in milliseconds since 1970 UTC."""

    time_left_ms: int
    deadline_unix_ms: int
    finished_turns: tuple[int, ...]


def view_into(message: view_pb2.View, view: View, *, table: str, sequence: int, clock: ClockFace | None) -> None:
    """Writes the view into an empty message; the view holds nothing that its viewer may not see."""
    message.table, message.sequence = table, sequence
    message.stock_count = view.stock_count
    message.hand_counts.extend(view.hand_counts)
    message.totals.extend(view.totals)
    message.round, message.dealer, message.turn = view.round, view.dealer, view.turn
    message.turns_played, message.times_recycled = view.turns_played, view.recycled
    if view.pile:
        message.discards.extend(wire_cards(view.pile))
    if view.melds:
        message.MergeFromString(b"".join([_meld_piece(meld) for meld in view.melds]))
    for seat, cards in enumerate(view.known):
        if cards:
            message.known_cards.add(seat=seat, cards=wire_cards(cards))
    if view.laid:
        message.melds_this_turn.extend(view.laid)
    if view.poll is not None:
        _poll_into(message, view)
    else:
        message.phase = view_pb2.PHASE_GAME_OVER if view.game_over else _PHASE[view.phase]
        message.waiting.extend(view.to_act)
    if view.must_use or view.banned is not None:
        _duty_into(message, view)
    if clock is not None:
        message.clock.time_left_ms, message.clock.deadline_unix_ms = clock.time_left_ms, clock.deadline_unix_ms
        message.clock.finished_turns.extend(clock.finished_turns)
    for variant, fields in view.variant_fields:
        message.variant_parts.add(variant=variant, name="view", fields=struct_of(fields), text=_told(fields))
    if view.seat is not None:
        message.seat = view.seat
        message.hand.extend(wire_cards(view.hand))
        legal_into(message.legal_actions, view.legal, complete=len(view.legal) < LISTED_AT_MOST)


def empty_view_into(message: view_pb2.View, *, table: str, sequence: int, seat: int | None, players: int) -> None:
    """Before anything is dealt."""
    message.table, message.sequence = table, sequence
    message.hand_counts.extend([0] * players)
    message.totals.extend([0] * players)
    if seat is not None:
        message.seat = seat
        message.legal_actions.complete = True


def _told(fields: dict[str, object]) -> str:
    return "; ".join(f"{key}: {fields[key]}" for key in sorted(fields))[:1_024]


def _duty_into(message: view_pb2.View, view: View) -> None:
    message.duty.must_use.extend(wire_cards(view.must_use))
    if view.target is not None and view.target in view.must_use:
        message.duty.target = WIRE[view.target]
    if view.banned is not None:
        message.duty.banned = WIRE[view.banned]


def _poll_into(message: view_pb2.View, view: View) -> None:
    poll = view.poll
    assert poll is not None
    message.waiting.extend(sorted(poll.asked))
    if poll.name != CALL or poll.card is None:
        message.phase_name = poll.name
        return
    message.phase = view_pb2.PHASE_CALL
    window = message.call_window
    window.card, window.discarded_by, window.next_seat = WIRE[poll.card], poll.by, view.turn


def _meld_piece(meld: Meld) -> bytes:
    """A view that holds this meld alone, serialized: such pieces, one after the other, are a view with all of them. A
    meld stands in every view until it is added to, so each is written once."""
    known = _PIECES.get(id(meld))
    if known is not None and known[0] is meld:
        return known[1]
    if len(_PIECES) >= REMEMBERED_MELDS:
        _PIECES.clear()
    piece = view_pb2.View(melds=[meld_message(meld)]).SerializeToString()
    _PIECES[id(meld)] = (meld, piece)
    return piece


REMEMBERED_MELDS = 1 << 13
_PIECES: dict[int, tuple[Meld, bytes]] = {}
"""By identity, for hashing a meld takes longer than writing it."""


def meld_message(meld: Meld) -> meld_pb2.Meld:
    is_run = meld.kind is Kind.RUN
    order = list(range(len(meld.placed)))
    if is_run:
        order.sort(key=lambda index: (rank_of(meld.placed[index].face) - meld.start) % 13)
    placed = [meld.placed[index] for index in order]
    seats = [card.seat for card in meld.placed[: meld.opening]]
    message = meld_pb2.Meld(
        id=meld.id,
        kind=meld_pb2.MELD_KIND_RUN if is_run else meld_pb2.MELD_KIND_SET,
        cards=wire_cards([card.card for card in placed]),
        placed_by=[card.seat for card in placed],
        laid_by=max(seats, key=seats.count),
        laid_off=[order.index(index) for index in range(meld.opening, len(meld.placed))],
    )
    if any(card.card == JOKER for card in placed):
        message.stands_for.extend(wire_cards([card.face for card in placed]))
    if is_run:
        aces = [card for card in placed if rank_of(card.face) == ACE]
        message.ace = END[None if not aces else End.LOW if aces[0].low else End.HIGH]
    return message


# --- refusals


def refusal_message(code: str, sentence: str) -> refusal_pb2.Refusal:
    """`code` is one of the game's, a variant's own, or one of ErrorReason."""
    number = _REASONS.get(code, refusal_pb2.REFUSAL_REASON_UNSPECIFIED)
    return refusal_pb2.Refusal(reason=number, code=code, sentence=sentence[:LONGEST_SENTENCE])


_REASONS: dict[str, refusal_pb2.RefusalReason.ValueType] = {
    code.name: refusal_pb2.RefusalReason.Value(f"REFUSAL_REASON_{code.name}") for code in Refusal
}
