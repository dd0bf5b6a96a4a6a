"""`rummy500 rules`: what a choice of preset, variants and options comes to, as a sheet."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rummy500.v1.rules_service_pb2 import ResolveRulesRequest
from rummy500_client.errors import ClientError
from rummy500_client.json_text import print_json
from rummy500_client.options import Subparsers, add_json, add_rules, add_server, between, read_rules, server_or_private
from rummy500_client.rules_page import rules_page


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("rules", help="the full rules of a table")
    parser.add_argument("--players", type=between(2, 8), default=2, metavar="N", help="seats, default 2")
    add_rules(parser)
    add_server(parser, is_private=True)
    add_json(parser)
    parser.add_argument("--html", type=Path, metavar="FILE", help="one page to print, with a blank score sheet")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    request = ResolveRulesRequest(choice=read_rules(arguments), players=arguments.players)
    with server_or_private(arguments) as connection:
        resolved = connection.ask(connection.rules.ResolveRules, request)
    if resolved.HasField("refused"):
        missing = resolved.refused.missing_distributions
        raise ClientError(resolved.refused.sentence + (f" (install {', '.join(missing)})" if missing else ""))
    if arguments.html is not None:
        _write(arguments.html, rules_page(resolved.rules))
    if arguments.json:
        print_json(resolved.rules)
    elif arguments.html is None:
        print(resolved.rules.sheet.rstrip())
    return 0


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None
    print(path, file=sys.stderr)
