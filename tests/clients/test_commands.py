"""Commands that look at a server, and what each says when something is wrong: one sentence, never a traceback."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path

import pytest
from tests.clients.running import rummy500

from rummy500_client.__main__ import main


def test_variants_and_rules_need_no_server(state: Path) -> None:
    listed = rummy500("variants", state=state)
    assert listed.returncode == 0, listed.stderr
    assert "queen-of-spades" in listed.stdout
    assert "classic" in listed.stdout


def test_a_variant_and_a_table_of_rules_are_shown(server: str, state: Path) -> None:
    shown = rummy500("variants", "--server", server, "show", "queen-of-spades", state=state)
    assert "queen-of-spades.points=40" in shown.stdout, shown.stderr
    rules = rummy500("rules", "--server", server, "--option", "target=300", "--players", "4", state=state)
    assert "300" in rules.stdout, rules.stderr


def test_a_table_is_made_listed_shown_joined_and_closed(server: str, state: Path) -> None:
    made = rummy500("tables", "create", "--server", server, "--bot", "builtin:easy", "--title", "ours", state=state)
    assert made.returncode == 0, made.stderr
    name = made.stdout.strip()
    listed = rummy500("tables", "list", "--json", state=state, RUMMY500_SERVER=server)
    assert name in [json.loads(line)["name"] for line in listed.stdout.splitlines()]
    shown = rummy500("tables", "show", "--server", server, name, state=state)
    assert "ours" in shown.stdout
    assert "easy (builtin bot)" in shown.stdout
    joined = rummy500("tables", "join", "--server", server, name, "--name", "anna", state=state)
    assert f"rummy500 play --resume {name}" in joined.stdout, joined.stderr
    closed = rummy500("tables", "close", "--server", server, name, state=state)
    assert closed.returncode == 0, closed.stderr
    again = rummy500("tables", "close", "--server", server, name, state=state)
    assert_one_sentence(again.stderr, name)
    assert again.returncode == 1


def test_what_the_client_keeps_is_readable_by_its_user_only(server: str, state: Path) -> None:
    rummy500("tables", "create", "--server", server, state=state)
    token = state / "rummy500" / "token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700


def test_somebody_elses_table_cannot_be_closed(server: str, state: Path, tmp_path: Path) -> None:
    name = rummy500("tables", "create", "--server", server, state=state).stdout.strip()
    other = tmp_path / "other"
    other.mkdir()
    refused = rummy500("tables", "close", "--server", server, name, state=other)
    assert refused.returncode == 1
    assert_one_sentence(refused.stderr)


NOBODY = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("tables", "list"), 2, "--server HOST:PORT"),
        (("tables", "list", "--server", NOBODY), 2, f"no Rummy 500 server answers at {NOBODY}"),
        (("tables", "list", "--server", "here"), 2, "'here' is no server address"),
        (("watch", "nope", "--server", "SERVER"), 1, "nope"),
        (("play", "--server", "SERVER", "--join", "nope"), 1, "nope"),
        (("play", "--resume"), 2, "no game is remembered"),
        (("play", "--bots", "nosuchbot"), 1, "nosuchbot"),
        (("play", "--server", "SERVER", "--database", "x.db"), 2, "--database belongs to a private server"),
        (("play", "--database", "/nowhere/at/all.db"), 2, "/nowhere/at/all.db"),
        (("rules", "--server", "SERVER", "--variant", "nope"), 2, "nope"),
        (("rules", "--server", "SERVER", "--option", "nope=1"), 2, "nope"),
        (("rules", "--server", "SERVER", "--option", "target=0"), 2, "target"),
        (("rules", "--server", "SERVER", "--option", "target"), 2, "NAME=VALUE"),
        (("rules", "--server", "SERVER", "--preset", "moon"), 2, "moon"),
        (("tables", "create", "--server", "SERVER", "--players", "8"), 1, "pack"),
        (("tables", "create", "--server", "SERVER", "--variant", "nope"), 1, "nope"),
        (("variants", "--server", "SERVER", "show", "nope"), 1, "nope"),
        (("bot", "run", "nothere.py:MyBot", "--server", "SERVER"), 2, "nothere.py is not there"),
        (("bot", "run", "mybot", "--server", "SERVER"), 2, "'mybot' names no bot"),
        (("bot", "run", "json:loads", "--server", "SERVER"), 2, "is no bot"),
        (("bot", "run", "json:MyBot", "--server", "SERVER"), 2, "json has no class MyBot"),
        (
            ("bot", "run", "rummy500_client.examples.mybot:MyBot", "--server", NOBODY, "--patience", "0"),
            2,
            "no Rummy 500 server answers",
        ),
        (("match", "run", "--bot", "builtin:easy"), 2, "two bots"),
        (("match", "run", "--bot", "builtin:easy", "--bot", "builtin:nope"), 2, "nope"),
        (
            ("match", "run", "--bot", "builtin:easy", "--bot", "connected:me", "--records", "/dev/null/x"),
            2,
            "/dev/null/x",
        ),
        (("match", "show", "nope", "--server", "SERVER"), 1, "nope"),
        (("match", "records", "nope", "--server", "SERVER"), 1, "nope"),
        (("scenario", "run", "nothere.json"), 2, "nothere.json cannot be read"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(
    arguments: tuple[str, ...],
    code: int,
    told: str,
    server: str,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(state)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        ended = main([server if word == "SERVER" else word for word in arguments])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert_one_sentence(capsys.readouterr().err, told)
    assert ended == code


def test_a_token_that_is_none_is_told(server: str, state: Path) -> None:
    ended = rummy500("tables", "list", "--server", server, state=state, RUMMY500_TOKEN="short")
    assert_one_sentence(ended.stderr, "16 to 64")


def assert_one_sentence(text: str, *told: str) -> None:
    lines = [line for line in text.splitlines() if line]
    assert len(lines) == 1, text
    assert lines[0].startswith("rummy500: "), text
    for words in told:
        assert words in lines[0]
