"""How the bots of a match are named, and which process plays which seating."""

from __future__ import annotations

import pytest

from rummy500_client.errors import ClientError
from rummy500_client.match_bots import BotSpec, match_bot, read_bots


def test_the_forms_of_a_bot() -> None:
    specs = read_bots(["builtin:random,seed=3", "connected:deep", "cmd:./other --fast", "pkg.mod:MyBot", "al=cmd:a b"])
    assert specs == [
        BotSpec("random", "builtin", "random,seed=3"),
        BotSpec("deep", "connected", "deep"),
        BotSpec("other", "cmd", "./other --fast"),
        BotSpec("MyBot", "class", "pkg.mod:MyBot"),
        BotSpec("al", "cmd", "a b"),
    ]


def test_equal_names_are_told_apart() -> None:
    assert [spec.name for spec in read_bots(["builtin:easy"] * 3)] == ["easy", "easy-2", "easy-3"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("easy", "a bot is builtin:NAME"),
        ("nothere.py:MyBot", "nothere.py is not there"),
        ("cmd:", "a bot is"),
        ("cmd:a 'b", "cannot be read"),
        ("builtin:easy,seed", "NAME=VALUE"),
    ],
)
def test_a_bot_that_cannot_be_read_is_told(text: str, told: str) -> None:
    with pytest.raises(ClientError, match=told):
        match_bot(read_bots([text, "builtin:easy"])[0])


def test_a_match_needs_two_bots() -> None:
    with pytest.raises(ClientError, match="two bots"):
        read_bots(["builtin:easy"])


def test_a_bot_that_is_started_here_has_a_stream_for_each_seating() -> None:
    bots = [BotSpec("a", "cmd", "a"), BotSpec("b", "connected", "deep"), BotSpec("c", "builtin", "easy")]
    names = [list(match_bot(bot, ["a-1", "a-2"]).connected.names) for bot in bots]
    assert names == [["a-1", "a-2"], ["deep"], []]
