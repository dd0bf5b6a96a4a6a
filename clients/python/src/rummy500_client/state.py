"""What the client keeps between two commands: its own token and the seats it has taken, readable by the user only."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

from rummy500_client.connection import new_secret
from rummy500_client.errors import ClientError
from rummy500_client.security import Security

MOST_SEATS = 50
"""Seats that are remembered; the oldest are forgotten."""


@dataclass(frozen=True)
class SavedSeat:
    """A seat that was taken. `server` is empty for a game on a private server, which lies in `database`. `entropy`, in
    hexadecimal, is what it adds to the chance of every deal."""

    server: str
    table: str
    seat: int
    name: str
    secret: str
    owner_token: str
    database: str = ""
    entropy: str = ""
    saved_at: float = 0.0
    tls: bool = False
    ca: str = ""
    cert: str = ""
    key: str = ""

    @property
    def security(self) -> Security | None:
        return Security(self.ca, self.cert, self.key) if self.tls else None

    def secured(self, security: Security | None) -> SavedSeat:
        """The seat, with how the connection to its server is protected."""
        if security is None:
            return self
        ca, cert, key = (str(Path(file).absolute()) if file else "" for file in astuple(security))
        return replace(self, tls=True, ca=ca, cert=cert, key=key)


def state_directory() -> Path:
    """`$XDG_STATE_HOME/rummy500`, made if need be."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    directory = Path(base) / "rummy500"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ClientError(f"{directory} cannot be made: {error.strerror}; set XDG_STATE_HOME") from None
    return directory


def write_whole(path: Path, content: str, *, mode: int = 0o600) -> None:
    """Writes a file wholly or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), mode)
                file.write(content)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None


def own_token() -> str:
    path = state_directory() / "token"
    try:
        kept = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        kept = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{path} cannot be read: {error}") from None
    if not kept:
        kept = new_secret()
        write_whole(path, kept + "\n")
    return kept


def saved_seats() -> list[SavedSeat]:
    """The remembered seats, newest first."""
    path = state_directory() / "seats.json"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [_read_seat(row) for row in rows]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ClientError(f"{path} cannot be read: {error}; move it away to begin anew") from None


def _read_seat(row: Mapping[str, Any]) -> SavedSeat:
    return SavedSeat(**row)


def remember_seat(seat: SavedSeat) -> None:
    kept = [other for other in saved_seats() if other.secret != seat.secret]
    stamped = SavedSeat(**{**asdict(seat), "saved_at": time.time()})
    _write_seats([stamped, *kept][:MOST_SEATS])


def forget_seat(seat: SavedSeat) -> None:
    _write_seats([other for other in saved_seats() if other.secret != seat.secret])


def resume_command(seat: SavedSeat) -> str:
    """What goes on with this seat, also when another seat of the table was taken from here."""
    shared = [other for other in saved_seats() if (other.server, other.table) == (seat.server, seat.table)]
    whose = f" --name {shlex.quote(seat.name)}" if len(shared) > 1 else ""
    return f"rummy500 play --resume {seat.table}{whose}"


def _write_seats(seats: list[SavedSeat]) -> None:
    write_whole(state_directory() / "seats.json", json.dumps([asdict(seat) for seat in seats], indent=1) + "\n")
