"""Tables over the wire for tests: seats with their tokens, and what an error says."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from tests.server.running import bearer

from rummy500.v1 import action_pb2, play_service_pb2, table_service_pb2, view_pb2
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub

if TYPE_CHECKING:
    from rummy500.v1.play_service_pb2_grpc import PlayServiceAsyncStub
    from rummy500.v1.table_service_pb2_grpc import TableServiceAsyncStub

OWNER = "the-token-of-the-owner"
SECONDS = 10
"""No test waits longer for one message."""


def secret_of(name: str) -> str:
    return f"the-secret-of-{name:0>12}"


@dataclass(slots=True)
class Said:
    """An error as a client has it."""

    code: grpc.StatusCode | None = None
    sentence: str = ""
    reason: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    retries: bool = False


@contextlib.contextmanager
def refused(reason: str) -> Iterator[Said]:
    """The call inside fails for this reason; what it says is filled in."""
    said = Said()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield said
    read_error(caught.value, said)
    assert said.reason == reason, f"{said.reason}: {said.sentence}"


def read_error(error: grpc.aio.AioRpcError, said: Said) -> None:
    said.code, said.sentence = error.code(), error.details() or ""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            assert isinstance(value, bytes)
            for detail in status_pb2.Status.FromString(value).details:
                info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
                if detail.Unpack(info):
                    assert info.domain == "rummy500"
                    said.reason, said.metadata = info.reason, dict(info.metadata)
                if detail.Unpack(bad):
                    said.fields = [violation.field for violation in bad.field_violations]
                said.retries |= detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)


@dataclass(slots=True)
class Client:
    """Somebody who speaks to the server; `seat` names of players stand for their secrets."""

    tables: TableServiceAsyncStub
    plays: PlayServiceAsyncStub

    @classmethod
    def on(cls, channel: grpc.aio.Channel) -> Client:
        return cls(TableServiceStub(channel), PlayServiceStub(channel))

    async def create(self, seats: int = 2, *, owner: str = OWNER, **fields: Any) -> str:
        request = table_service_pb2.CreateTableRequest(seats=seats, **fields)
        return (await self.tables.CreateTable(request, metadata=bearer(owner))).table.name

    async def join(self, table: str, name: str, **fields: Any) -> int:
        request = table_service_pb2.JoinTableRequest(table=table, name=name, seat_secret=secret_of(name), **fields)
        return (await self.tables.JoinTable(request)).seat

    async def playing(self, *names: str, **fields: Any) -> str:
        """A table at which these play."""
        table = await self.create(len(names), start_when_full=True, **fields)
        for name in names:
            await self.join(table, name)
        return table

    async def at_position(self, **position: Any) -> str:
        """A table at a position, all seats taken by its players."""
        table = await self.create(0, position_json=json.dumps(position), start_when_full=True)
        for name in position["players"]:
            await self.join(table, name)
        return table

    async def act(self, table: str, name: str, *lines: str, **fields: Any) -> play_service_pb2.ActResponse:
        actions = [action_pb2.Action(text=line) for line in lines]
        request = play_service_pb2.ActRequest(table=table, actions=actions, **fields)
        return await self.plays.Act(request, metadata=bearer(secret_of(name)))

    @contextlib.asynccontextmanager
    async def watch(self, table: str, name: str = "", **fields: Any) -> AsyncIterator[Watching]:
        request = play_service_pb2.WatchRequest(table=table, **fields)
        call = self.plays.Watch(request, metadata=bearer(secret_of(name)) if name else None, timeout=SECONDS)
        try:
            yield Watching(call)
        finally:
            call.cancel()

    async def view(self, table: str, name: str = "") -> view_pb2.View:
        """What the player, or a spectator, sees now, without the clock."""
        async with self.watch(table, name) as watching:
            view = (await watching.next()).snapshot
        view.ClearField("clock")
        return view


@dataclass(slots=True)
class Watching:
    call: Any

    async def next(self) -> play_service_pb2.WatchResponse:
        response = await self.call.read()
        if response is grpc.aio.EOF:
            raise EOFError(f"the stream ended: {await self.call.code()} {await self.call.details()}")
        assert isinstance(response, play_service_pb2.WatchResponse)
        return response

    async def until(self, kind: str) -> list[Any]:
        """Events up to the first of that kind, each as (sequence, kind, event)."""
        seen: list[Any] = []
        while not seen or seen[-1][1] != kind:
            for event in (await self.next()).events.events:
                name = event.WhichOneof("kind") or ""
                seen.append((event.sequence, name, getattr(event, name)))
        return seen


def position(**fields: Any) -> Mapping[str, Any]:
    """A position between anna and ben, anna to draw."""
    return {"players": ["anna", "ben"], "dealer": "ben", "turn": "anna", "phase": "draw"} | fields


def canonical(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
