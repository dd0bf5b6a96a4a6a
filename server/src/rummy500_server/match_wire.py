"""Matches on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from rummy500.v1 import match_pb2, result_pb2
from rummy500_arena.ratio import Interval
from rummy500_server.match import Match
from rummy500_server.match_document import MatchState, Report
from rummy500_server.match_plan import spec_message
from rummy500_server.results import Termination
from rummy500_server.statistics_wire import pair_message, rating_into, result_into
from rummy500_server.status import bad_request
from rummy500_server.stopping_wire import state_message

LONGEST_TAIL = 8 << 10
MOST_PAIRS_AT_A_TIME = 28
"""Pairs of bots that a message of a match which goes on tells of."""
_STATE = {each: match_pb2.MatchState.Value(f"MATCH_STATE_{each.name}") for each in MatchState}
_TERMINATION = {each.name: result_pb2.Termination.Value(f"TERMINATION_{each.name}") for each in Termination}
_REPORTED = {
    result_pb2.TERMINATION_START_FAILURE: Termination.START_FAILURE,
    result_pb2.TERMINATION_CRASH: Termination.CRASH,
}


def match_message(match: Match) -> match_pb2.Match:
    """The match as it stands, as lists have it. What its packs follow from is told when it is over, and to nobody
    before."""
    document = match.document
    message = match_pb2.Match(
        name=document.name,
        plan=spec_message(document.spec, with_seed=match.is_revealed),
        state=_STATE[document.state],
        games_planned=match.plan.games,
        games_finished=match.statistics.games,
        reports=[_report_message(report) for report in document.reports],
        sentence=document.sentence,
        created=_timestamp(document.created_ms),
        rules_digest=document.digest,
        seatings=match.plan.seatings,
        is_paired=match.spec.is_paired,
        from_seed=match.spec.seed is not None,
        commitment=match.spec.committed_to(match.name),
        secret=match.spec.secret if match.is_revealed and match.spec.seed is None else b"",
        games_open=match.games_open,
        games_again=document.again,
        is_attended=match.is_attended,
        deals_counted=match.statistics.counted,
        deals_left_out=match.statistics.left_out,
    )
    if document.finished_ms:
        message.finished.CopyFrom(_timestamp(document.finished_ms))
    for bot, name in enumerate(match.spec.names):
        result = message.results.add(name=name)
        result_into(result, match.statistics, bot)
        if name in document.out:
            result.out = _TERMINATION[document.out[name].name]
    if match.spec.stopping is not None:
        state = state_message(match.spec.stopping, match.statistics, deals=match.plan.deals)
        message.stopping.CopyFrom(state)
    return message


async def full_match_message(match: Match) -> match_pb2.Match:
    """With its pairs, and where it is over with its ratings, which take their time."""
    ratings: Sequence[Interval] = ()
    if match.is_settled and len(match.spec.bots) > 2:
        ratings = await asyncio.to_thread(lambda: match.statistics.ratings)
    message = match_message(match)
    for result, rating in zip(message.results, ratings, strict=False):
        rating_into(result, rating)
    message.pairs.extend(pair_message(pair, match.statistics.pairs[pair]) for pair in sorted(match.statistics.pairs))
    return message


async def progress_message(match: Match) -> match_pb2.Match:
    """As it goes on: without its pairs where they are many."""
    is_short = match.is_settled or len(match.statistics.pairs) <= MOST_PAIRS_AT_A_TIME
    return await full_match_message(match) if is_short else match_message(match)


def _timestamp(milliseconds: int) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromMilliseconds(milliseconds)
    return timestamp


def _report_message(report: Report) -> match_pb2.BotReport:
    return match_pb2.BotReport(
        bot=report.bot,
        kind=_TERMINATION[report.kind.name],
        stderr_tail=report.stderr_tail,
        exit_code=report.exit_code,
        seating=report.seating,
        is_restarted=report.is_restarted,
        last_sent=report.last_sent,
    )


def read_report(message: match_pb2.BotReport, match: Match) -> Report:
    """Raises Failure BAD_REQUEST, naming the field."""
    if message.bot not in match.spec.names:
        raise bad_request("report.bot", f"{message.bot!r}: the bots are {', '.join(match.spec.names)}")
    if message.kind not in _REPORTED:
        raise bad_request("report.kind", "it is TERMINATION_START_FAILURE or TERMINATION_CRASH")
    if match.spec.bots[match.spec.names.index(message.bot)].builtin is not None:
        raise bad_request("report.bot", f"{message.bot} is the server's own")
    if len(message.stderr_tail.encode()) > LONGEST_TAIL:
        raise bad_request("report.stderr_tail", f"at most {LONGEST_TAIL} bytes")
    if message.last_sent:
        raise bad_request("report.last_sent", "leave it empty: the server sets it")
    seating = message.seating if message.HasField("seating") else None
    if seating is not None and seating >= match.plan.seatings:
        raise bad_request("report.seating", f"{seating}: a deal has seatings 0 to {match.plan.seatings - 1}")
    return Report(
        bot=message.bot,
        kind=_REPORTED[message.kind],
        stderr_tail=message.stderr_tail,
        exit_code=message.exit_code if message.HasField("exit_code") else None,
        seating=seating,
        is_restarted=message.is_restarted,
    )
