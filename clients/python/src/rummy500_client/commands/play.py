"""`rummy500 play`: a seat at a table for a person at the terminal, or for a script with --json."""

from __future__ import annotations

import argparse
import getpass
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from rummy500.v1.player_service_pb2 import GetPlayerRequest
from rummy500.v1.rules_pb2 import RulesChoice
from rummy500.v1.table_pb2 import Table
from rummy500.v1.table_service_pb2 import AddBotRequest, CreateTableRequest, GetTableRequest, JoinTableRequest
from rummy500_client.clock_options import add_clock, read_clock
from rummy500_client.connection import Connection, new_secret
from rummy500_client.displays import Display, JsonDisplay, TextDisplay
from rummy500_client.errors import ClientError
from rummy500_client.fair import DealCheck, new_entropy
from rummy500_client.insight import Hints
from rummy500_client.options import (
    Subparsers,
    add_invitation,
    add_json,
    add_rules,
    add_server,
    between,
    bytes_of_hex,
    invitation,
    read_rules,
    read_seated_bot,
    security,
    token,
)
from rummy500_client.private_server import server_for
from rummy500_client.seeds import add_seed, read_seed
from rummy500_client.session import Left, Session
from rummy500_client.standing import settled_line
from rummy500_client.state import SavedSeat, forget_seat, remember_seat, resume_command, saved_seats, state_directory

INTERRUPTED = 130
NO_BOTS = "none"


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("play", help="play at a table, against bots or people")
    add_server(parser, is_private=True)
    parser.add_argument("--join", metavar="TABLE", default="", help="sit down at a table that is open")
    parser.add_argument("--resume", metavar="TABLE", nargs="?", const="", help="go on with a game (the last one)")
    parser.add_argument("--name", default="", help="the name that the others see")
    parser.add_argument("--players", type=between(2, 8), default=0, metavar="N", help="seats at the table")
    parser.add_argument(
        "--bots", metavar="NAME,…", default="", help=f"bots to seat, as easy,random or connected:NAME; or {NO_BOTS}"
    )
    parser.add_argument(
        "--ranked", metavar="LEVEL,…", default="", help="a game that counts, against one to three bots: easy,normal"
    )
    add_seed(parser, metavar="HEX", what="64 hexadecimal digits, to repeat a game")
    add_invitation(parser)
    add_rules(parser)
    add_clock(parser, decision_ms=120_000)
    parser.add_argument("--hint", action="store_true", help="at each decision: what a good bot would do, and why")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.resume is not None:
        seat = _saved(arguments)
        with server_for(seat.server, database=seat.database) as address:
            return _play(arguments, address, seat, is_resumed=True)
    seed = read_seed(arguments, bytes_of_hex) or b""
    if arguments.ranked and arguments.hint:
        raise ClientError("a ranked game has no hints: leave out --hint")
    if arguments.ranked and (not arguments.server or arguments.join or arguments.bots or arguments.players):
        raise ClientError("--ranked names all opponents of a new table on a server: --server HOST:PORT --ranked easy")
    database = str(Path(arguments.database).absolute()) if arguments.database else ""
    if not arguments.server and not database:
        database = _database_for_a_game()
    taken: SavedSeat | None = None
    try:
        with server_for(arguments.server, database=database) as address:
            with Connection(address, token=_caller(arguments), security=security(arguments)) as connection:
                taken = _sit_down(arguments, connection, database=database, seed=seed)
            return _play(arguments, address, taken, is_resumed=False)
    finally:
        if taken is None:  # there is nothing to come back to
            _remove_game(database)


def _caller(arguments: argparse.Namespace) -> str:
    """Who sits down: an invitation is good for that, and nothing else is needed."""
    return (invitation(arguments) if arguments.join else "") or token(arguments)


def _saved(arguments: argparse.Namespace) -> SavedSeat:
    for seat in saved_seats():
        is_at = arguments.resume in ("", seat.table) and arguments.server in ("", seat.server)
        if is_at and arguments.name in ("", seat.name):
            return seat
    what = f"table {arguments.resume}" if arguments.resume else "game"
    raise ClientError(f"no {what} is remembered here to go on with")


def _database_for_a_game() -> str:
    """A file of its own for each private game, so that it can be resumed and two can be played at once."""
    directory = state_directory() / f"game-{secrets.token_hex(4)}"
    directory.mkdir(mode=0o700)
    return str(directory / "game.db")


def _sit_down(arguments: argparse.Namespace, connection: Connection, *, database: str, seed: bytes) -> SavedSeat:
    table = arguments.join or _new_table(arguments, connection, seed=seed)
    seat = SavedSeat(
        server="" if database else connection.address,
        table=table,
        seat=0,
        name=arguments.name or _user_name(),
        secret=new_secret(),
        owner_token=connection.token,
        database=database,
        entropy=new_entropy().hex(),
    ).secured(connection.security)
    remember_seat(seat)
    try:
        request = JoinTableRequest(
            table=table, name=seat.name, seat_secret=seat.secret, entropy=bytes.fromhex(seat.entropy)
        )
        joined = connection.ask(connection.tables.JoinTable, request)
        seat = replace(seat, seat=joined.seat)
        remember_seat(seat)
        if not arguments.join:
            _seat_bots(arguments, connection, joined.table)
    except (ClientError, KeyboardInterrupt):
        forget(seat)
        raise
    return seat


def _user_name() -> str:
    try:
        return getpass.getuser()[:64] or "you"
    except (KeyError, OSError):
        return "you"


def _new_table(arguments: argparse.Namespace, connection: Connection, *, seed: bytes) -> str:
    bots = _bots(arguments)
    players = arguments.players or max(2, len(bots) + 1)
    if len(bots) >= players:
        raise ClientError(f"{len(bots)} bots and you are more than {players} players")
    rules: RulesChoice = read_rules(arguments)
    levels = [level.strip() for level in arguments.ranked.split(",")] if arguments.ranked else []
    request = CreateTableRequest(
        seats=0 if levels else players,
        ranked=levels,
        rules=rules,
        clock=read_clock(arguments),
        seed=seed,
        request_id=new_secret(),
        start_when_full=True,
    )
    return connection.ask(connection.tables.CreateTable, request).table.name


def _bots(arguments: argparse.Namespace) -> list[AddBotRequest]:
    """The bots to seat: those named; when none are, an easy one for each seat of a private table."""
    if arguments.ranked or arguments.bots == NO_BOTS or (not arguments.bots and arguments.server):
        return []
    if not arguments.bots:
        return [read_seated_bot("easy") for _ in range((arguments.players or 2) - 1)]
    specs: list[str] = []
    for part in arguments.bots.split(","):
        if "=" in part and specs:  # a setting of the bot before it
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return [read_seated_bot(spec) for spec in specs]


def _seat_bots(arguments: argparse.Namespace, connection: Connection, table: Table) -> None:
    for bot in _bots(arguments):
        bot.table, bot.request_id = table.name, new_secret()
        connection.ask(connection.tables.AddBot, bot)


def _play(arguments: argparse.Namespace, address: str, seat: SavedSeat, *, is_resumed: bool) -> int:
    display: Display = JsonDisplay() if arguments.json else TextDisplay()
    with Connection(address, token=seat.owner_token, security=security(arguments) or seat.security) as connection:
        shown = connection.ask(connection.tables.GetTable, GetTableRequest(table=seat.table), token=seat.secret)
        table = shown.table
        if table.ranked and arguments.hint:
            raise ClientError(f"a ranked game has no hints: go on without --hint; {_come_back(seat)}")
        display.seated(table.name, seat.seat, [each.name for each in table.seats])
        if table.from_seed:
            display.note("the cards follow from a given seed: the game can be repeated, but it is no fair deal")
        _tell_free_seats(display, table, address)
        session = Session(
            connection,
            seat.table,
            secret=seat.secret,
            display=display,
            check=DealCheck(table.name, shown.rules.pack, own=seat.seat, entropy=bytes.fromhex(seat.entropy)),
            past=table.sequence if is_resumed else 0,
            is_json=arguments.json,
            hint=Hints(shown.rules).of if arguments.hint else None,
        )
        try:
            session.run()
        except Left:
            display.note(f"the game waits: {_come_back(seat)}")
            return 0
        except KeyboardInterrupt:
            display.typed()
            display.note(f"stopped; {_come_back(seat)}")
            return INTERRUPTED
        if table.ranked:
            _tell_what_it_was_worth(display, connection, table.name)
    forget(seat)
    return 0


def _tell_what_it_was_worth(display: Display, connection: Connection, table: str) -> None:
    shown = connection.ask(connection.players.GetPlayer, GetPlayerRequest())
    for game in shown.games:
        if game.record == table:
            display.note(settled_line(shown.player, game))


def _tell_free_seats(display: Display, table: Table, address: str) -> None:
    free = sum(1 for seat in table.seats if not seat.name)
    if free:
        seats = "a seat is" if free == 1 else f"{free} seats are"
        display.note(f"{seats} free: others sit down with: rummy500 play --server {address} --join {table.name}")


def _come_back(seat: SavedSeat) -> str:
    return f"come back with: {resume_command(seat)}"


def forget(seat: SavedSeat) -> None:
    """The game is over: its secret is of no more use, nor is the file of a private one that lies in our directory."""
    forget_seat(seat)
    _remove_game(seat.database)


def _remove_game(database: str) -> None:
    """Removes the file of a private game if it lies in our directory."""
    directory = Path(database).parent if database else None
    if directory is not None and directory.parent == state_directory() and directory.name.startswith("game-"):
        shutil.rmtree(directory, ignore_errors=True)
