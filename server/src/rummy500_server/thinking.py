"""The processes in which built-in bots think that take their time, so that no table waits for another's bot.

They start when the first bot has to think, and end with the server. The server shows them questions and nothing else.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import structlog

from rummy500_insight.thinking import Answer, Question, begin, think

log = structlog.stdlib.get_logger("rummy500")

WAITING_A_PROCESS = 64
"""Questions that may wait for each process; who asks more is told at once that there is no time for it."""
TRIES = 2
"""How often a question is asked when a process dies over it."""


class NoThought(Exception):
    """The bot did not get to think, or failed over it: too many were waiting, its process died, or it raised."""


class Thinking:
    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._executor: ProcessPoolExecutor | None = None
        self._waiting = 0
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """Questions that are not answered yet."""
        return self._waiting

    async def answer(self, question: Question) -> Answer:
        """Raises NoThought."""
        if self._is_closed or self._waiting >= self._processes * WAITING_A_PROCESS:
            raise NoThought(f"{self._waiting} questions are waiting")
        self._waiting += 1
        try:
            for _ in range(TRIES):
                executor = self._started()
                try:
                    return await asyncio.wrap_future(executor.submit(think, question))
                except BrokenProcessPool:
                    self._drop(executor)
                    if self._is_closed:
                        break
                    log.warning("thinking.broken", sentence="a process has died; the questions are asked again")
                except Exception as error:
                    raise NoThought(f"{type(error).__name__}: {error}") from error
            raise NoThought("the process in which the bot thought has died, again")
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Whatever is thought about is let go."""
        self._is_closed = True
        if self._executor is not None:
            self._drop(self._executor)

    def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            spawned = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._processes, mp_context=spawned, initializer=begin)
        return self._executor

    def _drop(self, executor: ProcessPoolExecutor) -> None:
        """Every question that waits for it is asked anew by those who wait."""
        if executor is self._executor:
            self._executor = None
        processes = list(executor._processes.values()) if executor._processes else []
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
