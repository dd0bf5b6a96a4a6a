"""The stopping rule of a match on the command line."""

from __future__ import annotations

import argparse

from rummy500.v1.match_pb2 import StoppingRule

SPRT = "difference0=X,difference1=Y[,alpha=A,beta=B,bot=NAME,other=NAME]"
_NUMBERS, _NAMES = ("difference0", "difference1", "alpha", "beta"), ("bot", "other")


def add_stopping(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sprt",
        type=read_stopping,
        metavar=SPRT,
        help="stop as soon as a sequential test tells whether bot less other (else the first less the second) is X or "
        "Y points a round; alpha and beta are its error rates, 0.05 each",
    )


def read_stopping(text: str) -> StoppingRule:
    """Raises argparse.ArgumentTypeError."""
    rule = StoppingRule()
    given: set[str] = set()
    for part in text.split(","):
        key, _, value = (each.strip() for each in part.partition("="))
        if key not in (*_NUMBERS, *_NAMES) or not value:
            raise argparse.ArgumentTypeError(f"{part.strip()!r}: it is {SPRT}")
        given.add(key)
        try:
            setattr(rule, key, value if key in _NAMES else float(value))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{key} is {value!r}, but a number is wanted") from None
    if "difference1" not in given:
        raise argparse.ArgumentTypeError(f"difference1 is missing: it is {SPRT}")
    return rule
