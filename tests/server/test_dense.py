"""The games of a match that are over: a million of them take no room."""

from __future__ import annotations

import random
import sys

from rummy500_server.dense import Dense


def test_it_is_the_set_of_what_was_added() -> None:
    dice = random.Random(5)
    dense, numbers = Dense(), set[int]()
    for _ in range(300):
        number = dice.randrange(200)
        dense.add(number)
        numbers.add(number)
        assert len(dense) == len(numbers)
        assert [each in dense for each in range(220)] == [each in numbers for each in range(220)]


def test_what_came_about_in_order_takes_no_room() -> None:
    dense = Dense()
    for first in range(0, 100_000, 10):
        for number in range(first + 9, first - 1, -1):
            dense.add(number)

    assert len(dense) == 100_000
    assert sys.getsizeof(dense._beyond) < 10_000
