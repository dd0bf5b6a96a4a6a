"""A few deaths of a match; `python -m tests.torture matches` is the long form."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.torture.matches import run


@pytest.mark.parametrize("is_private", [True, False])
def test_a_match_through_deaths_comes_to_what_it_comes_to_without(tmp_path: Path, is_private: bool) -> None:
    report = run(tmp_path, players=2, deals=4, kills=2, is_private=is_private, dice=random.Random(3))
    assert report.kills == 2
