"""Given seeds, kept out of the list of processes, where the bots that a match starts could read them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from rummy500_client.errors import ClientError

SEED, SEED_FILE = "--seed", "--seed-file"
_FILES = Path("/dev/fd")
"""Where a process finds its own open files; not on every system."""

Seed = TypeVar("Seed")


def add_seed(parser: argparse.ArgumentParser, *, metavar: str, what: str) -> None:
    given = parser.add_mutually_exclusive_group()
    given.add_argument(SEED, metavar=metavar, help=f"{what}; it is no fair deal then")
    given.add_argument(SEED_FILE, metavar="FILE", help="a file that holds the seed")


def read_seed(arguments: argparse.Namespace, read: Callable[[str], Seed]) -> Seed | None:
    """The seed that was given, if one was. `read` raises argparse.ArgumentTypeError. Raises ClientError."""
    text = arguments.seed
    if arguments.seed_file is not None:
        try:
            text = Path(arguments.seed_file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ClientError(f"{SEED_FILE} {arguments.seed_file} cannot be read: {error}") from None
    if text is None:
        return None
    try:
        return read(text)
    except argparse.ArgumentTypeError as error:
        raise ClientError(f"the seed: {error}") from None


def hide_seed(words: Sequence[str]) -> None:
    """Begins this program anew with the seed in a pipe, if it is among its arguments. Does not return then."""
    hidden = _without_seed(words)
    if hidden is None or not _FILES.is_dir():
        return
    seed, rest = hidden
    reading, writing = os.pipe()
    os.write(writing, seed.encode()[: os.pathconf(".", "PC_PIPE_BUF")])
    os.close(writing)
    os.set_inheritable(reading, True)
    program = sys.orig_argv[: len(sys.orig_argv) - len(words)]
    sys.stdout.flush()
    os.execv(sys.executable, [*program, *rest, SEED_FILE, str(_FILES / str(reading))])


def _without_seed(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The seed and the other words; None when there is no seed among them, or more than one is given."""
    if any(word.partition("=")[0] == SEED_FILE for word in words):
        return None
    for at, word in enumerate(words):
        if word.startswith(f"{SEED}="):
            return word.partition("=")[2], [*words[:at], *words[at + 1 :]]
        if word == SEED and at + 1 < len(words):
            return words[at + 1], [*words[:at], *words[at + 2 :]]
    return None
