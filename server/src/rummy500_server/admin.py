"""The admin port: metrics for Prometheus, and whether the server lives and is ready, over plain HTTP.

It answers from a thread of its own, so that it can also say that the server's loop does not turn any more.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, TypeVar
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

import structlog
from prometheus_client import make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics_core import Metric

from rummy500_server.app import App
from rummy500_server.listening import address_of, try_address
from rummy500_server.metrics import ServerMetrics, registry_of

PATIENCE = 2.0
"""Seconds that the loop has to answer."""
SLOWEST_CLIENT = 10.0
"""Seconds after which somebody who asks nothing is hung up on."""

Answer = TypeVar("Answer")
log = structlog.stdlib.get_logger("rummy500")


class _Unanswered(Exception):
    """The loop does not turn."""


class _Quiet(WSGIRequestHandler):
    timeout = SLOWEST_CLIENT

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not logged: they come every few seconds."""


class _Ipv6(ThreadingWSGIServer):
    address_family = socket.AF_INET6


class AdminPort:
    """Listens from its making to `close`."""

    def __init__(self, app: App) -> None:
        """Raises CannotListen."""
        host, port = app.settings.admin_host, app.settings.admin_port
        self._app, self._loop = app, asyncio.get_running_loop()
        self._metrics = ServerMetrics(app, version("rummy500"))
        self._pages: dict[str, Callable[[], tuple[str, str]]] = {"/healthz": self._health, "/readyz": self._readiness}
        try_address(host, port)
        self._server = make_server(host, port, self._answer, _Ipv6 if ":" in host else ThreadingWSGIServer, _Quiet)
        self.address = address_of(host, self._server.server_port)
        self._thread = threading.Thread(target=self._server.serve_forever, name="admin", daemon=True)
        self._thread.start()
        log.info("admin.started", address=self.address)

    async def close(self) -> None:
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()

    # --- in the thread of a request

    def _answer(self, environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if environment["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _say(start, "405 Method Not Allowed", "only GET\n", ("Allow", "GET, HEAD"))
        try:
            if path == "/metrics":
                page: Iterable[bytes] = make_wsgi_app(registry_of(self._in_loop(self._collect)))(environment, start)
                return page
            if path in self._pages:
                return _say(start, *self._pages[path]())
        except _Unanswered:
            return _say(start, "503 Service Unavailable", "the server is held up: its loop does not turn\n")
        return _say(start, "404 Not Found", f"there are /metrics, {', '.join(self._pages)}\n")

    def _health(self) -> tuple[str, str]:
        self._in_loop(lambda: None)
        return "200 OK", "alive\n"

    def _readiness(self) -> tuple[str, str]:
        sentence = self._in_loop(self._why_not_ready)
        return ("503 Service Unavailable", f"{sentence}\n") if sentence else ("200 OK", "ready\n")

    def _in_loop(self, do: Callable[[], Answer]) -> Answer:
        async def done() -> Answer:
            return do()

        try:
            return asyncio.run_coroutine_threadsafe(done(), self._loop).result(PATIENCE)
        except (TimeoutError, RuntimeError) as error:
            raise _Unanswered from error

    # --- in the loop's thread

    def _collect(self) -> list[Metric]:
        return list(self._metrics.collect())

    def _why_not_ready(self) -> str:
        if self._app.drain.is_on:
            return "draining: the server is about to stop"
        return "" if self._app.address else "starting"


def _say(start: StartResponse, status: str, text: str, *headers: tuple[str, str]) -> list[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8"), *headers])
    return [text.encode()]
