"""What happens around every method, shown on methods that exist only here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import pytest
import structlog
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2
from structlog.testing import LogCapture
from tests.server.running import TOKEN, bearer, channel_to

from rummy500_engine.refusals import Refusal, Refused
from rummy500_server.connected import Connected
from rummy500_server.door import Door
from rummy500_server.identity import caller, digest_of
from rummy500_server.interceptors import AroundEveryMethod
from rummy500_server.limits import Usage
from rummy500_server.status import DETAILS, Failure, Reason
from rummy500_server.tally import Tally

_Context = grpc.aio.ServicerContext[Any, Any]
ERRORS: dict[str, Exception] = {
    "refused": Refused(Refusal.STOCK_EMPTY, "the stock is empty"),
    "failed": Failure(Reason.NO_SUCH_TABLE, "there is no table x"),
    "broken": KeyError("a mistake of ours"),
}


async def one(request: StringValue, context: _Context) -> StringValue:
    if request.value in ERRORS:
        raise ERRORS[request.value]
    return StringValue(value=caller().digest or "nobody")


async def several(request: StringValue, context: _Context) -> AsyncIterator[StringValue]:
    yield await one(StringValue(), context)
    yield await one(request, context)


async def echo(requests: AsyncIterator[StringValue], context: _Context) -> AsyncIterator[StringValue]:
    async for request in requests:
        yield await one(request, context)


async def written(requests: AsyncIterator[StringValue], context: _Context) -> None:
    async for request in requests:
        await context.write(await one(request, context))


@pytest.fixture(scope="module")
async def channel() -> AsyncIterator[grpc.aio.Channel]:
    codec = (StringValue.FromString, StringValue.SerializeToString)
    handlers = {
        "One": grpc.unary_unary_rpc_method_handler(one, *codec),
        "Several": grpc.unary_stream_rpc_method_handler(several, *codec),
        "Echo": grpc.stream_stream_rpc_method_handler(echo, *codec),
        "Written": grpc.stream_stream_rpc_method_handler(written, *codec),
    }
    server = grpc.aio.server(
        interceptors=[
            AroundEveryMethod(
                Usage(requests_per_second=1_000, streams=4), Tally(), Door(), turn_away=Connected().turn_away
            )
        ]
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Test", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with channel_to(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(0)


@pytest.fixture
def logged() -> Iterator[LogCapture]:
    capture = LogCapture()
    before = structlog.get_config()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture], cache_logger_on_first_use=False)
    yield capture
    structlog.configure(**before)


async def call(channel: Any, method: str, *sent: bytes, token: str = "") -> list[str]:
    """The answers to these bytes, by whatever kind of method."""
    metadata = bearer(token) if token else None
    if method == "One":
        return [StringValue.FromString(await channel.unary_unary("/test.Test/One")(sent[0], metadata=metadata)).value]
    stream = (
        channel.unary_stream(f"/test.Test/{method}")(sent[0], metadata=metadata)
        if method == "Several"
        else channel.stream_stream(f"/test.Test/{method}")(iter(sent), metadata=metadata)
    )
    try:
        return [StringValue.FromString(answer).value async for answer in stream]
    finally:
        stream.cancel()


METHODS = pytest.mark.parametrize("method", ["One", "Several", "Echo", "Written"])


@METHODS
async def test_the_caller_is_known_to_the_method(channel: Any, method: str) -> None:
    assert set(await call(channel, method, b"", token=TOKEN)) == {digest_of(TOKEN)}
    assert set(await call(channel, method, b"")) == {"nobody"}


@METHODS
@pytest.mark.parametrize("garbled", [b"\xff\xff", b"\x0a\x02\xff\xfe", b"\x0a\xff"])
async def test_bytes_that_do_not_parse_are_a_bad_request(channel: Any, method: str, garbled: bytes) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call(channel, method, garbled)
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "no message of this method" in (failed.value.details() or "")


@METHODS
@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        ("refused", grpc.StatusCode.FAILED_PRECONDITION, "STOCK_EMPTY"),
        ("failed", grpc.StatusCode.NOT_FOUND, "NO_SUCH_TABLE"),
    ],
)
async def test_what_a_caller_causes_is_translated_with_its_reason(
    channel: Any, method: str, error: str, code: grpc.StatusCode, reason: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call(channel, method, StringValue(value=error).SerializeToString())

    trailers = dict(failed.value.trailing_metadata() or ())
    status = status_pb2.Status.FromString(bytes(trailers[DETAILS]))
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (failed.value.code(), info.reason, info.domain) == (code, reason, "rummy500")


@METHODS
async def test_a_mistake_of_ours_is_internal_says_nothing_and_is_logged(
    channel: Any, method: str, logged: LogCapture
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call(channel, method, StringValue(value="broken").SerializeToString())

    (entry,) = [entry for entry in logged.entries if entry["event"] == "request.failed"]
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    assert failed.value.details() == "the server made a mistake; it is in its log"
    assert entry["exc_info"] is ERRORS["broken"]
    assert entry["method"] == method


async def test_an_unknown_method_is_unimplemented(channel: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await channel.unary_unary("/test.Test/Nope")(b"")
    assert failed.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_one_stream_too_many_is_refused_until_another_ends(channel: Any) -> None:
    open_streams = [channel.stream_stream("/test.Test/Echo")(metadata=bearer(TOKEN)) for _ in range(4)]
    for stream in open_streams:
        await stream.write(b"")
        await stream.read()
    refused = channel.stream_stream("/test.Test/Echo")(metadata=bearer(TOKEN))  # nothing is written: it may be over
    assert await refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await call(channel, "Echo", b"", token=TOKEN + "2") != []
    for stream in open_streams:
        await stream.done_writing()
        assert await stream.read() is grpc.aio.EOF
    assert await call(channel, "Echo", b"", token=TOKEN) == [digest_of(TOKEN)]
