"""Compiles the inner rooms of the engine and what the server does for every decision, with mypyc: the same source,
beside it a library, several times as fast.

`python server/compile_rooms.py OUT` copies the packages to OUT and builds the libraries there; a process that has OUT
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
ENGINE, SERVER = "rummy500_engine", "rummy500_server"
INTERPRETED = (
    "__init__", "answers", "calls", "classic", "hooks", "notation", "plugins", "position", "refusals", "scenario",
    "terms",
)  # fmt: skip
"""Of the engine, what talks to plugins or to people, and what others derive from: nothing there is asked often."""
COMPILED = (
    "acting", "clock", "decision_requests", "entries", "play_stream", "player", "table_events",
    "translate/actions", "translate/cards", "translate/events", "translate/pieces", "translate/views",
)  # fmt: skip
"""Of the server, what a decision passes through. The keeper is not among them: compiled functions have no frames, and
from its frame the watchdog tells which table is held up. Nor are its parts: a compiled class that is derived from one
that is not does not end the weak references to what is let go. Nor are the table and its log, which tests break on
purpose: of a compiled class nothing can be derived or replaced."""


def compile_rooms(out: Path) -> None:
    """Makes a copy of the packages in `out` with their libraries, in one step: nobody sees half of it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        fresh = Path(scratch, "fresh")
        for package in (ENGINE, SERVER):
            shutil.copytree(SOURCE / package, fresh / package, ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(fresh)
        _build(fresh)
        shutil.rmtree(fresh / "build")
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)


def _build(fresh: Path) -> None:
    options = ["--config-file=", "--ignore-missing-imports", f"--cache-dir={fresh / 'build' / 'mypy'}"]
    engine = sorted(path.stem for path in (fresh / ENGINE).glob("*.py") if path.stem not in INTERPRETED)
    libraries: list[tuple[list[str], str | None]] = [
        ([f"{ENGINE}/{name}.py" for name in engine], ENGINE),
        ([f"{SERVER}/{name}.py" for name in COMPILED], SERVER),
    ]
    modules = [module for names, _ in libraries for module in names]
    extensions = mypycify([*options, *modules], opt_level="2", debug_level="0", separate=libraries)
    distribution = Distribution({"name": "rummy500", "ext_modules": extensions})
    build = distribution.get_command_obj("build_ext")
    build.inplace, build.parallel = True, True
    build.ensure_finalized()
    build.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python server/compile_rooms.py OUT")
    compile_rooms(Path(sys.argv[1]).resolve())
