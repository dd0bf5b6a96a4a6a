"""Measured things run in processes of their own, which wait on their standard input and answer a line with a line."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self._name, self._process = name, process

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, **request: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        self.tell(**request)
        return self.answer()


@contextlib.contextmanager
def worker(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Worker]:
    """Runs `python -m module arguments`; it ends when its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield Worker(module, process)
    finally:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def serve_lines(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """What a worker does: a line of JSON in, a line of JSON out, until the end of the input."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
