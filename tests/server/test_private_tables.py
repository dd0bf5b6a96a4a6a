"""Private tables and invitations: who may look, watch and join, also after a restart, and what ends when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app
from tests.server.test_access import STUBS, reason_of

from rummy500.v1 import match_service_pb2, play_service_pb2, table_pb2, table_service_pb2
from rummy500_server.admission import MOST_INVITATIONS

OWNER, STRANGER = "token-of-the-tables-owner", "token-of-somebody-else"
GUEST, FAN, SEAT, SEAT_2 = (
    "invitation-that-lets-join",
    "invitation-to-watch-it",
    "secret-of-a-seat",
    "secret-of-another-seat",
)
PATIENCE = 30.0
PLAYER, SPECTATOR = table_service_pb2.INVITATION_ROLE_PLAYER, table_service_pb2.INVITATION_ROLE_SPECTATOR


class Host:
    """The owner of one private table, and what others do there."""

    def __init__(self, channel: Any, table: str = "") -> None:
        self.tables, self.plays, self.matches = (
            STUBS[name](channel) for name in ("TableService", "PlayService", "MatchService")
        )
        self.table = table

    async def make(self, seats: int = 2) -> None:
        request = table_service_pb2.CreateTableRequest(seats=seats, private=True)
        self.table = (await self.tables.CreateTable(request, metadata=bearer(OWNER))).table.name

    async def invite(self, secret: str, role: Any, *, uses: int = 0) -> None:
        request = table_service_pb2.InviteToTableRequest(table=self.table, secret=secret, role=role, uses=uses)
        await self.tables.InviteToTable(request, metadata=bearer(OWNER))

    async def revoke(self, secret: str = "") -> int:
        request = table_service_pb2.RevokeInvitationRequest(table=self.table, secret=secret)
        return int((await self.tables.RevokeInvitation(request, metadata=bearer(OWNER))).revoked)

    async def join(self, token: str | None, *, secret: str = SEAT) -> str:
        request = table_service_pb2.JoinTableRequest(table=self.table, name="anna", seat_secret=secret)
        return await outcome(self.tables.JoinTable(request, metadata=bearer(token) if token else None))

    async def look(self, token: str | None) -> str:
        request = table_service_pb2.GetTableRequest(table=self.table)
        return await outcome(self.tables.GetTable(request, metadata=bearer(token) if token else None))

    def watch(self, token: str) -> Any:
        return self.plays.Watch(play_service_pb2.WatchRequest(table=self.table), metadata=bearer(token))

    async def listed(self, token: str) -> list[str]:
        answer = await self.tables.ListTables(table_service_pb2.ListTablesRequest(), metadata=bearer(token))
        return [table.name for table in answer.tables]

    async def games(self, token: str, *, table: str = "") -> list[str]:
        request = match_service_pb2.ListGamesRequest(table=table)
        return [game.table for game in (await self.matches.ListGames(request, metadata=bearer(token))).games]


async def outcome(call: Any) -> str:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return reason_of(error)
    return "OK"


async def _read_on(stream: Any) -> None:
    while await stream.read() is not grpc.aio.EOF:
        pass


async def end_of(stream: Any) -> tuple[str, str]:
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await asyncio.wait_for(_read_on(stream), PATIENCE)
    return reason_of(ended.value), ended.value.details() or ""


@pytest.fixture(scope="module")
async def channel() -> AsyncIterator[Any]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield channel


@pytest.fixture
async def host(channel: Any) -> Host:
    host = Host(channel)
    await host.make()
    return host


async def test_a_private_table_is_listed_for_its_owner_only(host: Host) -> None:
    assert host.table in await host.listed(OWNER)
    assert host.table not in await host.listed(STRANGER)


async def test_who_is_not_invited_neither_looks_nor_joins(host: Host) -> None:
    assert await host.look(STRANGER) == "NOT_INVITED"
    assert await host.look(None) == "NO_TOKEN"
    assert await host.join(STRANGER) == "NOT_INVITED"
    assert await host.join(None) == "NO_TOKEN"
    assert (await end_of(host.watch(STRANGER)))[0] == "NOT_INVITED"


async def test_an_invitation_lets_do_what_it_says(host: Host) -> None:
    await host.invite(GUEST, PLAYER)
    await host.invite(FAN, SPECTATOR)

    assert [await host.look(token) for token in (GUEST, FAN)] == ["OK", "OK"]
    assert await host.join(FAN) == "NOT_INVITED"
    assert await host.join(GUEST) == "OK"
    assert await host.look(SEAT) == "OK"
    assert await host.join(None) == "OK", "the same secret gets the same seat again"


async def test_an_invitation_for_one_seat_is_good_once(host: Host) -> None:
    await host.invite(GUEST, PLAYER, uses=1)

    assert await host.join(GUEST) == "OK"
    assert await host.join(GUEST, secret=SEAT_2) == "NOT_INVITED"
    assert await host.join(GUEST) == "OK", "a retry"


async def test_who_watches_with_an_invitation_that_is_taken_back_is_told(host: Host) -> None:
    await host.invite(FAN, SPECTATOR)
    await host.invite(GUEST, PLAYER)
    fan, guest = host.watch(FAN), host.watch(GUEST)
    await fan.read()
    await guest.read()

    assert await host.revoke(FAN) == 1
    assert await host.revoke(FAN) == 0

    assert await end_of(fan) == ("TOKEN_ENDED", f"the invitation to table {host.table} was taken back")
    assert await host.look(FAN) == "NOT_INVITED"
    assert not guest.done()
    assert await host.revoke() == 1
    assert (await end_of(guest))[0] == "TOKEN_ENDED"


async def test_an_invitation_that_is_taken_back_ends_no_stream_of_another_table_nor_of_a_seat(
    channel: Any, host: Host
) -> None:
    other = Host(channel)
    await other.make()
    for each in (host, other):
        await each.invite(FAN, SPECTATOR)
    await host.invite(SEAT, PLAYER)
    assert await host.join(SEAT, secret=SEAT) == "OK"
    seat, elsewhere, here = host.watch(SEAT), other.watch(FAN), host.watch(FAN)
    for stream in (seat, elsewhere, here):
        await stream.read()

    assert await host.revoke() == 2

    assert (await end_of(here))[0] == "TOKEN_ENDED"
    await other.tables.CloseTable(table_service_pb2.CloseTableRequest(table=other.table), metadata=bearer(OWNER))
    await host.tables.CloseTable(table_service_pb2.CloseTableRequest(table=host.table), metadata=bearer(OWNER))
    for stream in (seat, elsewhere):
        await asyncio.wait_for(_read_on(stream), PATIENCE)


async def test_there_are_not_more_invitations_than_the_limit(host: Host) -> None:
    for number in range(MOST_INVITATIONS):
        await host.invite(f"invitation-number-{number:04}", SPECTATOR)
    await host.invite("invitation-number-0003", PLAYER)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.invite("one-invitation-too-many", SPECTATOR)
    assert reason_of(refused.value) == "TOO_MANY_INVITATIONS"


@pytest.mark.parametrize(
    ("secret", "role", "uses", "field"),
    [
        ("short", PLAYER, 0, "secret"),
        (GUEST, table_service_pb2.INVITATION_ROLE_UNSPECIFIED, 0, "role"),
        (GUEST, PLAYER, 9, "uses"),
        (FAN, SPECTATOR, 1, "uses"),
    ],
)
async def test_a_wrong_field_of_an_invitation_is_named(
    host: Host, secret: str, role: Any, uses: int, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.invite(secret, role, uses=uses)
    assert reason_of(refused.value) == "BAD_REQUEST"
    assert f"{field}: " in (refused.value.details() or "")


async def test_a_seat_that_is_left_shows_its_new_player_to_nobody_else(host: Host) -> None:
    """Who had the seat and watches on must not see the hand of whoever has it now."""
    await host.join(OWNER, secret=SEAT)
    watch = host.watch(SEAT)
    await watch.read()

    leave = table_service_pb2.LeaveTableRequest(table=host.table)
    await host.tables.LeaveTable(leave, metadata=bearer(SEAT))
    await host.join(OWNER, secret=SEAT_2)

    assert (await end_of(watch))[0] == "TOKEN_ENDED"
    assert await host.look(SEAT) == "NOT_INVITED"


async def test_an_owner_takes_a_seat_away_before_the_start_only(host: Host) -> None:
    await host.join(OWNER, secret=SEAT)
    remove = table_service_pb2.RemoveSeatRequest(table=host.table, seat=0)
    removed = await host.tables.RemoveSeat(remove, metadata=bearer(OWNER))
    assert removed.table.seats[0].name == ""
    assert await outcome(host.tables.RemoveSeat(remove, metadata=bearer(OWNER))) == "BAD_REQUEST"

    await host.join(OWNER, secret=SEAT)
    easy = table_service_pb2.AddBotRequest(table=host.table, builtin=table_pb2.BuiltinBot(name="easy"))
    await host.tables.AddBot(easy, metadata=bearer(OWNER))
    await host.tables.StartTable(table_service_pb2.StartTableRequest(table=host.table), metadata=bearer(OWNER))

    assert await outcome(host.tables.RemoveSeat(remove, metadata=bearer(OWNER))) == "WRONG_TABLE_STATE"


async def test_invitations_and_privacy_survive_a_restart_and_the_end_of_the_game(tmp_path: Path) -> None:
    database = str(tmp_path / "games.db")
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        host = Host(channel)
        await host.make()
        await host.invite(GUEST, PLAYER, uses=2)
        await host.invite(FAN, SPECTATOR)
        await host.invite(STRANGER, SPECTATOR)
        assert await host.join(GUEST) == "OK"
        assert await host.revoke(STRANGER) == 1

    async with running_app(database=database) as app, channel_to(app.address) as channel:
        host = Host(channel, host.table)
        assert [await host.look(token) for token in (GUEST, FAN, SEAT)] == ["OK"] * 3
        assert await host.look(STRANGER) == "NOT_INVITED"
        assert await host.join(GUEST, secret=SEAT_2) == "OK"
        assert await host.look(GUEST) == "NOT_INVITED", "its uses are used up"
        await host.tables.StartTable(table_service_pb2.StartTableRequest(table=host.table), metadata=bearer(OWNER))
        await host.tables.LeaveTable(table_service_pb2.LeaveTableRequest(table=host.table), metadata=bearer(SEAT))

        record = match_service_pb2.GetRecordRequest(record=host.table)
        assert await host.games(OWNER) == [host.table]
        assert await host.games(STRANGER) == []
        assert await host.games(FAN, table=host.table) == [host.table]
        assert (await end_of(host.matches.GetRecord(record, metadata=bearer(STRANGER))))[0] == "NOT_INVITED"
        assert await host.matches.GetRecord(record, metadata=bearer(FAN)).read()
