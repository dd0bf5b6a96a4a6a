"""API law 4 in matches: whoever looks is sent the same bytes by matches that differ only in what it may not see."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.server.twin_matches import CATALOG, OWNER, MatchTwins, Viewer, match_transcripts
from tests.server.twin_script import twins_from_the_deal
from tests.server.twin_worlds import verify_alike

from rummy500.v1 import match_pb2
from rummy500.v1.match_pb2 import MATCH_UNIT_DEAL, MATCH_UNIT_GAME
from rummy500_arena.plan import PlannedGame
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.statistics import MatchStatistics
from rummy500_engine.cards import card_text
from rummy500_server import match_wire
from rummy500_server.games import FinishedGame
from rummy500_server.identity import Principal, digest_of
from rummy500_server.match import Match
from rummy500_server.match_wire import match_message
from rummy500_server.services.match import MatchServicer
from rummy500_server.status import Failure, Reason

IS_LONG = os.environ.get("RUMMY500_LONG") == "1"
ROUNDS = 12 if IS_LONG else 1
if IS_LONG:
    pytestmark = pytest.mark.timeout(0)
MATCHES: list[tuple[int, Mapping[str, Any], match_pb2.MatchUnit.ValueType, Sequence[Viewer]]] = [
    (2, {}, MATCH_UNIT_DEAL, tuple(Viewer)),
    (2, {"variants": ["call-rummy", "jokers"]}, MATCH_UNIT_GAME, (Viewer.BOT, Viewer.OWNER)),
    (3, {"preset": "pagat"}, MATCH_UNIT_DEAL, (Viewer.BOT, Viewer.STRANGER)),
]
MORE_MATCHES: list[tuple[int, Mapping[str, Any], match_pb2.MatchUnit.ValueType, Sequence[Viewer]]] = [
    (2, {"preset": "strict", "variants": ["call-rummy"]}, MATCH_UNIT_DEAL, tuple(Viewer)),
    (3, {"preset": "floating"}, MATCH_UNIT_GAME, tuple(Viewer)),
    (3, {"variants": ["call-rummy", "queen-of-spades"]}, MATCH_UNIT_DEAL, tuple(Viewer)),
    (4, {"preset": "partners"}, MATCH_UNIT_DEAL, tuple(Viewer)),
    (5, {"variants": ["deal", "must-discard", "ace-runs"]}, MATCH_UNIT_DEAL, tuple(Viewer)),
]
LOOKS = [
    (players, choice, unit, viewer)
    for players, choice, unit, viewers in (*MATCHES, *(MORE_MATCHES if IS_LONG else ()))
    for viewer in viewers
]


def twins_of(
    players: int, choice: Mapping[str, Any], unit: match_pb2.MatchUnit.ValueType, viewer: Viewer, dice: random.Random
) -> MatchTwins:
    options = choice.get("options", {})
    rules = CATALOG.rules(choice.get("preset", ""), choice.get("variants", ()), options, players=players)
    seat = dice.randrange(players) if viewer is Viewer.BOT else None
    while not (twins := twins_from_the_deal(rules, choice, dice, viewer=seat, aligned=True)).steps:
        pass
    seating = 1 if players == 2 else dice.randrange(3)
    is_guarded = viewer is Viewer.SPECTATOR or (viewer is not Viewer.STRANGER and dice.random() < 0.3)
    return MatchTwins(twins, viewer, unit, seating, is_guarded=is_guarded)


@pytest.mark.parametrize(("players", "choice", "unit", "viewer"), LOOKS, ids=lambda each: str(each))
async def test_nobody_is_sent_what_it_may_not_see_of_a_match(
    players: int, choice: Mapping[str, Any], unit: match_pb2.MatchUnit.ValueType, viewer: Viewer, tmp_path: Path
) -> None:
    dice = random.Random(f"{players} {choice} {viewer}")
    for _ in range(ROUNDS):
        twins = twins_of(players, choice, unit, viewer, dice)
        compared = verify_alike(await match_transcripts(twins, tokens=tmp_path / "tokens"))
        assert compared > 30


# --- planted leaks are found


def tells_how_a_game_ended_while_others_play_its_packs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MatchServicer, "_is_told", lambda servicer, game: True)


def counts_how_long_a_game_took_while_others_play_its_packs(patch: pytest.MonkeyPatch) -> None:
    whole = MatchStatistics.add

    def add(statistics: MatchStatistics, game: PlannedGame, score: GameScore, efforts: Sequence[Effort]) -> None:
        whole(statistics, game, score, ())
        for bot, effort in zip(game.seats, efforts, strict=True):
            statistics.tallies[bot].effort.add(effort)

    patch.setattr(MatchStatistics, "add", add)


def scores_deals_that_are_not_complete(patch: pytest.MonkeyPatch) -> None:

    def add(statistics: MatchStatistics, game: PlannedGame, score: GameScore, efforts: Sequence[Effort]) -> None:
        statistics.games += 1
        statistics._count([(game, score, ())])

    patch.setattr(MatchStatistics, "add", add)


def opens_a_record_to_the_owner_as_soon_as_its_game_is_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MatchServicer, "_is_open", lambda servicer, game, principal: principal.digest == digest_of(OWNER))


def writes_longer_refusals_for_longer_games(patch: pytest.MonkeyPatch) -> None:
    whole = MatchServicer._is_open

    def is_open(servicer: MatchServicer, game: FinishedGame, principal: Principal) -> bool:
        if not whole(servicer, game, principal):
            raise Failure(Reason.RECORD_NOT_OPEN, "not yet" + "." * game.efforts[0].decisions)
        return True

    patch.setattr(MatchServicer, "_is_open", is_open)


def names_a_card_that_is_still_in_a_stock(patch: pytest.MonkeyPatch) -> None:

    def message(match: Match) -> match_pb2.Match:
        told = match_message(match)
        rounds = [keeper.table.game.round for keeper in match._open.values()]
        told.sentence = " ".join(card_text(round.stock[-1]) for round in rounds if round is not None and round.stock)
        return told

    patch.setattr(match_wire, "match_message", message)


LEAKS: list[tuple[Callable[[pytest.MonkeyPatch], None], Viewer, str]] = [
    (tells_how_a_game_ended_while_others_play_its_packs, Viewer.STRANGER, "ListGames"),
    (counts_how_long_a_game_took_while_others_play_its_packs, Viewer.BOT, "WatchMatch"),
    (scores_deals_that_are_not_complete, Viewer.SPECTATOR, "WatchMatch"),
    (opens_a_record_to_the_owner_as_soon_as_its_game_is_over, Viewer.OWNER, "GetRecord"),
    (writes_longer_refusals_for_longer_games, Viewer.BOT, "GetRecord"),
    (names_a_card_that_is_still_in_a_stock, Viewer.BOT, "Match"),
]


@pytest.mark.parametrize(("spoil", "viewer", "path"), LEAKS, ids=[spoil.__name__ for spoil, *_ in LEAKS])
async def test_a_server_that_gives_something_of_a_match_away_is_found(
    spoil: Callable[[pytest.MonkeyPatch], None],
    viewer: Viewer,
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoil(monkeypatch)
    twins = twins_of(2, {}, MATCH_UNIT_DEAL, viewer, random.Random(spoil.__name__))
    found = await match_transcripts(twins, tokens=tmp_path / "tokens")
    with pytest.raises(AssertionError, match=path):
        verify_alike(found)
