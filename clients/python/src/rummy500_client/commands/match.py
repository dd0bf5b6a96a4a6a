"""`rummy500 match`: run matches between bots, and look at them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rummy500.v1.match_pb2 import (
    MATCH_SCHEDULE_GAUNTLET,
    MATCH_SCHEDULE_POOL,
    MATCH_SCHEDULE_ROUND_ROBIN,
    MATCH_UNIT_DEAL,
    MATCH_UNIT_GAME,
    Match,
    MatchPlan,
)
from rummy500.v1.match_service_pb2 import CancelMatchRequest, GetMatchRequest, GetRecordRequest, ListMatchesRequest
from rummy500_client.clock_options import add_clock, read_clock
from rummy500_client.commands import match_files
from rummy500_client.errors import ClientError, ServerRefused
from rummy500_client.fair import match_problem
from rummy500_client.json_text import print_json
from rummy500_client.match_bots import BotSpec, read_bots
from rummy500_client.match_dry_run import Trial, ask_plan, plan_lines
from rummy500_client.match_file import MatchKeys
from rummy500_client.match_folder import MatchFolder, RunnerState, usual_name, wanted_of
from rummy500_client.match_outputs import RESULTS, FilingView, write_report
from rummy500_client.match_report import report_lines, state_text
from rummy500_client.match_run import MatchRunner, fetch_records, is_complete, is_going_on, resumable
from rummy500_client.match_view import open_view
from rummy500_client.match_watch import follow
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
from rummy500_client.screen import table_text
from rummy500_client.seeds import add_seed, read_seed
from rummy500_client.stopping_options import add_stopping

RECORDS = Path("rummy500-records")
NAME_OF_A_MATCH = re.compile(r"[\w-][\w.-]{0,63}")
INTERRUPTED = 130
FLAGS_ONLY = ("--json", "--seed-file", "--fresh", "--dry-run")
"""Flags of `match run` that a match file cannot say."""
UNITS = {"deal": MATCH_UNIT_DEAL, "game": MATCH_UNIT_GAME}
SCHEDULES = {
    "round-robin": MATCH_SCHEDULE_ROUND_ROBIN,
    "gauntlet": MATCH_SCHEDULE_GAUNTLET,
    "pool": MATCH_SCHEDULE_POOL,
}


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("match", help="matches between bots")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    keys = _add_run(actions)
    init = actions.add_parser("init", help="write a match file to begin with")
    init.add_argument("file", nargs="?", type=Path, default=Path("match.toml"), metavar="FILE", help="else match.toml")
    init.set_defaults(run=run_init, keys=keys)
    lists = actions.add_parser("list", help="the matches, newest first")
    lists.set_defaults(run=run_list)
    show = actions.add_parser("show", help="one match and its results")
    show.set_defaults(run=run_show)
    records = actions.add_parser("records", help="fetch the records of a match that is over")
    records.add_argument("--out", type=Path, metavar="FILE", help="else ./rummy500-records/MATCH.jsonl")
    records.set_defaults(run=run_records)
    watch = actions.add_parser("watch", help="look on at a match until it is over, whoever runs it")
    watch.set_defaults(run=run_watch)
    cancel = actions.add_parser("cancel", help="end a match of your own: what is open is not counted")
    cancel.set_defaults(run=run_cancel)
    match_files.add(actions)
    for parser in (show, records, watch, cancel):
        parser.add_argument("match", metavar="MATCH")
    for parser in (lists, show, records, watch, cancel):
        add_server(parser)
        add_json(parser)


def _add_run(actions: Subparsers) -> MatchKeys:
    parser = actions.add_parser(
        "run",
        help="play a match",
        description="Each flag is a key of the match file too, and overrides it. A bot is builtin:NAME, "
        "connected:NAME, FILE.py:CLASS, MODULE:CLASS or cmd:COMMAND, with NAME= before it if you like. Classes and "
        "commands are started here, one process for each seating of a deal. Exit code 0: all deals were played; 1: the "
        "match ended before; 2: it could not be begun; 130: it was interrupted. The same command again goes on where "
        "it was, also after a crash.",
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a match file, see `rummy500 match init`")
    parser.add_argument("--bot", action="append", default=[], metavar="BOT", help="who plays; two or more")
    parser.add_argument("--deals", type=between(1, 1_000_000), default=20, metavar="N", help="how many; default 20")
    add_seed(parser, metavar="N", what="the same seed gives the same packs")
    parser.add_argument("--unit", choices=sorted(UNITS), default="deal", help="one round a deal, or a whole game")
    parser.add_argument("--players", type=between(2, 8), default=0, metavar="N", help="seats, else one a bot")
    parser.add_argument(
        "--schedule", choices=SCHEDULES, default="round-robin", help="who meets, with more bots than seats"
    )
    parser.add_argument("--unpaired", action="store_true", help="packs of its own for each seating of a deal")
    add_stopping(parser)
    parser.add_argument("--concurrency", type=between(1, 1024), default=0, metavar="N", help="tables at a time")
    parser.add_argument("--records", type=Path, default=RECORDS, metavar="DIR", help=f"default ./{RECORDS}")
    parser.add_argument("--name", default="", metavar="NAME", help="its directory in DIR, else the names of its bots")
    parser.add_argument("--fresh", action="store_true", help="begin anew; an earlier match of that name is set aside")
    parser.add_argument(
        "--strikes", type=between(0, 1_000), metavar="N", help="so many faults put a bot out, 0 for never; default 3"
    )
    parser.add_argument(
        "--arrival", type=between(1, 3_600), default=30, metavar="SECONDS", help="for bots to connect; default 30"
    )
    add_rules(parser)
    add_clock(parser, is_match=True)
    add_server(parser, is_private=True)
    add_json(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show what the match comes to, and how long it will take by a trial of a few deals on a private server",
    )
    keys = MatchKeys(parser, flags_only=FLAGS_ONLY)
    parser.set_defaults(run=run, keys=keys)
    return keys


def run_init(arguments: argparse.Namespace) -> int:
    keys: MatchKeys = arguments.keys
    try:
        with arguments.file.open("x", encoding="utf-8") as file:
            file.write(keys.example())
    except FileExistsError:
        raise ClientError(f"{arguments.file} is there already: name another file") from None
    except OSError as error:
        raise ClientError(f"{arguments.file} cannot be written: {error.strerror}") from None
    print(f"{arguments.file}: look at it, then `rummy500 match run {arguments.file}`")
    return 0


def run(given: argparse.Namespace) -> int:
    keys: MatchKeys = given.keys
    arguments = keys.filled(given, given.file)
    specs = read_bots(arguments.bot)
    plan = MatchPlan(
        rules=read_rules(arguments),
        deals=arguments.deals,
        unit=UNITS[arguments.unit],
        players=arguments.players,
        schedule=SCHEDULES[arguments.schedule],
        unpaired=arguments.unpaired,
        concurrency=arguments.concurrency,
        clock=read_clock(arguments),
        strikes=arguments.strikes,
        arrival_ms=arguments.arrival * 1000,
    )
    if arguments.sprt is not None:
        plan.stopping.CopyFrom(arguments.sprt)
    seed = read_seed(arguments, between(0, 2**64 - 1))
    if seed is not None:
        plan.seed = seed
    if arguments.dry_run:
        return _dry_run(arguments, specs, plan)
    name, fresh = _read_match_name(arguments.name) or usual_name(specs), arguments.fresh
    wanted = wanted_of(plan, specs, server=arguments.server)
    with MatchFolder(arguments.records, name, fresh=fresh) as folder:
        state = folder.state(wanted)
        if state is not None and state.finished is not None:
            print(
                f"rummy500: this match is over already; --fresh begins it anew and keeps {folder.path}", file=sys.stderr
            )
            return _end(state.finished, folder, is_json=arguments.json)
        return _run(arguments, plan, specs, folder, state or RunnerState(wanted))


def _run(
    arguments: argparse.Namespace,
    plan: MatchPlan,
    specs: Sequence[BotSpec],
    folder: MatchFolder,
    state: RunnerState,
) -> int:
    """Plays the match, from its beginning or from where it was, and writes down what it came to."""
    own_database = not (arguments.server or arguments.database)
    if own_database:
        arguments.database = str(folder.database)
    with server_or_private(arguments) as connection:
        view = FilingView(open_view(), connection, folder.path)
        try:
            with MatchRunner(connection, specs, view, folder) as runner:
                match = runner.run(plan, state)
        finally:
            view.close()
        if is_going_on(match):
            _show(match, is_json=arguments.json)
            view.tell(f"paused: {match.sentence}; the same command goes on with it")
            return INTERRUPTED if runner.is_interrupted else 1
        if match.games_finished:
            try:
                fetch_records(connection, GetRecordRequest(match=match.name), folder.records)
            except ServerRefused as refused:
                raise resumable(refused) from None
    problem = ""
    folder.finish(state, match)
    if own_database:
        folder.drop_database()
    if folder.records.exists():
        with folder.records.open(encoding="utf-8") as lines:
            problem = match_problem(match, told=bytes.fromhex(state.commitment), records=lines)
    code = _end(match, folder, is_json=arguments.json)
    if problem:
        view.tell(f"NO FAIR DEALS: {problem}")
    return 1 if problem else code


def _end(match: Match, folder: MatchFolder, *, is_json: bool) -> int:
    results = folder.path / RESULTS
    _show(
        match,
        records=folder.records if folder.records.exists() else None,
        results=results if results.exists() else None,
        is_json=is_json,
    )
    return 0 if is_complete(match) else 1


def _read_match_name(name: str) -> str:
    if name and not NAME_OF_A_MATCH.fullmatch(name):
        raise ClientError(f"--name {name!r}: it is 1 to 64 letters, digits, dots, - and _, and no dot first")
    return name


def _dry_run(arguments: argparse.Namespace, specs: Sequence[BotSpec], plan: MatchPlan) -> int:
    """Only on a private server there is a trial: on somebody else's nothing is begun."""
    with server_or_private(arguments) as connection:
        planned = ask_plan(connection, specs, plan)
        if arguments.json:
            print_json(planned)
            return 0
        for line in plan_lines(planned, specs):
            print(line, flush=True)
        if arguments.server:
            return 0
        trial = Trial()
        trial.play(connection, specs, planned)
    for line in trial.lines(planned.games):
        print(line)
    return 1 if trial.has_failed else 0


def _show(match: Match, *, records: Path | None = None, results: Path | None = None, is_json: bool) -> None:
    """Prints the match and where its files are; makes its report where there are results."""
    report = write_report(results) if results is not None else None
    files = {"records": records, "results file": results, "report": report}
    if is_json:
        print_json(match, **{name.replace(" ", "_"): str(path) if path else None for name, path in files.items()})
        return
    for line in report_lines(match):
        print(line)
    for name, path in files.items():
        if path is not None:
            print(f"{name}: {path}")


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
    _show(match, is_json=arguments.json)
    return 0


def run_records(arguments: argparse.Namespace) -> int:
    path = arguments.out or RECORDS / f"{arguments.match}.jsonl"
    with connect(arguments) as connection:
        fetch_records(connection, GetRecordRequest(match=arguments.match), path)
    print(json.dumps({"records": str(path)}) if arguments.json else f"records: {path}")
    return 0


def run_watch(arguments: argparse.Namespace) -> int:
    view = open_view()
    with connect(arguments) as connection:
        match = Match()
        try:
            for match in follow(connection, arguments.match):
                if arguments.json:
                    print_json(match)
                else:
                    view.show(match)
        finally:
            view.close()
    if not arguments.json:
        _show(match, is_json=False)
    return 0 if is_complete(match) else 1


def run_cancel(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        request = CancelMatchRequest(match=arguments.match)
        match = connection.ask(connection.matches.CancelMatch, request).match
    _show(match, is_json=arguments.json)
    return 0
