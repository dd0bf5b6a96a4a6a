"""Which numbers have come, of those that come from 0 on about in order."""

from __future__ import annotations


class Dense:
    """A set of numbers that takes room for the gaps only: every number below `_below` is in it."""

    def __init__(self) -> None:
        self._below = 0
        self._beyond: set[int] = set()

    def add(self, number: int) -> None:
        if number >= self._below:
            self._beyond.add(number)
        while self._below in self._beyond:
            self._beyond.remove(self._below)
            self._below += 1

    def __contains__(self, number: int) -> bool:
        return number < self._below or number in self._beyond

    def __len__(self) -> int:
        return self._below + len(self._beyond)
