"""Where the bot under examination connects: a gRPC server that passes everything on to a Rummy 500 server and notes it,
or, when the server is to do what one seldom does, answers by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc

from rummy500.v1.play_service_pb2 import PlayResponse, Welcome
from rummy500_client.connection import authorization
from rummy500_client.doctor.conversation import Conversation
from rummy500_client.errors import DETAILS, read_error

PLAY = "/rummy500.v1.PlayService/Play"
HEALTH = "/grpc.health.v1.Health/"
THREADS = 128
FEATURES = ("batches", "notation", "resume", "rules_wanted", "variant_parts")
_OPTIONS = [("grpc.max_receive_message_length", 1 << 20), ("grpc.http2.min_recv_ping_interval_without_data_ms", 1_000)]

Refuse = Callable[[grpc.ServicerContext], None]
"""Ends a call with an error: raises what `context.abort` raises."""


class Desk(grpc.GenericRpcHandler):
    """Opens at a free port of this machine, and at the same one again when it was closed."""

    def __init__(self, news: threading.Condition) -> None:
        self.news = news
        self.upstream = ""
        """The server that calls are passed on to."""
        self.is_scripted = False
        self.refuse: Refuse | None = None
        """What becomes of every new stream instead."""
        self.conversations: list[Conversation] = []
        self.others: list[str] = []
        """The methods that were called beside Play."""
        self._port = 0
        self._server: grpc.Server | None = None

    def forget(self) -> None:
        """What was heard so far."""
        self.conversations.clear()
        self.others.clear()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def open(self) -> None:
        self._server = grpc.server(ThreadPoolExecutor(THREADS, "desk"), options=_OPTIONS)
        self._server.add_generic_rpc_handlers((self,))
        self._port = self._server.add_insecure_port(f"127.0.0.1:{self._port}")
        self._server.start()

    def close(self) -> None:
        """Breaks all connections off."""
        if self._server is not None:
            self._server.stop(0).wait()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        method = str(handler_call_details.method)
        if method == PLAY:
            return grpc.stream_stream_rpc_method_handler(self._play)
        with self.news:
            if not method.startswith(HEALTH):
                self.others.append(method.removeprefix("/"))

        def pass_on(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
            return self._pass_on(method, requests, context, lambda message: None)

        return grpc.stream_stream_rpc_method_handler(pass_on)

    def _play(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        conversation = Conversation(_token_of(context), self.news, is_scripted=self.is_scripted)
        with self.news:
            self.conversations.append(conversation)
            self.news.notify_all()
        hearing = threading.Thread(target=_hear, args=(requests, conversation), name="hearing", daemon=True)
        hearing.start()
        try:
            if self.refuse is not None:
                self.refuse(context)
            elif conversation.is_scripted:
                yield from _by_script(conversation, context)
            else:
                said = iter(conversation.inbox.get, None)
                yield from self._pass_on(PLAY, said, context, conversation.tell, conversation)
        finally:
            conversation.end()

    def _pass_on(
        self,
        method: str,
        said: Iterator[bytes],
        context: grpc.ServicerContext,
        tell: Callable[[bytes], None],
        conversation: Conversation | None = None,
    ) -> Iterator[bytes]:
        with grpc.insecure_channel(self.upstream, options=[("grpc.enable_http_proxy", 0)]) as channel:
            passing: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(method)
            call = passing(said, metadata=authorization(_token_of(context)))

            def hang_up() -> None:
                call.cancel()

            context.add_callback(hang_up)
            if conversation is not None:
                threading.Thread(target=_watch_cut, args=(conversation, call.cancel), name="cut", daemon=True).start()
            try:
                for message in call:
                    tell(message)
                    yield message
            except grpc.RpcError as error:
                if conversation is not None and conversation.is_cut:
                    context.abort(grpc.StatusCode.UNAVAILABLE, "the line was cut")
                refused = read_error(error, self.upstream)
                if conversation is not None:
                    conversation.refused_as = f"{refused.reason or refused.code.name}: {refused.sentence}"
                _end_as(context, error)


def cut(conversation: Conversation) -> None:
    """Ends the stream in its midst, as a broken line does."""
    with conversation.news:
        conversation.is_cut = True
        conversation.news.notify_all()
    conversation.outbox.put(None)


def _watch_cut(conversation: Conversation, cancel: Callable[[], object]) -> None:
    with conversation.news:
        conversation.news.wait_for(lambda: conversation.is_cut or conversation.ended_at is not None)
    cancel()


def _hear(requests: Iterator[bytes], conversation: Conversation) -> None:
    try:
        for message in requests:
            conversation.hear(message)
    except Exception:  # gRPC raises a bare Exception when the stream breaks
        pass
    finally:
        conversation.inbox.put(None)


def _by_script(conversation: Conversation, context: grpc.ServicerContext) -> Iterator[bytes]:
    def hang_up() -> None:
        conversation.outbox.put(None)

    context.add_callback(hang_up)
    with conversation.news:
        conversation.news.wait_for(lambda: conversation.messages > 0 or conversation.ended_at is not None, 10.0)
    welcome = Welcome(server_version="0.1.0", features=FEATURES, max_concurrent_games=1024, keepalive_ms=10_000)
    conversation.outbox.put(PlayResponse(welcome=welcome).SerializeToString())
    while (message := conversation.outbox.get()) is not None:
        conversation.tell(message)
        yield message
    context.abort(grpc.StatusCode.UNAVAILABLE, "the line was cut")


def _token_of(context: grpc.ServicerContext) -> str:
    for name, value in context.invocation_metadata():
        if name == "authorization" and isinstance(value, str):
            return value.removeprefix("Bearer ")
    return ""


def _end_as(context: grpc.ServicerContext, error: grpc.RpcError) -> None:
    """Ends the call as the server ended it."""
    assert isinstance(error, grpc.Call)
    details = [(key, value) for key, value in error.trailing_metadata() or () if key == DETAILS]
    context.set_trailing_metadata(tuple(details))
    context.abort(error.code(), error.details() or "")
