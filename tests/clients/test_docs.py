"""Every command that the documentation shows is run, and the bot that it shows is the one that is tested."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.clients.running import REPOSITORY, rummy500, terminal

from rummy500_client.examples import goodbot, mybot

PAGES = ("README.md", "docs/play.md", "docs/write-a-bot.md", "docs/run-a-match.md", "docs/bots.md")
BOT = Path(mybot.__file__).read_text(encoding="utf-8")
GOOD_BOT = Path(goodbot.__file__).read_text(encoding="utf-8")
OTHER_BOT = f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rummy500_client bot run mybot.py:MyBot\n"


def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def commands_of(page: str) -> list[str]:
    """The commands of a page: indented lines that begin with the command's name."""
    return re.findall(r"^    (rummy500 .+)$", text_of(page), re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/write-a-bot.md"])
def test_the_bot_that_is_shown_is_the_one_that_is_tested(page: str) -> None:
    assert f"```python\n{BOT}```" in text_of(page)
    assert len(BOT.splitlines()) < 20


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_is_shown_works(page: str, server: str, state: Path) -> None:
    (state / "mybot.py").write_text(BOT, encoding="utf-8")
    (state / "goodbot.py").write_text(GOOD_BOT, encoding="utf-8")
    (state / "other-bot").write_text(OTHER_BOT, encoding="utf-8")
    (state / "other-bot").chmod(0o755)
    shutil.copytree(REPOSITORY / "tests" / "scenarios", state / "tests" / "scenarios")
    with terminal("bot", "run", "mybot.py:MyBot", "--server", server, "--name", "mybot", state=state) as bot:
        bot.wait_for("mybot: connected")
        for line in commands_of(page):
            run(line.replace("localhost:50500", server), server, state)


def test_the_match_file_that_is_shown_can_be_played(server: str, state: Path) -> None:
    (state / "mybot.py").write_text(BOT, encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.+?)^```$", text_of("docs/run-a-match.md"), re.MULTILINE | re.DOTALL)
    (state / "cup.toml").write_text(shown, encoding="utf-8")
    planned = rummy500("match", "run", "cup.toml", "--dry-run", "--server", server, state=state)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.startswith("500 deals, each in 4 seatings: 2000 rounds\ngauntlet: 3 bots, 2 at a table\n")


def run(line: str, server: str, state: Path) -> None:
    """Runs one command, with a table or a record in the place of TABLE and MATCH, and with one deal or two checks for
    speed."""
    words = shlex.split(re.sub("--deals [0-9]+", "--deals 1", line))[1:]
    if words[:2] in (["bot", "run"], ["bot", "serve"]):
        return  # one is connected all the time
    if words[:2] == ["bot", "doctor"]:
        words += ["--only", "start,draw"]
    if "TABLE" in words:
        words[words.index("TABLE")] = table_for(words, server, state)
    if any("MATCH" in word for word in words):
        records = max((state / "rummy500-records").glob("*/records.jsonl"), key=lambda path: path.stat().st_mtime)
        name = json.loads((records.parent / "match.json").read_text())["match"]
        words = [name if word == "MATCH" else word.replace("MATCH", records.parent.name) for word in words]
    # A server for each command would be as good and slower; only a game of one's own needs its own.
    shared = "" if words[0] == "play" else server
    ended = rummy500(*words, state=state, typed="q\n", RUMMY500_SERVER=shared)
    assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"


def table_for(words: list[str], server: str, state: Path) -> str:
    """A table as the command needs it: one with a free seat, or one whose game runs by itself."""
    bots = ["--bot", "builtin:easy"] * (2 if "watch" in words else 0)
    made = rummy500("tables", "create", "--server", server, "--option", "max_rounds=1", *bots, state=state)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()
