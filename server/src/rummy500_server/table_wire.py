"""Tables on the wire, and what the requests about them may hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from rummy500.v1 import result_pb2, table_pb2, table_service_pb2
from rummy500_engine.fair import THE_TABLE
from rummy500_engine.shuffle import SEED_BYTES
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.clock_wire import clock_message, read_clock
from rummy500_server.creation import Creation
from rummy500_server.entries import SeatKind
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Wish
from rummy500_server.names import read_name
from rummy500_server.ranked import read_levels
from rummy500_server.rules_wire import choice_message, read_choice, read_players
from rummy500_server.status import bad_request
from rummy500_server.table import Seat, TableState
from rummy500_server.translate.events import result_into

LONGEST_POSITION = 32 << 10
DEEPEST_POSITION = 32
_MARKS = re.compile(r'\\.|["\[\]{}]', re.DOTALL)

_KIND = {
    None: table_pb2.SEAT_KIND_UNSPECIFIED,
    SeatKind.JOINED: table_pb2.SEAT_KIND_JOINED,
    SeatKind.CONNECTED_BOT: table_pb2.SEAT_KIND_CONNECTED_BOT,
    SeatKind.BUILTIN_BOT: table_pb2.SEAT_KIND_BUILTIN_BOT,
}
_STATE = {
    TableState.OPEN: table_pb2.TABLE_STATE_OPEN,
    TableState.PLAYING: table_pb2.TABLE_STATE_PLAYING,
    TableState.FINISHED: table_pb2.TABLE_STATE_FINISHED,
    TableState.CLOSED: table_pb2.TABLE_STATE_CLOSED,
}


def table_message(keeper: Keeper) -> table_pb2.Table:
    table = keeper.table
    message = creation_message(table.creation)
    message.state, message.sequence = _STATE[table.state], table.sequence
    message.commitment, message.round_commitment = (
        table.committed_to(THE_TABLE),
        table.committed_to(table.committed_round),
    )
    for seat in table.seats:
        message.seats.append(_seat_message(keeper, seat))
    if table.result is not None:
        result_into(message.result, table.result)
    return message


def creation_message(creation: Creation) -> table_pb2.Table:
    """What is known of a table without folding it."""
    created = Timestamp()
    created.FromMilliseconds(creation.created_ms)
    return table_pb2.Table(
        name=creation.name,
        title=creation.title,
        rules=choice_message(creation.choice),
        rules_digest=creation.digest,
        clock=clock_message(creation.clock),
        from_position=creation.position is not None,
        from_seed=creation.from_seed,
        created=created,
        start_when_full=creation.start_when_full,
        private=creation.private,
        ranked=bool(creation.ranked),
    )


def broken_table_message(creation: Creation, sentence: str) -> table_pb2.Table:
    """A table that ended because it could not be folded any more."""
    message = creation_message(creation)
    message.state = table_pb2.TABLE_STATE_CLOSED
    message.result.termination = result_pb2.TERMINATION_SERVER_FAULT
    message.result.sentence = sentence
    return message


def _seat_message(keeper: Keeper, seat: Seat) -> table_pb2.Seat:
    return table_pb2.Seat(
        seat=seat.number,
        name=seat.name,
        kind=_KIND[seat.kind],
        connected=seat.kind is SeatKind.BUILTIN_BOT or keeper.players[seat.number].streams > 0,
        forfeited=seat.forfeited is not None,
        stand_in=seat.stand_in,
    )


def read_wish(request: table_service_pb2.CreateTableRequest, owner: str, *, usual_clock: ClockTerms) -> Wish:
    """Raises Failure BAD_REQUEST, naming the field."""
    read_name(request.title, "title", may_be_empty=True)
    if request.seed and len(request.seed) != SEED_BYTES:
        raise bad_request("seed", f"{len(request.seed)} bytes; it is {SEED_BYTES} bytes or empty")
    position = _read_position(request.position_json)
    if position is not None and request.HasField("rules"):
        raise bad_request("rules", "must be absent with a position, which names its own")
    ranked = read_levels(request.ranked)
    if ranked and request.seats not in (0, len(ranked) + 1):
        raise bad_request("seats", f"{request.seats}: with {len(ranked)} opponents it is {len(ranked) + 1}, or 0")
    seats = len(ranked) + 1 if ranked else request.seats
    return Wish(
        owner=owner,
        players=seats if position is not None else read_players(seats, "seats"),
        choice=read_choice(request.rules, "rules"),
        title=request.title,
        clock=read_clock(request.clock, usual_clock, "clock"),
        secret=request.seed,
        from_seed=bool(request.seed),
        position=position,
        start_when_full=request.start_when_full or bool(ranked),
        private=request.private,
        ranked=ranked,
    )


def _read_position(text: str) -> Mapping[str, Any] | None:
    if not text:
        return None
    if len(text.encode()) > LONGEST_POSITION:
        raise bad_request("position_json", f"at most {LONGEST_POSITION} bytes")
    if _is_nested_deeper(text, DEEPEST_POSITION):
        raise bad_request("position_json", f"lists and objects within each other: at most {DEEPEST_POSITION}")
    try:
        position = json.loads(text, parse_constant=_no_constant)
        json.dumps(position, ensure_ascii=False).encode()  # halves of surrogate pairs are no text
    except ValueError as error:
        raise bad_request("position_json", f"this is no JSON: {error}") from error
    if not isinstance(position, dict):
        raise bad_request("position_json", "an object is wanted: one scenario")
    if isinstance(position.get("players"), list):
        for at, name in enumerate(position["players"]):
            read_name(str(name), f"position_json.players[{at}]")
    return position


def _is_nested_deeper(text: str, most: int) -> bool:
    """Whether the JSON text has lists and objects within each other more than so many times: a parser that goes so deep
    has no room left for what runs beside it, as when the collector ends a stream that nobody reads."""
    depth, is_in_string = 0, False
    for mark in _MARKS.findall(text):
        if mark == '"':
            is_in_string = not is_in_string
        elif not is_in_string and len(mark) == 1:
            depth += 1 if mark in "[{" else -1
            if depth > most:
                return True
    return False


def _no_constant(name: str) -> float:
    """JSON has no NaN and no Infinity, though Python reads them."""
    raise ValueError(f"{name} is no number")
