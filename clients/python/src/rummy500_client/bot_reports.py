"""What was reported about the programs of a match's bots, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rummy500.v1.match_pb2 import Match
from rummy500_client.describe import termination_text


def bot_report_lines(match: Match) -> Iterator[str]:
    """For each bot how often its programs ended, and what the last of them said."""
    for bot in dict.fromkeys(report.bot for report in match.reports):
        reports = [report for report in match.reports if report.bot == bot]
        last, times = reports[-1], f", {len(reports)} times" if len(reports) > 1 else ""
        code = f", exit code {last.exit_code}" if last.HasField("exit_code") else ""
        yield f"bot {bot}: {termination_text(last.kind)}{times}{code}"
        if last.last_sent:
            yield f"  last sent: {last.last_sent}"
        yield from (f"  | {line}" for line in last.stderr_tail.strip().splitlines()[-5:])
