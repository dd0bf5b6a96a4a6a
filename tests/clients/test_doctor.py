"""`rummy500 bot doctor`: a healthy bot passes, and each malady is found by the checks that look for it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients import ailing_bots
from tests.clients.running import rummy500, terminal

from rummy500_client.doctor.checkup import all_checks, examine, selected
from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Finding, Verdict
from rummy500_client.errors import ClientError
from rummy500_client.examples import easy
from rummy500_client.match_bots import read_bot

IS_LONG = os.environ.get("RUMMY500_LONG") == "1"
FILE = str(ailing_bots.__file__)
HEALTHY = f"{easy.__file__}:EasyBot"


@pytest.fixture(scope="module")
def examination() -> Iterator[Examination]:
    with Examination(patience=20.0, memory_games=24) as open_one:
        yield open_one


def findings(examination: Examination, bot: str, *names: str, clock: float = 10.0) -> dict[str, Finding]:
    """What these checks find at a class of `ailing_bots`, or at its bot without the SDK when the name is lower case."""
    raw = f"cmd:{sys.executable} {FILE} {bot}"
    examination.clock = clock
    examination.admit(read_bot(raw if bot.islower() else f"{FILE}:{bot}"))
    found = examine(examination, selected(all_checks(examination), names))
    return {check.name: finding for check, finding in found}


@pytest.mark.parametrize(
    ("bot", "clock", "expected"),
    [
        ("Slow", 0.4, {"start": "ok", "game": "fail came too late", "deadline": "fail took longer than 0.4 s"}),
        ("Illegal", 10.0, {"game": "fail WRONG_PHASE", "draw": "skip", "legal": "fail WRONG_PHASE"}),
        ("Crashing", 10.0, {"draw": "ok", "meld": "fail no idea how to meld"}),
        ("Silent", 0.3, {"start": "ok", "game": "fail TIMEOUT", "batch": "skip"}),
        ("Leaking", 10.0, {"draw": "ok", "own-business": "fail MatchService/ListGames"}),
        ("Chatty", 10.0, {"draw": "ok", "stdout": "warn 'thinking'", "stderr": "warn for each decision"}),
        ("Hoarding", 10.0, {"memory": "fail kB a game"}),
        ("Stubborn", 10.0, {"refused": "fail again after it was refused", "duty": "fail was refused"}),
        ("Picky", 10.0, {"unknown-fields": "ok", "unknown-event": "fail what event is that?", "nothing": "ok"}),
        ("garbling", 1.0, {"start": "ok", "readable": "fail begins with ff ff ff", "draw": "fail"}),
        ("nameless", 10.0, {"name": "fail 'somebody'", "token": "fail another token", "program": "warn", "draw": "ok"}),
        ("repeating", 10.0, {"draw": "ok", "asked-for": "fail answers to nothing that was asked"}),
        ("hammering", 10.0, {"cut": "warn did not say where", "drain": "warn asked to wait", "turned-away": "fail"}),
    ],
)  # fmt: skip
def test_each_malady_is_told_apart(examination: Examination, bot: str, clock: float, expected: dict[str, str]) -> None:
    found = findings(examination, bot, *expected, clock=clock)
    for name, told in expected.items():
        verdict, _, what = told.partition(" ")
        assert found[name].verdict.value == verdict, (name, found[name])
        assert what in found[name].seen, (name, found[name])


@pytest.mark.parametrize(
    ("bot", "told"),
    [
        ("gifted", "FEATURE_MISSING: this server lacks"),
        ("rude", "BAD_REQUEST"),
    ],
)
def test_a_bot_that_is_not_let_in_is_told_why(examination: Examination, bot: str, told: str) -> None:
    examination.patience = 5.0
    try:
        found = findings(examination, bot, "start", "hello")
    finally:
        examination.patience = 20.0
    assert found["start"].verdict is Verdict.FAIL
    assert told in found["start"].seen
    assert found["hello"].verdict is Verdict.SKIP


def test_a_command_that_does_not_start_is_told(examination: Examination) -> None:
    examination.admit(read_bot("cmd:./nothere"))
    ((_, finding),) = examine(examination, selected(all_checks(examination), ["start"]))
    assert (finding.verdict, finding.seen) == (Verdict.FAIL, "./nothere does not start: No such file or directory")


def test_a_check_that_there_is_not_is_told(examination: Examination) -> None:
    with pytest.raises(ClientError, match=r"there is no check 'helo': did you mean hello\?"):
        selected(all_checks(examination), ["helo"])


def test_a_bot_that_stays_away_is_found(examination: Examination) -> None:
    examination.patience = 3.0
    try:
        found = findings(examination, "faithless", "cut")
    finally:
        examination.patience = 20.0
    assert found["cut"].seen == "did not come back within 3 s"


def test_a_healthy_bot_passes(examination: Examination) -> None:
    examination.clock = 10.0
    examination.admit(read_bot(HEALTHY))
    some = [
        "start",
        "game",
        "duty",
        "call",
        "preset:partners",
        "batch",
        "rules-wanted",
        "unknown-phase",
        "restart",
        "legal",
    ]
    found = list(examine(examination, selected(all_checks(examination), () if IS_LONG else some)))
    bad = {check.name: finding for check, finding in found if finding.verdict is not Verdict.OK}
    assert not bad
    assert len(found) >= (60 if IS_LONG else len(some))
    assert {check.name for check, _ in found} >= set(some)


def test_a_bot_that_is_dialled_is_examined_through_its_stream(examination: Examination, state: Path) -> None:
    with terminal("bot", "serve", HEALTHY, state=state) as served:
        served.wait_for("listening on ")
        served.wait_for("\n")
        address = served.text.rpartition("listening on ")[2].split()[0]
        examination.admit(read_bot(f"dial:{address}"))
        found = examine(examination, selected(all_checks(examination), ["start", "duty", "batch", "cut", "sigterm"]))
        verdicts = {check.name: finding.verdict.value for check, finding in found}
        examination.dismiss()
    assert verdicts == {"start": "ok", "duty": "ok", "batch": "ok", "cut": "ok", "sigterm": "skip"}


def test_the_command_tells_a_line_a_check_and_what_to_do(state: Path) -> None:
    bot = f"cmd:{sys.executable} {FILE} nameless"
    ended = rummy500("bot", "doctor", bot, "--only", "start,name", "--show-stderr", state=state)
    assert ended.returncode == 1, ended.stderr
    first, second, advice, counts = ended.stdout.splitlines()
    assert first.startswith("ok    start ")
    assert second.startswith("fail  name ")
    assert advice.strip() == "-> set Hello.name to RUMMY500_NAME"
    assert ended.stderr == "a bot without the SDK\n"
    assert counts == "1 ok, 0 warn, 1 fail, 0 skip"


def test_programs_read_a_line_of_json_a_check(state: Path) -> None:
    ended = rummy500("bot", "doctor", HEALTHY, "--only", "hello", "--json", state=state)
    assert ended.returncode == 0, ended.stderr
    (line,) = ended.stdout.splitlines()
    told = json.loads(line)
    assert (told["check"], told["verdict"], told["advice"]) == ("hello", "ok", "")


def test_what_cannot_be_examined_is_told(state: Path) -> None:
    builtin = rummy500("bot", "doctor", "builtin:easy", state=state)
    assert builtin.returncode == 2
    assert "is not started here: give FILE.py:CLASS" in builtin.stderr
