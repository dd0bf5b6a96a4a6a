"""API law 13: every text, list and page of every request has a bound, and the error says which field broke it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from tests.server.at_table import Said, read_error
from tests.server.running import bearer, channel_to, running_app
from tests.torture.grounds import BOTS, OWNER, SEAT, Grounds

from rummy500_server.access import METHODS, PACKAGE

ALL = [(service, method) for service, methods in METHODS.items() for method in methods]
LONG, MANY = 20_000, 12_000
"""Characters of one text, and elements of one list: more than any may have, and less than a message may."""
NOT_READ = {"readings", "fields"}
"""What a request may carry and nobody reads: readings stand in listings only, the fields of a variant's action in its
text."""


@pytest.fixture(scope="module")
async def place() -> AsyncIterator[tuple[Any, Grounds]]:
    async with running_app(requests_per_second=1_000_000) as app, channel_to(app.address) as channel:
        grounds = Grounds(channel, random.Random(1))
        await grounds.tend()
        yield channel, grounds


def spoilt(message: Message, kinds: set[int], *, repeated: bool, path: str = "") -> Iterator[tuple[str, Message]]:
    """The message once for each field of these kinds, in any depth, with that field far too long."""
    for field in cast(Descriptor, message.DESCRIPTOR).fields:
        if field.name in NOT_READ:
            continue
        inner = f"{path}.{field.name}" if path else field.name
        if field.is_repeated is repeated and (field.type in kinds or not kinds):
            yield inner, _with(message, field)
        if field.type == FieldDescriptor.TYPE_MESSAGE and not field.is_repeated and message.HasField(field.name):
            for where, changed in spoilt(getattr(message, field.name), kinds, repeated=repeated, path=inner):
                whole = type(message)()
                whole.CopyFrom(message)
                getattr(whole, field.name).CopyFrom(changed)
                yield where, whole


def _with(message: Message, field: FieldDescriptor) -> Message:
    whole = type(message)()
    whole.CopyFrom(message)
    if not field.is_repeated:
        setattr(whole, field.name, "x" * LONG if field.type == FieldDescriptor.TYPE_STRING else b"x" * LONG)
        return whole
    values = getattr(whole, field.name)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        for _ in range(MANY):
            values.add()
    else:
        values.extend([b"x" if field.type == FieldDescriptor.TYPE_BYTES else "x" if _is_text(field) else 1] * MANY)
    return whole


def _is_text(field: FieldDescriptor) -> bool:
    return field.type == FieldDescriptor.TYPE_STRING


async def said(channel: Any, service: str, method: str, request: Message) -> Said:
    """What the method answers to whoever may call it."""
    token = {"Act": SEAT, "ListLegalActions": SEAT, "LeaveTable": SEAT, "Play": BOTS[0]}.get(method, OWNER)
    path, sent, metadata = f"/{PACKAGE}.{service}/{method}", request.SerializeToString(), bearer(token)
    answer = Said(grpc.StatusCode.OK)
    try:
        if method == "Play":
            stream = channel.stream_stream(path)(metadata=metadata)
            await stream.write(sent)
        elif method in ("Watch", "WatchMatch", "GetRecord"):
            stream = channel.unary_stream(path)(sent, metadata=metadata)
        else:
            await channel.unary_unary(path)(sent, metadata=metadata)
            return answer
        await stream.read()
        stream.cancel()
    except grpc.aio.AioRpcError as error:
        read_error(error, answer)
    return answer


TEXTS = {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}


@pytest.mark.parametrize(("service", "method"), ALL)
async def test_a_text_that_is_too_long_is_refused_by_its_name(
    place: tuple[Any, Grounds], service: str, method: str
) -> None:
    channel, grounds = place
    for path, request in spoilt(grounds.request(method), TEXTS, repeated=False):
        answer = await said(channel, service, method, request)
        assert answer.code is grpc.StatusCode.INVALID_ARGUMENT, f"{path}: {answer}"
        assert any(field.startswith(path.partition(".")[0]) for field in answer.fields), f"{path}: {answer}"


@pytest.mark.parametrize(("service", "method"), ALL)
async def test_a_list_that_is_too_long_is_refused_by_its_name(
    place: tuple[Any, Grounds], service: str, method: str
) -> None:
    channel, grounds = place
    for path, request in spoilt(grounds.request(method), set(), repeated=True):
        answer = await said(channel, service, method, request)
        assert answer.code is grpc.StatusCode.INVALID_ARGUMENT, f"{path}: {answer}"
        assert any(field.startswith(path.partition(".")[0]) for field in answer.fields), f"{path}: {answer}"


PAGED = [(service, method) for service, method in ALL if method.startswith("List")]


@pytest.mark.parametrize(("service", "method"), PAGED)
async def test_a_page_that_is_too_large_is_refused(place: tuple[Any, Grounds], service: str, method: str) -> None:
    channel, grounds = place
    request: Any = grounds.request(method)
    request.page_size, request.page_token = 2**31, ""
    assert (await said(channel, service, method, request)).fields == ["page_size"]
    request.page_size, request.page_token = 1, "no token"
    assert (await said(channel, service, method, request)).fields == ["page_token"]


async def test_a_message_that_is_too_long_is_refused(place: tuple[Any, Grounds]) -> None:
    channel, grounds = place
    request: Any = grounds.request("CreateTable")
    request.position_json = " " * (64 << 10)
    assert (await said(channel, "TableService", "CreateTable", request)).code is grpc.StatusCode.RESOURCE_EXHAUSTED
