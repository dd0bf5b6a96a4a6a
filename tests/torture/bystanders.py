"""Two bots that play game after game on a server which others mistreat: `python -m tests.torture.bystanders ADDRESS`.

A process of its own, so that its times are the server's. It plays until its standard input ends, and then prints what
it saw as JSON: games, decisions, the longest time that an answer took, and what went wrong.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, field

import grpc
from tests.server.at_table import Client
from tests.server.running import bearer, channel_to
from tests.server.stream_bot import StreamBot, plain, stream_bot

from rummy500.v1 import action_pb2, play_service_pb2, result_pb2, table_service_pb2

OWNER = "owner-of-the-bystanders"


@dataclass(slots=True)
class Seen:
    """`waits_ms`: from each answer to the next request of the same table."""

    games: int = 0
    decisions: int = 0
    waits_ms: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def report(self) -> str:
        waits = sorted(self.waits_ms) or [0.0]
        told = asdict(self) | {"waits_ms": None, "median_ms": waits[len(waits) // 2], "longest_ms": waits[-1]}
        return json.dumps(told | {"p99_ms": waits[len(waits) * 99 // 100]})


class Timed:
    """Answers as `plain` does, and looks at the clock."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._table, self._answered_at = "", 0.0

    def __call__(self, request: play_service_pb2.DecisionRequest) -> list[action_pb2.Action]:
        now = time.monotonic()
        if self._table == request.table:
            self._seen.waits_ms.append((now - self._answered_at) * 1000)
        if any(request.view.clock.finished_turns):
            self._seen.wrong.append(f"the clock finished a turn at {request.table}")
        self._seen.decisions += 1
        self._table, self._answered_at = request.table, time.monotonic()
        return plain(request)


async def play_on(client: Client, bots: list[StreamBot], seen: Seen, ended: asyncio.Event) -> None:
    while not ended.is_set():
        table = await client.create(2, owner=OWNER, start_when_full=True)
        for bot in bots:
            request = table_service_pb2.AddBotRequest(table=table, connected=bot.name)
            await client.tables.AddBot(request, metadata=bearer(OWNER))
        while table not in bots[0].over:
            await asyncio.sleep(0.01)
        result = bots[0].over[table].result
        seen.games += 1
        if result.termination != result_pb2.TERMINATION_NORMAL:
            seen.wrong.append(f"{table} ended with {result}")


async def main(address: str) -> None:
    seen, ended = Seen(), asyncio.Event()
    asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: ended.set())
    timed = Timed(seen)
    async with channel_to(address) as channel:
        try:
            async with stream_bot(channel, "by", timed) as one, stream_bot(channel, "stander", timed) as two:
                await play_on(Client.on(channel), [one, two], seen, ended)
        except (grpc.aio.AioRpcError, TimeoutError) as error:
            seen.wrong.append(f"the games broke off: {error!r}")
    print(seen.report())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
