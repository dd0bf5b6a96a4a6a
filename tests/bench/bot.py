"""A worker that is one `random` bot: one Play stream, a uniformly chosen legal action to every request.

It plays only while it is told to: between two measurements it keeps what it is asked, and both sides rest.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from typing import Any

import grpc
from tests.bench.lines import serve_lines_async

from rummy500.v1 import action_pb2
from rummy500.v1.play_service_pb2 import Decision, DecisionRequest, Hello, PlayRequest
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.view_pb2 import View

MOST_DECISIONS = 64


def choose(view: View, dice: random.Random) -> action_pb2.Action:
    """One of the legal actions, each as likely."""
    legal = view.legal_actions
    index = int(
        dice.random()
        * (
            legal.can_draw
            + legal.can_pass
            + len(legal.takes)
            + len(legal.melds)
            + len(legal.lay_offs)
            + len(legal.discards)
        )
    )
    if index < len(legal.discards):
        return action_pb2.Action(discard=action_pb2.Discard(card=legal.discards[index]))
    index -= len(legal.discards)
    if index < len(legal.takes):
        return action_pb2.Action(take=legal.takes[index])
    index -= len(legal.takes)
    if index < len(legal.melds):
        return action_pb2.Action(lay_meld=legal.melds[index])
    index -= len(legal.melds)
    if index < len(legal.lay_offs):
        return action_pb2.Action(lay_off=legal.lay_offs[index])
    if legal.can_draw:
        return action_pb2.Action(draw=action_pb2.Draw())
    return action_pb2.Action(passing=action_pb2.Pass())


class RandomBot:
    def __init__(self, call: Any, seed: int) -> None:
        self._call = call
        self._dice = random.Random(seed)
        self._waiting: list[DecisionRequest] = []
        self._asked: dict[str, float] = {}
        self._playing = False
        self._decided = self._messages = 0
        self._trips: list[float] = []
        self._writing = asyncio.Lock()

    async def read(self) -> None:
        while (response := await self._call.read()) is not grpc.aio.EOF:
            now = time.perf_counter()
            for request in response.decision_requests:
                asked = self._asked.pop(request.table, None)
                if asked is not None:
                    self._trips.append(now - asked)
                self._waiting.append(request)
            if self._playing:
                await self._answer()

    async def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for first in range(0, len(waiting), MOST_DECISIONS):
            decisions = [self._decide(request) for request in waiting[first : first + MOST_DECISIONS]]
            self._decided += len(decisions)
            self._messages += 1
            now = time.perf_counter()
            for decision in decisions:
                if decision.actions[0].WhichOneof("kind") not in ("discard", "passing"):
                    self._asked[decision.table] = now
            async with self._writing:
                await self._call.write(PlayRequest(decisions=decisions))

    def _decide(self, request: DecisionRequest) -> Decision:
        return Decision(table=request.table, sequence=request.sequence, actions=[choose(request.view, self._dice)])

    async def play(self, seconds: float) -> dict[str, Any]:
        """Decisions a second, and the time from a decision to the next request of the same turn."""
        self._playing, self._decided, self._messages = True, 0, 0
        self._asked.clear()
        self._trips.clear()
        begin = time.perf_counter()
        await self._answer()
        await asyncio.sleep(seconds)
        self._playing = False
        spent = time.perf_counter() - begin
        return {
            "rate": self._decided / spent,
            "batch": self._decided / max(1, self._messages),
            "trip_ms": statistics.median(self._trips) * 1000 if self._trips else None,
        }


async def main(address: str, name: str, token: str, seed: int) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = PlayServiceStub(channel).Play(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(PlayRequest(hello=Hello(name=name)))
        await call.read()
        bot = RandomBot(call, seed)
        reading = asyncio.create_task(bot.read())

        async def answer(request: dict[str, Any]) -> dict[str, Any]:
            return {"connected": True} if request["do"] == "connect" else await bot.play(request["seconds"])

        await serve_lines_async(answer)
        reading.cancel()
        call.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
