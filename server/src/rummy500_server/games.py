"""The games that are over, in matches and outside of them: how they ended, and their records."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from rummy500.v1 import match_pb2
from rummy500_arena.plan import PlannedGame
from rummy500_arena.records import CLOCK, STAND_IN, Ending, Fair, Header, MatchPlace, Recorder
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.standing import final_points
from rummy500_catalog import DEFAULT_PRESET
from rummy500_engine.fair import THE_TABLE
from rummy500_engine.shuffle import seed_for
from rummy500_server.creation import Creation
from rummy500_server.entries import Acted, Clocked, Forfeited, Returned, TakenOver
from rummy500_server.journal import Journal, Put, Write, newest_first, read_document, readable
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import TABLE, Lobby
from rummy500_server.results import GameResult, Termination
from rummy500_server.statistics_wire import seat_message
from rummy500_server.status import Failure, Reason
from rummy500_server.table import Table
from rummy500_server.translate.events import result_into

GAME, RECORD = "game", "record"
"""Kinds of documents: a game that is over, by its record, those of a match in the order of deals and seatings; and for
a match's the key of that by its record."""
STEP = 100
"""Games of a match that are read at a time."""
_SAYS_NOTHING = frozenset({Termination.SERVER_FAULT, Termination.CANCELLED})


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """`match` is empty outside of matches; then `deal` and `seating` are 0. `score` is what its match counts."""

    record: str
    match: str
    table: str
    deal: int
    seating: int
    players: tuple[str, ...]
    result: GameResult
    score: GameScore
    efforts: tuple[Effort, ...]
    finished_ms: int
    secret: str = ""
    commitment: str = ""
    """What its packs follow from, and the commitment to it, in hexadecimal; empty for no fair deal."""

    @property
    def key(self) -> str:
        """Of its document."""
        return f"{self.match}.{self.deal:010d}.{self.seating:06d}" if self.match else self.record

    def to_json(self) -> bytes:
        values = asdict(self)
        values["result"]["termination"] = self.result.termination.name
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> FinishedGame:
        values = json.loads(text)
        result, score = values["result"], values["score"]
        values["result"] = GameResult(
            **{
                **_with_tuples(result, "winners", "totals", "settlement"),
                "termination": Termination[result["termination"]],
            }
        )
        values["score"] = GameScore(**_with_tuples({"sides": (), **score}, "points", "winners", "sides"))
        values["efforts"] = tuple(map(_effort_from_json, values["efforts"]))
        values["players"] = tuple(values["players"])
        return cls(**values)


def _effort_from_json(values: dict[str, Any]) -> Effort:
    thinking = {int(time): count for time, count in values.get("thinking", {}).items()}
    return Effort(**{**values, "thinking": thinking})


def _with_tuples(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**values, **{name: tuple(values[name]) for name in names}}


def record_name(match: str, game: PlannedGame) -> str:
    """The same whenever the game is played, but its bots are told it, and cannot tell the deal from it, nor which
    games share one."""
    return f"{match}.{seed_for(game.seed, 'record', match, game.seating).hex()[:20]}"


async def find_game(journal: Journal, record: str) -> FinishedGame | None:
    """Raises DamagedDocument."""
    key = await journal.get(RECORD, record)
    text = await journal.get(GAME, record if key is None else key.decode())
    return None if text is None else read_document(GAME, record, text, FinishedGame.from_json)


class Games:
    """Those that are over are in the journal and nowhere else. `after_finished` is told of every game whose end is
    durable."""

    def __init__(self, lobby: Lobby, journal: Journal) -> None:
        self._lobby, self._journal = lobby, journal
        self._ending: dict[str, FinishedGame] = {}
        self.after_finished: list[Callable[[FinishedGame], None]] = []
        lobby.when_over.append(self._keep)
        lobby.after_over.append(self._finished)

    def _keep(self, keeper: Keeper) -> Sequence[Write]:
        game = None if _is_played_again(keeper) else finished_game(keeper, finished_ms=round(time.time() * 1000))
        if game is None:
            return ()
        self._ending[keeper.table.name] = game
        listed_at = newest_first(game.finished_ms, game.record)
        listed_for = keeper.table.creation.listed_for
        kept = Put(GAME, game.key, game.to_json(), listed_at=listed_at, listed_for=listed_for)
        return (kept, Put(RECORD, game.record, game.key.encode())) if game.match else (kept,)

    def _finished(self, keeper: Keeper) -> None:
        game = self._ending.pop(keeper.table.name, None)
        if game is not None:
            for tell in self.after_finished:
                tell(game)

    # --- finding; what is damaged raises DamagedDocument, but does not hide the others from a list of all

    async def named(self, record: str) -> FinishedGame | None:
        game = await find_game(self._journal, record)
        return game if game is not None and game.record == record else None

    async def of_table(self, table: str) -> FinishedGame | None:
        """None also when there is no such table."""
        text = await self._journal.get(TABLE, table)
        if text is None:
            return None
        creation = read_document(TABLE, table, text, Creation.from_json)
        return await self.named(creation.record or table)

    async def of_match(self, match: str) -> AsyncIterator[FinishedGame]:
        """All of them, in the order of deals and seatings."""
        after = ""
        while page := await self.page_of_match(match, after=after, most=STEP):
            for game in page:
                yield game
            after = page[-1].key

    async def page_of_match(self, match: str, *, after: str, most: int) -> list[FinishedGame]:
        """Those behind the key `after` (empty: from the first), at most so many."""
        first = f"{match}."
        rows = await self._journal.documents(GAME, after=after or first, most=most)
        return [read_document(GAME, key, text, FinishedGame.from_json) for key, text in rows if key.startswith(first)]

    async def newest(self, reader: str | None, *, before: str, most: int) -> list[tuple[str, FinishedGame | None]]:
        """Those that are listed for that reader, the newest first, with where they stand in the list; None: damaged."""
        rows = await self._journal.listed(GAME, reader=reader, before=before, most=most)
        games = readable(GAME, ((row.key, row.value) for row in rows), FinishedGame.from_json)
        return [(row.at, games.get(row.key)) for row in rows]

    async def record(self, game: FinishedGame, place: MatchPlace | None) -> str:
        """The record as JSON lines, made anew from the table's journal. Raises Failure when that cannot be done."""
        keeper = await self._lobby.table(game.table)
        try:
            return record_of(keeper.table, place)
        except Exception as error:
            raise Failure(
                Reason.TABLE_BROKEN, f"the record of {game.record} cannot be made any more: {error}"
            ) from error


def finished_game(keeper: Keeper, *, finished_ms: int) -> FinishedGame | None:
    """The game of a table that is over; None when it never started."""
    table, result = keeper.table, keeper.table.result
    assert result is not None
    if table.game.round is None:
        return None
    creation = table.creation
    record = creation.record or creation.name
    points, rounds = final_points(table.game, at_fault=result.at_fault)
    score = GameScore(
        points=points,
        rounds=rounds,
        winners=result.winners,
        drawn=len({table.rules.sides[seat] for seat in result.winners}) > 1,
        termination=result.termination.name,
        at_fault=result.at_fault,
        counts=result.termination not in _SAYS_NOTHING and not _is_abandoned(result),
        sides=tuple(table.rules.sides),
    )
    return FinishedGame(
        record=record,
        match=creation.match,
        table=creation.name,
        deal=creation.deal,
        seating=creation.seating,
        players=tuple(seat.name for seat in table.seats),
        result=result,
        score=score,
        efforts=tuple(_effort(keeper, seat.number) for seat in table.seats),
        finished_ms=finished_ms,
        secret=creation.secret.hex() if creation.is_fair else "",
        commitment=table.committed_to(THE_TABLE).hex(),
    )


def _is_played_again(keeper: Keeper) -> bool:
    """Whether a match plays the game once more: it was broken off, or the server was at fault."""
    assert keeper.table.result is not None
    is_fault = keeper.table.result.termination is Termination.SERVER_FAULT
    return keeper.is_void or (is_fault and bool(keeper.table.creation.match))


def _is_abandoned(result: GameResult) -> bool:
    """Whether the table was closed because nobody had acted for so long."""
    return result.termination is Termination.TIMEOUT and result.at_fault is None


def _effort(keeper: Keeper, seat: int) -> Effort:
    own = [e for e in keeper.table.history if isinstance(e, Acted) and e.seat == seat and not e.by_clock]
    effort = keeper.players[seat].effort
    return replace(effort, charged_ms=sum(entry.spent_ms for entry in own))


def record_of(table: Table, place: MatchPlace | None = None) -> str:
    """The record of a table that is over. Outside of a match it names the table."""
    creation, result = table.creation, table.result
    assert result is not None
    recorder = Recorder(
        Header(
            rules=table.rules,
            preset=creation.choice.preset or DEFAULT_PRESET,
            players=tuple(seat.name for seat in table.seats),
            seed=creation.secret,
            engine=version("rummy500"),
            dealer=None if creation.position is not None else creation.players - 1,
            single_round=creation.single_round,
            aligned=creation.aligned,
            table="" if creation.match else creation.name,
            match=place,
            position=creation.position,
            fair=Fair(creation.place, tuple(seat.entropy for seat in table.seats)) if creation.is_fair else None,
            times={"created_ms": creation.created_ms},
        )
    )
    bots = set[int]()
    for entry in table.history:
        match entry:
            case Acted(seat, action, spent, by_clock):
                by = CLOCK if by_clock else STAND_IN if seat in bots else ""
                recorder.act(seat, action, by=by, times={} if by else {"spent_ms": spent})
            case Clocked(seat, reason, overrun):
                recorder.finish_turn(seat, reason.name, times={"overrun_ms": overrun})
            case TakenOver(seat, reason, bot, overrun):
                bots.add(seat)
                recorder.take_over(seat, bot, reason.name, times={"overrun_ms": overrun})
            case Returned(seat):
                bots.discard(seat)
                recorder.give_back(seat)
            case Forfeited(seat, termination):
                recorder.forfeit(seat, termination.name)
            case _:
                pass
    by_the_rules = result.termination in (Termination.NORMAL, Termination.ROUND_LIMIT)
    recorder.end(
        Ending(
            termination=result.termination.name,
            at_fault=result.at_fault,
            winners=None if by_the_rules else result.winners,
            sentence="" if by_the_rules else result.sentence,
        )
    )
    return recorder.text()


def game_message(game: FinishedGame, *, with_table: bool) -> match_pb2.Game:
    """`with_table` False: the table's name is not told, for who knows it may watch what was played there."""
    finished = Timestamp()
    finished.FromMilliseconds(game.finished_ms)
    message = match_pb2.Game(
        record=game.record,
        match=game.match,
        table=game.table if with_table else "",
        deal=game.deal,
        seating=game.seating,
        players=game.players,
        finished=finished,
        commitment=bytes.fromhex(game.commitment),
        secret=bytes.fromhex(game.secret),
        seats=[seat_message(game.score, game.efforts, seat) for seat in range(len(game.players))],
        rounds=game.score.rounds,
        counts=game.score.counts,
        sides=game.score.sides or range(len(game.players)),
    )
    result_into(message.result, game.result)
    return message
