"""Some seconds of a soak; `python -m tests.torture soak` is the long form."""

from __future__ import annotations

from pathlib import Path

from tests.torture.soak import Load, run


def test_a_crowd_plays_and_nothing_goes_wrong(tmp_path: Path) -> None:
    report = run(tmp_path / "soak", Load(minutes=0.1, tables=8, rate=200.0, bots=4, slow_readers=1), seed=3)
    assert report.counts["decisions"] > 100
    assert report.milliseconds["Act"]["calls"] > 0
    assert min(report.memory_mb) > 0
