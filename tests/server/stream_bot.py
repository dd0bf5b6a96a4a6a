"""A bot over PlayService.Play for tests: it knows the protocol only and answers as it is told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import grpc
from tests.server.running import bearer

from rummy500.v1 import action_pb2, play_service_pb2, play_service_pb2_grpc

Answer = Callable[[play_service_pb2.DecisionRequest], Sequence[action_pb2.Action] | None]
"""What to do; None: keep silent."""


def plain(request: play_service_pb2.DecisionRequest) -> list[action_pb2.Action]:
    """Draws, melds what comes first, throws the last card that may be thrown."""
    legal = request.view.legal_actions
    if legal.can_draw:
        return [action_pb2.Action(draw=action_pb2.Draw())]
    if legal.melds:
        return [action_pb2.Action(lay_meld=legal.melds[0])]
    if legal.lay_offs:
        return [action_pb2.Action(lay_off=legal.lay_offs[0])]
    if legal.discards:
        return [action_pb2.Action(discard=action_pb2.Discard(card=legal.discards[-1]))]
    return [action_pb2.Action(passing=action_pb2.Pass())] if legal.can_pass else []


def silent(request: play_service_pb2.DecisionRequest) -> None:
    return None


def nonsense(request: play_service_pb2.DecisionRequest) -> list[action_pb2.Action]:
    return [action_pb2.Action(text="meld 2C 7D KS")]


class StreamBot:
    """One stream. `started` are the games that it was given, `over` those that it was told are over."""

    def __init__(self, channel: grpc.aio.Channel, name: str, answer: Answer = plain) -> None:
        self.name, self._answer = name, answer
        self.started: dict[str, play_service_pb2.GameStarted] = {}
        self.over: dict[str, play_service_pb2.GameOver] = {}
        self.asked = 0
        self.welcome = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None
        stub = play_service_pb2_grpc.PlayServiceStub(channel)
        self._call = stub.Play(metadata=bearer(f"the-token-of-{name:0>16}"))

    async def play(self) -> None:
        """Plays until the stream ends."""
        hello = play_service_pb2.Hello(name=self.name)
        await self._call.write(play_service_pb2.PlayRequest(hello=hello))
        async for response in self._call:
            if response.HasField("welcome"):
                self.welcome.set()
            self.started |= {game.table: game for game in response.games_started}
            self.over |= {game.table: game for game in response.games_over}
            answers = play_service_pb2.PlayRequest()
            for request in response.decision_requests:
                self.asked += 1
                actions = self._answer(request)
                if actions is not None:
                    answers.decisions.add(table=request.table, sequence=request.sequence, actions=actions)
            if self._call.done():
                return
            if answers.decisions:
                await self._call.write(answers)

    def begin(self) -> asyncio.Task[None]:
        self._playing = asyncio.create_task(self.play())
        return self._playing

    async def ended(self) -> grpc.aio.AioRpcError:
        """With what its stream ended."""
        assert self._playing is not None
        try:
            await asyncio.wait_for(asyncio.shield(self._playing), 20)
        except grpc.aio.AioRpcError as error:
            return error
        raise AssertionError("the stream ended without an error")

    def hang_up(self) -> None:
        self._call.cancel()


@contextlib.asynccontextmanager
async def stream_bot(channel: grpc.aio.Channel, name: str, answer: Answer = plain) -> AsyncIterator[StreamBot]:
    """A bot that is connected and plays by itself."""
    bot = StreamBot(channel, name, answer)
    playing = bot.begin()
    try:
        await asyncio.wait_for(bot.welcome.wait(), 10)
        yield bot
    finally:
        bot.hang_up()
        with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
            await playing
