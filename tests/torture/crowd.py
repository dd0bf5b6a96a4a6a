"""The people and bots of a soak: they think, drop out and come back, leave for good, and read too slowly."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import grpc
from google.protobuf.message import Message
from tests.bench.bot import choose
from tests.server.running import bearer
from tests.torture.callers import Caller
from tests.torture.players import token_from

from rummy500.v1 import play_service_pb2 as pb
from rummy500.v1 import table_service_pb2, view_pb2

DROPS, LEAVES = 0.02, 0.002
"""How often a decision is followed by a lost connection, or by a person who gets up for good."""
AWAY_SECONDS = 3.0
_LATE = ("STALE_SEQUENCE", "NOT_SEATED")
"""What a bot is told whose decision comes after somebody has left, which may have ended the game."""
STREAM_SECONDS = 60.0
"""How long a bot's stream holds, on average."""

Answer = TypeVar("Answer", bound=Message)


@dataclass(slots=True)
class Notes:
    """What happened, and how long answers took: seconds by kind of call."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def took(self, kind: str, seconds: float) -> None:
        self.seconds.setdefault(kind, []).append(seconds)

    async def timed(self, kind: str, method: Callable[..., Awaitable[Answer]], request: Message, token: str) -> Answer:
        """One call. Raises what it raises: in a soak nothing may go wrong."""
        begin = time.perf_counter()
        answer = await method(request, metadata=bearer(token))
        self.took(kind, time.perf_counter() - begin)
        return answer


def may_act(view: view_pb2.View) -> bool:
    legal = view.legal_actions
    return bool(legal.can_draw or legal.can_pass or legal.discards or legal.takes or legal.melds or legal.lay_offs)


class Person:
    """A seat over Watch and Act. `think` answers for how many seconds it ponders."""

    def __init__(self, caller: Caller, notes: Notes, table: str, token: str, think: Callable[[], float]) -> None:
        self._caller, self._notes, self._think = caller, notes, think
        self._table, self._token = table, token
        self._after = 0

    async def play(self) -> None:
        """Until the game is over, or the person gets up."""
        while not await self._watch():
            self._notes.counts["people who dropped out and came back"] += 1
            await asyncio.sleep(self._caller.dice.uniform(0, AWAY_SECONDS))

    async def _watch(self) -> bool:
        """Whether there is nothing left to play; else the connection was lost. It reads on while it thinks."""
        request = pb.WatchRequest(table=self._table, after_sequence=self._after, with_views=True)
        call = self._caller.plays.Watch(request, metadata=bearer(self._token))
        chance = 1.0
        async with asyncio.TaskGroup() as acting:
            try:
                async for response in call:
                    if response.HasField("game_over"):
                        return True
                    view = self._see(response)
                    if chance < LEAVES:
                        return await self._leave()
                    if chance < DROPS:
                        return False
                    if may_act(view):
                        acting.create_task(self._act(view))
                        chance = self._caller.dice.random()
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.ABORTED:
                    raise
                self._notes.counts["people who were too slow"] += 1
                return False
            finally:
                call.cancel()
        raise AssertionError(f"{self._table}: the stream ended before the game")

    def _see(self, response: pb.WatchResponse) -> view_pb2.View:
        view = response.snapshot if response.HasField("snapshot") else response.events.view
        events = response.events.events
        assert not events or events[0].sequence == self._after + 1, f"{self._table}: a gap after {self._after}"
        self._after = view.sequence
        return view

    async def _act(self, view: view_pb2.View) -> None:
        await asyncio.sleep(self._think())
        request = pb.ActRequest(
            table=self._table,
            actions=[choose(view, self._caller.dice)],
            expected_sequence=view.sequence,
            request_id=self._caller.request_id(),
        )
        try:
            await self._notes.timed("Act", self._caller.plays.Act, request, self._token)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.ABORTED:
                raise
            self._notes.counts["decisions during which another left"] += 1
        self._notes.counts["decisions"] += 1

    async def _leave(self) -> bool:
        request = table_service_pb2.LeaveTableRequest(table=self._table)
        with contextlib.suppress(grpc.aio.AioRpcError):  # its own last action may have ended the game
            await self._notes.timed("LeaveTable", self._caller.tables.LeaveTable, request, self._token)
            self._notes.counts["people who left"] += 1
        return True


class Bot:
    """One stream for many games. It is lost now and then, and opened again."""

    def __init__(self, caller: Caller, notes: Notes, name: str, think: Callable[[], float]) -> None:
        self.name, self.token = name, token_from(caller.dice)
        self._caller, self._notes, self._think = caller, notes, think
        self._ready: list[pb.Decision] = []
        self._sent: dict[str, float] = {}
        self.is_connected = asyncio.Event()

    async def play(self) -> None:
        """Until it is cancelled."""
        while True:
            seconds = self._caller.dice.expovariate(1 / STREAM_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._stream()
            self._notes.counts["streams of bots that were lost"] += 1

    async def _stream(self) -> None:
        call = self._caller.plays.Play(metadata=bearer(self.token))
        pondering: set[asyncio.TimerHandle] = set()
        loop = asyncio.get_running_loop()
        self._ready, self._sent = [], {}
        try:
            await call.write(pb.PlayRequest(hello=pb.Hello(name=self.name)))
            sending = asyncio.create_task(self._send(call))
            try:
                async for response in call:
                    if response.HasField("welcome"):
                        self.is_connected.set()
                    for refused in response.refusals:
                        assert refused.refusal.code in _LATE, f"{self.name} was refused: {refused}"
                        self._notes.counts["decisions during which another left"] += 1
                    for request in response.decision_requests:
                        self._note_trip(request)
                        pondering.add(loop.call_later(self._think(), self._decide, request))
            finally:
                sending.cancel()
        finally:
            self.is_connected.clear()
            for handle in pondering:
                handle.cancel()
            call.cancel()
        raise AssertionError(f"{self.name}: the stream ended")

    def _note_trip(self, request: pb.DecisionRequest) -> None:
        sent = self._sent.pop(request.table, None)
        if sent is not None:
            self._notes.took("Play, from a draw to the next request", time.perf_counter() - sent)

    def _decide(self, request: pb.DecisionRequest) -> None:
        action = choose(request.view, self._caller.dice)
        self._ready.append(pb.Decision(table=request.table, sequence=request.sequence, actions=[action]))

    async def _send(self, call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]) -> None:
        while True:
            await asyncio.sleep(0.02)
            ready, self._ready = self._ready[:64], self._ready[64:]
            if not ready:
                continue
            now = time.perf_counter()
            for decision in ready:
                if decision.actions[0].WhichOneof("kind") in ("draw", "take"):
                    self._sent[decision.table] = now
            await call.write(pb.PlayRequest(decisions=ready))
            self._notes.counts["decisions"] += len(ready)


async def read_slowly(caller: Caller, notes: Notes, table: str, seconds: float) -> None:
    """Watches a table, reads nothing for some time, and then the rest."""
    call = caller.plays.Watch(pb.WatchRequest(table=table, with_views=True))
    try:
        await call.read()
        await asyncio.sleep(seconds)
        while await call.read() is not grpc.aio.EOF:
            pass
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.ABORTED:
            raise
        notes.counts["slow readers that were cut off"] += 1
    finally:
        call.cancel()
    notes.counts["slow readers"] += 1


def pondering(dice: random.Random, mean: float) -> Callable[[], float]:
    """Seconds by chance, of that mean, at most ten times as many."""
    return lambda: min(dice.expovariate(1 / mean), 10 * mean)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of them lies; 0.0 for none."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0
