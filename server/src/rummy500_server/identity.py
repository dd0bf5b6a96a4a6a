"""Who a caller is: the digest of the bearer token in `authorization` metadata, and nothing that the caller fills in."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum

from rummy500_server.status import Failure, Reason, bad_request

SHORTEST_SECRET, LONGEST_SECRET = 16, 64
_SCHEME = "bearer "


class Role(Enum):
    """What a registered token may do: each may do what access.py says."""

    SPECTATOR = "spectator"
    PLAYER = "player"
    BOT = "bot"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. `digest` is the hexadecimal SHA-256 of the token; None: no token was sent. `role` and `name` are those
    of a registered token. `is_stranger`: the server asks for tokens that it knows and this one is not registered, so it
    serves only where it is that of a seat, an invitation or a match's bot."""

    digest: str | None = None
    role: Role | None = None
    name: str = ""
    is_stranger: bool = False

    def required(self) -> str:
        """The digest. Raises Failure NO_TOKEN when the caller is anonymous."""
        if self.digest is None:
            raise Failure(Reason.NO_TOKEN, "this method needs a token: send `authorization: Bearer <token>`")
        return self.digest

    def is_same(self, digest: str | None) -> bool:
        """Whether this is the principal of that digest, compared in constant time. Nobody is the same as anonymous."""
        if self.digest is None or digest is None:
            return False
        return hmac.compare_digest(self.digest, digest)

    def owns(self, owner: str) -> bool:
        """Whether a table or a match of that owner is the caller's to close: the owner's, and the host's."""
        return self.role is Role.HOST or self.is_same(owner)

    @property
    def reader(self) -> str | None:
        """The digest of whom lists are made for; empty: of nobody. None: the host, who is shown all."""
        return None if self.role is Role.HOST else self.digest or ""


ANONYMOUS = Principal()
CALLER: ContextVar[Principal] = ContextVar("CALLER", default=ANONYMOUS)
"""Who makes the request that is being answered; set around every method."""


def caller() -> Principal:
    """The principal of the request that is being answered. Its `required()` raises when a token is needed."""
    return CALLER.get()


def unknown_token() -> Failure:
    return Failure(
        Reason.UNKNOWN_TOKEN,
        "this server asks for a token that it knows, and this is none: ask its host for one; the token of a seat or of "
        "an invitation serves at its own table only",
    )


def is_secret(text: str) -> bool:
    """Whether a text may be a token: 16 to 64 bytes of printable ASCII without spaces."""
    return SHORTEST_SECRET <= len(text) <= LONGEST_SECRET and all("!" <= letter <= "~" for letter in text)


def digest_of(secret: str) -> str:
    """What is stored of a secret and compared: its SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def read_secret(secret: str, field: str) -> str:
    """The digest of a secret that the client made, from a field of a request. Raises Failure BAD_REQUEST."""
    if not is_secret(secret):
        raise bad_request(field, f"{SHORTEST_SECRET} to {LONGEST_SECRET} printable ASCII characters without spaces")
    return digest_of(secret)


def digest_sent(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    """The digest of the token in a request's metadata; None: there is none. Raises Failure NO_TOKEN when
    `authorization` is there but malformed."""
    for key, value in metadata or ():
        if key != "authorization":
            continue
        text = value if isinstance(value, str) else value.decode("latin-1")
        token = text[len(_SCHEME) :].strip()
        if not text.lower().startswith(_SCHEME) or not is_secret(token):
            raise Failure(
                Reason.NO_TOKEN,
                f"`authorization` is malformed: it is `Bearer <token>` with {SHORTEST_SECRET} to {LONGEST_SECRET} "
                "printable ASCII characters",
            )
        return digest_of(token)
    return None
