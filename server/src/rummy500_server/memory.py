"""What a process that serves does about its memory: when cycles are looked for, and what goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from typing import Final

COLLECT_AFTER: Final = (50_000, 20, 50)
"""Objects made until the collector looks for cycles. Every look goes through all tables in memory: with the defaults
that took a tenth of the time under load. A table that is let go does not wait for it (`rummy500_server.part`)."""

MOST_ARENAS: Final = 2
"""Regions that the C library's malloc keeps. gRPC's threads would have one each, and what a burst of large requests
took would stay with the server: some 20 MB of 150 after a million bad ones."""
_M_ARENA_MAX: Final = -8

BETWEEN_GIFTS: Final = 30.0
"""Seconds. Of large and small blocks in turn, one small one that stays holds all that was freed below it: after half a
million bad requests two thirds of what malloc had was free, and never given back by itself."""


def keep_small() -> None:
    """From now on. Where the C library is not glibc, only the collector is set."""
    gc.set_threshold(*COLLECT_AFTER)
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt") and hasattr(library, "malloc_trim"):
        library.mallopt(_M_ARENA_MAX, MOST_ARENAS)
        threading.Thread(target=_go_on_giving, args=(library,), name="memory", daemon=True).start()


def _go_on_giving(library: ctypes.CDLL) -> None:
    while True:
        time.sleep(BETWEEN_GIFTS)
        give_back(library)


def give_back(library: ctypes.CDLL) -> None:
    """Whole pages that are free within what malloc has, to the system. Takes some milliseconds, without the
    interpreter's lock."""
    library.malloc_trim(0)
