"""The clock on the command line: which one a table gets, and what a player is told of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.clients.running import command, environment, rummy500, terminal

ENDLESS = ("--option", "max_rounds=50")


def test_the_flags_say_what_clock_a_table_has(server: str, state: Path) -> None:
    flags = ("--clock", "0.5", "--bank", "60", "--increment", "2", "--most-bank", "90", "--startup", "5")
    late = ("--grace", "30", "--when-late", "bot:random,seed=3", "--forfeit-after", "0")
    made = rummy500("tables", "create", "--server", server, *flags, *late, "--json", state=state)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["clock"] == {
        "decision_ms": 500,
        "bank_ms": 60_000,
        "increment_ms": 2_000,
        "most_bank_ms": 90_000,
        "startup_ms": 5_000,
        "grace_ms": 30_000,
        "when_late": "WHEN_LATE_BOT",
        "stand_in": {"name": "random", "settings": [{"name": "seed", "value": "3"}]},
        "forfeit_after": 0,
        "untimed": False,
    }


def test_the_clock_of_a_table_is_shown_in_words(server: str, state: Path) -> None:
    flags = ("--clock", "0.5", "--bank", "60", "--increment", "2", "--when-late", "bot", "--forfeit-after", "0")
    table = rummy500("tables", "create", "--server", server, *flags, state=state).stdout.strip()
    shown = rummy500("tables", "show", "--server", server, table, state=state).stdout
    told = "clock: 0.5 s a decision, bank 60 s + 2 s a turn; late: easy plays; no finished turn forfeits"
    assert told in shown


def test_a_table_may_have_no_clock(server: str, state: Path) -> None:
    made = rummy500("tables", "create", "--server", server, "--no-clock", "--json", state=state)
    clock = json.loads(made.stdout)["clock"]
    assert (clock["untimed"], clock["decision_ms"]) == (True, 0)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--when-late", "never"), "--when-late 'never': it is finish, forfeit, bot or bot:NAME"),
        (("--clock", "soon"), "'soon' is no number of seconds"),
        (("--bank", "86401"), "86401 is not from 0 to 86400"),
        (("--bank", "5", "--most-bank", "4"), "clock.most_bank_ms"),
    ],
)
def test_a_clock_that_cannot_be_is_told_in_a_sentence(
    server: str, state: Path, flags: tuple[str, ...], told: str
) -> None:
    refused = rummy500("tables", "create", "--server", server, *flags, state=state)
    assert refused.returncode != 0
    assert told in refused.stderr


def test_a_player_is_warned_and_then_the_bot_plays_until_it_is_back(state: Path) -> None:
    with terminal("play", "--name", "anna", "--clock", "1", "--when-late", "bot", *ENDLESS, state=state) as anna:
        anna.wait_for("draw, 1 s> ")
        anna.wait_for("* 1 s left")
        anna.wait_for("draw, 1 s> ")
        anna.wait_for("time is up: easy (a bot) plays for you")
        anna.type("d")
        anna.wait_for("you are back")
        anna.press_ctrl_c()
        anna.wait_for("come back with")


def test_a_script_is_warned_too(state: Path) -> None:
    process = subprocess.Popen(
        command("play", "--json", "--name", "anna", "--clock", "1", *ENDLESS),
        cwd=state,
        env=environment(state),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = (json.loads(line) for line in process.stdout)
    decision = next(line for line in told if line["type"] == "decision")
    warning = next(line for line in told if line["type"] != "event")
    process.communicate('{"command": "quit"}\n')
    assert 0 < decision["time_left_ms"] <= 1_000
    assert (warning["type"], 0 < warning["time_left_ms"] <= 250) == ("clock", True)
