"""`rummy500 new-variant`: writes a package that works, for the author of a variant to change."""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from rummy500_catalog import Catalog

WRITTEN, REFUSED = 0, 2
LONGEST_NAME = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_PYPROJECT = Template("""\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "0.1.0"
description = "Rummy 500 variant: $name"
requires-python = ">=3.11"
dependencies = ["rummy500~=$version"]

[project.optional-dependencies]
test = ["pytest>=8"]

[project.entry-points."rummy500.variants"]
$name = "$module"

[tool.hatch.build.targets.wheel]
packages = ["src/$module"]
""")

_MODULE = Template('''\
"""One card that is worth more, melded and caught."""

from __future__ import annotations

from rummy500_engine.cards import Card, read_card
from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, Points, Specificity, Table

LUCKY = read_card("2C")


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (Option("points", 50, "What the two of clubs is worth.", low=-1000, high=1000),)


@hookimpl
def rummy500_sentence() -> str:
    return "The two of clubs is worth more, melded and caught."


@hookimpl
def rummy500_held_points(table: Table, card: Card) -> Points | None:
    return _points(table, card)


@hookimpl
def rummy500_placed_points(table: Table, card: Card) -> Points | None:
    return _points(table, card)


def _points(table: Table, card: Card) -> Points | None:
    """None for every other card: they count as the rules below say."""
    return Points(table.number("$name.points"), Specificity.NAMED_CARD) if card == LUCKY else None
''')

_SCENARIOS = Template("""\
[
  {
    "id": "$name-001",
    "title": "The two of clubs earns 50 on the table, and the round is over when a hand is empty",
    "rules": {"variants": ["$name"]},
    "players": ["anna", "ben"],
    "hands": {"anna": "2C 2D 2H 9S", "ben": "KD"},
    "discards": "5H",
    "stock": "7C 8C",
    "turn": "anna",
    "phase": "play",
    "steps": [
      {"player": "anna", "action": "meld 2C 2D 2H", "result": "ok"},
      {"player": "anna", "action": "discard 9S", "result": "ok"}
    ],
    "then": {"round_over": true, "round_scores": {"anna": 54, "ben": -10}}
  },
  {
    "id": "$name-002",
    "title": "In hand it costs what the table says",
    "rules": {"variants": ["$name"], "options": {"$name.points": 30}},
    "players": ["anna", "ben"],
    "hands": {"anna": "9S", "ben": "2C KD"},
    "discards": "5H",
    "stock": "7C 8C",
    "turn": "anna",
    "phase": "play",
    "steps": [{"player": "anna", "action": "discard 9S", "result": "ok"}],
    "then": {"round_over": true, "round_scores": {"anna": 0, "ben": -40}}
  }
]
""")

_TEST = Template('''\
"""The variant $name: its scenarios, and every law of the game in random play."""

from __future__ import annotations

from pathlib import Path

from rummy500_kit import check_scenarios, check_variant


def test_its_scenarios_hold() -> None:
    assert check_scenarios(Path(__file__).with_name("$module.json")) > 0


def test_it_keeps_the_laws_of_the_game() -> None:
    check_variant("$name", rounds=100)
''')


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "new-variant",
        help="write a package for a variant of your own",
        description="Writes a package that works into a new directory: a variant of one rule, its scenarios and a test "
        "with the kit. Change it from there; docs/write-a-variant.md shows how.",
    )
    parser.add_argument("name", metavar="NAME", help="lower case, words joined by hyphens, as lucky-deuce")
    parser.add_argument("--into", default=".", metavar="DIR", help="where the directory NAME is made; default: here")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    into = Path(arguments.into)
    name: str = arguments.name
    problem = _problem(name, into)
    if not problem:
        try:
            files = write(name, into)
        except OSError as error:
            problem = f"{into / name} cannot be written: {error.strerror or error}"
    if problem:
        print(f"rummy500 new-variant: {problem}", file=sys.stderr)
        return REFUSED
    for file in files:
        print(file)
    print(f"\nInstall it and run its test:\n\n    pip install -e {into / name}\n    pytest {into / name}")
    return WRITTEN


def write(name: str, into: Path) -> list[Path]:
    """Writes the package and returns its files. Nothing is overwritten: the directory must be new."""
    module = _module(name)
    words = {
        "name": name, "module": module, "distribution": f"rummy500-variant-{name}", "version": version("rummy500"),
    }  # fmt: skip
    root = into / name
    texts = {
        root / "pyproject.toml": _PYPROJECT,
        root / "src" / module / "__init__.py": _MODULE,
        root / "src" / module / "py.typed": Template(""),
        root / "tests" / f"{module}.json": _SCENARIOS,
        root / "tests" / f"test_{module}.py": _TEST,
    }
    root.mkdir(parents=True)
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.substitute(words), encoding="utf-8")
    return list(texts)


def _module(name: str) -> str:
    return f"rummy500_{name.replace('-', '_')}"


def _problem(name: str, into: Path) -> str:
    """Why there can be no such package, or nothing."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        return (
            f"{name!r} is no name for a variant: lower-case letters and digits, words joined by hyphens, "
            f"at most {LONGEST_NAME} characters, as lucky-deuce"
        )
    taken = {listed.name: listed.distribution for listed in Catalog().variants()}
    if name in taken:
        return f"the name {name} is taken by {taken[name]}: choose another"
    if find_spec(_module(name)) is not None:
        return f"there is a module {_module(name)} already: choose another name"
    if (into / name).exists():
        return f"{into / name} exists already: choose another name, or another place with --into"
    return ""
