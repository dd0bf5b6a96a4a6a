"""The base knows no variant by name, and a variant is small (issue 3: any set of variants, none built in)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rummy500_catalog import Catalog

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "catalog", "kit", "server", "bots", "arena")
NAMES = sorted(listed.name for listed in Catalog().variants() if listed.prefix)
WORDS_OF_THE_GAME = frozenset({"jokers", "floating", "deal", "values", "partners", "settlement"})
"""Names that are words of the game as well, and so may be keys and fields; their options may not be named."""
PACKAGES = sorted(path.name for path in (ROOT / "variants").glob("*/src/*"))


def sources() -> Iterator[Path]:
    for room in ROOMS:
        yield from (ROOT / "server" / "src" / f"rummy500_{room}").rglob("*.py")
    yield from (ROOT / "clients" / "python" / "src").rglob("*.py")


def named(name: str) -> re.Pattern[str]:
    """The name as it would be used: before an option; in quotes, or anywhere, if it is no word of the game."""
    used = [rf"[\"']{name}\."]
    if name not in WORDS_OF_THE_GAME:
        used += [rf"[\"']{name}[\"']", rf"(?<![\w.-]){name}(?![\w-])"] if "-" in name else [rf"[\"']{name}[\"']"]
    return re.compile("|".join(used))


def code_of(file: Path) -> Iterator[tuple[int, str]]:
    """The lines, without what is said of a rule's place in RULES.md ("RULES 2, `own-melds`")."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        yield number, re.sub(r"`[\w-]+`", "", line)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_knows_it_by_name(name: str) -> None:
    pattern = named(name)
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in sources()
        for number, line in code_of(file)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("package", PACKAGES)
def test_nobody_knows_its_package(package: str) -> None:
    imports = rf"^\s*(from|import) {package}\b"
    found = [str(file) for file in sources() if re.search(imports, file.read_text(encoding="utf-8"), re.M)]
    assert not found


def variant_modules() -> list[Path]:
    return sorted(
        file
        for file in (ROOT / "variants").glob("*/src/*/*.py")
        if file.stem != "__init__" or file.parent.name not in ("rummy500_house_rules", "rummy500_presets")
    )


@pytest.mark.parametrize("file", variant_modules(), ids=lambda file: f"{file.parent.name}.{file.stem}")
def test_a_variant_is_small(file: Path) -> None:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert 15 <= lines <= 150


def test_every_variant_says_what_it_changes() -> None:
    for listed in Catalog().variants():
        assert listed.sentence.endswith("."), listed.name
        assert all(option.sentence.endswith(".") for option in listed.options), listed.name
