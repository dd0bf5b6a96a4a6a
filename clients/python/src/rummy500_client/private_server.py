"""A server of one's own: a child process that ends with its parent, on a free port of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rummy500_client.errors import ClientError

START_SECONDS, STOP_SECONDS = 30.0, 10.0
_LOOK_EVERY = 0.02


@contextlib.contextmanager
def server_for(address: str, *, database: str = "") -> Iterator[str]:
    """The address of a running server: `address` if one is named, else that of a private server for the `with`."""
    if address:
        if database:
            raise ClientError("--database belongs to a private server: leave out --server, or --database")
        yield address
        return
    with private_server(database=database) as private:
        yield private


@contextlib.contextmanager
def private_server(*, database: str = "") -> Iterator[str]:
    """Starts a server and yields its address; ends it in any case. Without `database` it keeps its games in a temporary
    file."""
    directory = Path(tempfile.mkdtemp(prefix="rummy500-"))
    try:
        with (directory / "server.log").open("wb") as log:
            process = _start(directory, database or str(directory / "server.db"), log.fileno())
        try:
            yield _address(process, directory)
        finally:
            stop(process)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _start(directory: Path, database: str, log: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rummy500_server", "serve", "--host", "127.0.0.1", "--port", "0"]
    command += ["--database", database, "--ready-file", str(directory / "ready"), "--exit-with-stdin"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUMMY500_")}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
    )


def _address(process: subprocess.Popen[bytes], directory: Path) -> str:
    """Waits for the file in which the server writes where it listens."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):
            text = (directory / "ready").read_text(encoding="ascii").strip()
            if text:
                return text
        if process.poll() is not None:
            raise ClientError(f"the private server does not start: {_last_line(directory / 'server.log')}")
        time.sleep(_LOOK_EVERY)
    raise ClientError(f"the private server was not ready within {START_SECONDS:.0f} seconds")


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("rummy500-server: ") if lines else "it says nothing"


def stop(process: subprocess.Popen[bytes]) -> None:
    """Asks the server to end by closing its standard input, then less and less kindly."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for ask in (process.terminate, process.kill):
        try:
            process.wait(STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            ask()
    process.wait()
