"""The yardstick of the server: a bare grpc.aio stream echo, 200 bytes in and 600 out, server and client apart."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
from tests.bench.lines import serve_lines_async

QUESTION, ANSWER = b"q" * 200, b"a" * 600
METHOD = "/bench.Echo/Echo"


async def _echo(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
    async for _ in requests:
        yield ANSWER


async def serve() -> None:
    """Listens on a free port and says which; ends with its standard input."""
    server = grpc.aio.server()
    handler = grpc.method_handlers_generic_handler("bench.Echo", {"Echo": grpc.stream_stream_rpc_method_handler(_echo)})
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {"address": f"127.0.0.1:{port}"}

    await serve_lines_async(answer)
    await server.stop(0)


async def ask(address: str, streams: int) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        calls: list[Any] = [channel.stream_stream(METHOD)() for _ in range(streams)]

        async def answer(request: dict[str, Any]) -> dict[str, Any]:
            until = time.perf_counter() + request["seconds"]
            begin = time.perf_counter()
            trips = await asyncio.gather(*[_ping(call, until) for call in calls])
            spent = time.perf_counter() - begin
            every = [trip for of_stream in trips for trip in of_stream]
            return {"rate": len(every) / spent, "trip_ms": statistics.median(every) * 1000}

        await serve_lines_async(answer)
        for call in calls:
            call.cancel()


async def _ping(call: Any, until: float) -> list[float]:
    trips: list[float] = []
    now = time.perf_counter()
    while now < until:
        await call.write(QUESTION)
        assert len(await call.read()) == len(ANSWER)
        before, now = now, time.perf_counter()
        trips.append(now - before)
    return trips


if __name__ == "__main__":
    asyncio.run(serve() if sys.argv[1] == "serve" else ask(sys.argv[2], int(sys.argv[3])))
