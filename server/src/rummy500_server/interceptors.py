"""What happens around every method: the caller, limits, a request id for the log, and errors as status codes."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from rummy500_engine.terms import VariantError
from rummy500_server.access import verify_may_call
from rummy500_server.door import Door
from rummy500_server.identity import CALLER, Principal, digest_sent
from rummy500_server.limits import Usage
from rummy500_server.status import Failure, bad_request, rejection_of
from rummy500_server.tally import Tally

log = structlog.stdlib.get_logger("rummy500")

_Context = grpc.aio.ServicerContext[Any, Any]
if TYPE_CHECKING:
    _Handler = grpc.RpcMethodHandler[Any, Any]
_SERVICES_OF_GRPC = ("/grpc.",)
_LONGEST_TOLD = 64


class TurnAway(Protocol):
    """Is told why the caller of that digest was not let in."""

    def __call__(self, why: str, *, who: str) -> None: ...


class Unreadable:
    """Bytes that are no message of the type expected. A deserializer that raises would end the call as UNKNOWN."""

    __slots__ = ("problem",)

    def __init__(self, problem: str) -> None:
        self.problem = problem

    @property
    def failure(self) -> Failure:
        return bad_request("(message)", f"the bytes are no message of this method: {self.problem}")


class AroundEveryMethod(grpc.aio.ServerInterceptor):
    """One interceptor: it swaps the deserializer, knows the caller, counts, and translates what is raised."""

    def __init__(self, usage: Usage, tally: Tally, door: Door, *, turn_away: TurnAway) -> None:
        self._usage, self._tally, self._door, self._turn_away = usage, tally, door, turn_away
        self._wrapped: dict[str, _Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler | None:
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            self._tell_unknown(method, handler_call_details.invocation_metadata)
            return handler
        if method not in self._wrapped:
            self._wrapped[method] = self._wrap(handler, method)
        return self._wrapped[method]

    def _tell_unknown(self, method: str, metadata: Iterable[tuple[str, str | bytes]] | None) -> None:
        """Whoever waits for the caller is told why it does not come."""
        with suppress(Failure):
            who = digest_sent(metadata)
            if who is not None:
                what = f"it called {method[:_LONGEST_TOLD]}, which this server does not have"
                self._turn_away(f"{what}: it speaks another version of the protocol", who=who)

    def _wrap(self, handler: Any, method: str) -> _Handler:
        make: Callable[..., _Handler] = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[handler.request_streaming, handler.response_streaming]
        inner = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
        outer = self._stream(inner, method) if handler.response_streaming else self._unary(inner, method)
        return make(outer, _never_raising(handler.request_deserializer), _serialized)

    def _unary(self, inner: Any, method: str) -> Any:
        async def answer(request: Any, context: _Context) -> Any:
            try:
                self._enter(method, context)
                return await inner(_readable(request), context)
            except Exception as error:
                self._refuse(error, request, method, context)

        return answer

    def _stream(self, inner: Any, method: str) -> Any:
        is_generator, name = inspect.isasyncgenfunction(inner), _told(method)

        async def answer(request: Any, context: _Context) -> AsyncIterator[Any]:
            self._tally.streams[name] += 1
            try:
                principal = self._enter(method, context)
                with nullcontext() if method.startswith(_SERVICES_OF_GRPC) else self._usage.stream(principal):
                    if is_generator:
                        responses = inner(_readable(request), context)
                        try:
                            async for response in responses:
                                yield response
                        finally:
                            await responses.aclose()
                    else:
                        await inner(_readable(request), context)
            except Exception as error:
                self._refuse(error, request, method, context)
            finally:
                self._tally.streams[name] -= 1

        return answer

    def _enter(self, method: str, context: _Context) -> str:
        """Notes who calls what, for the method and for its log lines. Raises Failure."""
        metadata = context.invocation_metadata()
        request = secrets.token_hex(4)
        structlog.contextvars.bind_contextvars(request=request, method=method.rpartition("/")[2])
        self._tally.calls[_told(method)] += 1
        principal = self._door.admit(metadata)
        CALLER.set(principal)
        if principal.name:
            structlog.contextvars.bind_contextvars(caller=principal.name)
        verify_may_call(method, principal, is_token_required=self._door.is_token_required)
        name = _name(principal, context)
        if not method.startswith(_SERVICES_OF_GRPC):
            self._usage.request(name)
        return name

    def _refuse(self, error: Exception, request: Any, method: str, context: _Context) -> None:
        """Ends the call with the status of the error.

        Nothing of it waits for the collector, as the table of a refused call would: the error lets its frames go, and
        `abort` is not used, for gRPC keeps what that raises, whose frames hold the call.
        """
        if isinstance(error, grpc.aio.AbortError):
            raise error
        try:
            self._answer(error, request, method, context)
        finally:
            error.__traceback__ = error.__cause__ = error.__context__ = None

    def _answer(self, error: Exception, request: Any, method: str, context: _Context) -> None:
        """What no caller can cause is ours: logged, and INTERNAL."""
        if isinstance(error, VariantError):
            self._tally.variant_errors[error.distribution] += 1
        rejection = rejection_of(error)
        if rejection is None:
            log.error("request.failed", exc_info=error, **_about(request))
            self._tally.rejected_calls[_told(method), grpc.StatusCode.INTERNAL.name, ""] += 1
            context.set_code(grpc.StatusCode.INTERNAL)
            context.set_details("the server made a mistake; it is in its log")
            return
        log.info("request.refused", reason=rejection.reason, sentence=rejection.sentence, **_about(request))
        self._tally.rejected_calls[_told(method), rejection.code.name, rejection.reason] += 1
        context.set_code(rejection.code)
        context.set_details(rejection.sentence)
        context.set_trailing_metadata(rejection.trailers())


def _about(request: Any) -> dict[str, str]:
    """What a request names, for its log line; a name may be anything that somebody sent."""
    found = {name: getattr(request, name, None) for name in ("table", "match", "record")}
    return {name: value[:_LONGEST_TOLD] for name, value in found.items() if isinstance(value, str) and value}


def _told(method: str) -> str:
    """A method as the tally names it: `Service/Method`, without the package."""
    return method.rpartition(".")[2]


def _name(principal: Principal, context: _Context) -> str:
    """The principal as limits count it: anonymous callers and strangers, who may make up a token for every call, by
    address, without the port."""
    if principal.digest is None or principal.is_stranger:
        return context.peer().rpartition(":")[0]
    return principal.digest


def _never_raising(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def read(serialized: bytes) -> Any:
        try:
            return deserialize(serialized)
        except (DecodeError, UnicodeDecodeError, ValueError) as error:
            return Unreadable(str(error))

    return read


def _serialized(response: Message | bytes) -> bytes:
    """What is made most often is joined from pieces of the wire format, and comes as bytes."""
    return response if isinstance(response, bytes) else response.SerializeToString()


def _readable(request: Any) -> Any:
    if isinstance(request, Unreadable):
        raise request.failure
    if hasattr(request, "__aiter__"):
        return _each_readable(request)
    return request


async def _each_readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        if isinstance(request, Unreadable):
            raise request.failure
        yield request
