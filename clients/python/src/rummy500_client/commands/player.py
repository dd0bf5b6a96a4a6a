"""`rummy500 player`: registers a player for ranked games, and shows one."""

from __future__ import annotations

import argparse

from rummy500.v1.player_service_pb2 import GetPlayerRequest, RegisterPlayerRequest
from rummy500_client.json_text import print_json
from rummy500_client.options import Subparsers, add_json, add_server, connect
from rummy500_client.standing import player_lines


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("player", help="register for ranked games, and see how a player stands")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    register = actions.add_parser("register", help="give your token a player's name, for good")
    register.add_argument("name", metavar="NAME")
    show = actions.add_parser("show", help="a player and its last ranked games")
    show.add_argument("name", metavar="NAME", nargs="?", default="", help="else you")
    for action, run in ((register, run_register), (show, run_show)):
        add_server(action)
        add_json(action)
        action.set_defaults(run=run)


def run_register(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        request = RegisterPlayerRequest(name=arguments.name)
        player = connection.ask(connection.players.RegisterPlayer, request).player
    if arguments.json:
        print_json(player)
    else:
        print(f"you are {player.name}; play with: rummy500 play --server {arguments.server} --ranked easy")
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        shown = connection.ask(connection.players.GetPlayer, GetPlayerRequest(name=arguments.name))
    if arguments.json:
        print_json(shown)
    else:
        print("\n".join(player_lines(shown.player, list(shown.games))))
    return 0
