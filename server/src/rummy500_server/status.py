"""Every error of the server as data: a reason, its status code, what it means and what to do about it.

Servicers and rooms raise `Failure` (or let `Refused`, `RulesRefused` and `VariantError` pass); `rejection_of` turns any
of them into what goes on the wire, and it is the only place that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from rummy500_engine.refusals import Refused
from rummy500_engine.terms import RulesRefused, VariantError
from rummy500_server.journal import DamagedDocument, JournalError

DOMAIN = "rummy500"
DETAILS = "grpc-status-details-bin"
LONGEST_SENTENCE, MOST_VIOLATION_BYTES = 512, 1_536
"""Bytes of one text of an error, and of all that are said about fields."""
MORE = "…"
_Code = grpc.StatusCode


@dataclass(frozen=True, slots=True)
class Kind:
    """`meaning` and `remedy` are sentences of docs/protocol.md; `retry` says that RetryInfo tells when to come back."""

    code: grpc.StatusCode
    meaning: str
    remedy: str
    retry: bool = False


class Reason(Enum):
    """The reasons of ErrorInfo that are no refusal of the rules: the names of ErrorReason in the contract."""

    BAD_REQUEST = Kind(
        _Code.INVALID_ARGUMENT,
        "The request is malformed or a field is out of its range; BadRequest names each field.",
        "Correct the fields named.",
    )
    REQUEST_ID_REUSED = Kind(
        _Code.INVALID_ARGUMENT,
        "The `request_id` was used before with other content.",
        "Make a new id for a new request.",
    )
    RULES_REFUSED = Kind(
        _Code.INVALID_ARGUMENT,
        "The rules cannot be composed; the sentence and BadRequest say what contradicts what.",
        "Choose other rules; ResolveRules tries a choice out.",
    )
    NO_TOKEN = Kind(
        _Code.UNAUTHENTICATED,
        "The method needs a token in `authorization` metadata, and there is none or it is malformed.",
        "Send `authorization: Bearer <16 to 64 bytes of printable ASCII>`.",
    )
    UNKNOWN_TOKEN = Kind(
        _Code.UNAUTHENTICATED,
        "This server asks for a token that it knows, and the token is none: neither registered, nor that of a seat, an "
        "invitation or a match's bot where it is used.",
        "Ask the host for a token, or the table's owner for an invitation.",
    )
    TOKEN_ENDED = Kind(
        _Code.UNAUTHENTICATED,
        "The token was revoked, has expired, or is not that of a seat or an invitation any more.",
        "Ask the host for another.",
    )
    WRONG_ROLE = Kind(
        _Code.PERMISSION_DENIED,
        "The role of the token does not allow the method; metadata `role` and `needed`.",
        "Send a token with a role that does.",
    )
    NOT_INVITED = Kind(
        _Code.PERMISSION_DENIED,
        "The table is private, or asks for an invitation that lets join.",
        "Ask its owner for an invitation, and send that as the token.",
    )
    NOT_SEATED = Kind(
        _Code.PERMISSION_DENIED,
        "The token is not that of a seat at this table.",
        "Send the secret that the seat was joined with.",
    )
    NOT_THE_OWNER = Kind(
        _Code.PERMISSION_DENIED,
        "The token is not the owner's.",
        "Send the token that made the table or the match.",
    )
    NO_SUCH_TABLE = Kind(_Code.NOT_FOUND, "No table has that name.", "ListTables names them.")
    NO_SUCH_MATCH = Kind(_Code.NOT_FOUND, "No match has that name.", "ListMatches names them.")
    NO_SUCH_RECORD = Kind(_Code.NOT_FOUND, "No record has that name.", "ListGames names them.")
    NO_SUCH_VARIANT = Kind(
        _Code.NOT_FOUND, "No variant of that name is installed.", "ListVariants names those that are."
    )
    NO_SUCH_BOT = Kind(
        _Code.NOT_FOUND,
        "No built-in and no connected bot has that name.",
        "Connect the bot first, or name one that the sentence lists.",
    )
    STALE_SEQUENCE = Kind(
        _Code.ABORTED,
        "The table has moved on since `expected_sequence`, or the decision answers an older request.",
        "Look at the table again and decide anew.",
    )
    SEAT_TAKEN = Kind(_Code.FAILED_PRECONDITION, "The seat is occupied.", "Choose a free seat, or leave it open.")
    TABLE_FULL = Kind(_Code.FAILED_PRECONDITION, "All seats are occupied.", "Join another table.")
    TABLE_NOT_FULL = Kind(
        _Code.FAILED_PRECONDITION,
        "Seats are still empty, so the table cannot start.",
        "Fill them, with AddBot if need be.",
    )
    WRONG_TABLE_STATE = Kind(
        _Code.FAILED_PRECONDITION,
        "The table is not in the state that the method needs: it has not started, it has started, or it is over.",
        "GetTable shows its state.",
    )
    MATCH_OVER = Kind(_Code.FAILED_PRECONDITION, "The match is over.", "Nothing can be changed any more.")
    FEATURE_MISSING = Kind(
        _Code.FAILED_PRECONDITION,
        "The server lacks a feature that Hello names; metadata `missing` lists them.",
        "Do without it, or use a newer server.",
    )
    RECORD_NOT_OPEN = Kind(
        _Code.FAILED_PRECONDITION,
        "The game, or the match that it belongs to, is not over, so its record is not open yet.",
        "Ask again when it is over.",
    )
    BOT_NAME_TAKEN = Kind(
        _Code.ALREADY_EXISTS,
        "A bot of that name is connected with another token.",
        "Choose another name, or send that bot's token.",
    )
    TOO_MANY_TABLES = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many open tables of one principal; metadata `limit`.",
        "Close or finish some.",
        retry=True,
    )
    TOO_MANY_STREAMS = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many open streams of one principal; metadata `limit`.",
        "Cancel those that are not read.",
        retry=True,
    )
    TOO_MANY_REQUESTS = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many requests a second of one principal, or refused decisions on one stream; metadata `limit`.",
        "Wait as long as RetryInfo says; play many games over one Play stream; answer what is asked.",
        retry=True,
    )
    TOO_MANY_MATCHES = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many open matches of one principal; metadata `limit`.",
        "Cancel some, or wait for their end.",
        retry=True,
    )
    TOO_MANY_BOTS = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many built-in bots at the open tables of one principal; metadata `limit`.",
        "Wait for the end of some games, or close some tables.",
        retry=True,
    )
    TOO_MANY_INVITATIONS = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "Too many invitations to one table; metadata `limit`.",
        "Revoke some.",
        retry=True,
    )
    NO_SUCH_PLAYER = Kind(
        _Code.NOT_FOUND,
        "No player has that name, or the token is no player's.",
        "GetLeaderboard names players; RegisterPlayer makes one.",
    )
    PLAYER_EXISTS = Kind(
        _Code.ALREADY_EXISTS,
        "Another player has that name, or the token is that of a player of another name.",
        "Choose another name, or send that player's token.",
    )
    NOT_A_PLAYER = Kind(
        _Code.FAILED_PRECONDITION,
        "A ranked game is for registered players, and the token is none's.",
        "Call RegisterPlayer with this token first.",
    )
    RANKED_TABLE = Kind(
        _Code.FAILED_PRECONDITION,
        "The table is ranked, and this would change who plays there or how the game counts.",
        "Play on, or give the game up with LeaveTable; practice at a table that is not ranked.",
    )
    TOO_MANY_PLAYERS = Kind(
        _Code.RESOURCE_EXHAUSTED,
        "As many players are registered as the server keeps; metadata `limit`.",
        "Ask the host.",
        retry=True,
    )
    SLOW_READER = Kind(
        _Code.ABORTED,
        "The receiver read too slowly and the stream was ended; of Watch, metadata `resume_after` gives the sequence.",
        "Open the stream again from that sequence, and read faster.",
    )
    STREAM_REPLACED = Kind(
        _Code.ABORTED,
        "A newer stream of the same bot, or of a match's runner, replaced this one.",
        "Let one program play under one token, and one runner attend a match.",
    )
    DRAINING = Kind(
        _Code.UNAVAILABLE,
        "The server is draining: it is about to stop.",
        "Come back after the time in RetryInfo; no game is lost.",
        retry=True,
    )
    NOT_KEPT = Kind(
        _Code.UNAVAILABLE,
        "The server could not write its database, or read it: nothing of the request was kept.",
        "Send it again after the time in RetryInfo; the host finds the cause in the server's log.",
        retry=True,
    )
    TABLE_BROKEN = Kind(
        _Code.FAILED_PRECONDITION,
        "The table ended by a fault of the server or of a variant; the sentence names it.",
        "Make another table; tell the host.",
    )

    @property
    def kind(self) -> Kind:
        return self.value


class Failure(Exception):
    """A request that fails for a reason that the caller can act on. `metadata` goes into ErrorInfo, `fields` (path,
    sentence) into BadRequest, `retry_after` (seconds) into RetryInfo."""

    def __init__(
        self,
        reason: Reason,
        sentence: str,
        *,
        fields: tuple[tuple[str, str], ...] = (),
        retry_after: float = 1.0,
        **metadata: object,
    ) -> None:
        super().__init__(sentence)
        self.reason, self.sentence, self.fields, self.retry_after = reason, sentence, fields, retry_after
        self.metadata = {key: str(value) for key, value in metadata.items()}


def bad_request(path: str, sentence: str, *more: tuple[str, str]) -> Failure:
    """INVALID_ARGUMENT for one field or several: its path in the request (`actions[2].take.card`), what it must be."""
    fields = ((path, sentence), *more)
    return Failure(Reason.BAD_REQUEST, "; ".join(f"{name}: {text}" for name, text in fields), fields=fields)


@dataclass(frozen=True, slots=True)
class Rejection:
    """An error as the wire has it: `reason` is the ErrorInfo reason, `details` the messages of google.rpc.Status."""

    code: grpc.StatusCode
    reason: str
    sentence: str
    details: tuple[Message, ...] = field(default=(), compare=False)

    @property
    def number(self) -> int:
        """The number of the status code, as in DecisionRefused.status."""
        return int(self.code.value[0])

    def trailers(self) -> tuple[tuple[str, bytes], ...]:
        status = status_pb2.Status(code=self.number, message=self.sentence)
        for detail in self.details:
            status.details.add().Pack(detail, deterministic=True)
        return ((DETAILS, status.SerializeToString(deterministic=True)),)


def rejection_of(error: Exception) -> Rejection | None:
    """What the wire says of an error, or None when it is not one that a caller can cause."""
    match error:
        case Failure():
            return _failed(error)
        case DamagedDocument():
            return _failed(Failure(Reason.TABLE_BROKEN, str(error)))
        case JournalError():
            return _failed(Failure(Reason.NOT_KEPT, "the database cannot be used at the moment; nothing was kept"))
        case Refused():
            sentence = _short(error.sentence)
            return Rejection(_Code.FAILED_PRECONDITION, error.code, sentence, (_info(error.code, {}),))
        case RulesRefused():
            return _failed(Failure(Reason.RULES_REFUSED, str(error), fields=((error.field, str(error)),)))
        case VariantError():
            return _failed(
                Failure(Reason.RULES_REFUSED, str(error), variant=error.variant, distribution=error.distribution)
            )
    return None


def _failed(failure: Failure) -> Rejection:
    kind = failure.reason.kind
    details: list[Message] = [_info(failure.reason.name, failure.metadata)]
    if failure.fields:
        details.append(_bad_fields(failure.fields))
    if kind.code is _Code.RESOURCE_EXHAUSTED:
        subject = failure.metadata.get("limit", "")
        violation = error_details_pb2.QuotaFailure.Violation(subject=subject, description=_short(failure.sentence))
        details.append(error_details_pb2.QuotaFailure(violations=[violation]))
    if kind.retry:
        delay = Duration()
        delay.FromMilliseconds(max(1, round(failure.retry_after * 1000)))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return Rejection(kind.code, failure.reason.name, _short(failure.sentence), tuple(details))


def _info(reason: str, metadata: dict[str, str]) -> error_details_pb2.ErrorInfo:
    told = {_short(key): _short(value) for key, value in metadata.items()}
    return error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=told)


def _bad_fields(fields: tuple[tuple[str, str], ...]) -> error_details_pb2.BadRequest:
    """As many of them as there is room for: a client takes 8 KiB of trailers, and no more."""
    bad = error_details_pb2.BadRequest()
    for path, text in fields:
        bad.field_violations.add(field=_short(path), description=_short(text))
        if bad.ByteSize() > MOST_VIOLATION_BYTES:
            break
    return bad


def _short(text: str) -> str:
    """As it can be sent, at most 512 bytes: errors quote what a caller wrote, and JSON can write halves of surrogate
    pairs."""
    whole = text.encode(errors="backslashreplace")
    if len(whole) <= LONGEST_SENTENCE:
        return whole.decode()
    return whole[: LONGEST_SENTENCE - len(MORE.encode())].decode(errors="ignore") + MORE
