"""A server of one's own: a child process that ends with its parent, on a free port of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rummy500_client.errors import ClientError

START_SECONDS, STOP_SECONDS = 30.0, 10.0
MOST_RESTARTS = 3
"""How often a server that has died is started anew without listening once."""
_LOOK_EVERY = 0.02
READY = "ready"
"""The file in which a server writes where it listens."""
_IN_USE = "is in use by another server"
"""What a server says that cannot have it."""


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
    file. A server that dies is started anew at the same address."""
    directory = Path(tempfile.mkdtemp(prefix="rummy500-"))
    try:
        server = _Server(directory, database or str(directory / "server.db"))
        try:
            yield server.address
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class _Server:
    def __init__(self, directory: Path, database: str) -> None:
        self._directory, self._database = directory, database
        self._process, self.address = self._started()
        self._lock = threading.Lock()
        self._is_stopped = False
        threading.Thread(target=self._look_after, name="private server", daemon=True).start()

    def _started(self) -> tuple[subprocess.Popen[bytes], str]:
        """A process that listens, and its address. The database may still belong to one that is ending."""
        until = time.monotonic() + STOP_SECONDS
        while True:
            process = _start(self._directory, self._database)
            try:
                return process, _address(process, self._directory)
            except ClientError as error:
                stop(process)
                if _IN_USE not in error.sentence or time.monotonic() > until:
                    raise
            except BaseException:
                stop(process)
                raise

    def _look_after(self) -> None:
        failed, ready = 0, self._directory / READY
        while failed < MOST_RESTARTS:
            self._process.wait()
            with self._lock:
                if self._is_stopped:
                    return
                failed = 0 if ready.exists() else failed + 1
                ready.unlink(missing_ok=True)
                self._process = _start(self._directory, self._database, port=self.address.rpartition(":")[2])

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
        stop(self._process)


def _start(directory: Path, database: str, *, port: str = "0") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rummy500_server", "serve", "--host", "127.0.0.1", "--port", port]
    command += ["--database", database, "--ready-file", str(directory / READY), "--exit-with-stdin"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUMMY500_")}
    with (directory / "server.log").open("wb") as log:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
        )


def _address(process: subprocess.Popen[bytes], directory: Path) -> str:
    """Waits for the file in which the server writes where it listens."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):
            text = (directory / READY).read_text(encoding="ascii").strip()
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
