"""Does it come back? A line that is cut, a server that stops and one that wants it no more."""

from __future__ import annotations

import time

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from rummy500.v1.play_service_pb2 import Draining, PlayResponse
from rummy500_client.doctor.check import Check
from rummy500_client.doctor.checks_play import GAME
from rummy500_client.doctor.conversation import Conversation
from rummy500_client.doctor.desk import cut
from rummy500_client.doctor.examination import Examination, choice, verify_played
from rummy500_client.doctor.finding import Ailing, Finding, fail, ok, warn
from rummy500_client.doctor.script import Script
from rummy500_client.errors import DETAILS

TURNS_BEFORE = 5
"""Decisions that the bot makes before the line is cut."""
RETRY_MS = 1_000
REFUSED_SECONDS, MOST_TRIES = 3.0, 8
_BACK = (
    "connect again when a stream ends without GameOver, with back-off (0.1 s, doubled up to 5 s), with the same token"
)


def check_cut(examination: Examination) -> Finding:
    table, before = _in_a_game(examination)
    cut(before)
    after = _came_back(examination, before)
    took = after.opened_at - (before.ended_at or after.opened_at)
    verify_played(examination.finish([table])[0])
    points = {point.table: point.after_sequence for point in after.hello.resume} if after.hello is not None else {}
    if examination.is_dialled:  # each stream has a bot of its own, which knows of nothing before
        return ok(f"was there again after {took:.1f} s, and finished its game")
    if table not in points:
        advice = "name the tables in Hello.resume, with the last sequence that you have: you get what you missed"
        return warn(f"came back after {took:.1f} s and did not say where it was", advice)
    return ok(f"came back after {took:.1f} s, said that it had {points[table]} events, and finished its game")


def check_restart(examination: Examination) -> Finding:
    table, before = _in_a_game(examination)
    examination.desk.close()
    examination.stop_server()
    examination.start_server()
    examination.desk.open()
    is_back = time.monotonic()
    after = _came_back(examination, before)
    verify_played(examination.finish([table])[0])
    return ok(f"came back {after.opened_at - is_back:.1f} s after the server was back, and finished its game")


def check_drain(examination: Examination) -> Finding:
    script = Script(examination)
    before = script.conversation
    game = script.game()
    script.ask(game, script.request(game))
    script.send(PlayResponse(draining=Draining(retry_after_ms=RETRY_MS)))
    examination.desk.refuse = _refuse_draining
    try:
        cut(before)
        examination.wait(lambda: before.ended_at is not None)
        examination.wait(lambda: _later(examination, before))
    finally:
        examination.desk.refuse = None
    tries = _later(examination, before)
    if not tries:
        return fail("did not come back after Draining", _BACK)
    waited = tries[0].opened_at - (before.ended_at or 0.0)
    examination.connected_bot()
    if waited < RETRY_MS / 1000 * 0.8:
        advice = "wait as long as Draining.retry_after_ms and RetryInfo say"
        return warn(f"came back after {waited:.1f} s, but was asked to wait {RETRY_MS / 1000:.0f} s", advice)
    return ok(f"came back after {waited:.1f} s, as it was asked")


def check_turned_away(examination: Examination) -> Finding:
    """Whether it gives up when it is told that trying again does not help."""
    examination.desk.refuse = _refuse_for_good
    count = len(examination.desk.conversations)
    try:
        examination.start_bot()
        with examination.news:
            examination.news.wait_for(lambda: len(examination.desk.conversations) > count, examination.patience)
        patient = examination.processes[-1]
        ended = patient.wait(REFUSED_SECONDS)
    finally:
        examination.desk.refuse = None
    tries = len(examination.desk.conversations) - count
    if ended and patient.exit_code:
        return ok(f"ended with exit code {patient.exit_code}: {patient.last_line}")
    advice = "end with an exit code and a sentence on FAILED_PRECONDITION, PERMISSION_DENIED or UNAUTHENTICATED"
    if tries > MOST_TRIES:
        return fail(f"tried {tries} times in {REFUSED_SECONDS:.0f} s, although it was turned away for good", advice)
    told = "ended as if all were well" if ended else f"still runs after {tries} tries"
    return warn(f"{told}, although it was turned away for good", advice)


def _in_a_game(examination: Examination) -> tuple[str, Conversation]:
    """A table where the bot is in the midst of a game."""
    conversation = examination.bot()
    table = examination.open_table(examination.table(rules=choice(options={"max_rounds": "3"})), "random")
    if not examination.wait(lambda: len(conversation.turns_at(table)) >= TURNS_BEFORE):
        raise Ailing(fail("did not answer", "see the check game"))
    return table, conversation


def _later(examination: Examination, than: Conversation) -> list[Conversation]:
    return [each for each in examination.desk.conversations if each.opened_at > than.opened_at]


def _came_back(examination: Examination, before: Conversation) -> Conversation:
    examination.wait(lambda: before.ended_at is not None)
    if not examination.wait(lambda: any(each.welcome is not None for each in _later(examination, before))):
        raise Ailing(fail(f"did not come back within {examination.patience:.0f} s", _BACK))
    return next(each for each in reversed(_later(examination, before)) if each.welcome is not None)


def _refuse_draining(context: grpc.ServicerContext) -> None:
    retry = error_details_pb2.RetryInfo(retry_delay=Duration(nanos=200_000_000))
    _end(context, grpc.StatusCode.UNAVAILABLE, "DRAINING", "the server is draining", retry)


def _refuse_for_good(context: grpc.ServicerContext) -> None:
    _end(context, grpc.StatusCode.FAILED_PRECONDITION, "FEATURE_MISSING", "this server lacks the feature 'telepathy'")


def _end(
    context: grpc.ServicerContext,
    code: grpc.StatusCode,
    reason: str,
    sentence: str,
    *more: error_details_pb2.RetryInfo,
) -> None:
    status = status_pb2.Status(code=code.value[0], message=sentence)
    for detail in (error_details_pb2.ErrorInfo(reason=reason, domain="rummy500"), *more):
        status.details.add().Pack(detail)
    context.set_trailing_metadata(((DETAILS, status.SerializeToString()),))
    context.abort(code, sentence)


CONNECTION_CHECKS = [
    Check("cut", "comes back when the line is cut", check_cut, needs=GAME),
    Check("restart", "comes back when the server was stopped and started", check_restart, needs=GAME),
    Check("drain", "comes back when a draining server said so", check_drain, needs=GAME, of_process=True),
    Check("turned-away", "gives up when it is turned away for good", check_turned_away, of_process=True),
]
