"""`rummy500 play` as people use it, at terminals, and as scripts do, over JSON lines."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
from pathlib import Path
from typing import Any, Self

from tests.clients.running import PATIENCE, Terminal, command, environment, rummy500, server_process, terminal
from tests.tcp_proxy import proxy_to

SHORT = ("--option", "max_rounds=1", "--option", "max_turns=6")


def answer(person: Terminal) -> None:
    """Answers the next question: draws, or throws the first card that may be thrown."""
    person.wait_for("draw, ", "play, ")
    person.wait_for("s> ")
    shown = len(person.text)
    person.type("?")
    person.wait_for("s> ")
    discard = re.search(r"^  discard (\w\w)", person.text[shown:], re.MULTILINE)
    person.type(f"x {discard[1]}" if discard else "d")


def test_two_people_and_a_bot_play_at_one_table_from_three_terminals(server: str, state: Path, tmp_path: Path) -> None:
    home = tmp_path / "ben"
    home.mkdir()
    with terminal(
        "bot", "run", "rummy500_client.examples.mybot:MyBot", "--name", "third", "--server", server, state=state
    ) as third:
        third.wait_for("third: connected")
        seats = ("--players", "3", "--bots", "connected:third", *SHORT)
        with terminal("play", "--server", server, "--name", "anna", *seats, state=state) as anna:
            anna.wait_for("a seat is free")
            anna.wait_for("\n")
            table = re.findall(r"--join (\S+)", anna.text)[-1]
            with terminal("play", "--server", server, "--name", "ben", "--join", table, state=home) as ben:
                for person in (anna, ben, anna, ben):
                    answer(person)
                    answer(person)
                for person in (anna, ben):
                    person.wait_for("record: ")
                    assert person.wait_ended() == 0
        for person in (anna, ben):
            assert "third discards" in person.text
            assert "round 1 is over: the most turns have been played" in person.text
            assert re.search(r"^  total ", person.text, re.MULTILINE)
        assert "ben draws\n" in anna.text, "what ben draws is hidden from anna"
        assert "you draw " in ben.text


def test_a_refused_action_is_explained_and_the_question_stands(state: Path) -> None:
    with terminal("play", "--name", "anna", *SHORT, state=state) as anna:
        anna.wait_for("draw, ")
        anna.type("m 2C 3D 4H")
        anna.wait_for("refused, ")
        anna.wait_for("draw, ")
        anna.type("d")
        anna.wait_for("you draw ")


def test_what_no_table_can_read_costs_no_refusal(state: Path) -> None:
    with terminal("play", "--name", "anna", *SHORT, state=state) as anna:
        for typed in ("nonsense", "x", "x ZZ", "draw; fnord", "t 9H@x", "m 7S 7H 7"):
            anna.wait_for("draw, ")
            anna.type(typed)
        anna.wait_for("draw, ")
        anna.type("d")
        anna.wait_for("you draw ")
        assert "refused" not in anna.text


def test_a_hint_says_what_a_good_bot_would_do_and_why(state: Path) -> None:
    with terminal("play", "--hint", "--name", "anna", *SHORT, state=state) as anna:
        first = anna.wait_for("hint: draw. The pile holds nothing", "hint: take ")
        anna.wait_for("draw, ")
        anna.type(first.removeprefix("hint: ").partition(".")[0] if "draw" in first else "d")
        anna.wait_for("hint: ")
        anna.wait_for("play, ")


def test_a_ranked_game_has_no_hints(server: str, state: Path) -> None:
    refused = rummy500("play", "--server", server, "--ranked", "easy", "--hint", state=state)

    assert refused.returncode == 2
    assert "a ranked game has no hints: leave out --hint" in refused.stderr


def test_a_game_that_is_refused_leaves_no_file(state: Path) -> None:
    for wrong in (("--players", "8"), ("--preset", "nope"), ("--bots", "nope")):
        assert rummy500("play", *wrong, state=state).returncode == 1
    kept = [path for path in (state / "rummy500").iterdir() if path.name.startswith("game-")]
    assert kept == []


def test_a_game_goes_on_after_ctrl_c(state: Path) -> None:
    with terminal("play", "--name", "anna", *SHORT, state=state) as anna:
        answer(anna)
        anna.wait_for("you draw ")
        anna.wait_for("play, ")
        anna.press_ctrl_c()
        anna.wait_for("rummy500 play --resume")
        assert anna.wait_ended() == 130
    seats = state / "rummy500" / "seats.json"
    assert seats.stat().st_mode & 0o777 == 0o600
    with terminal("play", "--resume", state=state) as again:
        for _ in range(5):
            answer(again)
        again.wait_for("record: ")
        assert again.wait_ended() == 0
        assert "round 1: " not in again.text, "what happened before is not told again"
    assert json.loads(seats.read_text()) == []
    assert not list((state / "rummy500").glob("game-*")), "a game that is over leaves no file"
    assert rummy500("play", "--resume", state=state).returncode == 2


def test_a_game_goes_on_after_the_server_was_killed_and_started_again(state: Path) -> None:
    database = state / "server.db"
    with (
        server_process(database) as (address, server),
        terminal("play", "--server", address, "--name", "anna", "--bots", "easy", *SHORT, state=state) as anna,
    ):
        answer(anna)
        anna.wait_for("you draw ")
        anna.wait_for("play, ")
        server.kill()
        anna.wait_for(f"no Rummy 500 server answers at {address}")
        server.wait()
        with server_process(database, port=int(address.rpartition(":")[2])):
            for _ in range(5):
                answer(anna)
            anna.wait_for("record: ")
            assert anna.wait_ended() == 0
        assert "connected again" in anna.text


def test_a_person_whose_connection_breaks_notices_a_line(server: str, state: Path) -> None:
    with (
        proxy_to(server) as proxy,
        terminal("play", "--server", proxy.address, "--name", "anna", "--bots", "easy", *SHORT, state=state) as anna,
    ):
        answer(anna)
        anna.wait_for("you draw ")
        proxy.cut()
        anna.wait_for("trying again")
        anna.wait_for("connected again")
        for _ in range(5):
            answer(anna)
        anna.wait_for("record: ")
        assert anna.wait_ended() == 0
    assert anna.text.count("trying again") == anna.text.count("connected again") == 1
    assert anna.text.count("you draw ") == 3, "what was shown is not shown again"


def test_a_private_server_ends_with_a_client_that_is_killed(state: Path) -> None:
    with terminal("play", "--name", "anna", state=state) as anna:
        anna.wait_for("draw, ")
        (child,) = Path(f"/proc/{anna.process.pid}/task/{anna.process.pid}/children").read_text().split()
        ended = os.pidfd_open(int(child))
        try:
            anna.process.kill()
            assert select.select([ended], [], [], PATIENCE)[0], "the private server goes on"
        finally:
            os.close(ended)


class Script:
    """A program that plays over JSON lines."""

    def __init__(self, *arguments: str, state: Path) -> None:
        self.process = subprocess.Popen(
            command("play", "--json", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=state,
            env=environment(state),
        )

    def next(self, *kinds: str) -> dict[str, Any]:
        """The next line of one of these types."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said: dict[str, Any] = json.loads(line)
            if said["type"] in kinds:
                return said
        raise AssertionError(f"ended before {kinds}")

    def say(self, value: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value) + "\n")

    def ended(self) -> int:
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_a_script_plays_a_game_over_json_lines(state: Path) -> None:
    with Script(*SHORT, state=state) as script:
        assert script.next("seated")["players"][0]
        script.next("decision")
        script.say({"actions": ["meld AC 2D 3H"]})
        assert script.next("refused")["code"]
        while (said := script.next("decision", "game_over"))["type"] == "decision":
            discards = [line for line in said["legal"] if line.startswith("discard")]
            script.say(discards[:1] or said["legal"][:1])
        assert said["termination"] in ("TERMINATION_ROUND_LIMIT", "TERMINATION_NORMAL")
        assert len(said["totals"]) == 2
        assert script.ended() == 0


def test_every_deal_is_checked_also_for_who_left_and_came_back(state: Path) -> None:
    with Script(*SHORT, state=state) as script:
        script.next("decision")
        script.say(["draw"])
        script.next("decision")
        script.say({"command": "quit"})
        script.next("note")
        assert script.ended() == 0
    checked = []
    with Script("--resume", state=state) as script:
        while (said := script.next("decision", "deal_checked", "game_over"))["type"] != "game_over":
            if said["type"] == "deal_checked":
                checked.append(said)
                continue
            discards = [line for line in said["legal"] if line.startswith("discard")]
            script.say(discards[:1] or said["legal"][:1])
    assert [(said["round"], said["holds"]) for said in checked] == [(1, True), (0, True)]
    assert "with your hand and the card turned up and " in checked[0]["sentence"]


def test_a_script_may_leave_and_come_back(state: Path) -> None:
    with Script(*SHORT, state=state) as script:
        script.next("decision")
        script.say({"command": "quit"})
        assert "--resume" in script.next("note")["sentence"]
        assert script.ended() == 0
    with Script("--resume", state=state) as again:
        assert "draw" in again.next("decision")["legal"]
        again.process.send_signal(signal.SIGINT)
        assert again.ended() == 130


def test_lines_from_a_pipe_wait_for_their_turn(state: Path) -> None:
    ended = rummy500("play", "--name", "anna", *SHORT, state=state, typed="?\nd\ns\nq\n")
    assert ended.returncode == 0, ended.stderr
    assert "you draw " in ended.stdout
    assert "no round has been scored yet" in ended.stdout
    assert "rummy500 play --resume" in ended.stdout


def test_two_seats_taken_from_one_machine_are_both_come_back_to(server: str, state: Path) -> None:
    table = rummy500("tables", "create", "--server", server, "--players", "2", state=state).stdout.strip()
    for number, name in enumerate(("anna", "ben")):
        joined = rummy500("tables", "join", "--server", server, table, "--name", name, state=state)
        assert f"you have seat {number}" in joined.stdout, joined.stderr
    assert f"rummy500 play --resume {table} --name ben" in joined.stdout
    for number, name in enumerate(("anna", "ben")):
        again = rummy500("play", "--resume", table, "--name", name, state=state, typed="q\n")
        assert f"seat {number}" in again.stdout, again.stderr


def test_a_table_is_watched_without_hands(server: str, state: Path) -> None:
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random", "--option", "max_rounds=1")
    table = rummy500("tables", "create", "--server", server, *bots, state=state).stdout.strip()
    watched = rummy500("watch", table, "--server", server, state=state)
    assert watched.returncode == 0, watched.stderr
    assert "easy" in watched.stdout
    assert "hand:" not in watched.stdout
    lines = rummy500("watch", table, "--server", server, "--json", state=state).stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert events[-1]["type"] == "game_over"
    assert not [event for event in events if event.get("drew_from_stock", {}).get("card")]
