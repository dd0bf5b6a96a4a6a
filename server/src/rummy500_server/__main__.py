"""The command `rummy500-server`: `serve`, and what a host does beside it."""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # read when grpc is imported, which would talk of its own else

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from rummy500_server.commands import backup, check, export, health, inspect, prune, serve, tables, token

COMMANDS = (serve, health, tables, inspect, check, export, backup, prune, token)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="rummy500-server", description="The Rummy 500 game server.")
    parser.add_argument("--version", action="version", version=version("rummy500"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
