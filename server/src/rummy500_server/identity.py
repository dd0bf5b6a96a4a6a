"""Who a caller is: the digest of the bearer token in `authorization` metadata, and nothing that the caller fills in."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from rummy500_server.status import Failure, Reason

SHORTEST_SECRET, LONGEST_SECRET = 16, 64
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. `digest` is the hexadecimal SHA-256 of the token; None: no token was sent."""

    digest: str | None = None

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


ANONYMOUS = Principal()
CALLER: ContextVar[Principal] = ContextVar("CALLER", default=ANONYMOUS)
"""Who makes the request that is being answered; set around every method."""


def caller() -> Principal:
    """The principal of the request that is being answered. Its `required()` raises when a token is needed."""
    return CALLER.get()


def is_secret(text: str) -> bool:
    """Whether a text may be a token: 16 to 64 bytes of printable ASCII without spaces."""
    return SHORTEST_SECRET <= len(text) <= LONGEST_SECRET and all("!" <= letter <= "~" for letter in text)


def digest_of(secret: str) -> str:
    """What is stored of a secret and compared: its SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def principal_of(metadata: Iterable[tuple[str, str | bytes]] | None) -> Principal:
    """The caller behind a request's metadata. Raises Failure NO_TOKEN when `authorization` is there but malformed."""
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
        return Principal(digest_of(token))
    return ANONYMOUS
