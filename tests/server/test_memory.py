"""What the server's memory is given back."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

FILLS_AND_LETS_GO = """
import ctypes, pathlib
from rummy500_server.memory import give_back

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

library = ctypes.CDLL(None)
before = resident()
blocks = [bytes(6_000) for _ in range(10_000)]
full = resident()
kept = blocks[::100]
del blocks
freed = resident()
give_back(library)
print(before, full, freed, resident())
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc, so nothing is done"
)
def test_what_is_free_between_blocks_that_stay_goes_back_to_the_system() -> None:
    ran = subprocess.run([sys.executable, "-c", FILLS_AND_LETS_GO], capture_output=True, text=True, check=True)
    before, full, freed, given = map(int, ran.stdout.split())
    assert freed - before > 0.9 * (full - before), "this does not show anything: it was not held"
    assert given - before < 0.5 * (full - before)
