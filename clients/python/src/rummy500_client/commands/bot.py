"""`rummy500 bot`: examines a bot, connects a Python class to a server, or serves it to whoever dials."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import traceback

from rummy500_client.bot import Bot
from rummy500_client.bot_class import load_bot
from rummy500_client.bot_games import BotFailed
from rummy500_client.bot_serve import BotServer
from rummy500_client.commands import bot_doctor
from rummy500_client.connection import Connection, new_secret
from rummy500_client.options import NAME, TOKEN, Subparsers, add_server, between, given_token, security, server_address
from rummy500_client.play_stream import BotPlayer


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("bot", help="run a bot")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    run_parser = actions.add_parser(
        "run",
        help="connect a Python class to a server",
        description=f"Plays until it is stopped. {TOKEN} in the environment is the bot's token; without it one is made "
        "for this run.",
    )
    run_parser.add_argument("bot", metavar="FILE.py:CLASS", help="or MODULE:CLASS")
    run_parser.add_argument("--name", default=os.environ.get(NAME, ""), help=f"else {NAME}, else the class's name")
    run_parser.add_argument("--games", type=between(0, 1_000_000), default=0, metavar="N", help="stop after N games")
    run_parser.add_argument("--max-games", type=between(0, 1024), default=0, metavar="N", help="at the same time")
    run_parser.add_argument(
        "--patience", type=between(0, 86_400), default=60, metavar="SECONDS", help="how long to look for a lost server"
    )
    run_parser.add_argument("--exit-with-stdin", action="store_true", help="end when the standard input ends")
    add_server(run_parser)
    run_parser.set_defaults(run=run)
    bot_doctor.add(actions)
    serve = actions.add_parser(
        "serve",
        help="serve a Python class to matches that dial it",
        description="Plays for whoever dials, until it is stopped: `rummy500 match run --bot dial:HOST:PORT`. Each "
        "stream has an object of its own.",
    )
    serve.add_argument("bot", metavar="FILE.py:CLASS", help="or MODULE:CLASS")
    serve.add_argument("--name", default="", help="else the class's name")
    serve.add_argument("--host", default="127.0.0.1", metavar="HOST", help="where to listen; default 127.0.0.1")
    serve.add_argument("--port", type=between(0, 65_535), default=0, metavar="N", help="0, the default: a free one")
    serve.set_defaults(run=run_serve)


def run_serve(arguments: argparse.Namespace) -> int:
    bot = load_bot(arguments.bot)

    def make() -> Bot:
        return type(bot)()

    server = BotServer(make, arguments.name or type(bot).__name__, host=arguments.host, port=arguments.port)
    print(f"listening on {server.address}", flush=True)
    try:
        server.wait()
    finally:
        server.close()
    return 0


def run(arguments: argparse.Namespace) -> int:
    address = server_address(arguments)
    bot = load_bot(arguments.bot)
    token = given_token(arguments) or new_secret()
    if arguments.exit_with_stdin:
        threading.Thread(target=_end_with_stdin, name="stdin", daemon=True).start()
    with Connection(address, token=token, security=security(arguments)) as connection:
        player = BotPlayer(
            bot,
            connection,
            arguments.name or type(bot).__name__,
            games=arguments.games,
            patience=arguments.patience,
            max_concurrent_games=arguments.max_games,
        )
        try:
            player.play()
        except BotFailed as failed:
            _show_cause(failed)
            raise
    return 0


def _end_with_stdin() -> None:
    """Whoever started this bot has gone when its end of the pipe is closed."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


def _show_cause(failed: BotFailed) -> None:
    """The traceback through the bot's own code, for its author."""
    cause = failed.__cause__
    if cause is not None:
        traceback.print_exception(type(cause), cause, cause.__traceback__, file=sys.stderr)
