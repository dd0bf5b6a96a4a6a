"""Ends the bots of a runner that is not there any more: a process of its own, which nothing that ends the runner ends.

Each line of its standard input is `+` and a process group that was started, or `-` and one that has ended. When the
input ends, whatever is left is killed. It imports nothing of the package, so that it is there at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
