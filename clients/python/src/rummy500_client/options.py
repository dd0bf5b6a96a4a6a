"""Arguments that several commands share: the server, the token, the rules, the bots to seat."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500.v1.table_pb2 import BuiltinBot
from rummy500.v1.table_service_pb2 import AddBotRequest
from rummy500_client.connection import Connection, verify_token
from rummy500_client.errors import ClientError
from rummy500_client.private_server import server_for
from rummy500_client.security import Security
from rummy500_client.state import own_token

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SERVER = "RUMMY500_SERVER"
TOKEN = "RUMMY500_TOKEN"
NAME = "RUMMY500_NAME"
TLS, CA, CERT, KEY = "RUMMY500_TLS", "RUMMY500_CA", "RUMMY500_CERT", "RUMMY500_KEY"
TOKEN_FILE = "RUMMY500_TOKEN_FILE"
INVITATION, INVITATION_FILE = "RUMMY500_INVITATION", "RUMMY500_INVITATION_FILE"
_FILES = (
    ("--ca", CA, "who signs the server's certificate, in PEM, for a CA of one's own; means --tls"),
    ("--cert", CERT, "one's own certificate, where the server wants one; means --tls"),
    ("--key", KEY, "its key"),
    ("--token-file", TOKEN_FILE, f"the file that has your token, unless {TOKEN} is it"),
)


_OWN = frozenset({TOKEN, TOKEN_FILE, INVITATION, INVITATION_FILE, TLS, CA, CERT, KEY})


def add_server(parser: argparse.ArgumentParser, *, is_private: bool = False) -> None:
    """Which server, how the connection is protected, and who calls. A secret is never an argument: every user of the
    machine sees those."""
    otherwise = "a private server that ends with this command" if is_private else f"the environment's {SERVER}"
    parser.add_argument("--server", metavar="HOST:PORT", default=os.environ.get(SERVER, ""), help=f"else {otherwise}")
    parser.add_argument(
        "--tls",
        action="store_true",
        default=os.environ.get(TLS) == "true",
        help=f"the server speaks TLS; else {TLS}=true",
    )
    for flag, name, what in _FILES:
        parser.add_argument(flag, metavar="FILE", default=os.environ.get(name, ""), help=f"{what}; else {name}")
    if is_private:
        parser.add_argument("--database", metavar="FILE", default="", help="where the private server keeps its games")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")


def add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", metavar="NAME", default="", help="a named table; `rummy500 variants` lists them")
    parser.add_argument("--variant", metavar="NAME", action="append", default=[], help="may be given several times")
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="for example target=300; several times"
    )


def read_rules(arguments: argparse.Namespace) -> RulesChoice:
    options = [_read_setting(text, "--option") for text in arguments.option]
    return RulesChoice(preset=arguments.preset, variants=arguments.variant, options=options)


def _read_setting(text: str, where: str) -> Option:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise ClientError(f"{where} {text!r} is not NAME=VALUE, for example target=300")
    return Option(name=name.strip(), value=value.strip())


def read_builtin(text: str) -> BuiltinBot:
    """Reads `easy` or `random,seed=3`."""
    name, *settings = text.split(",")
    if not name.strip():
        raise ClientError(f"{text!r} names no built-in bot")
    return BuiltinBot(name=name.strip(), settings=[_read_setting(setting, f"bot {name}:") for setting in settings])


def read_seated_bot(text: str) -> AddBotRequest:
    """Reads `easy`, `builtin:random,seed=3` or `connected:NAME`; the table is still to be filled in."""
    kind, colon, name = text.partition(":")
    if kind == "connected" and name:
        return AddBotRequest(connected=name)
    return AddBotRequest(builtin=read_builtin(name if colon and kind == "builtin" else text))


def server_address(arguments: argparse.Namespace) -> str:
    """The server that was named. Raises ClientError if none was."""
    if not arguments.server:
        raise ClientError(f"say which server: --server HOST:PORT, or {SERVER} in the environment")
    return str(arguments.server)


def token(arguments: argparse.Namespace) -> str:
    """Who this user is to servers: from the environment or a file, else one that is made once and kept."""
    return given_token(arguments) or own_token()


def given_token(arguments: argparse.Namespace) -> str:
    """The token from the environment or a file; empty: there is none."""
    given = os.environ.get(TOKEN, "") or _read_secret(arguments.token_file)
    return verify_token(given) if given else ""


def _read_secret(file: str) -> str:
    try:
        return Path(file).read_text(encoding="ascii").strip() if file else ""
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ClientError(f"{file} cannot be read: {why}") from None


def security(arguments: argparse.Namespace) -> Security | None:
    """None: the connection has no TLS. A private server of this command's own never has."""
    if not (arguments.server and (arguments.tls or arguments.ca or arguments.cert or arguments.key)):
        return None
    return Security(arguments.ca, arguments.cert, arguments.key)


@contextlib.contextmanager
def server_or_private(arguments: argparse.Namespace) -> Iterator[Connection]:
    """A connection to the server that was named, else to a private one for the `with`."""
    with (
        server_for(arguments.server, database=arguments.database) as address,
        Connection(address, token=token(arguments), security=security(arguments)) as connection,
    ):
        yield connection


def environment_of(connection: Connection) -> dict[str, str]:
    """What a bot that is started here inherits so that it finds the server; of this user's own secrets nothing."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OWN}
    guarded = connection.security
    if guarded is not None:
        inherited |= {TLS: "true", CA: guarded.ca, CERT: guarded.cert, KEY: guarded.key}
    return inherited | {SERVER: connection.address}


def connect(arguments: argparse.Namespace, *, token_instead: str = "") -> Connection:
    address = server_address(arguments)
    return Connection(address, token=token_instead or token(arguments), security=security(arguments))


def add_invitation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--invitation-file",
        metavar="FILE",
        default=os.environ.get(INVITATION_FILE, ""),
        help=f"the file that has the invitation, - to read it from the standard input; else {INVITATION_FILE}, or "
        f"{INVITATION} is it",
    )


def invitation(arguments: argparse.Namespace) -> str:
    """The invitation to the table, which is sent as the token; empty: there is none."""
    if arguments.invitation_file == "-":
        given = getpass.getpass("invitation: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
    else:
        given = os.environ.get(INVITATION, "") or _read_secret(arguments.invitation_file)
    return verify_token(given) if given else ""


def bytes_of_hex(text: str) -> bytes:
    """An argument type: 32 bytes."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != 32:
        raise argparse.ArgumentTypeError("64 hexadecimal digits are wanted")
    return found


def between(low: int, high: int) -> type[int]:
    """An argument type: a whole number from `low` to `high`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{number} is not from {low} to {high}")
        return number

    return read  # type: ignore[return-value]
