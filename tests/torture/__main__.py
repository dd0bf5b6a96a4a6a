"""Long proofs of what a server survives: `python -m tests.torture PROGRAM`; each program has --help."""

from __future__ import annotations

import importlib
import os
import sys

PROGRAMS = ("fuzz", "kills", "matches", "power", "soak")
"""Modules of this package, each with `main(arguments)` that answers an exit status."""


def main() -> int:
    name, *arguments = sys.argv[1:] or [""]
    if name not in PROGRAMS:
        print(f"python -m tests.torture PROGRAM …: the programs are {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # a line for every connection that breaks says nothing new
    status: int = importlib.import_module(f"tests.torture.{name}").main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
