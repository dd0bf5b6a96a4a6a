"""`rummy500 demo`: a private server and two bots in processes of their own play a short match."""

from __future__ import annotations

import argparse
from pathlib import Path

from rummy500_client.commands import match
from rummy500_client.options import Subparsers, add_server

BOTS = ("rummy500_client.examples.easy:EasyBot", "rummy500_client.examples.mybot:MyBot")
DEALS = 20
SEED = "500"


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("demo", help="watch two bots play a match of 20 deals")
    add_server(parser, is_private=True)
    parser.add_argument("--records", type=Path, default=match.RECORDS, metavar="DIR", help=f"default ./{match.RECORDS}")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    print(f"a match of {DEALS} duplicate deals: each bot is a process that connects to the server over gRPC")
    words = ["match", "run", "--deals", str(DEALS), "--seed", SEED, "--fresh", "--records", str(arguments.records)]
    for bot in BOTS:
        words += ["--bot", bot]
    parser = argparse.ArgumentParser()
    match.add(parser.add_subparsers())
    wanted = parser.parse_args(words)
    return match.run(argparse.Namespace(**vars(wanted) | vars(arguments)))
