"""What the commands that work on a database have in common: which one, names that are none, and refusals."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from rummy500_server.settings import Settings, variable

REFUSED = 2
"""Exit status of a command that could not do what it was told; it has done nothing."""
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60}


class CommandRefused(Exception):
    """Nothing was done; the sentence says why, and what to do."""


def add_database(parser: argparse.ArgumentParser) -> None:
    name = variable("database")
    parser.add_argument(
        "--database",
        type=Path,
        default=Path(os.environ.get(name, Settings().database)),
        metavar="FILE",
        help=f"the server's database; {name}, default %(default)s",
    )


def refuse(error: Exception | str) -> int:
    print(f"rummy500-server: {error}", file=sys.stderr)
    return REFUSED


def verify_known(name: str, names: Iterable[str], what: str) -> None:
    """Raises CommandRefused, with the names that are near."""
    known = list(names)
    if name in known:
        return
    near = [each for each in known if name and each.startswith(name)] or difflib.get_close_matches(name, known, 3, 0.5)
    hint = f": did you mean {' or '.join(near[:3])}?" if near else ""
    raise CommandRefused(f"there is no {what} {name!r}{hint}")


def read_age(text: str) -> int:
    """Seconds: `30d`, `12h` or `45m`. Raises argparse.ArgumentTypeError."""
    found = re.fullmatch(r"(\d{1,6})([dhm])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of days, hours or minutes is wanted, as 30d, 12h or 45m")
    return int(found[1]) * _SECONDS[found[2]]


def age_text(seconds: float) -> str:
    """In the largest unit that it has two of."""
    for unit, length in _SECONDS.items():
        if seconds >= 2 * length:
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def size_text(size: int) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if size < 10_240:
            return f"{size} {unit}"
        size = round(size / 1_024)
    return f"{size} GiB"
