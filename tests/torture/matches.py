"""Kills the runner of a match, its server, or both with SIGKILL at random moments, gives the same command again until
the match is over, and looks whether it came to what it comes to when nothing is killed."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.clients.running import command, environment, server_process

BUILD = Path(__file__).parents[2] / "build"
BOT = "steady=rummy500_client.examples.easy:EasyBot"
OTHERS = ("builtin:easy", "builtin:random", "builtin:random,seed=3")
GIVE_UP_SECONDS = 600.0
RUNNER, SERVER, BOTH = "runner", "server", "both"
TIMES = ("charged_ms", "thinking")


@dataclass(slots=True)
class Report:
    players: int
    server: str
    kills: int = 0
    kills_of_the_runner: int = 0
    kills_of_the_server: int = 0
    commands: int = 0
    games: int = 0
    games_again: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What must not depend on kills: the results but for times, and the records but for times."""

    results: list[dict[str, Any]]
    records: list[dict[str, Any]]
    again: int


class World:
    """A place where a match is run, by a private server or one at `address`, whose process is `server`."""

    def __init__(self, place: Path, players: int, deals: int, *, is_private: bool) -> None:
        self.place, self.is_private = place, is_private
        self._server: subprocess.Popen[str] | None = None
        self._port = 0
        self.place.mkdir(parents=True)
        bots = [word for bot in (BOT, *OTHERS[: players - 1]) for word in ("--bot", bot)]
        self._words = ["match", "run", *bots, "--deals", str(deals), "--seed", "5", "--name", "m", "--json"]
        self._words += ["--clock", "120", "--concurrency", "4"]

    @contextmanager
    def serving(self) -> Iterator[None]:
        """While a server that is not the runner's own is there."""
        if self.is_private:
            yield
            return
        self.start_server()
        try:
            yield
        finally:
            self.kill_server()

    def start_server(self) -> None:
        self._context = server_process(self.place / "games.db", port=self._port)
        address, self._server = self._context.__enter__()
        self._port = int(address.rpartition(":")[2])
        self._address = address

    def kill_server(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._context.__exit__(None, None, None)
            self._server = None

    def runner(self) -> subprocess.Popen[str]:
        words = self._words if self.is_private else [*self._words, "--server", self._address]
        return subprocess.Popen(
            command(*words),
            cwd=self.place,
            env=environment(self.place),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def outcome(self) -> Outcome:
        folder = self.place / "rummy500-records" / "m"
        match = json.loads((folder / "match.json").read_text())["result"]
        results = [{key: value for key, value in each.items() if key not in TIMES} for each in match["results"]]
        lines = map(json.loads, (folder / "records.jsonl").read_text().splitlines())
        records = [{key: value for key, value in line.items() if key != "times"} for line in lines]
        return Outcome(results, records, match.get("games_again", 0))


def _children(pid: int) -> dict[int, str]:
    """The processes that this one started, with their command lines."""
    found = {}
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def _finish(runner: subprocess.Popen[str]) -> None:
    out, errors = runner.communicate(timeout=GIVE_UP_SECONDS)
    assert runner.returncode == 0, f"exit code {runner.returncode}: {out[-500:]}{errors[-2000:]}"


def _kill(world: World, runner: subprocess.Popen[str], whom: str, report: Report) -> bool:
    """Whether the runner is not there any more."""
    if whom in (SERVER, BOTH):
        report.kills_of_the_server += 1
        if world.is_private:
            for pid, line in _children(runner.pid).items():
                if "rummy500_server" in line:
                    os.kill(pid, signal.SIGKILL)
        else:
            world.kill_server()
    if whom in (RUNNER, BOTH):
        report.kills_of_the_runner += 1
        runner.kill()
        runner.communicate()
    if whom in (SERVER, BOTH) and not world.is_private:
        world.start_server()
    return whom != SERVER


def run(place: Path, *, players: int, deals: int, kills: int, is_private: bool, dice: random.Random) -> Report:
    """Raises AssertionError when something is not as it should be."""
    calm = World(place / "calm", players, deals, is_private=True)
    begin = time.monotonic()
    _finish(calm.runner())
    usual = time.monotonic() - begin
    expected = calm.outcome()
    report = Report(players, "private" if is_private else "of its own")
    world, number = World(place / "killed-0", players, deals, is_private=is_private), 0
    begin = time.monotonic()
    while report.kills < kills:
        with world.serving():
            _tortured(world, report, kills, usual, dice)
        found = world.outcome()
        assert found.results == expected.results, f"{world.place}: {found.results} instead of {expected.results}"
        assert found.records == expected.records, f"{world.place}: other records than in {calm.place}"
        report.games += len([line for line in found.records if line["type"] == "game"])
        report.games_again += found.again
        number += 1
        world = World(place / f"killed-{number}", players, deals, is_private=is_private)
    report.seconds = round(time.monotonic() - begin, 1)
    return report


def _tortured(world: World, report: Report, kills: int, usual: float, dice: random.Random) -> None:
    """One match to its end, through as many deaths as it lives to see. A command that ends with an error because its
    server was killed before it was there is given again, as a user would."""
    runner, is_hit = world.runner(), False
    report.commands += 1
    try:
        while True:
            try:
                runner.wait(dice.uniform(0.05, usual) if report.kills < kills else GIVE_UP_SECONDS)
            except subprocess.TimeoutExpired:
                assert report.kills < kills, "the match does not come to its end"
                report.kills += 1
                is_hit = True
                if not _kill(world, runner, dice.choice((RUNNER, SERVER, BOTH)), report):
                    continue
            else:
                if runner.returncode == 0 or not is_hit:
                    break
                runner.communicate()
            runner, is_hit = world.runner(), False
            report.commands += 1
        _finish(runner)
    finally:
        if runner.poll() is None:
            runner.kill()
            runner.communicate()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture matches", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="the same chances again, as far as time allows")
    given = parser.parse_args(arguments)
    place, reports = BUILD / "torture" / "matches", []
    shutil.rmtree(place, ignore_errors=True)
    worlds = [(players, is_private) for players in (2, 3, 4) for is_private in (True, False)]
    for at, (players, is_private) in enumerate(worlds):
        kills = given.kills * (at + 1) // len(worlds) - given.kills * at // len(worlds)
        dice = random.Random(f"{given.seed} {players} {is_private}")
        deals = {2: 30, 3: 10, 4: 3}[players]
        where = place / f"{players}-{'private' if is_private else 'server'}"
        report = run(where, players=players, deals=deals, kills=kills, is_private=is_private, dice=dice)
        reports.append(asdict(report))
        print(json.dumps(asdict(report)), flush=True)
    (BUILD / "torture-matches.json").write_text(json.dumps(reports, indent=2) + "\n", encoding="utf-8")
    print(f"every match came to the same table and records; written to {BUILD.name}/torture-matches.json")
    return 0
