"""Serves a bot that is dialled: BotService.Play, with a bot of its own for each stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from rummy500.v1 import bot_service_pb2_grpc
from rummy500.v1.play_service_pb2 import PlayRequest, PlayResponse
from rummy500_client.bot import Bot
from rummy500_client.bot_games import BotFailed, BotGames, say
from rummy500_client.errors import ClientError

MOST_STREAMS = 256


class BotServicer(bot_service_pb2_grpc.BotServiceServicer):
    """`make` gives a bot for each stream, so that what one stream plays is not known at another."""

    def __init__(self, make: Callable[[], Bot], name: str) -> None:
        self._make, self._name = make, name

    def Play(self, request_iterator: Iterator[PlayResponse], context: Any) -> Iterator[PlayRequest]:
        games = BotGames(self._make(), self._name)
        yield PlayRequest(hello=games.hello())
        try:
            for response in request_iterator:
                yield from games.answers(response)
        except BotFailed as failed:
            say(failed.sentence)
            context.abort(grpc.StatusCode.ABORTED, failed.sentence)


class BotServer:
    """Listens from the start until it is closed. Raises ClientError."""

    def __init__(self, make: Callable[[], Bot], name: str, *, host: str, port: int) -> None:
        workers = ThreadPoolExecutor(MOST_STREAMS, thread_name_prefix="stream")
        self._server = grpc.server(workers, options=[("grpc.so_reuseport", 0)])
        bot_service_pb2_grpc.add_BotServiceServicer_to_server(BotServicer(make, name), self._server)
        try:
            port = self._server.add_insecure_port(f"{host}:{port}")
        except RuntimeError:
            raise ClientError(f"{host}:{port} cannot be listened at: is something else there?") from None
        self.address = f"{host}:{port}"
        self._server.start()

    def wait(self) -> None:
        self._server.wait_for_termination()

    def close(self) -> None:
        self._server.stop(0).wait()
