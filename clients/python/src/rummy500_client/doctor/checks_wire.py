"""Does it bear what it does not know? What a newer server, a stranger's variant or a bad moment may send."""

from __future__ import annotations

from rummy500.v1.event_pb2 import Event
from rummy500.v1.play_service_pb2 import DecisionRefused, DecisionRequest, GameOver, PlayResponse
from rummy500.v1.refusal_pb2 import REFUSAL_REASON_CARD_NOT_IN_HAND, Refusal
from rummy500.v1.result_pb2 import TERMINATION_CANCELLED, GameResult
from rummy500.v1.variant_part_pb2 import VariantPart
from rummy500.v1.view_pb2 import PHASE_UNSPECIFIED
from rummy500_client.doctor.check import Check
from rummy500_client.doctor.checks_play import GAME
from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Finding, fail, ok, warn
from rummy500_client.doctor.script import Script, answer_text, is_legal
from rummy500_client.notation import card_text

_LATER = b"\xfa\xff\x07\x05later"
"""A field with number 16,383, which no message of ours has."""
BATCH = 16
SHORT_MS = 300


def check_unknown_fields(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    request.view.MergeFromString(_LATER)
    request.MergeFromString(_LATER)
    game.rules.MergeFromString(_LATER)
    message = PlayResponse(games_started=[game], decision_requests=[request]).SerializeToString() + _LATER
    script.send(_LATER, message)
    return ok(f"answered {answer_text(script.answer(game.table))}")


def check_unknown_event(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    request.events.append(Event.FromString(Event(sequence=request.sequence).SerializeToString() + _LATER))
    return ok(f"answered {answer_text(script.ask(game, request))}")


def check_unknown_variant(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    part = VariantPart(variant="zebra", name="stripes", text="zebra: seven stripes")
    part.fields.update({"stripes": [1, {"two": None}], "is_wild": True})
    request.view.variant_parts.append(part)
    request.events.append(Event(sequence=request.sequence, variant_part=part))
    request.view.legal_actions.others.append(VariantPart(variant="zebra", name="stampede", text="stampede"))
    return ok(f"answered {answer_text(script.ask(game, request))}")


def check_unknown_phase(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    request.view.phase, request.view.phase_name = PHASE_UNSPECIFIED, "zebra.crossing"
    request.view.legal_actions.Clear()
    request.view.legal_actions.complete = True
    for name in ("walk", "wait"):
        request.view.legal_actions.others.append(VariantPart(variant="zebra", name=name, text=name))
    turn = script.ask(game, request)
    if is_legal(turn):
        return ok(f"answered {answer_text(turn)}")
    return fail(
        f"answered {answer_text(turn)!r}, but only walk and wait were legal",
        "where you know none of the legal actions, send any that is listed: view.legal_actions.others too",
    )


def check_nothing(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    unknown = GameOver(table="t-unknown", result=GameResult(termination=TERMINATION_CANCELLED))
    script.send(b"", PlayResponse(games_over=[unknown]))
    script.ask(game, script.request(game))
    return ok("passed over an empty message and the end of a game that it did not know")


def check_refused(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    first = script.ask(game, script.request(game))
    said = answer_text(first)
    refusal = Refusal(
        reason=REFUSAL_REASON_CARD_NOT_IN_HAND, code="CARD_NOT_IN_HAND", sentence="that card is not in your hand"
    )
    again = DecisionRequest()
    again.CopyFrom(first.request)
    again.refusal.CopyFrom(refusal)
    again.refusals_left = 4
    again.ClearField("events")
    _take_out(again, said)
    refused = DecisionRefused(table=game.table, sequence=again.sequence, status=9, refusal=refusal)
    script.send(PlayResponse(refusals=[refused], decision_requests=[again]))
    second = script.answer(game.table, 2)
    if answer_text(second) == said:
        return fail(
            f"answered {said} again after it was refused",
            "decide anew from the request that follows a refusal; five refusals in one turn finish it",
        )
    return ok(f"answered {answer_text(second)} after {said} was refused")


def _take_out(request: DecisionRequest, action: str) -> None:
    """The listing without that action, as if the rules forbade it."""
    legal = request.view.legal_actions
    kept = [card for card in legal.discards if f"discard {card_text(card)}" != action]
    del legal.discards[:]
    legal.discards.extend(kept)
    if action == "draw":
        legal.can_draw = False


def check_batch(examination: Examination) -> Finding:
    script = Script(examination)
    games = [script.game() for _ in range(BATCH)]
    before = script.conversation.messages
    requests = [script.request(game) for game in games]
    script.send(PlayResponse(games_started=games, decision_requests=requests))
    for game in games:
        script.answer(game.table)
    messages = script.conversation.messages - before
    if messages > 1:
        advice = "answer what came together in one PlayRequest: at many tables that is several times as fast"
        return warn(f"answered {BATCH} requests of one message in {messages} messages", advice)
    return ok(f"answered {BATCH} requests of one message in one message")


def check_rules_wanted(examination: Examination) -> Finding:
    """A request whose rules were never sent on this stream."""
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    bare = script.game()
    bare.table = game.table
    bare.ClearField("rules")
    bare.rules_digest = request.rules_digest = "0" * 64
    script.send(PlayResponse(games_started=[bare], decision_requests=[request]))
    conversation = script.conversation
    examination.wait(lambda: game.table in conversation.rules_wanted or conversation.turns_at(game.table))
    if conversation.turns_at(game.table):
        return ok("plays without the full rules")
    if game.table not in conversation.rules_wanted:
        return fail("neither answered nor asked for the rules", "send PlayRequest.rules_wanted, or play without them")
    game.rules_digest = game.rules.digest = request.rules_digest
    script.ask(game, request)
    return ok("asked for the rules, and answered when it had them")


def check_asked_again(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    script.ask(game, request)
    script.send(PlayResponse(decision_requests=[request]))
    script.answer(game.table, 2)
    return ok("answers the same request again")


def check_short_time(examination: Examination) -> Finding:
    script = Script(examination)
    game = script.game()
    request = script.request(game)
    request.time_left_ms = SHORT_MS
    turn = script.ask(game, request)
    if turn.seconds * 1000 > SHORT_MS:
        return warn(
            f"took {turn.seconds * 1000:.0f} ms where time_left_ms was {SHORT_MS}",
            "look at time_left_ms before thinking",
        )
    return ok(f"took {turn.seconds * 1000:.0f} ms where time_left_ms was {SHORT_MS}")


WIRE_CHECKS = [
    Check("unknown-fields", "passes over fields that it does not know", check_unknown_fields, needs=GAME),
    Check("unknown-event", "passes over an event that it does not know", check_unknown_event, needs=GAME),
    Check("unknown-variant", "plays on with a variant that it does not know", check_unknown_variant, needs=GAME),
    Check("unknown-phase", "acts in a phase that it does not know", check_unknown_phase, needs=GAME),
    Check("nothing", "passes over what does not concern it", check_nothing, needs=GAME),
    Check("refused", "answers something else after a refusal", check_refused, needs=GAME),
    Check("batch", "answers many requests together", check_batch, needs=GAME),
    Check("rules-wanted", "asks for rules that it was not sent", check_rules_wanted, needs=GAME),
    Check("asked-again", "answers a request that comes twice", check_asked_again, needs=GAME),
    Check("short-time", "looks at the time that is left", check_short_time, needs=GAME),
]
