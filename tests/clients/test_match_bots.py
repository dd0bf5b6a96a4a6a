"""How the bots of a match are named, and which process plays which seating."""

from __future__ import annotations

import pytest

from rummy500_client.errors import ClientError
from rummy500_client.match_bots import BotSpec, match_bot, read_bots, seatings_of, total_seatings


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
        match_bot(read_bots([text, "builtin:easy"])[0], {}, seatings=2)


def test_a_match_needs_two_bots() -> None:
    with pytest.raises(ClientError, match="two bots"):
        read_bots(["builtin:easy"])


def test_no_process_plays_two_seatings_of_a_deal() -> None:
    for bots, players in [(2, 2), (3, 3), (4, 4), (5, 5), (3, 2), (4, 2), (2, 3)]:
        sits = seatings_of(bots, players)
        assert {seating for own in sits for seating in own} == set(range(total_seatings(bots, players)))
        for own in sits:
            assert len(own) == len(set(own))


def test_with_more_bots_than_seats_a_bot_sits_in_its_pairings_only() -> None:
    assert seatings_of(3, 2) == [[0, 1, 2, 3], [0, 1, 4, 5], [2, 3, 4, 5]]


def test_the_names_on_the_wire_go_by_seating() -> None:
    bot = match_bot(BotSpec("a", "cmd", "a"), {2: "a#1", 3: "a#2"}, seatings=4)
    assert list(bot.connected.names) == ["a#1", "a#1", "a#1", "a#2"]
