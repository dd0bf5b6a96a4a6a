"""A few power cuts; `python -m tests.torture power` is the long form."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.torture.disk import Change, Disk, changes, compile_trace, disks_after
from tests.torture.power import LUCK, run

from rummy500_server.journal_file import open_file

PLACE = Path("/somewhere")
FILE = PLACE / "games.db"


NEEDS_COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler to build the trace with")


@NEEDS_COMPILER
@pytest.mark.parametrize("durability", ["disk", "process"])
def test_a_power_cut_loses_nothing_that_disk_has_answered_and_much_that_process_has(
    tmp_path: Path, durability: str
) -> None:
    report = run(tmp_path / "run", durability=durability, seconds=1.0, tables=3, cuts=4, seed=3)
    assert report.answers > 10
    assert bool(report.losses) is (durability == "process"), report.losses


MAKE = "import sys; from pathlib import Path; from rummy500_server.journal_file import open_file;"
MAKE += " connection, lock = open_file(Path(sys.argv[1]), 'disk'); connection.close()"


@NEEDS_COMPILER
def test_a_power_cut_while_the_database_is_made_leaves_nothing_that_is_in_the_way(tmp_path: Path) -> None:
    made, after = tmp_path / "made", tmp_path / "after"
    made.mkdir()
    compiler = shutil.which("cc")
    assert compiler is not None
    trace = tmp_path / "trace"
    traced = {"LD_PRELOAD": str(compile_trace(compiler, tmp_path)), "DISK_TRACE": str(trace)}
    traced["DISK_TRACE_OF"] = str(made / "games.db")
    subprocess.run([sys.executable, "-c", MAKE, str(made / "games.db")], env=os.environ | traced, check=True)
    cuts = [change.end for change in changes(trace.read_bytes())]
    assert len(cuts) > 20
    for luck in (*LUCK, 1.0):
        for _, disk in disks_after(trace.read_bytes(), made, cuts, random.Random(f"{luck}"), luck):
            shutil.rmtree(after, ignore_errors=True)
            after.mkdir()
            for name, content in disk.items():
                (after / name).write_bytes(content)
            connection, lock = open_file(after / "games.db", "disk")
            assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
            connection.close()
            lock.release()


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
