"""Elo and the likelihood of superiority against the numbers that fastchess publishes in its own tests."""

from __future__ import annotations

import pytest

from rummy500_arena.elo import elo_of, elo_of_score
from rummy500_arena.ratio import RatioSums

# fastchess, app/tests/elo_test.cpp: pentanomial counts of 0, 1/2, 1, 3/2 and 2 points, Elo, its error, superiority.
PUBLISHED = [
    ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 1.0),
    ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 0.0505),
    ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95, 0.0),
]


def pentanomial(*counts: int) -> RatioSums:
    sums = RatioSums()
    for half_wins, count in enumerate(counts):
        for _ in range(count):
            sums.add(half_wins, 4)
    return sums


@pytest.mark.parametrize(("counts", "elo", "error", "superiority"), PUBLISHED)
def test_elo_is_that_of_fastchess(
    counts: tuple[int, int, int, int, int], elo: float, error: float, superiority: float
) -> None:
    found = elo_of(pentanomial(*counts))

    assert found is not None
    assert found.difference == pytest.approx(elo, abs=0.05)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(error, rel=0.01)  # as exact as they are printed
    assert found.superiority == pytest.approx(superiority, abs=0.0005)


def test_ten_to_one_is_four_hundred_points() -> None:
    assert elo_of_score(10 / 11) == pytest.approx(400)


def test_nothing_is_said_before_deals_differ() -> None:
    assert elo_of(pentanomial(0, 0, 0, 0, 5)) is None
    assert elo_of(pentanomial(0, 0, 1, 0, 0)) is None


def test_an_end_beyond_all_numbers_is_left_open() -> None:
    found = elo_of(pentanomial(0, 0, 1, 0, 9))

    assert found is not None
    assert found.difference is not None
    assert found.high is None
