"""`rummy500-server token`: makes, lists and revokes registered tokens. A running server reads the file by itself."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rummy500_server.commands.database import CommandRefused, read_age, refuse, verify_known
from rummy500_server.commands.whole_file import whole_file
from rummy500_server.identity import Role, digest_of
from rummy500_server.settings import variable
from rummy500_server.tokens import BadTokenFile, Token, is_name, now, read_tokens

PREFIX = "r500_"
"""Begins every token that is made here, so that a scanner finds one that went astray."""
FILE = variable("tokens")


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("token", help="make, list and revoke tokens with roles")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    new = actions.add_parser(
        "new",
        help="register a token and print it",
        description="Prints a new token, this once: the file keeps a hash of it only. A server that runs with --tokens "
        "FILE knows it within a second.",
    )
    new.add_argument("--role", required=True, choices=[role.value for role in Role], help="what it may do")
    new.add_argument("--name", required=True, help="whose it is, 1 to 64 characters")
    new.add_argument("--expires", type=read_age, default=None, metavar="AGE", help="30d, 12h or 45m; else never")
    listing = actions.add_parser("list", help="the tokens, without what is secret of them")
    listing.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    revoke = actions.add_parser("revoke", help="the token of that name is good no more, within a second")
    revoke.add_argument("name", metavar="NAME")
    for action, run in ((new, _new), (listing, _list), (revoke, _revoke)):
        action.add_argument("--file", type=Path, default=os.environ.get(FILE) or None, help=f"else {FILE}")
        action.set_defaults(run=_with_file(run))


def _with_file(run: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], int]:
    def guarded(arguments: argparse.Namespace) -> int:
        try:
            if arguments.file is None:
                raise CommandRefused(f"say which file: --file FILE, or {FILE} in the environment")
            run(arguments)
        except (BadTokenFile, CommandRefused) as error:
            return refuse(error)
        return 0

    return guarded


def _new(arguments: argparse.Namespace) -> None:
    if arguments.expires == 0:
        raise CommandRefused("--expires: a token that expires at once lets nobody in")
    expires = None if arguments.expires is None else now() + timedelta(seconds=arguments.expires)
    print(add_token(arguments.file, arguments.name, Role(arguments.role), expires=expires))
    print(f"this is the token of {arguments.name}; it is shown this once", file=sys.stderr)


def _list(arguments: argparse.Namespace) -> None:
    tokens = read_tokens(arguments.file)
    for token in tokens:
        if arguments.json:
            print(json.dumps({"name": token.name, "role": token.role.value, "state": _state(token)}))
        else:
            print(f"{token.name:<24} {token.role.value:<9} {_state(token)}")
    if not tokens and not arguments.json:
        print("no tokens")


def _state(token: Token) -> str:
    ended = token.ended(now())
    if ended:
        return ended
    return f"good until {token.expires:%Y-%m-%d %H:%M} UTC" if token.expires is not None else "good"


def _revoke(arguments: argparse.Namespace) -> None:
    revoke_token(arguments.file, arguments.name)
    print(f"the token of {arguments.name} is revoked")


def add_token(path: Path, name: str, role: Role, *, expires: datetime | None = None) -> str:
    """Registers a new token, in a new file if need be; answers it. Raises BadTokenFile or CommandRefused."""
    if not is_name(name):
        raise CommandRefused(f"{name!r}: a name has 1 to 64 printable characters")
    secret = PREFIX + secrets.token_urlsafe(32)
    with _editing(path) as tokens:
        if any(token.name == name and not token.ended(now()) for token in tokens):
            raise CommandRefused(f"{name} has a token already: revoke it first, or choose another name")
        tokens.append(Token(name, role, digest_of(secret), created=now(), expires=expires))
    return secret


def revoke_token(path: Path, name: str) -> None:
    """Raises BadTokenFile, or CommandRefused when there is none that is good."""
    read_tokens(path)
    with _editing(path) as tokens:
        good = [at for at, token in enumerate(tokens) if not token.ended(now())]
        verify_known(name, [tokens[at].name for at in good], "good token of")
        for at in good:
            if tokens[at].name == name:
                tokens[at] = replace(tokens[at], revoked=now())


@contextlib.contextmanager
def _editing(path: Path) -> Iterator[list[Token]]:
    """The tokens of the file, to be changed; then written whole or not at all, one editor at a time."""
    try:
        directory = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise CommandRefused(f"{path.parent} cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        tokens = read_tokens(path) if path.exists() else []
        yield tokens
        with whole_file(path, force=True, keeps_access=True) as partial:
            partial.write_text("".join(token.line() + "\n" for token in tokens), encoding="utf-8")
    finally:
        os.close(directory)
