"""`rummy500 scenario run`: scenario files against a server, one line a scenario."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rummy500_client.options import Subparsers, add_server, server_or_private
from rummy500_client.scenario_file import NotAScenario, Scenario, read_scenarios
from rummy500_client.scenario_run import Outcome, Runner
from rummy500_client.screen import Paint, has_colour

AT_A_TIME = 16
"""Scenarios that are run together: most of their time is the wait of a call window."""


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("scenario", help="run scenario files")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    run_parser = actions.add_parser(
        "run", help="exit 0: all hold, 1: one fails, 2: a file is no scenario or the server fails"
    )
    run_parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    run_parser.add_argument("--quiet", action="store_true", help="only what fails, and the last line")
    add_server(run_parser, is_private=True)
    run_parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    scenarios = [(path, scenario) for path in arguments.files for scenario in read_scenarios(path)]
    paint = Paint(is_on=has_colour(sys.stdout))
    outcomes = []
    with server_or_private(arguments) as connection:
        runner = Runner(connection)
        pool = ThreadPoolExecutor(AT_A_TIME)
        try:
            for outcome in pool.map(lambda each: _run_one(runner, *each), scenarios):
                outcomes.append(outcome)
                if outcome.difference or not arguments.quiet:
                    print(_line(outcome, paint), flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    failed = sum(1 for outcome in outcomes if outcome.difference)
    skipped = sum(1 for outcome in outcomes if outcome.missing)
    told = f"{len(outcomes) - failed - skipped} hold, {failed} fail"
    print(f"{told}, {skipped} not run: a variant or preset is not installed" if skipped else told)
    return 1 if failed else 0


def _run_one(runner: Runner, path: Path, scenario: Scenario) -> Outcome:
    try:
        return runner.run(scenario)
    except NotAScenario as error:
        raise NotAScenario(f"{path}: {error.sentence}") from None


def _line(outcome: Outcome, paint: Paint) -> str:
    name = f"{outcome.scenario.id:12} {outcome.scenario.title}"
    if outcome.missing:
        return f"{paint('yellow', 'skip')} {name}: {outcome.missing}"
    if outcome.difference:
        return f"{paint('red', 'FAIL')} {name}\n     {outcome.difference}"
    return f"{paint('green', 'ok  ')} {name}"
