"""A connection to a server: its five services, called with a token, with errors as sentences."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import grpc

from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.player_service_pb2_grpc import PlayerServiceStub
from rummy500.v1.rules_service_pb2_grpc import RulesServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_client.errors import ClientError, read_error
from rummy500_client.security import Security

Request = TypeVar("Request")
Response = TypeVar("Response")
Message = TypeVar("Message", covariant=True)
Metadata = tuple[tuple[str, str], ...]

_ADDRESS = re.compile(r"(unix:.+|[^\s:]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5})")
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 5_000),  # how long one attempt may take: far away, with TLS, or on a busy machine
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.enable_http_proxy", 0),
]


def new_secret() -> str:
    """A token that nobody can guess: 192 random bits."""
    return secrets.token_urlsafe(24)


def authorization(token: str) -> Metadata:
    """The metadata that say who calls; none for an empty token."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def verify_address(address: str) -> str:
    if not _ADDRESS.fullmatch(address):
        raise ClientError(f"{address!r} is no server address: give HOST:PORT, for example localhost:5500")
    return address


def verify_token(token: str) -> str:
    if not (16 <= len(token) <= 64 and token.isascii() and token.isprintable() and " " not in token):
        raise ClientError("a token is 16 to 64 printable ASCII characters without a space")
    return token


class Connection:
    """One channel to `address`. `token` is who calls, unless a call names another. `security` None: no TLS.
    Close it, or use it in a `with`.

    A connection that was silent for `keepalive` seconds is tried out, and given up if half as long later nothing came.
    """

    def __init__(
        self, address: str, *, token: str = "", security: Security | None = None, keepalive: float = 10.0
    ) -> None:
        self.address = verify_address(address)
        self.token = token
        self.security = security
        milliseconds = round(keepalive * 1000)
        pings = [("grpc.keepalive_time_ms", milliseconds), ("grpc.http2.ping_timeout_ms", milliseconds // 2)]
        options = [*_OPTIONS, *pings]
        if security is None:
            self._channel = grpc.insecure_channel(self.address, options=options)
        else:
            self._channel = grpc.secure_channel(self.address, security.credentials(), options=options)
        self.rules = RulesServiceStub(self._channel)
        self.tables = TableServiceStub(self._channel)
        self.plays = PlayServiceStub(self._channel)
        self.matches = MatchServiceStub(self._channel)
        self.players = PlayerServiceStub(self._channel)

    def ask(
        self,
        method: grpc.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        waits: bool = False,
    ) -> Response:
        """One call. Raises ServerRefused. `waits`: until the server is there, which it was before."""
        metadata = authorization(self.token if token is None else token)
        try:
            return method(request, timeout=timeout, metadata=metadata, wait_for_ready=waits)
        except grpc.RpcError as error:
            raise read_error(error, self.address) from None

    def stream(
        self,
        method: grpc.UnaryStreamMultiCallable[Request, Response],
        request: Request,
        *,
        token: str | None = None,
    ) -> Stream[Response]:
        metadata = authorization(self.token if token is None else token)
        return Stream(method(request, metadata=metadata), self.address)

    def converse(
        self, method: grpc.StreamStreamMultiCallable[Request, Response], requests: Iterator[Request]
    ) -> Stream[Response]:
        return Stream(method(requests, metadata=authorization(self.token)), self.address)

    def relayed(self, path: str, requests: Iterator[bytes], *, token: str) -> Stream[bytes]:
        """A conversation whose messages are bytes in both directions."""
        converse: Any = self._channel.stream_stream(path)
        return Stream(converse(requests, metadata=authorization(token)), self.address)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Call(Protocol[Message]):
    """A streaming call as gRPC gives it."""

    def __next__(self) -> Message: ...

    def cancel(self) -> bool: ...


class Stream(Iterator[Response]):
    """The answers of a streaming call; iterating raises ServerRefused.

    A call that is dropped without being cancelled lives on, so every use is a `with`, which cancels it.
    """

    def __init__(self, call: Call[Response], address: str) -> None:
        self._call = call
        self._address = address

    def __next__(self) -> Response:
        try:
            return next(self._call)
        except grpc.RpcError as error:
            raise read_error(error, self._address) from None

    def cancel(self) -> None:
        self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
