"""A few power cuts; `python -m tests.torture power` is the long form."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from tests.torture.disk import Change, Disk
from tests.torture.power import run

PLACE = Path("/somewhere")
FILE = PLACE / "games.db"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler to build the trace with")
@pytest.mark.parametrize("durability", ["disk", "process"])
def test_a_power_cut_loses_nothing_that_disk_has_answered_and_much_that_process_has(
    tmp_path: Path, durability: str
) -> None:
    report = run(tmp_path / "run", durability=durability, seconds=1.0, tables=3, cuts=4, seed=3)
    assert report.answers > 10
    assert bool(report.losses) is (durability == "process"), report.losses


def disk_after(*changes: Change) -> Disk:
    disk = Disk(PLACE)
    for change in changes:
        disk.make(change)
    return disk


def written(text: bytes, offset: int = 0) -> Change:
    return Change("w", FILE, offset, len(text), text, 0)


SYNCED, LISTED = Change("s", FILE, 0, 0, b"", 0), Change("s", PLACE, 0, 0, b"", 0)
UNLINKED = Change("u", FILE, 0, 0, b"", 0)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ((written(b"one"), SYNCED), {}),
        ((written(b"one"), LISTED), {"games.db": b""}),
        ((written(b"one"), SYNCED, LISTED, written(b"two", 3)), {"games.db": b"one"}),
        ((written(b"one"), SYNCED, LISTED, written(b"two", 4), SYNCED), {"games.db": b"one\0two"}),
        ((written(b"one"), SYNCED, LISTED, Change("t", FILE, 0, 1, b"", 0), SYNCED), {"games.db": b"o"}),
        ((written(b"one"), SYNCED, LISTED, UNLINKED), {"games.db": b"one"}),
        ((written(b"one"), SYNCED, LISTED, UNLINKED, LISTED), {}),
    ],
)
def test_a_disk_keeps_what_was_synced_and_no_more(changes: tuple[Change, ...], left: dict[str, bytes]) -> None:
    assert disk_after(*changes).after_cut(random.Random(1), 0.0) == left
