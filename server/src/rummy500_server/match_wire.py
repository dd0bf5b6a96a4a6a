"""Matches on the wire."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from rummy500.v1 import match_pb2, result_pb2
from rummy500_server.match import Match
from rummy500_server.match_document import MatchState, Report
from rummy500_server.match_plan import spec_message
from rummy500_server.results import Termination
from rummy500_server.status import bad_request

LONGEST_TAIL = 8 << 10
_STATE = {each: match_pb2.MatchState.Value(f"MATCH_STATE_{each.name}") for each in MatchState}
_TERMINATION = {each.name: result_pb2.Termination.Value(f"TERMINATION_{each.name}") for each in Termination}
_REPORTED = {
    result_pb2.TERMINATION_START_FAILURE: Termination.START_FAILURE,
    result_pb2.TERMINATION_CRASH: Termination.CRASH,
}


def match_message(match: Match) -> match_pb2.Match:
    """The match as it stands. What its packs follow from is told when it is over, and to nobody before."""
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
    )
    if document.finished_ms:
        message.finished.CopyFrom(_timestamp(document.finished_ms))
    for bot in range(len(document.spec.bots)):
        _result_into(message.results.add(), match, bot)
    return message


def _result_into(message: match_pb2.BotResult, match: Match, bot: int) -> None:
    tally, effort = match.statistics.tallies[bot], match.efforts.by_bot[bot]
    points = tally.points_per_round
    message.name = match.spec.bots[bot].name
    message.games, message.rounds, message.wins, message.draws = tally.games, tally.rounds, tally.wins, tally.draws
    message.points_per_round, message.interval_low, message.interval_high = points.mean, points.low, points.high
    message.decisions, message.refusals, message.charged_ms = effort.decisions, effort.refusals, effort.charged_ms
    out = match.document.out.get(message.name)
    if out is not None:
        message.out = _TERMINATION[out.name]
    for name, number in _TERMINATION.items():
        if tally.terminations.get(name):
            message.terminations.add(termination=number, count=tally.terminations[name])


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
