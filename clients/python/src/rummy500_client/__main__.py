"""The `rummy500` command: its subcommands are modules of `commands` and those that other distributions add."""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # read when grpc is imported, which would talk of its own else

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points, version
from types import FrameType
from typing import NoReturn

from rummy500_client.commands import (
    bot,
    demo,
    leaderboard,
    match,
    play,
    player,
    rules,
    scenario,
    tables,
    variants,
    watch,
)
from rummy500_client.errors import ClientError
from rummy500_client.options import Subparsers
from rummy500_client.seeds import hide_seed

GROUP = "rummy500.commands"
"""Entry points of this group are callables `add(subparsers) -> None`. Each adds a parser whose default `run` is a
callable that takes the arguments and returns the exit code."""
OWN = (play, player, leaderboard, watch, tables, variants, rules, match, bot, scenario, demo)
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminated)
    # Whoever starts this in the background may have it ignored, but an interrupt must end what was started.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = sys.argv[1:] if argv is None else list(argv)
    if argv is None and words[:1] in (["match"], ["play"]):
        hide_seed(words)
    # What others add is loaded only where it may be wanted: a bot's process must start quickly.
    is_own = bool(words) and words[0] in {command.__name__.rpartition(".")[2] for command in OWN}
    arguments = _parser(with_others=not is_own).parse_args(words)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
        return code
    except ClientError as error:
        return _fail(error.sentence, error.exit_code)
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone; nothing is left to say, and the interpreter must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _fail(sentence: str, code: int) -> int:
    print(f"rummy500: {sentence}", file=sys.stderr)
    return code


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _parser(*, with_others: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rummy500", description="Play Rummy 500, watch it, and let bots play it.")
    parser.add_argument("--version", action="version", version=f"rummy500 {version('rummy500-client')}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in OWN:
        command.add(subparsers)
    for point in sorted(entry_points(group=GROUP) if with_others else (), key=lambda point: point.name):
        try:
            point.load()(subparsers)
        except Exception as error:
            where = (point.dist and point.dist.name) or point.value
            _add_broken(subparsers, point.name, f"{point.name} of {where} cannot be loaded: {error}")
    return parser


def _add_broken(subparsers: Subparsers, name: str, sentence: str) -> None:
    """A command that cannot be loaded hurts those only who use it."""

    def run(arguments: argparse.Namespace) -> int:
        raise ClientError(sentence)

    broken = subparsers.add_parser(name, help="cannot be loaded")
    broken.add_argument("rest", nargs=argparse.REMAINDER)
    broken.set_defaults(run=run)


if __name__ == "__main__":
    sys.exit(main())
