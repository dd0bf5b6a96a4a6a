"""`rummy500 match run` again and again: interrupted, changed, over already, on a full disk, with dialled bots."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.running import PATIENCE, command, environment, rummy500
from tests.clients.test_matches import EASY, MYBOT, bot_file, run_match, terminations, without_times

BUILTINS = ("--bot", "builtin:easy", "--bot", "builtin:random")
NO_TIMES = {"charged_ms": 0, "thinking": None}


def folder(state: Path, name: str) -> Path:
    return state / "rummy500-records" / name


def test_a_match_that_is_over_is_shown_again(state: Path) -> None:
    first = rummy500("match", "run", *BUILTINS, "--deals", "1", "--seed", "7", state=state)
    again = rummy500("match", "run", *BUILTINS, "--deals", "1", "--seed", "7", state=state)
    assert (first.returncode, again.returncode) == (0, 0)
    assert again.stdout == first.stdout
    assert "over already; --fresh begins it anew" in again.stderr
    assert sorted(path.name for path in folder(state, "easy-vs-random").iterdir()) == [
        "lock",
        "match.json",
        "records.jsonl",
        "report.html",
        "results.jsonl",
    ]


def test_a_changed_match_is_refused_with_what_changed(state: Path) -> None:
    mybot = state / "mybot.py"
    mybot.write_text(Path(MYBOT.partition(":")[0]).read_text())
    bots = ("--bot", "mybot.py:MyBot", "--bot", "builtin:random", "--name", "m")
    assert rummy500("match", "run", *bots, "--deals", "1", "--seed", "7", state=state).returncode == 0
    kept = (folder(state, "m") / "match.json").read_bytes()
    assert json.loads(kept)["wanted"]["seed"] != "7"
    mybot.write_text(mybot.read_text() + "# another thought\n")
    more = ("--deals", "2", "--seed", "8", "--option", "target=300", "--clock", "3")
    changed = rummy500("match", "run", *bots, *more, state=state)
    assert changed.returncode == 2
    assert changed.stderr.splitlines() == [
        "rummy500: rummy500-records/m has another match:",
        "  mybot.py was edited",
        "  deals was 1 and is 2",
        "  seed was another and is this one",
        "  rules.options[0].name was not given and is target",
        "  rules.options[0].value was not given and is 300",
        "  clock.decision_ms was not given and is 3000",
        "--fresh begins anew and keeps that one's files, --name NAME or --records DIR puts this one elsewhere",
    ]
    assert (folder(state, "m") / "match.json").read_bytes() == kept
    fresh = rummy500("match", "run", *bots, *more, "--fresh", state=state)
    assert fresh.returncode == 0, fresh.stderr
    assert (folder(state, "m.1") / "match.json").read_bytes() == kept


def test_what_a_runner_knows_is_for_its_user_only(state: Path) -> None:
    rummy500("match", "run", *BUILTINS, "--deals", "1", state=state)
    assert (folder(state, "easy-vs-random") / "match.json").stat().st_mode & 0o777 == 0o600


def test_a_match_that_failed_begins_anew(state: Path) -> None:
    words = ("match", "run", "--bot", "cmd:./late", "--bot", "builtin:easy", "--deals", "1")
    assert rummy500(*words, state=state).returncode == 1
    (state / "late").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rummy500_client bot run {EASY}\n')
    (state / "late").chmod(0o755)
    ended = rummy500(*words, state=state)
    assert ended.returncode == 0, ended.stderr
    assert "finished" in ended.stdout


# --- Ctrl-C


@contextmanager
def running(*arguments: str, state: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command("match", "run", *arguments),
        cwd=state,
        env=environment(state),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def counting_bot(state: Path, name: str, *, at: int, then: str) -> str:
    """A bot that opens the pipe `thinking` at so many decisions, in its first process that comes so far, and then does
    something else."""
    os.mkfifo(state / "thinking")
    body = (
        "self.asked = getattr(self, 'asked', 0) + 1",
        f"if self.asked == {at} and os.path.exists('thinking'):",
        "    print(os.getpid(), file=open('thinking', 'w'), flush=True)",
        f"    {then}",
        "return request.legal[-1]",
    )
    return bot_file(state, name, *body)


def test_ctrl_c_lets_open_games_end_and_the_same_command_goes_on(state: Path) -> None:
    bot = counting_bot(state, "Steady", at=60, then="os.path.exists('thinking') and os.remove('thinking')")
    arguments = ("--bot", bot, "--bot", "builtin:easy", "--deals", "6", "--seed", "5", "--concurrency", "2", "--json")
    with running(*arguments, state=state) as process:
        (state / "thinking").read_text()  # waits for the bot
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "rummy500: paused: its owner paused it; the same command goes on with it\n" in errors
    paused = json.loads(out)
    assert paused["state"] == "MATCH_STATE_PAUSED"
    assert 0 < paused["games_finished"] < 12
    code, match, errors = run_match(*arguments, state=state)
    assert (code, errors) == (0, "")
    assert (match["games_finished"], match["games_again"]) == (12, 0)
    code, calm, _ = run_match(*arguments, "--name", "calm", state=state)
    for found, expected in zip(match["results"], calm["results"], strict=True):
        assert {**found, **NO_TIMES} == {**expected, **NO_TIMES}
    both = [(folder(state, name) / "records.jsonl").read_text() for name in ("Steady-vs-easy", "calm")]
    assert [without_times(line) for line in both[0].splitlines()] == [
        without_times(line) for line in both[1].splitlines()
    ]


def test_ctrl_c_twice_stops_everything_that_was_started_at_once(state: Path) -> None:
    bot = counting_bot(state, "Slow", at=1, then="threading.Event().wait()")
    with running("--bot", bot, "--bot", "builtin:easy", "--deals", "1", state=state) as process:
        thinking = int((state / "thinking").read_text().split()[0])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "Ctrl-C again stops at once" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.splitlines() == ["rummy500: stopped"]
    for child in (thinking, *map(int, children)):
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_bots_do_not_outlive_a_runner_that_is_killed(state: Path) -> None:
    bot = counting_bot(state, "Deaf", at=1, then="threading.Event().wait()")
    program = f"cmd:{sys.executable} -m rummy500_client bot run {bot}"
    with running("--bot", f"deaf={program}", "--bot", "builtin:easy", "--deals", "1", state=state) as process:
        thinking = int((state / "thinking").read_text().split()[0])
        watched = os.pidfd_open(thinking)
        process.kill()
        readable = bool(select.select([watched], [], [], PATIENCE)[0])
        os.close(watched)
    assert readable


# --- a full disk


def test_a_disk_that_is_full_is_told_and_with_room_the_same_command_goes_on(server: str, state: Path) -> None:
    words = ("match", "run", *BUILTINS, "--deals", "4", "--seed", "7", "--server", server)
    full = subprocess.run(
        command(*words),
        cwd=state,
        env=environment(state),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=_little_room,
        check=False,
    )
    assert full.returncode == 2
    assert "records.jsonl cannot be written: File too large" in full.stderr
    left = sorted(path.name for path in folder(state, "easy-vs-random").iterdir())
    assert left == ["lock", "match.json", "results.jsonl"]
    ended = rummy500(*words, state=state)
    assert ended.returncode == 0, ended.stderr
    assert rummy500("verify", str(folder(state, "easy-vs-random") / "records.jsonl"), state=state).returncode == 0


def _little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))


# --- bots that are dialled, and bots that talk nonsense


@contextmanager
def served(bot: str, state: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        command("bot", "serve", bot), cwd=state, env=environment(state), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process
    finally:
        process.kill()
        process.communicate()


def test_a_bot_that_is_dialled_plays_as_one_that_is_started(state: Path) -> None:
    arguments = ("--bot", "builtin:random", "--deals", "2", "--seed", "7")
    with served(EASY, state) as (address, _):
        code, match, errors = run_match("--bot", f"it=dial:{address}", *arguments, state=state)
    assert (code, errors) == (0, "")
    code, other, _ = run_match("--bot", f"it={EASY}", *arguments, "--name", "started", state=state)
    for found, expected in zip(match["results"], other["results"], strict=True):
        assert {**found, **NO_TIMES} == {**expected, **NO_TIMES}


def test_a_dialled_bot_that_goes_away_costs_its_own_games_only(state: Path) -> None:
    body = ("Leaving.asked = getattr(Leaving, 'asked', 0) + 1", "if Leaving.asked > 40:", "    os.kill(os.getpid(), 9)")
    bot = bot_file(state, "Leaving", *body, "return request.legal[-1]")
    with served(bot, state) as (address, _):
        arguments = ("--bot", f"it=dial:{address}", "--bot", "builtin:easy", "--deals", "3", "--arrival", "1")
        code, match, errors = run_match(*arguments, state=state)
    assert code == 0, errors
    it, easy = match["results"]
    assert terminations(it) - {"NORMAL"} <= {"CRASH", "START_FAILURE", "DISCONNECT"}
    assert "CRASH" in terminations(it)
    assert (easy["games"], terminations(easy)) == (6, {"NORMAL"} & terminations(easy))
    assert "it ended in mid-match" in errors


def test_nobody_at_the_address_is_told(state: Path) -> None:
    arguments = ("--bot", "it=dial:127.0.0.1:9", "--bot", "builtin:easy", "--deals", "1", "--arrival", "1")
    code, match, errors = run_match(*arguments, state=state)
    assert code == 1
    assert match["state"] == "MATCH_STATE_FAILED"
    assert "127.0.0.1:9" in errors + match["sentence"] or "not connected within 1 seconds" in match["sentence"]


GARBLING = """
import os, queue, sys
import grpc
from rummy500.v1.play_service_pb2 import Hello, PlayRequest, PlayResponse

sent = queue.SimpleQueue()
sent.put(PlayRequest(hello=Hello(name=os.environ["RUMMY500_NAME"])).SerializeToString())
channel = grpc.insecure_channel(os.environ["RUMMY500_SERVER"])
token = (("authorization", "Bearer " + os.environ["RUMMY500_TOKEN"]),)
try:
    for response in channel.stream_stream("/rummy500.v1.PlayService/Play")(iter(sent.get, None), metadata=token):
        if PlayResponse.FromString(response).decision_requests:
            sent.put(bytes([255] * 9))
except grpc.RpcError as error:
    sys.exit("what I said was not understood: " + error.details())
"""


def test_a_bot_that_sends_garbage_costs_its_own_games_only(state: Path) -> None:
    (state / "garbling.py").write_text(GARBLING)
    bot = f"garbling=cmd:{sys.executable} garbling.py"
    code, match, errors = run_match("--bot", bot, "--bot", "builtin:easy", "--deals", "2", state=state)
    assert code == 0
    garbling, easy = match["results"]
    assert terminations(garbling) == {"CRASH"}
    assert (easy["wins"], terminations(easy)) == (4, set())
    assert "what I said was not understood" in errors
    told = next(folder(state, "garbling-vs-easy").glob("bots/*.txt")).read_text()
    assert "exit code: 1\n" in told
    assert "last sent: nothing" not in told


def test_a_bot_with_strikes_is_out(state: Path) -> None:
    bot = bot_file(state, "Silly", "return 'discard the lot'")
    arguments = ("--bot", bot, "--bot", "builtin:easy", "--deals", "3", "--strikes", "2", "--concurrency", "1")
    code, match, _ = run_match(*arguments, state=state)
    assert code == 0
    silly, easy = match["results"]
    assert silly["out"] == "TERMINATION_ILLEGAL_ACTION"
    assert int(silly["refusals"]) == 2 * 3 * 5
    assert easy["wins"] == 6
