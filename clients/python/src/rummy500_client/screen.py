"""What the terminal can do: colour unless NO_COLOR is set or the output is no terminal, and a line that is redrawn."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

RESET = "\x1b[0m"
CODES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m"}


def has_colour(stream: TextIO) -> bool:
    """NO_COLOR (no-color.org) switches colour off; so do a dumb terminal and a file."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


class Paint:
    """Colours texts, or leaves them alone."""

    def __init__(self, *, is_on: bool) -> None:
        self.is_on = is_on

    def __call__(self, style: str, text: str) -> str:
        return f"{CODES[style]}{text}{RESET}" if self.is_on and text else text

    def cards(self, text: str) -> str:
        """A text of cards with hearts and diamonds in red."""
        return " ".join(self("red", word) if _is_red(word) else word for word in text.split(" "))


def _is_red(word: str) -> bool:
    card = word.strip("()").partition("=")[0].partition("@")[0]
    return len(card) == 2 and card[0] in "A23456789TJQK" and card[1] in "DH"


class ProgressLine:
    """One line that is written over and over, on a terminal only; elsewhere nothing is shown."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_on = self._stream.isatty()
        self._is_shown = False

    def show(self, text: str) -> None:
        if not self._is_on:
            return
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r\x1b[K{text[:width]}")
        self._stream.flush()
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_shown = False


def table_text(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]

    def line(row: list[str]) -> str:
        first, *others = row
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        return "  ".join(cells).rstrip()

    return [line(heads), *(line(row) for row in rows)]
