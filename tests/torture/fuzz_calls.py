"""Bad inputs over gRPC, each a message, a line of notation, a position or a decision, and what is answered."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from tests.server.running import bearer
from tests.torture.grounds import BOTS, CLOCK, OWNER, SEAT, STRANGER, Grounds
from tests.torture.mutation import Mutator, block

from rummy500.v1 import action_pb2, play_service_pb2, rules_service_pb2, table_service_pb2
from rummy500_server.access import METHODS, PACKAGE
from rummy500_server.status import DETAILS

STREAMS = {"Watch", "WatchMatch", "GetRecord"}
TOKENS = (SEAT, SEAT, BOTS[0], OWNER, OWNER, STRANGER, "", "short", "with spaces in it, many")
SECONDS, PATIENCE = 20.0, 300.0
"""What is not answered for so long, or whose connection breaks, is sent again and waited for with patience: a machine
may be busy with other things, but a server that hangs up on a bad input does so every time."""
CALLERS_FAULT = {
    *(grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.ABORTED),
    *(grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED),
    *(grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.UNAUTHENTICATED),
}
BATCH = 64
LOST_STATUS = "Internal error from Core"
"""What grpc.aio says in the client, in the place of the server's status, when a stream ends under a write."""


@dataclass(slots=True)
class Tally:
    """What came of the inputs: how many of each kind had each status, and each answer that no caller may get."""

    wanted: int
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    late: int = 0
    """Inputs that were answered when they were sent again."""
    lost: int = 0
    """Answers that the client library threw away because it was writing when they came. They do not count."""

    @property
    def inputs(self) -> int:
        return self.answers.total()

    @property
    def is_full(self) -> bool:
        return self.inputs >= self.wanted

    def note(self, kind: str, status: str, count: int = 1) -> None:
        self.answers[kind, status] += count

    def note_error(self, kind: str, error: grpc.aio.AioRpcError, sent: bytes, *, path: str = "") -> None:
        code, said = error.code(), f"{kind} {path}: {error.code().name} {error.details()!r}"
        if error.details() == LOST_STATUS:
            self.lost += 1
            return
        self.note(kind, code.name)
        if code not in CALLERS_FAULT:
            self.wrong.append(f"{said} for {sent.hex()}")
        elif DETAILS not in dict(error.trailing_metadata() or ()) and code is not grpc.StatusCode.RESOURCE_EXHAUSTED:
            self.wrong.append(f"{said} without details for {sent.hex()}")


def is_unanswered(error: grpc.aio.AioRpcError) -> bool:
    """Whether it is not the server that speaks: the time was over, or the connection broke."""
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return DETAILS not in dict(error.trailing_metadata() or ())
    return error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


class BadCaller:
    """One who calls method after method with what is nearly right."""

    def __init__(self, channel: grpc.aio.Channel, grounds: Grounds, tally: Tally, dice: random.Random) -> None:
        self._channel, self._grounds, self._tally, self._dice = channel, grounds, tally, dice
        self._methods = [(service, method) for service, methods in METHODS.items() for method in methods]
        self._kinds: list[Callable[[], tuple[str, str, bytes]]] = [
            *(self._mutated, self._mutated, self._drawn, self._line, self._line, self._position, self._options)
        ]

    async def go_on(self) -> None:
        while not self._tally.is_full:
            kind, path, message = self._dice.choice(self._kinds)()
            token = self._dice.choice(TOKENS)
            try:
                await self._call(path, message, token)
            except grpc.aio.AioRpcError as error:
                self._tally.note_error(kind, error, message, path=path)
            else:
                self._tally.note(kind, "OK")

    async def _call(self, path: str, message: bytes, token: str) -> None:
        try:
            await self._call_once(path, message, token, SECONDS)
        except grpc.aio.AioRpcError as error:
            if not is_unanswered(error):
                raise
            await self._call_once(path, message, token, PATIENCE)
            self._tally.late += 1

    async def _call_once(self, path: str, message: bytes, token: str, seconds: float) -> None:
        metadata = bearer(token) if token else None
        method = path.rpartition("/")[2]
        channel: Any = self._channel  # of bytes: what it is typed for are messages
        if method not in (*STREAMS, "Play"):
            await channel.unary_unary(path)(message, metadata=metadata, timeout=seconds)
            return
        if method == "Play":
            stream = channel.stream_stream(path)(metadata=metadata, timeout=seconds)
        else:
            stream = channel.unary_stream(path)(message, metadata=metadata, timeout=seconds)
        try:
            if method == "Play":
                await stream.write(message)
            await stream.read()
        finally:
            stream.cancel()

    # --- what is sent

    def _mutator(self) -> Mutator:
        return Mutator(self._dice, self._grounds.nonsense.text_for(self._grounds.names()))

    def _mutated(self) -> tuple[str, str, bytes]:
        service, method = self._dice.choice(self._methods)
        return "mutated", f"/{PACKAGE}.{service}/{method}", self._mutator().mutated(self._grounds.request(method))

    def _drawn(self) -> tuple[str, str, bytes]:
        service, method = self._dice.choice(self._methods)
        kind = type(self._grounds.request(method))
        return "random", f"/{PACKAGE}.{service}/{method}", self._mutator().drawn(kind)

    def _line(self) -> tuple[str, str, bytes]:
        lines = [
            action_pb2.Action(text=_sendable(self._grounds.nonsense.line())) for _ in range(self._dice.randint(1, 2))
        ]
        request = play_service_pb2.ActRequest(table=self._dice.choice(self._grounds.tables), actions=lines)
        return "notation", f"/{PACKAGE}.PlayService/Act", request.SerializeToString()

    def _position(self) -> tuple[str, str, bytes]:
        position = _sendable(self._grounds.nonsense.position())
        request = table_service_pb2.CreateTableRequest(position_json=position, clock=CLOCK)
        return "position", f"/{PACKAGE}.TableService/CreateTable", request.SerializeToString()

    def _options(self) -> tuple[str, str, bytes]:
        request = rules_service_pb2.ResolveRulesRequest(players=self._dice.randint(0, 9))
        nonsense, dice = self._grounds.nonsense, self._dice
        request.choice.preset = dice.choice(("", "", "pagat", "hoyle", "x"))
        request.choice.variants.extend(dice.sample(nonsense.variants, dice.randint(0, 3)))
        text = nonsense.text_for(nonsense.options)
        for _ in range(dice.randint(0, 3)):
            request.choice.options.add(name=_sendable(text("option")), value=_sendable(text("value")))
        return "options", f"/{PACKAGE}.RulesService/ResolveRules", request.SerializeToString()


class BadBot:
    """A bot whose decisions are nonsense, many in one message; each one that is answered counts."""

    def __init__(
        self, number: int, channel: grpc.aio.Channel, grounds: Grounds, tally: Tally, dice: random.Random
    ) -> None:
        self._number, self._grounds, self._tally, self._dice = number, grounds, tally, dice
        self._play: Any = channel.stream_stream(
            f"/{PACKAGE}.PlayService/Play",
            request_serializer=None,
            response_deserializer=play_service_pb2.PlayResponse.FromString,
        )

    async def go_on(self) -> None:
        broken = b""
        while not self._tally.is_full:
            broken = await self._one_stream(again=broken)

    async def _one_stream(self, *, again: bytes) -> bytes:
        """Begins with the batch with which the last one broke, if it did; answers that with which this one breaks."""
        name = f"fuzzed-bot-{self._number}"
        hello = play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name=name)).SerializeToString()
        stream = self._play(metadata=bearer(BOTS[self._number]))
        sent = hello
        try:
            await stream.write(hello)
            while not self._tally.is_full:
                sent = again if sent is hello and again else self._batch()
                await asyncio.wait_for(self._exchange(stream, sent), PATIENCE)
        except grpc.aio.AioRpcError as error:
            if is_unanswered(error) and sent not in (hello, again):
                self._tally.late += 1
                return sent
            self._tally.note_error("stream", error, sent)
        except TimeoutError:
            self._tally.wrong.append(f"decision: no answer within {PATIENCE:.0f} s for {sent.hex()}")
        except asyncio.InvalidStateError:  # the stream ended while something was written
            error_code = await stream.code()
            self._tally.note("stream", error_code.name)
        finally:
            stream.cancel()
        return b""

    async def _exchange(self, stream: Any, sent: bytes) -> None:
        """Sends a batch, and reads until each of its decisions was answered. What is accepted is not told apart: the
        last one is always refused."""
        await stream.write(sent)
        while True:
            response = await stream.read()
            if response is grpc.aio.EOF:
                code = await stream.code()
                raise grpc.aio.AioRpcError(
                    code, await stream.initial_metadata(), await stream.trailing_metadata(), await stream.details()
                )
            assert isinstance(response, play_service_pb2.PlayResponse)
            for refusal in response.refusals:
                self._tally.note("decision", STATUS[refusal.status].name)
                if STATUS[refusal.status] not in CALLERS_FAULT or not refusal.refusal.code:
                    self._tally.wrong.append(f"decision: {refusal} for {sent.hex()}")
            if any(refusal.table == LAST for refusal in response.refusals):
                return

    def _batch(self) -> bytes:
        dice, grounds = self._dice, self._grounds
        mutator = Mutator(dice, grounds.nonsense.text_for(grounds.names()))
        decisions: list[bytes] = []
        mine = grounds.tables[self._number :: len(BOTS)]
        for _ in range(BATCH):
            table = dice.choice(mine if dice.random() < 0.8 else grounds.names())
            decision = play_service_pb2.Decision(table=table, sequence=dice.randrange(8))
            decision.actions.extend(grounds.actions())
            whole = mutator.mutated(decision) if dice.random() < 0.5 else decision.SerializeToString()
            if _is_read(whole):
                decisions.append(whole)
            elif dice.random() < 0.02:
                decisions = [whole]  # it ends the stream, as a rule
                break
        decisions.append(play_service_pb2.Decision(table=LAST).SerializeToString())
        return b"".join(block(DECISIONS, each) for each in decisions)


LAST = "t-the-last-of-its-batch"
DECISIONS = play_service_pb2.PlayRequest.DECISIONS_FIELD_NUMBER
STATUS = {code.value[0]: code for code in grpc.StatusCode}


def _is_read(whole: bytes) -> bool:
    """Whether it parses, and its table has a name that a stream survives."""
    try:
        decision = play_service_pb2.Decision.FromString(whole)
    except (DecodeError, UnicodeDecodeError):
        return False
    return len(decision.table) <= 64 and len(whole) < 700


def _sendable(text: str) -> str:
    """What a message can carry: no halves of surrogate pairs."""
    return text.encode(errors="replace").decode()
