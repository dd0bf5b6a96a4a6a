"""`rummy500 leaderboard`: the players with the most points from ranked games."""

from __future__ import annotations

import argparse

from rummy500.v1.player_service_pb2 import GetLeaderboardRequest
from rummy500_client.json_text import print_json
from rummy500_client.options import Subparsers, add_json, add_server, between, connect
from rummy500_client.standing import BOARD_HEAD, board_line


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("leaderboard", help="the players with the most points from ranked games")
    parser.add_argument("--top", type=between(1, 100), default=20, metavar="N", help="so many, default 20")
    add_server(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    with connect(arguments) as connection:
        request = GetLeaderboardRequest(page_size=arguments.top)
        players = connection.ask(connection.players.GetLeaderboard, request).players
    if arguments.json:
        for player in players:
            print_json(player)
    elif players:
        print("\n".join([BOARD_HEAD, *map(board_line, players)]))
    else:
        print("nobody has played a ranked game yet")
    return 0
