"""Arguments that several commands share: the server, the token, the rules, the bots to seat."""

from __future__ import annotations

import argparse
import os
from typing import TypeAlias

from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500.v1.table_pb2 import BuiltinBot
from rummy500.v1.table_service_pb2 import AddBotRequest
from rummy500_client.connection import Connection, verify_token
from rummy500_client.errors import ClientError
from rummy500_client.state import own_token

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SERVER = "RUMMY500_SERVER"
TOKEN = "RUMMY500_TOKEN"
NAME = "RUMMY500_NAME"


def add_server(parser: argparse.ArgumentParser, *, is_private: bool = False) -> None:
    otherwise = "a private server that ends with this command" if is_private else f"the environment's {SERVER}"
    parser.add_argument("--server", metavar="HOST:PORT", default=os.environ.get(SERVER, ""), help=f"else {otherwise}")
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


def token() -> str:
    """Who this user is to servers: from the environment, else one that is made once and kept."""
    return verify_token(os.environ[TOKEN]) if os.environ.get(TOKEN) else own_token()


def connect(arguments: argparse.Namespace) -> Connection:
    return Connection(server_address(arguments), token=token())


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
