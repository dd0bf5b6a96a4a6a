"""What goes wrong, as one sentence for the person at the terminal, and how a gRPC error becomes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import grpc
from google.rpc import error_details_pb2, status_pb2

DETAILS = "grpc-status-details-bin"
LOST = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
"""The codes of a connection that was lost or a server that went away: it may come back."""


_NOT_TRUSTED = {
    "certificate has expired": "shows a certificate that has expired: its host must renew it",
    "certificate is not yet valid": "shows a certificate that is not valid yet: are the clocks right?",
    "CERTIFICATE_VERIFY_FAILED": "shows a certificate that nobody whom you trust signed: give its CA with --ca FILE",
    "Hostname Verification Check failed": "shows a certificate of another name: connect to the name that it is for",
    "WRONG_VERSION_NUMBER": "speaks no TLS: leave out --tls, --ca, --cert and --key",
}
"""What gRPC says when TLS fails, and what that means."""


class ClientError(Exception):
    """One sentence for the person who gave the command; `exit_code` is what the command ends with."""

    exit_code = 2

    @property
    def sentence(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Details:
    """What the server says beside the status code."""

    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    fields: Sequence[tuple[str, str]] = ()
    retry_after: float | None = None


class ServerRefused(ClientError):
    """The server answered with an error. `reason` is that of ErrorInfo (`NOT_A_MELD`, `NO_SUCH_TABLE`), or empty."""

    exit_code = 1

    def __init__(self, code: grpc.StatusCode, message: str, details: Details) -> None:
        super().__init__(message)
        self.code = code
        self.reason = details.reason
        self.details = details

    @property
    def is_lost(self) -> bool:
        """Whether no server answered, so that trying again later makes sense."""
        return self.code in LOST and not self.reason

    def before_the_beginning(self) -> ServerRefused:
        """The same, where nothing was begun."""
        return self if self.is_lost else NotBegun(self.code, self.sentence, self.details)


class NotBegun(ServerRefused):
    """What the command asks for has a mistake in it, which the server found before anything was begun."""

    exit_code = 2


class ServerUnreachable(ServerRefused):
    """Nobody answers at the address."""

    exit_code = 2


class ServerNotTrusted(ServerUnreachable):
    """Somebody answers, but the connection cannot be made safe: trying again later does not help."""

    @property
    def is_lost(self) -> bool:
        return False


def read_error(error: grpc.RpcError, address: str) -> ServerRefused:
    """The error of a call as an exception of ours, with a sentence that stands alone."""
    if not isinstance(error, grpc.Call):
        return ServerUnreachable(grpc.StatusCode.UNKNOWN, f"the call to {address} failed: {error}", Details())
    code = error.code() or grpc.StatusCode.UNKNOWN
    details = read_details(error)
    text = (error.details() or "").strip()
    if code is grpc.StatusCode.UNAVAILABLE and not details.reason:
        return _unreachable(code, text, address)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return ServerUnreachable(code, f"the server at {address} did not answer in time", details)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return ServerRefused(code, f"what answers at {address} is no Rummy 500 server, or an older one", details)
    return ServerRefused(code, _sentence(code, text, details), details)


def _unreachable(code: grpc.StatusCode, text: str, address: str) -> ServerUnreachable:
    for mark, why in _NOT_TRUSTED.items():
        if mark in text:
            return ServerNotTrusted(code, f"the server at {address} {why}", Details())
    if "failed to connect" in text and ("Socket closed" in text or "Connection reset" in text):
        hint = "TLS (--tls or --ca FILE), or a certificate of yours (--cert FILE --key FILE)"
        return ServerUnreachable(code, f"{address} ends every connection: perhaps it wants {hint}", Details())
    return ServerUnreachable(code, f"no Rummy 500 server answers at {address}", Details())


def _sentence(code: grpc.StatusCode, text: str, details: Details) -> str:
    said = text or code.name.lower().replace("_", " ")
    unsaid = [f"{name}: {what}" for name, what in details.fields if what not in said]
    return "; ".join([said, *unsaid])


def read_details(error: grpc.Call) -> Details:
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS and isinstance(value, bytes):
            return _unpack(status_pb2.Status.FromString(value))
    return Details()


def _unpack(status: status_pb2.Status) -> Details:
    about, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    retry_after = None
    for part in status.details:
        if part.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            part.Unpack(about)
        elif part.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            part.Unpack(bad)
        elif part.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            part.Unpack(retry)
            retry_after = retry.retry_delay.ToMilliseconds() / 1000
    fields = tuple((violation.field, violation.description) for violation in bad.field_violations)
    return Details(about.reason, dict(about.metadata), fields, retry_after)
