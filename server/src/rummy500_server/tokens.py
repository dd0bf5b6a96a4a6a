"""The file of registered tokens: who has one, with which role, until when. It holds hashes: no token can be read there.

One JSON object a line: `name`, `role`, `sha256` of the token, `created`, and where there are any `expires` and
`revoked`, the times in ISO 8601. A revoked token keeps its line, so that nobody is let in with it as a stranger.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from rummy500_server.identity import Role

log = structlog.stdlib.get_logger("rummy500")

LONGEST_NAME = 64
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FIELDS = frozenset({"name", "role", "sha256", "created", "expires", "revoked"})


class BadTokenFile(Exception):
    """The file cannot be used; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    role: Role
    digest: str
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    def ended(self, now: datetime) -> str:
        """Why it is good no more, in words; empty: it is good."""
        if self.revoked is not None:
            return f"was revoked on {self.revoked:%Y-%m-%d}"
        if self.expires is not None and self.expires <= now:
            return f"expired on {self.expires:%Y-%m-%d}"
        return ""

    def line(self) -> str:
        values = {"name": self.name, "role": self.role.value, "sha256": self.digest}
        times = {"created": self.created, "expires": self.expires, "revoked": self.revoked}
        return json.dumps(values | {name: time.isoformat() for name, time in times.items() if time is not None})


def is_name(name: str) -> bool:
    return 1 <= len(name) <= LONGEST_NAME and name.isprintable()


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def read_tokens(path: Path) -> list[Token]:
    """Raises BadTokenFile; what the lines say is not repeated, for somebody may have written a token there."""
    try:
        if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise BadTokenFile(f"the token file {path} can be written by others than its owner: chmod 600 {path}")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BadTokenFile(
            f"the token file {path} is not there: `rummy500-server token new --role host --name NAME --file {path}` "
            "makes it"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise BadTokenFile(f"the token file {path} cannot be read: {why}") from error
    tokens: list[Token] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            tokens.append(_read_line(line))
        except ValueError as error:
            raise BadTokenFile(f"line {number} of the token file {path}: {error}") from None
    if len({token.digest for token in tokens}) < len(tokens):
        raise BadTokenFile(f"the token file {path} has one sha256 twice")
    return tokens


def _read_line(line: str) -> Token:
    """Raises ValueError."""
    try:
        values: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("this is no JSON object") from None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ValueError("an object with texts is wanted")
    if values.keys() - _FIELDS:
        raise ValueError(f"its fields may be {', '.join(sorted(_FIELDS))}")
    name = values.get("name", "")
    if not is_name(name):
        raise ValueError(f"name must have 1 to {LONGEST_NAME} printable characters")
    if values.get("role") not in {role.value for role in Role}:
        raise ValueError(f"role must be {' or '.join(role.value for role in Role)}")
    if not _SHA256.fullmatch(values.get("sha256", "")):
        raise ValueError("sha256 must be 64 hexadecimal digits in lower case")
    return Token(
        name,
        Role(values["role"]),
        values["sha256"],
        created=_read_time(values.get("created", ""), "created"),
        expires=_read_time(values["expires"], "expires") if "expires" in values else None,
        revoked=_read_time(values["revoked"], "revoked") if "revoked" in values else None,
    )


def _read_time(text: str, field: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{field} must be a time such as 2026-11-30T18:00:00+00:00") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


class Tokens:
    """The registered tokens of a running server, read again when the file changes."""

    def __init__(self, path: Path) -> None:
        """Raises BadTokenFile."""
        self._path = path
        self._stamp = self._seen()
        self._by_digest = {token.digest: token for token in read_tokens(path)}

    def find(self, digest: str) -> Token | None:
        return self._by_digest.get(digest)

    def refresh(self) -> None:
        """Reads the file if it changed. One that cannot be read changes nothing: what was known stays good."""
        stamp = self._seen()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            tokens = read_tokens(self._path)
        except BadTokenFile as error:
            log.error("tokens.not_read", sentence=str(error))
            return
        self._by_digest = {token.digest: token for token in tokens}
        log.info("tokens.read", tokens=len(tokens))

    def _seen(self) -> tuple[int, ...]:
        """What changes with the file, also when it is given to another owner."""
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
