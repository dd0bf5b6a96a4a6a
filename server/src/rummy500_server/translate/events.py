"""Events as one viewer may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from google.protobuf.struct_pb2 import Struct

from rummy500.v1 import event_pb2, meld_pb2, result_pb2, variant_part_pb2
from rummy500_engine import events as engine
from rummy500_engine.actions import End
from rummy500_engine.cards import ACE, JOKER, Card, card_text, rank_of
from rummy500_engine.events import RoundEnd
from rummy500_engine.view import HIDING, redact
from rummy500_server import table_events as shell
from rummy500_server.results import GameResult, Termination
from rummy500_server.translate.cards import END, WIRE, wire_cards
from rummy500_server.translate.pieces import VARINT, Remembered, tag

CALL = "call"
"""The name of the poll that has a phase and messages of its own in the contract."""

_ROUND_END: dict[RoundEnd, event_pb2.RoundEnd.ValueType] = {
    RoundEnd.OUT: event_pb2.ROUND_END_WENT_OUT,
    RoundEnd.STOCK: event_pb2.ROUND_END_STOCK_EMPTY,
    RoundEnd.PASSED: event_pb2.ROUND_END_STOCK_EMPTY,
    RoundEnd.TURN_LIMIT: event_pb2.ROUND_END_MAX_TURNS,
}
_TERMINATION = {each: result_pb2.Termination.Value(f"TERMINATION_{each.name}") for each in Termination}
_CLOCK_REASON = {each: event_pb2.ClockReason.Value(f"CLOCK_REASON_{each.name}") for each in shell.ClockReason}
_SHELL = (
    shell.SeatJoined,
    shell.SeatLeft,
    shell.TableClosed,
    shell.ClockActed,
    shell.SeatTakenOver,
    shell.SeatReturned,
    shell.SeatForfeited,
    shell.RoundCounted,
    shell.GameEnded,
    shell.DealCommitted,
    shell.DealRevealed,
)


def event_bytes(event: shell.TableEvent, sequence: int, seat: int | None) -> bytes:
    """The event as `seat` sees it (None: a spectator), serialized. This is the one way out, and it redacts."""
    seen = redact(event, seat) if isinstance(event, HIDING) else event
    if isinstance(seen, engine.Discarded):
        return _SEQUENCE + VARINT[sequence] + _DISCARDED[seen.seat, seen.card]
    if isinstance(seen, engine.DrewFromStock):
        return _SEQUENCE + VARINT[sequence] + _DREW[seen.seat, seen.card, seen.stock_count]
    message = event_pb2.Event(sequence=sequence)
    _INTO[seen.__class__](message, seen, seat)
    return message.SerializeToString(deterministic=True)


def is_of_the_game(event: shell.TableEvent) -> TypeGuard[engine.Event]:
    """Whether it is the engine's, not the table's."""
    return not isinstance(event, _SHELL)


def is_same_for_all(event: shell.TableEvent) -> bool:
    """Whether every viewer gets the same message."""
    if isinstance(event, engine.VariantEvent):
        return not event.private
    return not isinstance(event, HIDING)


def _round_dealt(message: event_pb2.Event, event: engine.RoundDealt, seat: int | None) -> None:
    dealt = message.round_dealt
    dealt.round, dealt.dealer, dealt.stock_count = event.round, event.dealer, event.stock_count
    dealt.hand_counts.extend(event.hand_counts)
    hand = None if seat is None else event.hands[seat]
    if hand is not None:
        dealt.hand.extend(wire_cards(sorted(hand)))
    if event.up_card is not None:
        dealt.up_card = WIRE[event.up_card]
    dealt.turn = (event.dealer + 1) % len(event.hand_counts)


def _drew(drawn: tuple[int, Card | None, int]) -> bytes:
    seat, card, stock_count = drawn
    drew = event_pb2.DrewFromStock(seat=seat, stock_count=stock_count)
    if card is not None:
        drew.card = WIRE[card]
    return event_pb2.Event(drew_from_stock=drew).SerializeToString()


def _took(message: event_pb2.Event, event: engine.TookFromPile, seat: int | None) -> None:
    took = message.took_from_pile
    took.seat = event.seat
    took.cards.extend(wire_cards(event.cards))
    took.must_use.extend(wire_cards(event.must_use))


def _melded(message: event_pb2.Event, event: engine.Melded, seat: int | None) -> None:
    melded = message.melded
    melded.seat = event.seat
    meld = melded.meld
    meld.id, meld.laid_by = event.meld, event.seat
    meld.cards.extend(wire_cards(event.cards))
    meld.placed_by.extend([event.seat] * len(event.cards))
    if JOKER in event.cards:
        meld.stands_for.extend(wire_cards(event.faces))
    ranks = [rank_of(face) for face in event.faces]
    is_run = ranks[0] != ranks[1]
    meld.kind = meld_pb2.MELD_KIND_RUN if is_run else meld_pb2.MELD_KIND_SET
    if is_run and ACE in ranks:
        meld.ace = END[End.LOW if ranks[0] == ACE else End.HIGH]


def _laid_off(message: event_pb2.Event, event: engine.LaidOff, seat: int | None) -> None:
    laid_off = message.laid_off
    laid_off.seat, laid_off.meld, laid_off.end = event.seat, event.meld, END[event.end]
    laid_off.card, laid_off.stands_for = WIRE[event.card], WIRE[event.face]


def _discarded(thrown: tuple[int, Card]) -> bytes:
    seat, card = thrown
    return event_pb2.Event(discarded=event_pb2.Discarded(seat=seat, card=WIRE[card])).SerializeToString()


def _passed(message: event_pb2.Event, event: engine.Passed, seat: int | None) -> None:
    message.passed.seat = event.seat
    message.passed.SetInParent()


def _exchanged(message: event_pb2.Event, event: engine.Exchanged, seat: int | None) -> None:
    part = message.variant_part
    _part_into(part, "classic", "exchanged", {"seat": event.seat, "meld": event.meld})
    part.cards.extend(wire_cards((event.card, JOKER)))
    part.text = f"seat {event.seat} puts {card_text(event.card)} in the place of the joker in m{event.meld}"


def _poll_opened(message: event_pb2.Event, event: engine.PollOpened, seat: int | None) -> None:
    if event.name == CALL and event.card is not None:
        opened = message.call_window_opened
        opened.card, opened.discarded_by = WIRE[event.card], event.by
        opened.asked.extend(event.asked)
        return
    part = message.variant_part
    _part_into(part, event.variant, "poll_opened", {"poll": event.name, "by": event.by, "asked": list(event.asked)})
    if event.card is not None:
        part.cards.append(WIRE[event.card])
    part.text = f"{event.name}: seats {', '.join(map(str, event.asked))} answer"


def _poll_closed(message: event_pb2.Event, event: engine.PollClosed, seat: int | None) -> None:
    if event.name == CALL and event.winner is not None and event.card is not None:
        called = message.rummy_called
        called.seat, called.card, called.place = event.winner, WIRE[event.card], event.place
        return
    if event.name == CALL:
        message.call_window_closed.SetInParent()
        if event.winner is not None:
            message.call_window_closed.caller = event.winner
        return
    fields: dict[str, Any] = {"poll": event.name}
    if event.winner is not None:
        fields["winner"] = event.winner
    _part_into(message.variant_part, event.variant, "poll_closed", fields)
    message.variant_part.text = f"{event.name} is over"


def _turn_passed(message: event_pb2.Event, event: engine.TurnPassed, seat: int | None) -> None:
    _part_into(message.variant_part, "classic", "turn_passed", {"seat": event.seat, "drawn": event.drawn})
    message.variant_part.text = f"the turn goes to seat {event.seat}"


def _recycled(message: event_pb2.Event, event: engine.StockRecycled, seat: int | None) -> None:
    recycled = message.stock_recycled
    recycled.stock_count, recycled.shuffled = event.stock_count, event.shuffled


def _round_counted(message: event_pb2.Event, event: shell.RoundCounted, seat: int | None) -> None:
    _round_scored(message, event.scored, seat)
    if event.next_dealer is not None:
        message.round_scored.next_dealer = event.next_dealer


def _round_scored(message: event_pb2.Event, event: engine.RoundScored, seat: int | None) -> None:
    scored = message.round_scored
    scored.round, scored.reason = event.round, _ROUND_END[event.reason]
    if event.out is not None:
        scored.went_out = event.out
    for number, score in enumerate(event.seats):
        line = scored.scores.add(
            seat=number,
            placed=score.placed,
            held=score.held,
            round_score=score.points,
            total=event.totals[number],
            held_cards=wire_cards(event.hands[number]),
        )
        for name, points in score.adjustments:
            line.adjustments.add(name=name, points=points)


def _variant_event(message: event_pb2.Event, event: engine.VariantEvent, seat: int | None) -> None:
    part = message.variant_part
    _part_into(part, event.variant, event.name, {"seat": event.seat, **dict(event.fields)})
    part.cards.extend(wire_cards(event.cards))
    part.text = f"{event.name} by seat {event.seat}"


def _part_into(part: variant_part_pb2.VariantPart, variant: str, name: str, fields: Mapping[str, Any]) -> None:
    part.variant, part.name = variant, name
    if fields:
        part.fields.CopyFrom(struct_of(fields))


def struct_of(fields: Mapping[str, Any]) -> Struct:
    """JSON values as a Struct, keys in ascending order; tuples become lists."""
    struct = Struct()
    struct.update({key: _json(fields[key]) for key in sorted(fields)})
    return struct


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple | set | frozenset):
        return [_json(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _seat_joined(message: event_pb2.Event, event: shell.SeatJoined, seat: int | None) -> None:
    joined = message.seat_joined
    joined.seat, joined.name, joined.is_bot, joined.entropy = event.seat, event.name, event.is_bot, event.entropy


def _seat_left(message: event_pb2.Event, event: shell.SeatLeft, seat: int | None) -> None:
    message.seat_left.seat = event.seat
    message.seat_left.SetInParent()


def _table_closed(message: event_pb2.Event, event: shell.TableClosed, seat: int | None) -> None:
    closed = message.table_closed
    closed.termination = _TERMINATION[event.termination]
    closed.sentence = event.sentence


def _clock_acted(message: event_pb2.Event, event: shell.ClockActed, seat: int | None) -> None:
    acted = message.clock_acted
    acted.seat, acted.finished_turns = event.seat, event.finished_turns
    acted.reason = _CLOCK_REASON[event.reason]


def _seat_taken_over(message: event_pb2.Event, event: shell.SeatTakenOver, seat: int | None) -> None:
    taken = message.seat_taken_over
    taken.seat, taken.bot, taken.reason = event.seat, event.bot, _CLOCK_REASON[event.reason]


def _seat_returned(message: event_pb2.Event, event: shell.SeatReturned, seat: int | None) -> None:
    message.seat_returned.seat = event.seat
    message.seat_returned.SetInParent()


def _seat_forfeited(message: event_pb2.Event, event: shell.SeatForfeited, seat: int | None) -> None:
    message.seat_forfeited.seat = event.seat
    message.seat_forfeited.termination = _TERMINATION[event.termination]


def _game_ended(message: event_pb2.Event, event: shell.GameEnded, seat: int | None) -> None:
    result_into(message.game_won.result, event.result)


def _deal_committed(message: event_pb2.Event, event: shell.DealCommitted, seat: int | None) -> None:
    message.deal_committed.round, message.deal_committed.commitment = event.round, event.commitment


def _deal_revealed(message: event_pb2.Event, event: shell.DealRevealed, seat: int | None) -> None:
    message.deal_revealed.round, message.deal_revealed.secret = event.round, event.secret


def result_into(message: result_pb2.GameResult, result: GameResult) -> None:
    message.termination = _TERMINATION[result.termination]
    message.winners.extend(result.winners)
    message.totals.extend(result.totals)
    message.settlement.extend(result.settlement)
    if result.at_fault is not None:
        message.at_fault = result.at_fault
    message.overrun_ms, message.rounds = result.overrun_ms, result.rounds
    message.record, message.sentence = result.record, result.sentence


_SEQUENCE = tag(event_pb2.Event, "sequence")
_DREW: Remembered[tuple[int, Card | None, int]] = Remembered(_drew)
_DISCARDED: Remembered[tuple[int, Card]] = Remembered(_discarded)

_INTO: dict[type, Callable[[event_pb2.Event, Any, int | None], None]] = {
    engine.RoundDealt: _round_dealt,
    engine.TookFromPile: _took,
    engine.Melded: _melded,
    engine.LaidOff: _laid_off,
    engine.Passed: _passed,
    engine.Exchanged: _exchanged,
    engine.PollOpened: _poll_opened,
    engine.PollClosed: _poll_closed,
    engine.TurnPassed: _turn_passed,
    engine.StockRecycled: _recycled,
    engine.VariantEvent: _variant_event,
    shell.SeatJoined: _seat_joined,
    shell.SeatLeft: _seat_left,
    shell.TableClosed: _table_closed,
    shell.ClockActed: _clock_acted,
    shell.SeatTakenOver: _seat_taken_over,
    shell.SeatReturned: _seat_returned,
    shell.SeatForfeited: _seat_forfeited,
    shell.RoundCounted: _round_counted,
    shell.GameEnded: _game_ended,
    shell.DealCommitted: _deal_committed,
    shell.DealRevealed: _deal_revealed,
}
"""Total but for the two most frequent ones, and for the engine's RoundScored and GameWon, which a table tells as
RoundCounted and GameEnded; a test keeps it so."""
