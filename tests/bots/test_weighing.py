"""What rollouts say of a candidate, against what was judged before."""

from __future__ import annotations

import pytest

from rummy500_bots.weighing import Candidate


def weighed(judged: float, near: float, change: float, guesses: int) -> tuple[float, float]:
    """The lead of a candidate, of which every rollout said the same, and its doubt."""
    first, other = Candidate((), 0.0, 10.0), Candidate((), judged, 10.0)
    for _ in range(guesses):
        other.note((near, near + change), (0.0, 0.0))
    return other.lead(first)


def test_before_any_rollout_the_judgement_stands() -> None:
    assert weighed(-4.0, 0.0, 0.0, 0)[0] == -4.0


@pytest.mark.parametrize("change", [0.0, 6.0])
def test_the_more_guesses_the_more_their_word_counts(change: float) -> None:
    leads = [weighed(-4.0, 10.0, change, guesses) for guesses in (0, 1, 4, 16, 64, 1_000)]

    assert [lead for lead, _ in leads] == sorted(lead for lead, _ in leads)
    assert [doubt for _, doubt in leads] == sorted((doubt for _, doubt in leads), reverse=True)
    assert -4.0 < leads[-1][0] < 10.0 + max(change, 0.0)


def test_a_second_turn_of_each_seat_counts_only_when_it_is_well_known() -> None:
    def told(guesses: int) -> float:
        """Of what the second turns change, the part that is believed."""
        with_them, without = weighed(0.0, 10.0, 10.0, guesses)[0], weighed(0.0, 10.0, 0.0, guesses)[0]
        return with_them / without - 1

    assert told(1) < 0.3
    assert told(1) < told(8) < told(100)
    assert told(1_000) > 0.9


def test_a_rollout_is_compared_with_the_first_candidates_from_the_same_guess() -> None:
    first, other = Candidate((), 0.0, 10.0), Candidate((), 0.0, 10.0)
    for luck in (-50.0, 0.0, 50.0):
        other.note((luck + 8.0, luck + 8.0), (luck, luck))

    assert other.near == [8.0] * 3
    assert other.lead(first)[0] > 0
