"""`rummy500 match report` and `rummy500 match export`: what a results file says, for people and for programs."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rummy500.v1.match_service_pb2 import GetMatchRequest
from rummy500_client.errors import ClientError
from rummy500_client.match_export import KINDS, export, read_lines, rows_of
from rummy500_client.match_outputs import write_report
from rummy500_client.match_results import ResultsFile
from rummy500_client.options import Subparsers, add_server, connect


def add(actions: Subparsers) -> None:
    report = actions.add_parser("report", help="a page of a results file, to be looked at in a browser")
    report.add_argument("results", type=Path, metavar="RESULTS", help="the results.jsonl of a match")
    report.add_argument("-o", "--out", type=Path, metavar="FILE", help="else report.html beside it")
    report.set_defaults(run=run_report)
    exports = actions.add_parser(
        "export",
        help="a table of a match, a row for each seat of each seating",
        description="Of a results file, or of a match on a server.",
    )
    exports.add_argument("match", metavar="RESULTS|MATCH", help="a results.jsonl, or the name of a match on the server")
    kinds = exports.add_mutually_exclusive_group(required=True)
    for kind in KINDS:
        kinds.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {KINDS[kind]}")
    add_server(exports)
    exports.set_defaults(run=run_export)


def run_report(arguments: argparse.Namespace) -> int:
    print(f"report: {write_report(arguments.results, arguments.out)}")
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    kind = next(kind for kind in KINDS if getattr(arguments, kind) is not None)
    path: Path = getattr(arguments, kind)
    results = Path(arguments.match)
    with tempfile.TemporaryDirectory() as directory:
        if not results.is_file():
            if results.suffix:
                raise ClientError(f"{results} is not there")
            results = _fetched(arguments, Path(directory))
        count = export(rows_of(read_lines(results)), path, kind=kind)
    print(f"{path}: {count} rows")
    return 0


def _fetched(arguments: argparse.Namespace, directory: Path) -> Path:
    """The results of a match on a server, as far as it is."""
    with connect(arguments) as connection:
        match = connection.ask(connection.matches.GetMatch, GetMatchRequest(match=arguments.match)).match
        file = ResultsFile(directory / "results.jsonl", connection)
        file.follow(match)
    return file.path
