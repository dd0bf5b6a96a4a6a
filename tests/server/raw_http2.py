"""gRPC by hand over a socket, for tests that read slowly, or not at all, and for what no client library does."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections import Counter
from collections.abc import Iterator, Mapping

import h2.config
import h2.connection
import h2.events

NO_HEADERS: Mapping[str, str] = {}


def framed(message: bytes) -> bytes:
    """As gRPC sends it: not compressed, with its length."""
    return b"\0" + struct.pack(">I", len(message)) + message


class RawConnection:
    """One connection whose windows are opened by `read` only. Blocking; every read has a time-out."""

    def __init__(self, address: str, *, seconds: float = 10.0) -> None:
        host, _, port = address.rpartition(":")
        self.address = address
        self.socket = socket.create_connection((host, int(port)), timeout=seconds)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.ended: dict[int, dict[str, str]] = {}
        """What each stream ended with."""
        self._unread: Counter[int] = Counter()
        self.http.initiate_connection()
        self.flush()

    def flush(self) -> None:
        with contextlib.suppress(OSError):  # the peer may have closed; what it said before is read first
            self.socket.sendall(self.http.data_to_send())

    def call(
        self, path: str, *messages: bytes, token: str = "", ends: bool = True, headers: Mapping[str, str] = NO_HEADERS
    ) -> int:
        """Begins a call; answers its stream. `headers` go before those of gRPC."""
        stream = self.http.get_next_available_stream_id()
        fixed = {":method": "POST", ":scheme": "http", ":path": path, ":authority": self.address}
        sent = {"content-type": "application/grpc", "te": "trailers", **headers}
        if token:
            sent["authorization"] = f"Bearer {token}"
        self.http.send_headers(stream, [*fixed.items(), *sent.items()])
        for message in messages:
            self.http.send_data(stream, framed(message))
        if ends:
            self.http.end_stream(stream)
        self.flush()
        return stream

    def send(self, stream: int, message: bytes) -> None:
        self.http.send_data(stream, framed(message))
        self.flush()

    def read(self, *, opens_windows: bool = True) -> list[h2.events.Event]:
        """What has come; empty at the end of the connection. Raises TimeoutError."""
        if opens_windows:
            self._open_windows()
        received = self.socket.recv(1 << 16)
        events = self.http.receive_data(received) if received else []
        for event in events:
            if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
                self._unread[event.stream_id] += event.flow_controlled_length
            self._note(event)
        if opens_windows:
            self._open_windows()
        self.flush()
        return events

    def _open_windows(self) -> None:
        for stream, size in self._unread.items():
            self.http.acknowledge_received_data(size, stream)
        self._unread.clear()
        self.flush()

    def until_ended(self, stream: int) -> dict[str, str]:
        """Reads on until that stream has ended; answers its trailers, or `{"reset": code}`. Raises TimeoutError."""
        while stream not in self.ended:
            if not self.read():
                return {"closed": "the connection"}
        return self.ended[stream]

    def _note(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.StreamReset):
            self.ended.setdefault(event.stream_id, {"reset": str(event.error_code)})
        if isinstance(event, h2.events.TrailersReceived | h2.events.ResponseReceived):
            headers = {str(name): str(value) for name, value in event.headers or ()}
            if "grpc-status" in headers or headers.get(":status", "200") != "200":
                self.ended[event.stream_id] = headers

    def close(self) -> None:
        self.socket.close()


@contextlib.contextmanager
def raw_connection(address: str, *, seconds: float = 10.0) -> Iterator[RawConnection]:
    connection = RawConnection(address, seconds=seconds)
    try:
        yield connection
    finally:
        connection.close()
