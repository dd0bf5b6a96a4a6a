"""Compiles the inner rooms of the engine with mypyc: the same source, beside it a library, several times as fast. Of
the server it compiles what writes views and events, so that a decision gains as well.

`python server/compile_engine.py OUT` copies the packages to OUT and builds the libraries there; a process that has OUT
on its PYTHONPATH plays with them. The source tree is never touched. It needs mypy and a C compiler.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from mypyc.build import mypycify
from setuptools import Distribution

SOURCE = Path(__file__).resolve().parent / "src"
COMPILED = {
    "rummy500_engine": (
        "actions", "cards", "events", "finish", "game", "legal", "melds", "pieces", "restrictions", "round", "rules",
        "shuffle", "terms", "view",
    ),
    "rummy500_server": (
        "acting", "clock", "commits", "entries", "eventlog", "keeper", "player", "scribe", "table", "table_events",
        "translate/actions", "translate/cards", "translate/events", "translate/pieces", "translate/views",
    ),
}  # fmt: skip
"""All that a move goes through. What talks to plugins or to people stays interpreted: nothing there is asked often."""
LIBRARY = "rummy500_compiled"


def compile_engine(out: Path) -> None:
    """Makes a copy of the packages in `out` with their libraries, in one step: nobody sees half of it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        fresh = Path(scratch, "fresh")
        for package in COMPILED:
            shutil.copytree(SOURCE / package, fresh / package, ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(fresh)
        _build(fresh)
        shutil.rmtree(fresh / "build")
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)


def _build(fresh: Path) -> None:
    options = ["--config-file=", "--ignore-missing-imports", f"--cache-dir={fresh / 'build' / 'mypy'}"]
    modules = [f"{package}/{name}.py" for package, names in COMPILED.items() for name in names]
    extensions = mypycify([*options, *modules], opt_level="3", debug_level="0", group_name=LIBRARY)
    distribution = Distribution({"name": LIBRARY, "ext_modules": extensions})
    build = distribution.get_command_obj("build_ext")
    build.inplace = True
    build.ensure_finalized()
    build.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python server/compile_engine.py OUT")
    compile_engine(Path(sys.argv[1]).resolve())
