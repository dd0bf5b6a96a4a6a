"""Reads a results file (docs/results.md) into the statistics of its match."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rummy500_arena.plan import Plan, PlannedGame, Schedule, Unit
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.statistics import MatchStatistics

FORMAT = 1
Line = dict[str, Any]


class ResultsUnreadable(ValueError):
    """Line `line` is no line of a results file."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")


@dataclass(frozen=True, slots=True)
class Seating:
    """A game of the match, counted from 0 in the order of the file, and the name of its record."""

    number: int
    game: PlannedGame
    score: GameScore
    efforts: tuple[Effort, ...]
    record: str


@dataclass(slots=True)
class Results:
    """A match: its first line, its seatings deal by deal, its last line where it is over."""

    head: Line
    plan: Plan
    deals: dict[int, list[Seating]] = field(default_factory=dict)
    end: Line | None = None

    @property
    def bots(self) -> Sequence[str]:
        return tuple(self.head["bots"])

    @property
    def seatings(self) -> Iterator[Seating]:
        for deal in sorted(self.deals):
            yield from self.deals[deal]

    def counted(self) -> Iterator[list[Seating]]:
        """The deals that are complete and say something, in their order."""
        for deal in sorted(self.deals):
            games = self.deals[deal]
            if len(games) == self.plan.seatings and all(each.score.counts for each in games):
                yield games

    def statistics(self) -> MatchStatistics:
        found = MatchStatistics(self.plan)
        for each in self.seatings:
            found.add(each.game, each.score, each.efforts)
        found.settle()
        return found


def read_results(lines: Iterable[str]) -> Results:
    """Raises ResultsUnreadable. A last line that breaks off is left out."""
    results: Results | None = None
    count = 0
    for number, text in enumerate(lines, 1):
        if not text.endswith("\n"):
            break
        try:
            line = json.loads(text)
            if results is None:
                results = _begun(line)
            elif line["type"] == "seating":
                seating = _seating(line, count)
                results.deals.setdefault(seating.game.deal, []).append(seating)
                count += 1
            elif line["type"] == "end":
                results.end = line
        except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
            raise ResultsUnreadable(number, f"this is no line of a results file ({error})") from None
    if results is None:
        raise ResultsUnreadable(1, "the file is empty")
    return results


def _begun(line: Line) -> Results:
    if line["type"] != "match" or line["format"] != FORMAT:
        raise ValueError(f"a results file begins with a line of type match and format {FORMAT}")
    plan = Plan(
        bots=len(line["bots"]),
        players=line["players"],
        deals=line["deals"],
        secret=b"",
        unit=Unit(line["unit"]),
        schedule=Schedule(line["schedule"]),
        is_paired=line["is_paired"],
    )
    return Results(line, plan)


def _seating(line: Line, number: int) -> Seating:
    game = PlannedGame(
        pairing=line["pairing"],
        deal=line["deal"],
        rotation=line["seating"],
        seating=line["seating"],
        seats=tuple(line["bots"]),
        seed=b"",
    )
    sides, winners = tuple(line["sides"]), tuple(line["winners"])
    score = GameScore(
        points=tuple(line["points"]),
        rounds=line["rounds"],
        winners=winners,
        drawn=len({sides[seat] for seat in winners}) > 1,
        termination=line["termination"],
        at_fault=line["at_fault"],
        counts=line["counts"],
        sides=sides,
    )
    efforts = tuple(
        Effort(decisions, refusals, charged, {time: times for time, times in thinking})
        for decisions, refusals, charged, thinking in zip(
            line["decisions"], line["refusals"], line["charged_ms"], line["thinking_ms"], strict=True
        )
    )
    return Seating(number, game, score, efforts, line["record"])
