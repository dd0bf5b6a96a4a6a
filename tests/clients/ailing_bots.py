"""Bots with one malady each, for the doctor: classes of the SDK, and one that speaks gRPC by itself."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

import grpc

from rummy500.v1.match_service_pb2 import ListGamesRequest
from rummy500.v1.play_service_pb2 import Decision, DecisionRequest, GameStarted, Hello, PlayRequest
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.result_pb2 import GameResult
from rummy500_client import Answer, Bot, Request
from rummy500_client.connection import Connection, authorization, new_secret
from rummy500_client.examples.easy import EasyBot
from rummy500_client.notation import legal_actions
from rummy500_client.options import NAME, SERVER, TOKEN


class Slow(EasyBot):
    """Thinks for too long."""

    def act(self, request: Request) -> Answer | list[Answer]:
        time.sleep(0.6)
        return request.legal[0]


class Illegal(Bot):
    """Throws a card whatever is asked."""

    def act(self, request: Request) -> Answer:
        return f"discard {request.hand[0]}"


class Crashing(EasyBot):
    """Cannot meld."""

    def act(self, request: Request) -> Answer | list[Answer]:
        if request.can("meld"):
            raise ArithmeticError("no idea how to meld")
        return request.legal[0]


class Silent(Bot):
    """Never answers."""

    def act(self, request: Request) -> Answer:
        threading.Event().wait()
        raise AssertionError


class Leaking(EasyBot):
    """Looks for hands in the records of others."""

    def game_started(self, game: GameStarted) -> None:
        with Connection(os.environ[SERVER], token=os.environ[TOKEN]) as connection:
            connection.ask(connection.matches.ListGames, ListGamesRequest())


class Chatty(EasyBot):
    """Talks to standard output, and much to standard error."""

    def act(self, request: Request) -> Answer | list[Answer]:
        print("thinking", flush=True)
        print("." * 2_000, file=sys.stderr, flush=True)
        return request.legal[0]


class Hoarding(EasyBot):
    """Keeps what belonged to games that are over."""

    def __init__(self) -> None:
        self.kept: list[bytearray] = []

    def game_over(self, table: str, result: GameResult) -> None:
        self.kept.append(bytearray(os.urandom(1024)) * 4096)


class Stubborn(Bot):
    """Looks at its hand, not at what is legal."""

    def act(self, request: Request) -> Answer:
        return "draw" if request.can("draw") else f"discard {request.hand[-1]}"


class Picky(EasyBot):
    """Cannot bear an event that it does not know."""

    def game_started(self, game: GameStarted) -> None:
        assert game.rules.ListFields()

    def act(self, request: Request) -> Answer | list[Answer]:
        if any(event.WhichOneof("kind") is None for event in request.events):
            raise LookupError("what event is that?")
        return request.legal[0]


class Raw:
    """A bot without the SDK; `malady` is how it errs."""

    def __init__(self, malady: str) -> None:
        self.malady = malady
        self.token = new_secret() if malady == "nameless" else os.environ[TOKEN]

    def play(self) -> None:
        while True:
            with contextlib.suppress(grpc.RpcError), grpc.insecure_channel(os.environ[SERVER]) as channel:
                self._play(PlayServiceStub(channel))
            if self.malady == "faithless":
                threading.Event().wait()
            time.sleep(0.02 if self.malady == "hammering" else 0.2)

    def _play(self, stub: PlayServiceStub) -> None:
        says: SimpleQueue[PlayRequest | None] = SimpleQueue()
        hello = Hello(name="somebody" if self.malady == "nameless" else os.environ[NAME])
        if self.malady == "gifted":
            hello.features.append("telepathy")
        says.put(PlayRequest() if self.malady == "rude" else PlayRequest(hello=hello))
        for response in stub.Play(iter(says.get, None), metadata=authorization(self.token)):
            for request in response.decision_requests:
                for said in self._answer(request):
                    says.put(said)
        says.put(None)

    def _answer(self, request: DecisionRequest) -> Iterator[PlayRequest]:
        first = legal_actions(request.view.legal_actions)[0]
        decision = Decision(table=request.table, sequence=request.sequence, actions=[first])
        yield PlayRequest(decisions=[decision])
        if self.malady == "repeating":
            yield PlayRequest(decisions=[decision])


def garble() -> None:
    """Says Hello, and then what is no message."""
    hello = PlayRequest(hello=Hello(name=os.environ[NAME])).SerializeToString()
    with grpc.insecure_channel(os.environ[SERVER]) as channel:
        play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream("/rummy500.v1.PlayService/Play")
        says: SimpleQueue[bytes | None] = SimpleQueue()
        says.put(hello)
        with contextlib.suppress(grpc.RpcError):
            for _ in play(iter(says.get, None), metadata=authorization(os.environ[TOKEN])):
                says.put(b"\xff\xff\xff not a message")
    threading.Event().wait()


if __name__ == "__main__":
    print("a bot without the SDK", file=sys.stderr, flush=True)
    if sys.argv[1] == "garbling":
        garble()
    else:
        Raw(sys.argv[1]).play()
