"""A bad connection: stands between a client and a server, and delays, stalls and cuts what they say to each other."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator


class TcpProxy:
    """Listens at `address` and passes on to the server at the other one."""

    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self._server = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.delay = 0.0
        """Seconds by which each piece is late."""
        self.connections = 0
        """How many there have been."""
        self._open: list[_Connection] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                try:
                    server = socket.create_connection(self._server)
                except OSError:
                    client.close()
                    continue
                self._open.append(_Connection(self, client, server))

    def cut(self) -> None:
        """Ends what is open for both sides. New connections work."""
        for connection in self._open:
            connection.cut()

    def stall(self) -> None:
        """What is open stays open for both sides, and nothing comes through any more. New connections work."""
        for connection in self._open:
            connection.flows.clear()

    def go_on(self) -> None:
        """What was stalled comes through, late."""
        for connection in self._open:
            connection.flows.set()

    def close(self) -> None:
        _shut(self._listener)
        self._accepting.join()
        self._listener.close()
        for connection in self._open:
            connection.close()


class _Connection:
    def __init__(self, proxy: TcpProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._ends = proxy, (client, server)
        self.flows = threading.Event()
        self.flows.set()
        ways = ((client, server), (server, client))
        self._threads = [threading.Thread(target=self._pass_on, args=way) for way in ways]
        for thread in self._threads:
            thread.start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65_536):
                if self._proxy.delay:
                    time.sleep(self._proxy.delay)
                self.flows.wait()
                sink.sendall(piece)
        self.cut()

    def cut(self) -> None:
        for end in self._ends:
            _shut(end)
        self.flows.set()

    def close(self) -> None:
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


def _shut(end: socket.socket) -> None:
    """Whoever waits for it in another thread goes on."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def proxy_to(server: str) -> Iterator[TcpProxy]:
    proxy = TcpProxy(server)
    try:
        yield proxy
    finally:
        proxy.close()
