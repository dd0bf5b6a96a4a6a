"""The match file of `rummy500 match run`: it says what flags say, and its mistakes are told by key and line."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest
from tests.clients.running import rummy500

from rummy500.v1.match_pb2 import StoppingRule
from rummy500_client.commands import match
from rummy500_client.errors import ClientError
from rummy500_client.match_file import MatchKeys

TWO_BOTS = '[[bot]]\nbuiltin = "easy"\n[[bot]]\nbuiltin = "random"\nsettings = { seed = 3 }\n'


def filled(tmp_path: Path, text: str, *flags: str) -> argparse.Namespace:
    """The arguments of `match run` with a file of this text and these flags."""
    file = tmp_path / "match.toml"
    file.write_text(text, encoding="utf-8")
    parser = argparse.ArgumentParser()
    match.add(parser.add_subparsers())
    given = parser.parse_args(["match", "run", str(file), *flags])
    keys: MatchKeys = given.keys
    return keys.filled(given, given.file)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ClientError) as told:
        filled(tmp_path, text)
    return [line.partition("match.toml, ")[2] for line in told.value.sentence.splitlines()]


def test_the_file_says_what_flags_say(tmp_path: Path) -> None:
    text = 'deals = 7\nunit = "game"\nclock = 1.5\nvariant = ["jokers"]\nseed = 9\n[option]\ntarget = 300\n' + TWO_BOTS
    arguments = filled(tmp_path, text)
    assert (arguments.deals, arguments.unit, arguments.clock, arguments.seed) == (7, "game", 1500, "9")
    assert (arguments.variant, arguments.option) == (["jokers"], ["target=300"])
    assert arguments.bot == ["builtin:easy", "builtin:random,seed=3"]


def test_a_table_says_a_flag_of_names_and_values(tmp_path: Path) -> None:
    text = "[sprt]\ndifference0 = 0\ndifference1 = 2.5\n" + TWO_BOTS
    assert filled(tmp_path, text).sprt == StoppingRule(difference1=2.5)
    (told,) = mistakes(tmp_path, "deals = 3\n[sprt]\ndiference1 = 2\n" + TWO_BOTS)
    assert told.startswith("line 2: sprt: 'diference1=2': it is difference0=X,difference1=Y")


def test_a_flag_overrides_the_file_and_what_neither_says_is_the_default(tmp_path: Path) -> None:
    text = 'deals = 7\nbot = ["builtin:easy", "builtin:random"]\n'
    arguments = filled(tmp_path, text, "--deals", "3", "--bot", "builtin:easy", "--bot", "builtin:easy")
    assert (arguments.deals, arguments.unit) == (3, "deal")
    assert arguments.bot == ["builtin:easy", "builtin:easy"]


def test_a_bot_of_a_file_may_be_of_every_kind(tmp_path: Path) -> None:
    text = """
        bot = [
            { name = "a", class = "my.bots:MyBot" },
            { name = "b", command = "./other --fast" },
            { connected = "deep" },
            "c=builtin:easy",
        ]
    """
    assert filled(tmp_path, text).bot == ["a=my.bots:MyBot", "b=cmd:./other --fast", "connected:deep", "c=builtin:easy"]


def test_every_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    text = f'deals = 0\n# a comment\nplayer = 2\n\nunit = "gane"\nvariant = [\n  "jokers",\n  3.5,\n]\n{TWO_BOTS}'
    assert mistakes(tmp_path, text) == [
        "line 1: deals: 0 is not from 1 to 1000000",
        "line 3: 'player' is no key of a match: did you mean players?",
        "line 5: unit is 'gane': did you mean game?",
    ]


@pytest.mark.parametrize(
    ("bots", "told"),
    [
        ('[[bot]]\nbuiltin = "easy"\n[[bot]]\nbuiltin = "easy"', "line 3: 2 bots have the name 'easy': give each"),
        ('[[bot]]\nbuiltni = "easy"', "line 2: 'builtni' is no key of a bot: did you mean builtin?"),
        ('[[bot]]\nbuiltin = "easy"\nclass = "a:B"', "line 1: a bot has one of builtin, class, command, dial, connect"),
        ('[[bot]]\nname = "x"', "line 1: a bot has one of builtin, class, command, dial, connected: none is given"),
        ('[[bot]]\nname = "x y"\nbuiltin = "easy"', "line 2: the name 'x y' is not 1 to 48 letters, digits, dots"),
        ('[[bot]]\nbuiltin = 3', "line 2: builtin is the number 3, but a text in quotes is wanted"),
        ('[[bot]]\nclass = "nothere.py:B"', "line 1: bot 'nothere.py:B': nothere.py is not there"),
        ('[[bot]]\nclass = "a:B"\nsettings = { seed = 3 }', "line 3: settings are for a builtin bot, and this one is"),
        ('bot = "builtin:easy"', "line 1: bot is the text 'builtin:easy', but there are several"),
        ('database = ["a"]', "line 1: database is a list, but a number or a text is wanted"),
        ("tls = 1", "line 1: tls is the number 1, but it is true or false"),
        ("json = true", "line 1: 'json' is no key of a match"),
    ],
)  # fmt: skip
def test_a_mistake_says_what_is_wanted(tmp_path: Path, bots: str, told: str) -> None:
    (line,) = mistakes(tmp_path, bots)
    assert line.startswith(told)


def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match=r"match\.toml is no TOML: .* \(at line 2, "):
        filled(tmp_path, "deals = 3\nplayers 2\n")


def test_a_file_that_is_not_there_is_told(state: Path) -> None:
    ended = rummy500("match", "run", "nothere.toml", state=state)
    assert ended.returncode == 2
    assert ended.stderr == "rummy500: the match file nothere.toml cannot be read: No such file or directory\n"


def test_the_example_is_played_as_it_is(state: Path) -> None:
    assert rummy500("match", "init", state=state).returncode == 0
    again = rummy500("match", "init", state=state)
    assert (again.returncode, again.stderr) == (2, "rummy500: match.toml is there already: name another file\n")
    played = rummy500("match", "run", "match.toml", "--deals", "1", "--json", state=state)
    assert played.returncode == 0, played.stderr
    assert [bot["name"] for bot in json.loads(played.stdout)["plan"]["bots"]] == ["one", "another"]


def test_a_dry_run_tries_the_bots_out(state: Path) -> None:
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random")
    shown = rummy500("match", "run", *bots, "--deals", "500", "--dry-run", state=state)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^about .+: \d+ games of a trial took .+ s$", shown.stdout, re.MULTILINE)
    failed = rummy500("match", "run", *bots[:2], "--bot", "cmd:./nothere", "--dry-run", state=state)
    assert failed.returncode == 1
    assert "in the trial: bot nothere does not start: ./nothere: No such file or directory" in failed.stdout


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
@pytest.mark.parametrize("wrong", [("--preset", "pagatt"), ("--variant", "two-deckss"), ("--option", "target=lots")])
def test_what_could_not_be_begun_is_a_mistake_of_the_command(
    wrong: tuple[str, ...], more: tuple[str, ...], state: Path
) -> None:
    ended = rummy500("match", "run", "--bot", "builtin:easy", "--bot", "builtin:easy", *wrong, *more, state=state)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1


def test_a_match_is_watched_and_cancelled_by_name(server: str, state: Path) -> None:
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random", "--deals", "1", "--server", server)
    name = json.loads(rummy500("match", "run", "--json", *bots, state=state).stdout)["name"]
    watched = rummy500("match", "watch", name, "--server", server, state=state)
    assert (watched.returncode, watched.stderr) == (0, "")
    assert f"match {name}: 1 deal, each in 2 seatings, fair deals, finished" in watched.stdout
    cancelled = rummy500("match", "cancel", name, "--server", server, state=state)
    assert cancelled.returncode == 1
    unknown = rummy500("match", "watch", "nosuch", "--server", server, state=state)
    assert (unknown.returncode, unknown.stderr) == (1, "rummy500: there is no match 'nosuch'\n")


def test_a_dry_run_shows_the_plan_and_begins_nothing(server: str, state: Path) -> None:
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random", "--bot", "cmd:./nothere")
    flags = ("--players", "2", "--schedule", "gauntlet", "--deals", "500", "--server", server)
    shown = rummy500("match", "run", *bots, *flags, "--dry-run", state=state)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[:3] == [
        "500 deals, each in 4 seatings: 2000 rounds",
        "gauntlet: 3 bots, 2 at a table",
        "paired: all seatings of a deal share its packs",
    ]
    assert lines[-1].split() == ["nothere", "cmd:./nothere", "2", "2"]
    assert not (state / "rummy500-records").exists()
    unpaired = rummy500("match", "run", *bots, *flags, "--unpaired", "--dry-run", "--json", state=state)
    planned = json.loads(unpaired.stdout)
    assert (planned["games"], planned["is_paired"]) == (2000, False)
