"""`rummy500 new-variant`, and docs/write-a-variant.md followed line by line, as a stranger would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rummy500_client.__main__ import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "write-a-variant.md").read_text(encoding="utf-8")
FOLLOWED = PAGE.partition("## How it works")[0]
STEP = re.compile(
    r"`(?P<file>[\w/.-]+\.(?:py|json))`[^`]*?```\w+\n(?P<text>.*?)```|^    (?P<command>\w[^\n]*)$", re.S | re.M
)
TOOLS = Path(sys.executable).parent


class Stranger:
    """Somebody in an empty directory, with a place of its own for what is installed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.site = home / "site"

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """One command of the page; what it would install into the environment goes into the site."""
        program, *arguments = line.split()
        if program == "pip":
            assert arguments[:2] == ["install", "-e"]
            return self.install(arguments[2])
        if program == "pytest":
            arguments += ["-q", "-p", "no:cacheprovider"]
        path = os.pathsep.join([str(self.site), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.run(
            [TOOLS / program, *arguments],
            cwd=self.home,
            env=os.environ | {"PYTHONPATH": path, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=200,
            check=False,
        )

    def install(self, package: str) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(self.site, ignore_errors=True)
        flags = ["install", "-q", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
        return subprocess.run(
            [sys.executable, "-m", "pip", *flags, self.site, self.home / package],
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


def test_the_page_takes_a_stranger_to_an_installed_variant(stranger: Stranger) -> None:
    ran, written = [], 0
    for step in STEP.finditer(FOLLOWED):
        if step["file"]:
            file = stranger.home / step["file"]
            assert file.exists(), f"{step['file']} is not what new-variant writes"
            file.write_text(step["text"], encoding="utf-8")
            written += 1
            continue
        command = step["command"]
        if command.startswith("rummy500 play"):
            continue  # two people and a terminal
        if written and command.startswith("pytest"):
            stranger.install("sore-hearts")  # an editable installation would see the change
        done = stranger.run(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        ran.append((command, done.stdout))
    assert written == 2
    assert [command.split()[0] for command, _ in ran] == ["rummy500", "pip", "pytest", "pytest", "rummy500"]
    assert "2 passed" in ran[2][1]
    assert "2 passed" in ran[3][1]
    assert "sore-hearts.points" in ran[4][1]


def test_the_page_is_one_page() -> None:
    assert len(PAGE.splitlines()) < 110
    assert all(len(line) <= 125 for line in PAGE.splitlines())


def test_what_is_written_is_clean(stranger: Stranger) -> None:
    """ruff and mypy have nothing to say about a package that was just written."""
    assert stranger.run("rummy500 new-variant one-of-many").returncode == 0
    config = ROOT / "pyproject.toml"
    for line in (
        f"ruff check --config {config} one-of-many",
        f"ruff format --check --config {config} one-of-many",
        "mypy --strict one-of-many/src",
    ):
        done = stranger.run(line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Sore-Hearts", "is no name for a variant"),
        ("sore hearts", "is no name for a variant"),
        ("../sore", "is no name for a variant"),
        ("x" * 41, "at most 40"),
        ("classic", "is taken by rummy500"),
        ("jokers", "is taken by rummy500-variant-jokers"),
        ("engine", "there is a module rummy500_engine already"),
        ("here-already", "exists already"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(
    name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here-already").mkdir()
    assert main(["new-variant", name, "--into", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert why in told.err
    assert told.out == ""
    assert [path.name for path in tmp_path.rglob("*")] == ["here-already"]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new-variant", "sore-hearts", "--into", str(tmp_path / "file")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("rummy500 new-variant: ")
    assert told.count("\n") == 1
