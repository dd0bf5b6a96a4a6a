"""Who is let in, and who has to go: registered tokens, and the streams that end with the token that opened them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rummy500_server.identity import ANONYMOUS, Principal, digest_sent
from rummy500_server.status import Failure, Reason
from rummy500_server.tokens import Token, Tokens, now

REFRESH_SECONDS = 1.0
"""How often the token file is looked at."""

Fail = Callable[[Failure], None]


class Door:
    """`tokens` None: none is registered. With `is_token_required` nobody is let in whom the server does not know."""

    def __init__(self, tokens: Tokens | None = None, *, is_token_required: bool = False) -> None:
        self.is_token_required = is_token_required
        self._tokens = tokens
        self._standing: dict[str, dict[Fail, tuple[Principal, str]]] = {}
        """By digest: who opened the stream, and which table it shows; empty: none, or many."""

    def admit(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> Principal:
        """The caller. Raises Failure NO_TOKEN when the token is malformed, TOKEN_ENDED when it is good no more."""
        digest = digest_sent(metadata)
        if digest is None:
            return ANONYMOUS
        token = self._tokens.find(digest) if self._tokens is not None else None
        if token is None:
            return Principal(digest, is_stranger=self.is_token_required)
        why = token.ended(now())
        if why:
            raise Failure(Reason.TOKEN_ENDED, f"the token of {token.name} {why}: ask the host for another")
        return Principal(digest, token.role, token.name)

    @contextmanager
    def standing(self, principal: Principal, fail: Fail, *, table: str = "") -> Iterator[None]:
        """A stream of the caller's is open, which shows that table: `fail` ends it when its token is good no more."""
        if principal.digest is None:
            yield
            return
        standing = self._standing.setdefault(principal.digest, {})
        standing[fail] = principal, table
        try:
            yield
        finally:
            del standing[fail]
            if not standing:
                self._standing.pop(principal.digest, None)

    def turn_out(self, digest: str, table: str, sentence: str) -> None:
        """Ends the open streams of a token that show the table."""
        for fail, (_, shown) in tuple(self._standing.get(digest, {}).items()):
            if shown == table:
                fail(Failure(Reason.TOKEN_ENDED, sentence))

    def refresh(self) -> None:
        """Reads the token file if it changed, and ends the streams of registered tokens that are not good any more."""
        if self._tokens is None:
            return
        self._tokens.refresh()
        for digest, standing in tuple(self._standing.items()):
            token = self._tokens.find(digest)
            for fail, (principal, _) in tuple(standing.items()):
                if _is_outdated(principal, token):
                    name = principal.name or (token.name if token is not None else "")
                    fail(Failure(Reason.TOKEN_ENDED, f"the token of {name} is good no more: ask the host for another"))


def _is_outdated(principal: Principal, token: Token | None) -> bool:
    """Whether a stream was opened by somebody whom its token does not make any more. A token that came to be registered
    since stays what it was to the stream, until it ends."""
    if token is None:
        return principal.role is not None
    return principal.role not in (None, token.role) or bool(token.ended(now()))
