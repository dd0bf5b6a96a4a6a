"""`rummy500 bot doctor`: examines a bot and says what to do."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from rummy500_client.clock_options import seconds
from rummy500_client.doctor.checkup import all_checks, examine, selected
from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Finding, Verdict
from rummy500_client.errors import ClientError
from rummy500_client.match_bots import read_bot
from rummy500_client.options import Subparsers, add_json, between
from rummy500_client.screen import Paint, has_colour

_STYLES = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red", Verdict.SKIP: "dim"}


def add(actions: Subparsers) -> None:
    parser = actions.add_parser(
        "doctor",
        help="examine a bot",
        description="Starts the bot, lets it play on a private server, and says what is wrong with it and what to do. "
        "Exit code 0: no check failed; 1: one did; 2: it could not be examined.",
    )
    parser.add_argument("bot", metavar="BOT", help="FILE.py:CLASS, MODULE:CLASS, cmd:COMMAND or dial:HOST:PORT")
    parser.add_argument(
        "--only", metavar="CHECK,…", default="", help="these checks only, `preset` for all of that kind"
    )
    parser.add_argument("--list", action="store_true", help="say which checks there are, and make none")
    parser.add_argument(
        "--clock", type=seconds(0.05), default=10_000, metavar="SECONDS", help="for one decision, default 10"
    )
    parser.add_argument(
        "--patience", type=seconds(1), default=30_000, metavar="SECONDS", help="for one thing to happen, default 30"
    )
    parser.add_argument(
        "--games", type=between(24, 100_000), default=40, metavar="N", help="after which its memory is looked at"
    )
    parser.add_argument("--show-stderr", action="store_true", help="show what the bot writes to its standard error")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    spec = read_bot(arguments.bot)
    if not spec.is_started_here:
        raise ClientError(
            f"{arguments.bot!r} is not started here: give FILE.py:CLASS, MODULE:CLASS, cmd:COMMAND or dial:HOST:PORT"
        )
    clock, patience = arguments.clock / 1000, arguments.patience / 1000
    counts: Counter[Verdict] = Counter()
    with Examination(clock, patience, arguments.games, arguments.show_stderr) as examination:
        examination.admit(spec)
        checks = selected(all_checks(examination), [name.strip() for name in arguments.only.split(",") if name.strip()])
        if arguments.list:
            for check in checks:
                named = {"check": check.name, "what": check.what}
                print(json.dumps(named) if arguments.json else f"{check.name:20} {check.what}")
            return 0
        for check, finding in examine(examination, checks):
            counts[finding.verdict] += 1
            if arguments.json:
                print(_as_json(check.name, check.what, finding), flush=True)
            else:
                _show(check.name, check.what, finding)
    if not arguments.json:
        print(", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict))
    return 1 if counts[Verdict.FAIL] else 0


def _show(name: str, what: str, finding: Finding) -> None:
    paint = Paint(is_on=has_colour(sys.stdout))
    print(
        f"{paint(_STYLES[finding.verdict], f'{finding.verdict.value:4}')}  {name:20} {what}: {finding.seen}", flush=True
    )
    if finding.advice:
        print(f"{'':28}{paint('bold', '->')} {finding.advice}", flush=True)


def _as_json(name: str, what: str, finding: Finding) -> str:
    return json.dumps(
        {
            "check": name,
            "what": what,
            "verdict": finding.verdict.value,
            "seen": finding.seen,
            "advice": finding.advice,
        }
    )
