"""`workers.serve_lines` for a worker with an event loop."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any


async def serve_lines_async(answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await answer(json.loads(line))), flush=True)
