"""A few deaths of a server; `python -m tests.torture kills` is the long form."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.torture.kills import Load, run
from tests.torture.witness import Contradiction, Witness

from rummy500.v1 import card_pb2
from rummy500.v1.event_pb2 import Discarded, DrewFromStock, Event


@pytest.mark.parametrize(
    ("durability", "kills", "load"),
    [("disk", 3, Load(tables=2, matches=1, bots=4)), ("process", 1, Load(tables=2, matches=0, bots=4))],
)
def test_what_a_killed_server_has_answered_is_there_once(
    tmp_path: Path, durability: str, kills: int, load: Load
) -> None:
    report = run(tmp_path / "run", durability=durability, kills=kills, load=load, seed=7)
    assert report.answers > 20
    assert report.records_that_hold >= 2


DRAWN = Event(sequence=1, drew_from_stock=DrewFromStock(seat=0))
THROWN = Event(sequence=2, discarded=Discarded(seat=0, card=card_pb2.CARD_7C))
OTHERS = Event(sequence=2, discarded=Discarded(seat=0, card=card_pb2.CARD_8C))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([DRAWN, THROWN], [DRAWN]),
        ([DRAWN, THROWN], [DRAWN, OTHERS]),
        ([DRAWN], [DRAWN, THROWN]),
        ([DRAWN, THROWN], [DRAWN, THROWN, Event(sequence=3, drew_from_stock=DrewFromStock(seat=0))]),
        ([DRAWN], [Event(sequence=2, drew_from_stock=DrewFromStock(seat=0))]),
    ],
)
def test_the_witness_finds_what_was_lost_doubled_or_changed(told: list[Event], found: list[Event]) -> None:
    witness = Witness("t")
    witness.acts(0, told)
    with pytest.raises(Contradiction):
        witness.verify(0, found)
