"""What a bot's `act` may return, before anything is sent."""

from __future__ import annotations

import pytest

from rummy500_client.bot import LONGEST_LINE, Bot, answer_messages


@pytest.mark.parametrize("answer", [None, 42, [], "", ["draw", None], "x" * (LONGEST_LINE + 1)])
def test_an_answer_that_is_no_action_says_what_is_wanted(answer: object) -> None:
    with pytest.raises(TypeError, match=r"must return one of request\.legal, a line of notation") as caught:
        answer_messages(answer, Bot())
    assert len(str(caught.value)) < 400


def test_lines_of_notation_are_sent_as_they_are() -> None:
    assert [message.text for message in answer_messages(["meld 7S 7H 7D", "discard 2C"], Bot())] == [
        "meld 7S 7H 7D",
        "discard 2C",
    ]
