"""The results file of a match: a line at its beginning, one for each seating in the order of deals, one at its end.

docs/results.md has every field. A file that breaks off is gone on with: what is missing is appended, once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rummy500.v1.match_pb2 import (
    MATCH_STATE_CANCELLED,
    MATCH_STATE_FAILED,
    MATCH_STATE_FINISHED,
    MATCH_UNIT_GAME,
    Game,
    Match,
    MatchSchedule,
    ThinkingTime,
)
from rummy500.v1.match_service_pb2 import ListGamesRequest
from rummy500.v1.result_pb2 import Termination
from rummy500_client.connection import Connection
from rummy500_client.errors import ClientError
from rummy500_client.json_text import plain
from rummy500_client.match_report import state_text

FORMAT = 1
PAGE = 1_000
_OVER = (MATCH_STATE_FINISHED, MATCH_STATE_CANCELLED, MATCH_STATE_FAILED)
Line = dict[str, Any]


def is_over(match: Match) -> bool:
    return match.state in _OVER


class ResultsFile:
    """Written as the match goes on, in the order of deals. Raises ClientError when the file cannot be written, or is
    that of another match."""

    def __init__(self, path: Path, connection: Connection) -> None:
        self.path = path
        self._connection = connection
        self._last = (-1, -1)
        self._token = ""
        self._is_ended = False
        self._is_begun = False

    def follow(self, match: Match) -> None:
        """Appends the seatings that are new, and at the match's end its last line."""
        try:
            if not self._is_begun:
                self._begin(match)
            if self._is_ended:
                return
            with self.path.open("a", encoding="utf-8") as file:
                for game in self._new_games(match):
                    self._last = (game.deal, game.seating)
                    file.write(_text(seating_line(game)))
                if is_over(match):
                    file.write(_text(end_line(match)))
                    self._is_ended = True
        except OSError as error:
            raise ClientError(f"{self.path} cannot be written: {error.strerror}") from None

    def _begin(self, match: Match) -> None:
        self._is_begun = True
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            self.path.write_text(_text(match_line(match)), encoding="utf-8")
            return
        whole = 0
        with self.path.open("rb") as file:
            for number, text in enumerate(file):
                if not text.endswith(b"\n"):
                    break
                line = json.loads(text)
                if number == 0 and line["match"] != match.name:
                    raise ClientError(f"{self.path} is of match {line['match']}: name another directory")
                if line["type"] == "seating":
                    self._last = (line["deal"], line["seating"])
                self._is_ended = line["type"] == "end"
                whole += len(text)
        os.truncate(self.path, whole)
        if not whole:
            self.path.write_text(_text(match_line(match)), encoding="utf-8")

    def _new_games(self, match: Match) -> Iterator[Game]:
        """Of deals that are complete with all before them; of a match that is over and did not stop early, all."""
        is_all = is_over(match) and not match.stopping.is_stopped_early
        end = match.plan.deals if is_all else match.deals_counted + match.deals_left_out
        while self._last[0] + 1 < end or is_all:
            request = ListGamesRequest(match=match.name, page_size=PAGE, page_token=self._token)
            page = self._connection.ask(self._connection.matches.ListGames, request)
            yield from (game for game in page.games if (game.deal, game.seating) > self._last and game.deal < end)
            is_whole = len(page.games) == PAGE and page.games[-1].deal < end
            if not page.next_page_token or not (is_whole or is_all):
                return
            self._token = page.next_page_token


def match_line(match: Match) -> Line:
    plan = match.plan
    return {
        "type": "match",
        "format": FORMAT,
        "match": match.name,
        "created": match.created.ToJsonString(),
        "bots": [bot.name for bot in plan.bots],
        "players": plan.players,
        "deals": plan.deals,
        "seatings": match.seatings,
        "unit": "game" if plan.unit == MATCH_UNIT_GAME else "deal",
        "schedule": MatchSchedule.Name(plan.schedule).removeprefix("MATCH_SCHEDULE_").lower().replace("_", "-"),
        "is_paired": match.is_paired,
        "from_seed": match.from_seed,
        "commitment": match.commitment.hex(),
        "rules_digest": match.rules_digest,
        "plan": plain(plan),
    }


def seating_line(game: Game) -> Line:
    return {
        "type": "seating",
        "match": game.match,
        "deal": game.deal,
        "pairing": game.pairing,
        "seating": game.seating,
        "record": game.record,
        "finished": game.finished.ToJsonString(),
        "bots": list(game.bots),
        "names": list(game.players),
        "sides": list(game.sides),
        "points": [seat.points for seat in game.seats],
        "rounds": game.rounds,
        "winners": list(game.result.winners),
        "termination": Termination.Name(game.result.termination).removeprefix("TERMINATION_"),
        "at_fault": game.result.at_fault if game.result.HasField("at_fault") else None,
        "counts": game.counts,
        "decisions": [seat.decisions for seat in game.seats],
        "refusals": [seat.refusals for seat in game.seats],
        "charged_ms": [seat.charged_ms for seat in game.seats],
        "thinking_ms": [_thinking(seat.thinking) for seat in game.seats],
    }


def _thinking(times: Iterable[ThinkingTime]) -> list[list[int]]:
    return [[each.from_ms, each.count] for each in times]


def end_line(match: Match) -> Line:
    whole = plain(match)
    return {
        "type": "end",
        "match": match.name,
        "state": state_text(match),
        "sentence": match.sentence,
        "finished": match.finished.ToJsonString(),
        "secret": match.secret.hex(),
        "deals_counted": match.deals_counted,
        "deals_left_out": match.deals_left_out,
        "stopping": whole.get("stopping"),
        "results": whole["results"],
        "pairs": whole["pairs"],
    }


def _text(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
