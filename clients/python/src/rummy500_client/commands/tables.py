"""`rummy500 tables`: list, make, join, show and close tables."""

from __future__ import annotations

import argparse
import json

from rummy500.v1.table_pb2 import (
    TABLE_STATE_OPEN,
    TABLE_STATE_PLAYING,
    Seat,
    SeatKind,
    Table,
    TableState,
)
from rummy500.v1.table_service_pb2 import (
    INVITATION_ROLE_PLAYER,
    INVITATION_ROLE_SPECTATOR,
    CloseTableRequest,
    CreateTableRequest,
    GetTableRequest,
    InviteToTableRequest,
    JoinTableRequest,
    ListTablesRequest,
    RemoveSeatRequest,
    RevokeInvitationRequest,
)
from rummy500_client.clock_options import add_clock, clock_text, read_clock
from rummy500_client.connection import new_secret
from rummy500_client.fair import new_entropy
from rummy500_client.json_text import print_json
from rummy500_client.options import (
    INVITATION,
    Subparsers,
    add_invitation,
    add_json,
    add_rules,
    add_server,
    between,
    bytes_of_hex,
    connect,
    invitation,
    read_rules,
    read_seated_bot,
)
from rummy500_client.screen import table_text
from rummy500_client.state import SavedSeat, remember_seat, resume_command


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("tables", help="list, make, join, show and close tables")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_list(actions)
    _add_create(actions)
    _add_join(actions)
    show = actions.add_parser("show", help="one table and its rules")
    close = actions.add_parser("close", help="close a table of one's own")
    invite = actions.add_parser(
        "invite",
        help="make an invitation to a table of one's own and print it",
        description=f"Whoever has it joins with {INVITATION} in the environment, or --invitation-file.",
    )
    invite.add_argument("--spectator", action="store_true", help="to watch only")
    invite.add_argument("--uses", type=between(0, 8), default=0, metavar="N", help="seats to take with it; else any")
    revoke = actions.add_parser("revoke", help="take an invitation back, or all of the table's")
    add_invitation(revoke)
    remove = actions.add_parser("remove", help="take a seat away, before the start; the host at any time")
    remove.add_argument("--seat", type=between(0, 7), required=True, metavar="N", help="which")
    runs = (run_show, run_close, run_invite, run_revoke, run_remove)
    for parser, run in zip((show, close, invite, revoke, remove), runs, strict=True):
        parser.add_argument("table", metavar="TABLE")
        add_server(parser)
        add_json(parser)
        parser.set_defaults(run=run)


def _add_list(actions: Subparsers) -> None:
    parser = actions.add_parser("list", help="the tables, newest first")
    parser.add_argument("--all", action="store_true", help="also those whose game is over")
    add_server(parser)
    add_json(parser)
    parser.set_defaults(run=run_list)


def _add_create(actions: Subparsers) -> None:
    parser = actions.add_parser("create", help="make a table; it starts when all seats are taken")
    parser.add_argument("--players", type=between(2, 8), default=2, metavar="N", help="seats, default 2")
    parser.add_argument("--private", action="store_true", help="not listed; only who is invited may watch and join")
    parser.add_argument("--title", default="", help="what you call it")
    parser.add_argument(
        "--bot", action="append", default=[], metavar="BOT", help="builtin:easy or connected:NAME; several times"
    )
    add_rules(parser)
    add_clock(parser)
    add_server(parser)
    add_json(parser)
    parser.set_defaults(run=run_create)


def _add_join(actions: Subparsers) -> None:
    parser = actions.add_parser("join", help="take a seat, to play it with `rummy500 play --resume TABLE`")
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--name", required=True, help="the name that the others see")
    parser.add_argument("--seat", type=between(0, 7), default=None, metavar="N", help="else the lowest free one")
    parser.add_argument(
        "--entropy",
        type=bytes_of_hex,
        default=b"",
        metavar="HEX",
        help="64 hexadecimal digits of your own that every deal follows from too; else they are drawn here",
    )
    add_invitation(parser)
    add_server(parser)
    add_json(parser)
    parser.set_defaults(run=run_join)


def run_list(arguments: argparse.Namespace) -> int:
    states = [] if arguments.all else [TABLE_STATE_OPEN, TABLE_STATE_PLAYING]
    tables: list[Table] = []
    with connect(arguments) as connection:
        request = ListTablesRequest(page_size=100, states=states)
        while True:
            page = connection.ask(connection.tables.ListTables, request)
            tables.extend(page.tables)
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
    if arguments.json:
        for table in tables:
            print_json(table)
        return 0
    if not tables:
        print("no tables")
        return 0
    rows = [[table.name, _state(table), _rules(table), ", ".join(map(_seat, table.seats))] for table in tables]
    for line in table_text(["table", "state", "rules", "seats"], rows):
        print(line)
    return 0


def run_create(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        request = CreateTableRequest(
            seats=arguments.players,
            rules=read_rules(arguments),
            clock=read_clock(arguments),
            title=arguments.title,
            private=arguments.private,
            request_id=new_secret(),
            start_when_full=True,
        )
        requests = [read_seated_bot(text) for text in arguments.bot]
        table = connection.ask(connection.tables.CreateTable, request).table
        for bot in requests:
            bot.table, bot.request_id = table.name, new_secret()
            table = connection.ask(connection.tables.AddBot, bot).table
    if arguments.json:
        print_json(table)
    else:
        print(table.name)
    return 0


def run_join(arguments: argparse.Namespace) -> int:
    secret, entropy = new_secret(), arguments.entropy or new_entropy()
    with connect(arguments, token_instead=invitation(arguments)) as connection:
        request = JoinTableRequest(table=arguments.table, name=arguments.name, seat_secret=secret, entropy=entropy)
        if arguments.seat is not None:
            request.seat = arguments.seat
        joined = connection.ask(connection.tables.JoinTable, request)
        seat = SavedSeat(
            server=connection.address,
            table=joined.table.name,
            seat=joined.seat,
            name=arguments.name,
            secret=secret,
            owner_token=connection.token,
            entropy=entropy.hex(),
        ).secured(connection.security)
    remember_seat(seat)
    if arguments.json:
        print(json.dumps({"table": seat.table, "seat": seat.seat}))
    else:
        print(f"you have seat {seat.seat} of table {seat.table}; play with: {resume_command(seat)}")
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        shown = connection.ask(connection.tables.GetTable, GetTableRequest(table=arguments.table))
    if arguments.json:
        print_json(shown.table)
        return 0
    table = shown.table
    print(f"table {table.name}{f' ({table.title})' if table.title else ''}: {_state(table)}, {_rules(table)}")
    print(f"  deals: {_deals(table)}")
    print(f"  clock: {clock_text(table.clock)}")
    for seat in table.seats:
        print(f"  seat {seat.seat}: {_seat(seat)}{' (forfeited)' if seat.forfeited else ''}")
    print()
    print(shown.rules.sheet.rstrip())
    return 0


def run_close(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        table = connection.ask(connection.tables.CloseTable, CloseTableRequest(table=arguments.table)).table
    if arguments.json:
        print_json(table)
    else:
        print(f"table {table.name} is closed")
    return 0


def run_invite(arguments: argparse.Namespace) -> int:
    role = INVITATION_ROLE_SPECTATOR if arguments.spectator else INVITATION_ROLE_PLAYER
    request = InviteToTableRequest(table=arguments.table, secret=new_secret(), role=role, uses=arguments.uses)
    with connect(arguments) as connection:
        connection.ask(connection.tables.InviteToTable, request)
    print(json.dumps({"invitation": request.secret}) if arguments.json else request.secret)
    return 0


def run_revoke(arguments: argparse.Namespace) -> int:
    request = RevokeInvitationRequest(table=arguments.table, secret=invitation(arguments))
    with connect(arguments) as connection:
        revoked = connection.ask(connection.tables.RevokeInvitation, request).revoked
    if arguments.json:
        print(json.dumps({"revoked": revoked}))
    else:
        print(f"{revoked} {'invitation' if revoked == 1 else 'invitations'} to table {arguments.table} taken back")
    return 0


def run_remove(arguments: argparse.Namespace) -> int:
    request = RemoveSeatRequest(table=arguments.table, seat=arguments.seat)
    with connect(arguments) as connection:
        table = connection.ask(connection.tables.RemoveSeat, request).table
    if arguments.json:
        print_json(table)
    else:
        print(f"seat {arguments.seat} of table {table.name} is taken away")
    return 0


def _state(table: Table) -> str:
    return TableState.Name(table.state).removeprefix("TABLE_STATE_").lower()


def _deals(table: Table) -> str:
    if table.commitment:
        return f"committed to as {table.commitment.hex()}"
    if table.from_position:
        return "none: it began from a position"
    return "reproducible from a given seed" if table.from_seed else "not known"


def _rules(table: Table) -> str:
    parts = [table.rules.preset or "classic", *table.rules.variants]
    return " + ".join([*parts, *(f"{option.name}={option.value}" for option in table.rules.options)])


def _seat(seat: Seat) -> str:
    if not seat.name:
        return "free"
    kind = SeatKind.Name(seat.kind).removeprefix("SEAT_KIND_").lower().replace("_", " ")
    who = seat.name if kind == "joined" else f"{seat.name} ({kind})"
    return f"{who}, played by {seat.stand_in}" if seat.stand_in else who
