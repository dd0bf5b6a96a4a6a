"""`rummy500 match`: run matches between bots, and look at them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rummy500.v1.match_pb2 import MATCH_UNIT_DEAL, MATCH_UNIT_GAME, Match, MatchPlan
from rummy500.v1.match_service_pb2 import GetMatchRequest, GetRecordRequest, ListMatchesRequest
from rummy500_client.clock_options import add_clock, read_clock
from rummy500_client.fair import match_problem
from rummy500_client.json_text import print_json
from rummy500_client.match_bots import read_bots
from rummy500_client.match_report import progress_text, report_lines, state_text
from rummy500_client.match_run import MatchRunner, Progress, fetch_records, is_complete, make_directory
from rummy500_client.options import (
    Subparsers,
    add_json,
    add_rules,
    add_server,
    between,
    connect,
    read_rules,
    server_or_private,
)
from rummy500_client.screen import ProgressLine, table_text
from rummy500_client.seeds import add_seed, read_seed

RECORDS = Path("rummy500-records")
UNITS = {"deal": MATCH_UNIT_DEAL, "game": MATCH_UNIT_GAME}


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("match", help="matches between bots")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_run(actions)
    lists = actions.add_parser("list", help="the matches, newest first")
    lists.set_defaults(run=run_list)
    show = actions.add_parser("show", help="one match and its results")
    show.set_defaults(run=run_show)
    records = actions.add_parser("records", help="fetch the records of a match that is over")
    records.add_argument("--out", type=Path, metavar="FILE", help="else ./rummy500-records/MATCH.jsonl")
    records.set_defaults(run=run_records)
    for parser in (show, records):
        parser.add_argument("match", metavar="MATCH")
    for parser in (lists, show, records):
        add_server(parser)
        add_json(parser)


def _add_run(actions: Subparsers) -> None:
    parser = actions.add_parser(
        "run",
        help="play a match",
        description="A bot is builtin:NAME, connected:NAME, FILE.py:CLASS, MODULE:CLASS or cmd:COMMAND, with NAME= "
        "before it if you like. Classes and commands are started here, one process for each seating of a deal. "
        "Exit code 0: all deals were played; 1: the match ended before; 2: it could not be begun.",
    )
    parser.add_argument("--bot", action="append", default=[], metavar="BOT", help="twice or more")
    parser.add_argument("--deals", type=between(1, 1_000_000), default=20, metavar="N", help="default 20")
    add_seed(parser, metavar="N", what="the same seed gives the same packs")
    parser.add_argument("--unit", choices=sorted(UNITS), default="deal", help="one round a deal, or a whole game")
    parser.add_argument("--players", type=between(2, 8), default=0, metavar="N", help="seats, else one a bot")
    parser.add_argument("--concurrency", type=between(1, 1024), default=0, metavar="N", help="tables at a time")
    parser.add_argument("--records", type=Path, default=RECORDS, metavar="DIR", help=f"default ./{RECORDS}")
    add_rules(parser)
    add_clock(parser, is_match=True)
    add_server(parser, is_private=True)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    specs = read_bots(arguments.bot)
    plan = MatchPlan(
        rules=read_rules(arguments),
        deals=arguments.deals,
        unit=UNITS[arguments.unit],
        players=arguments.players,
        concurrency=arguments.concurrency,
        clock=read_clock(arguments),
    )
    seed = read_seed(arguments, between(0, 2**64 - 1))
    if seed is not None:
        plan.seed = seed
    make_directory(arguments.records)
    line = ProgressLine()

    def tell(sentence: str) -> None:
        line.clear()
        print(f"rummy500: {sentence}", file=sys.stderr, flush=True)

    progress = Progress(show=lambda match: line.show(progress_text(match)), tell=tell)
    with server_or_private(arguments) as connection:
        try:
            with MatchRunner(connection, specs, progress) as runner:
                match = runner.run(plan)
        finally:
            line.clear()
        records, problem = None, ""
        try:
            if match.games_finished:
                path = arguments.records / f"{match.name}.jsonl"
                records = fetch_records(connection, GetRecordRequest(match=match.name), path)
                with records.open(encoding="utf-8") as lines:
                    problem = match_problem(match, told=runner.commitment, records=lines)
        finally:
            _show(match, records=records, is_json=arguments.json)
    if problem:
        tell(f"NO FAIR DEALS: {problem}")
    return 0 if is_complete(match) and not problem else 1


def _show(match: Match, *, records: Path | None, is_json: bool) -> None:
    if is_json:
        print_json(match, records=str(records) if records else None)
        return
    for line in report_lines(match):
        print(line)
    if records is not None:
        print(f"records: {records}")


def run_list(arguments: argparse.Namespace) -> int:
    matches: list[Match] = []
    with connect(arguments) as connection:
        request = ListMatchesRequest(page_size=100)
        while True:
            page = connection.ask(connection.matches.ListMatches, request)
            matches.extend(page.matches)
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
    if arguments.json:
        for match in matches:
            print_json(match)
        return 0
    if not matches:
        print("no matches")
        return 0
    rows = [
        [
            match.name,
            state_text(match),
            f"{match.games_finished}/{match.games_planned}",
            ", ".join(bot.name for bot in match.plan.bots),
        ]
        for match in matches
    ]
    for line in table_text(["match", "state", "games", "bots"], rows):
        print(line)
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        match = connection.ask(connection.matches.GetMatch, GetMatchRequest(match=arguments.match)).match
    _show(match, records=None, is_json=arguments.json)
    return 0


def run_records(arguments: argparse.Namespace) -> int:
    path = arguments.out or RECORDS / f"{arguments.match}.jsonl"
    with connect(arguments) as connection:
        fetch_records(connection, GetRecordRequest(match=arguments.match), path)
    print(json.dumps({"records": str(path)}) if arguments.json else f"records: {path}")
    return 0
