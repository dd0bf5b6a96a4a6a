"""Ranked play: who registers, what is ranked, what a game earns, and what does not earn anything."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.at_table import refused, secret_of
from tests.server.ranked_tables import ANNA, BEN, Players, rules
from tests.server.running import bearer, channel_to, running_app, server_process

from rummy500.v1 import match_pb2, match_service_pb2, player_pb2, rules_pb2, table_pb2
from rummy500.v1 import player_service_pb2 as pb
from rummy500.v1 import table_service_pb2 as tables
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500_server.app import App
from rummy500_server.commands.token import add_token
from rummy500_server.identity import Role
from rummy500_server.ranked import (
    LEVELS,
    START,
    Outcome,
    RankedResult,
    points_for,
    ranks_of,
    settle,
    standing_of,
)
from rummy500_server.results import GameResult, Termination

A_WIN = bytes([7]) * 32
"""With packs from this secret `normal` in seat 0 wins a game against `easy`."""


def packs_of_a_win(size: int) -> bytes:
    return A_WIN if size == len(A_WIN) else os.urandom(size)


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with running_app() as running:
        yield running


@pytest.fixture
async def channel(app: App) -> AsyncIterator[grpc.aio.Channel]:
    async with channel_to(app.address) as opened:
        yield opened


@pytest.fixture
async def players(channel: grpc.aio.Channel) -> Players:
    return Players.on(channel)


# --- players


async def test_a_token_becomes_one_player_for_good(players: Players) -> None:
    made = await players.register("Anna B")
    assert (made.points, made.games, made.place, made.rating) == (0, 0, 0, START)
    assert await players.register("Anna B") == made

    with refused("PLAYER_EXISTS"):
        await players.register("Anna C")
    with refused("PLAYER_EXISTS"):
        await players.register("anna b", BEN)
    with refused("NO_SUCH_PLAYER"):
        await players.shown(BEN)
    answer = await players.stub.GetPlayer(pb.GetPlayerRequest(name="ANNA B"))
    assert answer.player == made


@pytest.mark.parametrize("name", ["", " anna", "an\nna", "x" * 65])
async def test_a_name_is_one_that_can_be_shown(players: Players, name: str) -> None:
    with refused("BAD_REQUEST") as said:
        await players.register(name)
    assert said.fields == ["name"]


# --- a ranked game


async def test_a_game_that_is_won_earns_the_points_of_its_level(
    app: App, players: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "token_bytes", packs_of_a_win)
    await players.register("anna")
    await players.register("ben", BEN)
    table = await players.create("easy")
    assert await players.board() == []
    await players.sit(table)
    await players.play_out(app, table, as_bot="normal")

    shown = await players.shown()
    assert (shown.player.points, shown.player.games, shown.player.wins, shown.player.place) == (10, 1, 1, 1)
    assert shown.player.rating > START
    (game,) = shown.games
    assert (game.record, list(game.levels), game.preset) == (table, ["easy"], "classic")
    assert (game.outcome, game.points) == (player_pb2.RANKED_OUTCOME_WON, 10)
    assert await players.board() == ["anna"]


async def test_a_game_that_is_given_up_is_lost(players: Players) -> None:
    await players.register("anna")
    table = await players.create("easy", "easy")
    await players.sit(table)
    await players.leave(table)  # the two bots play it to its end
    shown = await players.shown()
    while not shown.player.games:
        shown = await players.shown()

    assert shown.games[0].outcome == player_pb2.RANKED_OUTCOME_LOST
    assert (shown.player.points, shown.player.wins) == (0, 0)
    assert shown.player.rating < START
    assert await players.board() == ["anna"]


async def test_the_leaderboard_has_pages_and_of_equal_points_the_better_rating_first(players: Players) -> None:
    await players.register("anna")
    await players.register("ben", BEN)
    for token, games in ((ANNA, 2), (BEN, 1)):
        for _ in range(games):
            table = await players.create("easy", token=token)
            await players.sit(table, token=token)
            await players.leave(table)

    first = await players.stub.GetLeaderboard(pb.GetLeaderboardRequest(page_size=1))
    second = await players.stub.GetLeaderboard(pb.GetLeaderboardRequest(page_size=1, page_token=first.next_page_token))
    assert [(each.name, each.place) for each in (*first.players, *second.players)] == [("ben", 1), ("anna", 2)]
    assert not second.next_page_token


async def test_a_table_is_marked_and_seats_its_opponents(players: Players) -> None:
    await players.register("anna")
    made = await players.client.tables.CreateTable(
        tables.CreateTableRequest(ranked=["easy", "normal"]), metadata=bearer(ANNA)
    )

    assert made.table.ranked
    assert made.table.start_when_full
    assert [seat.name for seat in made.table.seats] == ["", "easy", "normal"]
    assert made.table.commitment


async def test_a_game_counts_once_whenever_the_server_is_killed(tmp_path: Path) -> None:
    shown: list[pb.GetPlayerResponse] = []
    table = ""
    for _ in range(2):
        async with (
            server_process(tmp_path / "games.db") as server,
            channel_to(server.address) as channel,
        ):
            players = Players.on(channel)
            if not table:
                await players.register("anna")
                table = await players.create("easy")
                await players.sit(table)
                await players.leave(table)
            else:
                with refused("WRONG_TABLE_STATE"):
                    await players.leave(table)
                await players.register("anna")
            shown.append(await players.shown())
            server.signal(signal.SIGKILL)
            await server.process.wait()

    assert shown[0] == shown[1]
    assert [game.record for game in shown[0].games] == [table]


# --- what is not ranked


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"ranked": ["random"]}, "ranked[0]"),
        ({"ranked": ["easy,seed=1"]}, "ranked[0]"),
        ({"ranked": ["easy"] * 4}, "ranked"),
        ({"seats": 3}, "seats"),
        ({"seed": bytes(32)}, "seed"),
        ({"position_json": '{"players": ["anna", "easy"]}'}, "position_json"),
        ({"rules": rules("classic", "jokers")}, "rules.variants"),
        ({"rules": rules("classic", target="50")}, "rules.options"),
        ({"clock": table_pb2.ClockSettings(untimed=True)}, "clock.untimed"),
        ({"clock": table_pb2.ClockSettings(decision_ms=3_600_000)}, "clock.decision_ms"),
        ({"clock": table_pb2.ClockSettings(grace_ms=3_600_000)}, "clock.grace_ms"),
        ({"clock": table_pb2.ClockSettings(bank_ms=1, most_bank_ms=3_600_000)}, "clock.most_bank_ms"),
        ({"clock": table_pb2.ClockSettings(forfeit_after=0)}, "clock.forfeit_after"),
        ({"clock": table_pb2.ClockSettings(when_late=table_pb2.WHEN_LATE_BOT)}, "clock.when_late"),
    ],
    ids=lambda each: str(each)[:40].replace("\n", " "),
)
async def test_what_is_not_ranked_is_refused_by_field(players: Players, fields: dict[str, Any], field: str) -> None:
    await players.register("anna")
    levels = fields.pop("ranked", ["easy"])
    with refused("BAD_REQUEST") as said:
        await players.create(*levels, **fields)
    assert said.fields == [field]


@pytest.mark.parametrize(("preset", "levels"), [("partners", 3), ("no-such-preset", 1)])
async def test_a_ranked_game_is_one_to_500_of_everybody_for_himself(players: Players, preset: str, levels: int) -> None:
    await players.register("anna")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await players.create(*["easy"] * levels, rules=rules_pb2.RulesChoice(preset=preset))
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_ten_ways_to_award_points_to_oneself_earn_none(
    app: App, players: Players, channel: grpc.aio.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, anna = players.client, bearer(ANNA)
    with refused("NOT_A_PLAYER"):  # 1: play before one is known
        await players.create("easy")
    await players.register("anna")
    table = await players.create("easy")
    with refused("RANKED_TABLE"):  # 2: let somebody better sit down
        await players.sit(table, token=BEN)
    invite = tables.InviteToTableRequest(
        table=table, secret=secret_of("helper"), role=tables.INVITATION_ROLE_PLAYER, uses=1
    )
    await client.tables.InviteToTable(invite, metadata=anna)
    with refused("RANKED_TABLE"):  # 3: or invite him
        await players.sit(table, token=secret_of("helper"))
    with refused("RANKED_TABLE"):  # 4: exchange the opponent for a weaker one
        await client.tables.RemoveSeat(tables.RemoveSeatRequest(table=table, seat=1), metadata=anna)
    easy = table_pb2.BuiltinBot(name="random")
    with refused("RANKED_TABLE"):
        await client.tables.AddBot(tables.AddBotRequest(table=table, builtin=easy), metadata=anna)
    assert await players.sit(table) == 0
    with refused("WRONG_TABLE_STATE"):  # 5: take a second seat
        await players.sit(table, secret=secret_of("second"))
    with refused("RANKED_TABLE"):  # 6: make the opponent forfeit
        await client.tables.RemoveSeat(tables.RemoveSeatRequest(table=table, seat=1), metadata=anna)
    with refused("RANKED_TABLE"):  # 7: close what may be lost
        await client.tables.CloseTable(tables.CloseTableRequest(table=table), metadata=anna)
    assert (await players.shown()).player.games == 0
    await players.leave(table)  # 8: leave it, and hope that it does not count
    assert (await players.shown()).player.games == 1

    monkeypatch.setattr(secrets, "token_bytes", packs_of_a_win)
    practice = await client.create(2, owner=ANNA, start_when_full=True)  # 9: win where nothing counts
    await players.sit(practice)
    await client.tables.AddBot(
        tables.AddBotRequest(table=practice, builtin=table_pb2.BuiltinBot(name="easy")), metadata=anna
    )
    await players.play_out(app, practice, as_bot="normal")
    bots = [match_pb2.MatchBot(name=name, builtin=table_pb2.BuiltinBot(name="easy")) for name in ("anna", "easy")]
    plan = match_pb2.MatchPlan(bots=bots, deals=1)
    matches: Any = MatchServiceStub(channel)
    made = await matches.CreateMatch(match_service_pb2.CreateMatchRequest(plan=plan), metadata=anna)
    async for _ in matches.WatchMatch(match_service_pb2.WatchMatchRequest(match=made.match.name)):
        pass  # 10: in a match, under the player's name

    player = (await players.shown()).player
    assert (player.points, player.games, player.wins) == (0, 1, 0)


async def test_a_repeated_request_makes_one_game(players: Players) -> None:
    await players.register("anna")
    made = [await players.create("easy", request_id="again") for _ in range(2)]
    assert made[0] == made[1]
    assert [await players.sit(made[0]) for _ in range(2)] == [0, 0]
    await players.leave(made[0])
    assert (await players.shown()).player.games == 1


async def test_what_the_host_ends_does_not_count(tmp_path: Path) -> None:
    host, player = (add_token(tmp_path / "tokens", role.value, role) for role in (Role.HOST, Role.PLAYER))
    async with running_app(tokens=str(tmp_path / "tokens")) as app, channel_to(app.address) as channel:
        players = Players.on(channel)
        await players.register("anna", player)
        closed, robbed = [await players.create("easy", token=player) for _ in range(2)]
        for table in (closed, robbed):
            await players.sit(table, token=player)
        await players.client.tables.CloseTable(tables.CloseTableRequest(table=closed), metadata=bearer(host))
        await players.client.tables.RemoveSeat(tables.RemoveSeatRequest(table=robbed, seat=1), metadata=bearer(host))
        shown = await players.shown(player)

    assert [game.outcome for game in shown.games] == [player_pb2.RANKED_OUTCOME_VOID] * 2
    assert shown.player.games == 0


# --- how it is settled


def result(termination: Termination, *winners: int, at_fault: int | None = None, totals: Any = (510, 90)) -> GameResult:
    return GameResult(termination, winners, totals, at_fault=at_fault)


@pytest.mark.parametrize(
    ("ended", "outcome"),
    [
        (result(Termination.NORMAL, 0), Outcome.WON),
        (result(Termination.NORMAL, 0, 1), Outcome.DRAWN),
        (result(Termination.NORMAL, 1), Outcome.LOST),
        (result(Termination.ROUND_LIMIT, 0), Outcome.DRAWN),
        (result(Termination.ROUND_LIMIT, 1), Outcome.LOST),
        (result(Termination.TIMEOUT, 1, at_fault=0), Outcome.LOST),
        (result(Termination.ILLEGAL_ACTION, 1, at_fault=0), Outcome.LOST),
        (result(Termination.DISCONNECT, 1, at_fault=0), Outcome.LOST),
        (result(Termination.TIMEOUT), Outcome.LOST),
        (result(Termination.DISCONNECT, 0, at_fault=1), Outcome.VOID),
        (result(Termination.ILLEGAL_ACTION, 0, at_fault=1), Outcome.VOID),
        (result(Termination.SERVER_FAULT), Outcome.VOID),
        (result(Termination.CANCELLED), Outcome.VOID),
    ],
)
def test_every_end_of_a_game_is_settled(ended: GameResult, outcome: Outcome) -> None:
    assert settle(ended, seat=0) is outcome


def test_every_termination_is_settled_for_who_is_at_fault_and_who_is_not() -> None:
    for termination in Termination:
        assert settle(result(termination, at_fault=0), seat=0) is Outcome.LOST
        assert settle(result(termination, 0, at_fault=1), seat=0) in (Outcome.VOID, Outcome.WON, Outcome.DRAWN)


def test_a_mixed_table_earns_the_mean_of_its_levels() -> None:
    assert [points_for([level]) for level in LEVELS] == [10, 30, 100]
    assert points_for(["easy", "easy", "easy"]) == 10
    assert points_for(["easy", "expert"]) == 55
    assert points_for(["easy", "normal", "expert"]) == 46


def test_places_are_by_who_won_and_then_by_totals() -> None:
    ended = result(Termination.NORMAL, 2, totals=(100, 300, 500, 300))
    assert ranks_of(ended, Outcome.LOST, seat=0) == (3, 2, 1, 2)
    given_up = result(Termination.TIMEOUT, 1, at_fault=0, totals=(400, 10, 20))
    assert ranks_of(given_up, Outcome.LOST, seat=0) == (2, 1, 1)


def ranked(outcome: Outcome, level: str = "normal", at: int = 0) -> RankedResult:
    ranks = {Outcome.WON: (1, 2), Outcome.DRAWN: (1, 1), Outcome.LOST: (2, 1), Outcome.VOID: ()}[outcome]
    return RankedResult(f"t-{at}", "anna", "classic", (level,), outcome, ranks, at)


def test_a_rating_rises_with_a_win_and_more_with_a_better_opponent() -> None:
    lost, drawn, won = (standing_of([ranked(outcome)]).rating for outcome in (Outcome.LOST, Outcome.DRAWN, Outcome.WON))
    assert lost < drawn < won
    assert standing_of([ranked(Outcome.WON, "easy")]).rating < won < standing_of([ranked(Outcome.WON, "expert")]).rating
    assert standing_of([ranked(Outcome.WON)] * 30).deviation < standing_of([ranked(Outcome.WON)]).deviation


def test_a_game_that_does_not_count_changes_nothing_but_the_list() -> None:
    with_it = standing_of([ranked(Outcome.WON), ranked(Outcome.VOID), ranked(Outcome.LOST)])
    without = standing_of([ranked(Outcome.WON), ranked(Outcome.LOST)])
    assert (with_it.rating, with_it.points, with_it.games) == (without.rating, without.points, without.games)
    assert len(with_it.ratings) == 3


def test_a_result_is_kept_as_it_is() -> None:
    kept = ranked(Outcome.DRAWN, "easy", 5)
    assert RankedResult.from_json(kept.to_json()) == kept
