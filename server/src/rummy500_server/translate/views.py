"""What one viewer sees, as a message; and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rummy500.v1 import meld_pb2, refusal_pb2, view_pb2
from rummy500_engine.actions import Action, End
from rummy500_engine.cards import ACE, JOKER, Card, Mask, cards_of, rank_of
from rummy500_engine.game import Game
from rummy500_engine.legal import LISTED_AT_MOST
from rummy500_engine.melds import Kind, Meld
from rummy500_engine.refusals import Refusal
from rummy500_engine.terms import Phase
from rummy500_engine.view import View, seat_view
from rummy500_server.translate.actions import legal_bytes
from rummy500_server.translate.cards import END, WIRE, hand_bytes, wire_bytes, wire_cards
from rummy500_server.translate.events import CALL, struct_of
from rummy500_server.translate.pieces import VARINT, Remembered, block, lists, numbers, tag, time_varint

LONGEST_SENTENCE = 512
_DRAW, _PLAY = Phase.DRAW, Phase.PLAY
"""Bound once: looking up an enum member on its class costs as much as a call."""


class ClockFace(NamedTuple):
    """The clock of the open decision: milliseconds left, and when they are over, in milliseconds since 1970 UTC; by
    seat the turns that it finished, and the milliseconds in the bank."""

    time_left_ms: int
    deadline_unix_ms: int
    finished_turns: tuple[int, ...]
    banks: tuple[int, ...] = ()


class PublicPieces:
    """The larger pieces of what all see of one table. A view is made for every decision, and most of what is on the
    table stays as it was for many of them: what has not changed is not written again."""

    __slots__ = ("_known", "_known_piece", "_known_pieces", "_melds", "_melds_piece", "table")

    def __init__(self, table: str) -> None:
        self.table = block(_TABLE, table.encode())
        self._melds: list[Meld] = []
        self._known: list[Mask] = []
        self._known_pieces: list[bytes] = []
        """By seat."""
        self._melds_piece = self._known_piece = b""

    def melds(self, melds: list[Meld]) -> bytes:
        if melds != self._melds:
            self._melds, self._melds_piece = melds.copy(), b"".join(map(_meld_piece, melds))
        return self._melds_piece

    def known(self, known: list[Mask]) -> bytes:
        if known != self._known:
            before = self._known or [0] * len(known)
            pieces = self._known_pieces or [b""] * len(known)
            for seat, cards in enumerate(known):
                if cards != before[seat]:
                    pieces[seat] = _known_piece(seat, cards)
            self._known, self._known_pieces, self._known_piece = known.copy(), pieces, b"".join(pieces)
        return self._known_piece


def view_bytes(
    game: Game,
    seat: int | None,
    legal: Sequence[Action],
    *,
    public: PublicPieces,
    sequence: int,
    clock: bytes,
    with_variants: bool = True,
) -> bytes:
    """The game's round as the seat sees it (None: a spectator), serialized: `view.seat_view` as the contract has it.

    `legal` is what the seat may do. Of what is hidden this reads the seat's own hand and nothing else; a test compares
    it with `seat_view`, another exchanges hidden cards. `public` are the table's, `clock` is a piece of its own, see
    `clock_piece`. Raises VariantError when the fields of a variant cannot be had.
    """
    round = game.round
    assert round is not None
    pile, poll = round.pile, round.poll
    pieces = [
        public.table,
        _SEQUENCE,
        VARINT[sequence],
        _OF_THE_ROUND[round.number, round.dealer, tuple(game.totals)],
        _OF_THE_TURN[round.turn, round.turns_played, round.recycled],
        _COUNTS[tuple(map(int.bit_count, round.hands))],
        _STOCK_COUNT[len(round.stock)],
        clock,
        _DISCARDS,
        VARINT[len(pile)],
        wire_bytes(pile),
        public.melds(round.melds),
        public.known(round.known),
        _LAID[round.laid],
    ]
    if round.phase is _PLAY:
        pieces.append(_PLAYING[round.turn])
    elif round.phase is _DRAW:
        pieces.append(_DRAWING[round.turn])
    elif poll is None:
        pieces.append(_PHASES[view_pb2.PHASE_GAME_OVER if game.over else view_pb2.PHASE_ROUND_OVER])
    if round.must_use or round.banned is not None:
        pieces.append(_DUTY[round.must_use, round.target, round.banned])
    if poll is not None or game.rules.views:
        pieces.append(_rare_bytes(seat_view(game, seat, with_legal=False, with_variants=with_variants)))
    if seat is not None:
        hand = hand_bytes(round.hands[seat])
        listed = legal_bytes(legal, complete=len(legal) < LISTED_AT_MOST)
        pieces += (_SEAT[seat], _HAND, VARINT[len(hand)], hand, _LEGAL, VARINT[len(listed)], listed)
    return b"".join(pieces)


_View = view_pb2.View
_TABLE, _SEQUENCE, _CLOCK = tag(_View, "table"), tag(_View, "sequence"), tag(_View, "clock")
_HAND, _DISCARDS, _LEGAL = tag(_View, "hand"), tag(_View, "discards"), tag(_View, "legal_actions")
_SEAT, _STOCK_COUNT, _PHASES = numbers(_View, "seat"), numbers(_View, "stock_count"), numbers(_View, "phase")
_COUNTS, _LAID = lists(_View, "hand_counts"), lists(_View, "melds_this_turn")
_KNOWN = tag(_View, "known_cards")
_KNOWN_SEAT, _KNOWN_CARDS = numbers(view_pb2.KnownCards, "seat"), tag(view_pb2.KnownCards, "cards")
_LEFT, _DEADLINE = tag(view_pb2.ClockState, "time_left_ms"), tag(view_pb2.ClockState, "deadline_unix_ms")
_FINISHED, _BANKS = lists(view_pb2.ClockState, "finished_turns"), lists(view_pb2.ClockState, "bank_ms")


def _waits_for(phase: view_pb2.Phase.ValueType) -> Remembered[int]:
    """By the seat in turn, which is the one that is waited for."""
    return Remembered(lambda turn: view_pb2.View(phase=phase, waiting=[turn]).SerializeToString())


_DRAWING, _PLAYING = _waits_for(view_pb2.PHASE_DRAW), _waits_for(view_pb2.PHASE_PLAY)


def _of_the_round(constant: tuple[int, int, tuple[int, ...]]) -> bytes:
    number, dealer, totals = constant
    return view_pb2.View(round=number, dealer=dealer, totals=totals).SerializeToString()


def _of_the_turn(constant: tuple[int, int, int]) -> bytes:
    turn, played, recycled = constant
    return view_pb2.View(turn=turn, turns_played=played, times_recycled=recycled).SerializeToString()


def _duty(duty: tuple[Mask, Card | None, Card | None]) -> bytes:
    must_use, target, banned = duty
    message = view_pb2.View()
    message.duty.must_use.extend(wire_cards(cards_of(must_use)))
    if target is not None and must_use >> target & 1:
        message.duty.target = WIRE[target]
    if banned is not None:
        message.duty.banned = WIRE[banned]
    return message.SerializeToString()


def _known_piece(seat: int, cards: Mask) -> bytes:
    return block(_KNOWN, _KNOWN_SEAT[seat] + block(_KNOWN_CARDS, hand_bytes(cards))) if cards else b""


_OF_THE_ROUND: Remembered[tuple[int, int, tuple[int, ...]]] = Remembered(_of_the_round)
_OF_THE_TURN: Remembered[tuple[int, int, int]] = Remembered(_of_the_turn)
_DUTY: Remembered[tuple[Mask, Card | None, Card | None]] = Remembered(_duty)


def clock_piece(left: bytes, deadline: bytes, face: ClockFace) -> bytes:
    """The clock of a view; time left and deadline as the wire has them."""
    pieces = (_LEFT, left, _DEADLINE, deadline, _FINISHED[face.finished_turns], _BANKS[face.banks])
    return block(_CLOCK, b"".join(pieces))


def view_into(
    message: view_pb2.View,
    game: Game,
    seat: int | None,
    legal: Sequence[Action],
    *,
    public: PublicPieces,
    sequence: int,
    clock: ClockFace | None,
    with_variants: bool = True,
) -> None:
    """Writes the view into an empty message."""
    piece = b""
    if clock is not None:
        left, deadline = time_varint(clock.time_left_ms), time_varint(clock.deadline_unix_ms)
        piece = clock_piece(left, deadline, clock)
    message.MergeFromString(
        view_bytes(game, seat, legal, public=public, sequence=sequence, clock=piece, with_variants=with_variants)
    )


def _rare_bytes(view: View) -> bytes:
    """What few views hold."""
    message = view_pb2.View()
    if view.poll is not None:
        _poll_into(message, view)
    for variant, fields in view.variant_fields:
        message.variant_parts.add(variant=variant, name="view", fields=struct_of(fields), text=_told(fields))
    return message.SerializeToString(deterministic=True)


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
    """A view that holds this meld alone, serialized."""
    known = _PIECES.get(id(meld))
    if known is not None:
        return known[1]
    if len(_PIECES) >= REMEMBERED_MELDS:
        _PIECES.clear()
    piece = view_pb2.View(melds=[meld_message(meld)]).SerializeToString()
    _PIECES[id(meld)] = (meld, piece)
    return piece


REMEMBERED_MELDS = 1 << 13
_PIECES: dict[int, tuple[Meld, bytes]] = {}
"""By identity, as the pieces of actions are; the meld stands beside its piece so that its identity is not given to
another."""


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
