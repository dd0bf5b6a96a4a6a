"""What a seat is asked: the decision request, serialized, for the stream of a bot and for the server's own bots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rummy500.v1 import play_service_pb2 as pb
from rummy500_server.translate.pieces import VARINT, block, numbers, tag, time_varint
from rummy500_server.translate.views import clock_piece, refusal_message, view_bytes

if TYPE_CHECKING:
    from rummy500_server.clock import Moment
    from rummy500_server.keeper import Keeper

_VIEW = tag(pb.DecisionRequest, "view")
_ASKED, _EVENTS = tag(pb.DecisionRequest, "sequence"), tag(pb.DecisionRequest, "events")
_LEFT, _DEADLINE = tag(pb.DecisionRequest, "time_left_ms"), tag(pb.DecisionRequest, "deadline_unix_ms")
_CHARGED, _REFUSALS_LEFT = numbers(pb.DecisionRequest, "charged_ms"), numbers(pb.DecisionRequest, "refusals_left")
_REFUSAL = tag(pb.DecisionRequest, "refusal")
_NO_TIME = time_varint(0)
MOST_EVENTS = 500


def request_prefix(keeper: Keeper, seat: int) -> bytes:
    """What every request to the seat begins with."""
    table = keeper.table
    return pb.DecisionRequest(table=table.name, seat=seat, rules_digest=table.rules.digest).SerializeToString()


def decision_request(keeper: Keeper, seat: int, prefix: bytes, now: Moment) -> bytes:
    """What the seat is asked now; empty: a variant has just ended the table."""
    keeper.verify_view(seat)
    legal = keeper.legal_actions(seat)
    if keeper.table.is_over:
        return b""
    table, player = keeper.table, keeper.players[seat]
    sequence = table.sequence
    clock, left, deadline, told = keeper.clock_face(seat, now), _NO_TIME, _NO_TIME, b""
    if clock is not None:
        left, deadline = time_varint(clock.time_left_ms), time_varint(clock.deadline_unix_ms)
        told = clock_piece(left, deadline, clock)
    view = view_bytes(table.game, seat, legal, public=keeper.public, sequence=sequence, clock=told)
    pieces = [
        prefix,
        _ASKED,
        VARINT[sequence],
        _LEFT,
        left,
        _DEADLINE,
        deadline,
        _CHARGED[player.charged_ms],
        _REFUSALS_LEFT[player.refusals_left],
        _VIEW,
        VARINT[len(view)],
        view,
    ]
    for event in table.log.pieces(player.seen, seat, most=MOST_EVENTS):
        pieces += (_EVENTS, VARINT[len(event)], event)
    if player.refused is not None:
        refusal = refusal_message(player.refused.code, player.refused.sentence)
        pieces.append(block(_REFUSAL, refusal.SerializeToString()))
    return b"".join(pieces)
