"""What a person or a script may type at a table."""

from __future__ import annotations

import pytest

from rummy500_client.errors import ClientError
from rummy500_client.typed import Aside, Wanted, read_json_line, read_line, slip


@pytest.mark.parametrize(
    ("typed", "actions"),
    [
        ("d", ("draw",)),
        ("t 9H", ("take 9H",)),
        ("m 7S 7H 7D", ("meld 7S 7H 7D",)),
        ("l qh m1", ("layoff qh m1",)),
        ("x 6S", ("discard 6S",)),
        ("p", ("pass",)),
        ("discard 6S", ("discard 6S",)),
        ("m 7S 7H 7D; l 8C m2; x 4D", ("meld 7S 7H 7D", "layoff 8C m2", "discard 4D")),
    ],
)
def test_one_letter_stands_for_a_verb(typed: str, actions: tuple[str, ...]) -> None:
    assert read_line(typed) == Wanted(actions)


@pytest.mark.parametrize(("typed", "name"), [("?", "legal"), ("s", "scores"), ("Q", "quit"), ("help", "help")])
def test_some_letters_are_no_action(typed: str, name: str) -> None:
    assert read_line(typed) == Aside(name)


def test_an_empty_line_asks_for_nothing() -> None:
    assert read_line("  ") is None


@pytest.mark.parametrize("typed", ['"draw"', '["draw"]', '{"actions": ["draw"]}', '{"action": "draw"}', "draw", "d"])
def test_a_script_may_send_json_or_notation(typed: str) -> None:
    assert read_json_line(typed) == Wanted(("draw",))


@pytest.mark.parametrize("typed", ["[]", "{}", '{"actions": [3]}', "{"])
def test_json_that_asks_for_nothing_is_refused(typed: str) -> None:
    with pytest.raises(ClientError):
        read_json_line(typed)


@pytest.mark.parametrize(
    "action",
    ["draw", "take 10h@3", "meld 6S 7S JK=8S", "layoff AS m2 low", "call 8H with 9H TH", "DISCARD 6s", "fold 6S x"],
)
def test_notation_is_no_slip(action: str) -> None:
    assert slip(action, ["fold"]) == ""


@pytest.mark.parametrize(
    ("action", "told"),
    [("hlep", "'hlep' is no command"), ("discard", "discard what?"), ("meld 7S 7X", "'7X' is no card")],
)
def test_a_slip_is_told(action: str, told: str) -> None:
    assert slip(action).startswith(told)
