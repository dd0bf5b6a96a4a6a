"""Compiles the inner rooms of the engine with mypyc: the same source, beside it a library, several times as fast.

`python server/compile_engine.py OUT` copies the package to OUT and builds the libraries there; a process that has OUT
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
PACKAGE = "rummy500_engine"
INTERPRETED = (
    "__init__", "answers", "calls", "classic", "hooks", "notation", "plugins", "position", "refusals", "scenario",
    "terms",
)  # fmt: skip
"""What talks to plugins or to people, and what others derive from: nothing there is asked often."""


def compile_engine(out: Path) -> None:
    """Makes a copy of the package in `out` with its libraries, in one step: nobody sees half of it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        fresh = Path(scratch, "fresh")
        shutil.copytree(SOURCE / PACKAGE, fresh / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(fresh)
        _build(fresh)
        shutil.rmtree(fresh / "build")
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)


def _build(fresh: Path) -> None:
    options = ["--config-file=", "--ignore-missing-imports", f"--cache-dir={fresh / 'build' / 'mypy'}"]
    names = sorted(path.stem for path in (fresh / PACKAGE).glob("*.py") if path.stem not in INTERPRETED)
    modules = [f"{PACKAGE}/{name}.py" for name in names]
    extensions = mypycify([*options, *modules], opt_level="2", debug_level="0", group_name=PACKAGE)
    distribution = Distribution({"name": PACKAGE, "ext_modules": extensions})
    build = distribution.get_command_obj("build_ext")
    build.inplace = True
    build.ensure_finalized()
    build.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python server/compile_engine.py OUT")
    compile_engine(Path(sys.argv[1]).resolve())
