"""`rummy500 match run`: bots in processes of their own, and what becomes of those that do not do what they should."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.clients.running import rummy500

from rummy500_client.examples import mybot

MYBOT = f"{mybot.__file__}:MyBot"
EASY = "rummy500_client.examples.easy:EasyBot"


def run_match(*arguments: str, state: Path) -> tuple[int, dict[str, Any], str]:
    ended = rummy500("match", "run", "--json", *arguments, state=state)
    return ended.returncode, json.loads(ended.stdout or "{}"), ended.stderr


def record_lines(path: str, state: Path) -> list[str]:
    return (state / path).read_text(encoding="utf-8").splitlines()


def test_a_class_a_command_and_a_built_in_bot_play_a_match(state: Path) -> None:
    program = f"cmd:{sys.executable} -m rummy500_client bot run {EASY}"
    ended = rummy500(
        *("match", "run", "--bot", MYBOT, "--bot", f"other={program}", "--bot", "builtin:easy"),
        *("--deals", "2", "--seed", "7", "--players", "2"),
        state=state,
    )
    assert ended.returncode == 0, ended.stderr
    assert "2 deals, each in 6 seatings, reproducible from seed 7, finished" in ended.stdout
    for name in ("MyBot", "other", "easy"):
        assert f"\n{name} " in ended.stdout
    assert ended.stdout.count("all NORMAL") == 3
    file = state / "rummy500-records" / "MyBot-vs-other-vs-easy" / "records.jsonl"
    assert f"records: {file.relative_to(state)}\n" in ended.stdout
    assert rummy500("verify", str(file), state=state).returncode == 0


def test_the_same_seed_gives_the_same_records_but_for_times(state: Path) -> None:
    games = []
    for directory in ("one", "two"):
        arguments = ("--bot", MYBOT, "--bot", "builtin:random", "--deals", "2", "--seed", "3", "--records", directory)
        code, match, errors = run_match(*arguments, state=state)
        assert code == 0, errors
        games.append([without_times(line) for line in record_lines(match["records"], state)])
    assert games[0] == games[1]


def without_times(line: str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(line).items() if name != "times"}


def bot_file(state: Path, name: str, *body: str) -> str:
    """A bot whose `act` has this body; answers how to name it."""
    lines = ["import os, sys, threading", "from rummy500_client import Bot", "", f"class {name}(Bot):"]
    lines += ["    def act(self, request):", *(f"        {line}" for line in body)]
    (state / f"{name.lower()}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{name.lower()}.py:{name}"


def terminations(result: dict[str, Any]) -> set[str]:
    return {count["termination"].removeprefix("TERMINATION_") for count in result["terminations"]}


def test_a_bot_that_dies_costs_its_own_games_only(state: Path) -> None:
    bot = bot_file(state, "Dying", "print('out of wits', file=sys.stderr, flush=True)", "os._exit(3)")
    arguments = ("--bot", bot, "--bot", "builtin:easy", "--deals", "2", "--concurrency", "1")
    code, match, errors = run_match(*arguments, state=state)
    assert code == 0
    assert errors == "rummy500: bot Dying ended in mid-match (exit code 3): out of wits\n"
    dying, easy = match["results"]
    assert terminations(dying) == {"CRASH"}
    assert dying["out"] == "TERMINATION_CRASH"
    assert easy["wins"] == 4
    assert "out of wits" in match["reports"][0]["stderr_tail"]
    kept = sorted((state / "rummy500-records" / "Dying-vs-easy" / "bots").iterdir())
    assert len(kept) == 3
    assert "exit code: 3\n" in kept[0].read_text()
    assert "out of wits" in kept[0].read_text()


def test_a_bot_that_hangs_costs_its_own_games_only(state: Path) -> None:
    bot = bot_file(state, "Hanging", "threading.Event().wait()")
    arguments = ("--bot", bot, "--bot", "builtin:easy", "--deals", "1", "--clock", "1")
    code, match, _ = run_match(*arguments, state=state)
    assert code == 0
    hanging, easy = match["results"]
    assert terminations(hanging) == {"TIMEOUT"}
    assert easy["wins"] == 2


def test_a_bot_that_answers_nonsense_costs_its_own_games_only(state: Path) -> None:
    bot = bot_file(state, "Silly", "return 'discard the lot'")
    code, match, errors = run_match("--bot", bot, "--bot", "builtin:easy", "--deals", "1", state=state)
    assert code == 0
    assert errors.startswith("rummy500: bot Silly had 30 answers refused; it last said: ")
    assert "UNKNOWN_ACTION" in errors
    silly, easy = match["results"]
    assert terminations(silly) == {"ILLEGAL_ACTION"}
    assert int(silly["refusals"]) == 2 * 3 * 5
    assert easy["wins"] == 2


def test_a_command_that_does_not_start_is_told(state: Path) -> None:
    code, match, errors = run_match(
        "--bot", "cmd:./nothere --fast", "--bot", "builtin:easy", "--deals", "1", state=state
    )
    assert code == 1
    assert errors.splitlines() == ["rummy500: bot nothere does not start: ./nothere: No such file or directory"]
    assert match["reports"][0]["kind"] == "TERMINATION_START_FAILURE"


def test_a_match_without_a_game_shows_no_table(state: Path) -> None:
    ended = rummy500("match", "run", "--bot", "cmd:./nothere", "--bot", "builtin:easy", "--deals", "1", state=state)
    head, why = ended.stdout.splitlines()
    assert "1 deal, each in 2 seatings" in head
    assert head.endswith(", failed")
    assert why == "bot nothere: a bot's program did not start: ./nothere: No such file or directory"


def test_one_deal_has_no_interval(state: Path) -> None:
    ended = rummy500("match", "run", *("--bot", "builtin:easy") * 2, "--deals", "1", state=state)
    assert " to " not in ended.stdout


def test_matches_are_listed_shown_and_their_records_fetched(server: str, state: Path) -> None:
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random", "--deals", "1", "--unit", "game")
    code, match, errors = run_match(*bots, "--option", "target=50", "--server", server, state=state)
    assert code == 0, errors
    listed = rummy500("match", "list", "--server", server, state=state)
    assert match["name"] in listed.stdout
    shown = rummy500("match", "show", match["name"], "--server", server, state=state)
    assert "1 game to the target, each in 2 seatings" in shown.stdout
    fetched = rummy500("match", "records", match["name"], "--server", server, "--out", "all.jsonl", state=state)
    assert fetched.returncode == 0, fetched.stderr
    assert (state / "all.jsonl").read_text() == (state / match["records"]).read_text()


def test_the_demo_plays_twenty_deals(state: Path) -> None:
    ended = rummy500("demo", state=state)
    assert ended.returncode == 0, ended.stderr
    assert "20 deals, each in 2 seatings" in ended.stdout
    assert ended.stdout.count("all NORMAL") == 2
