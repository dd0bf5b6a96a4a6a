"""`rummy500 watch`: a table as spectators see it."""

from __future__ import annotations

import argparse
from queue import SimpleQueue

from rummy500.v1.play_service_pb2 import WatchResponse
from rummy500.v1.table_service_pb2 import GetTableRequest
from rummy500_client.displays import Display, JsonDisplay, TextDisplay
from rummy500_client.fair import DealCheck
from rummy500_client.options import Subparsers, add_invitation, add_json, add_server, connect, invitation
from rummy500_client.watching import ConnectionBack, ConnectionLost, Seen, TypedLine, WatchEnded, Watcher


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("watch", help="watch a table until its game is over")
    parser.add_argument("table", metavar="TABLE")
    add_invitation(parser)
    add_server(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    display: Display = JsonDisplay() if arguments.json else TextDisplay()
    with connect(arguments, token_instead=invitation(arguments)) as connection:
        shown = connection.ask(connection.tables.GetTable, GetTableRequest(table=arguments.table))
        table, check = shown.table, DealCheck(shown.table.name, shown.rules.pack)
        display.seated(table.name, None, [seat.name for seat in table.seats])
        seen: SimpleQueue[Seen] = SimpleQueue()
        watcher = Watcher(connection, table.name, seen, token=connection.token)
        watcher.start()
        try:
            while _show(display, check, seen.get()):
                pass
        finally:
            watcher.stop()
    return 0


def _show(display: Display, check: DealCheck, seen: Seen) -> bool:
    """Shows one thing; tells whether there is more to come."""
    match seen:
        case ConnectionLost(sentence):
            display.note(f"{sentence}; trying again")
        case ConnectionBack():
            display.note("connected again")
        case WatchEnded(refused):
            raise refused
        case TypedLine():
            pass
        case WatchResponse():
            return _show_response(display, check, seen)
    return True


def _show_response(display: Display, check: DealCheck, response: WatchResponse) -> bool:
    match response.WhichOneof("kind"):
        case "snapshot":
            display.view(response.snapshot)
        case "events":
            for event in response.events.events:
                checked = check.see(event)
                if not event.HasField("game_won"):
                    display.event(event)
                if checked is not None:
                    display.deal_checked(checked)
        case "game_over":
            display.over(response.game_over.result)
            return False
        case _:
            pass
    return True
