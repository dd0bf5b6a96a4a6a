"""Traces: a span around every call, sent to a collector, when the host says where that is."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.server.at_table import Client, refused, secret_of
from tests.server.running import channel_to, serve, server_process

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Takes in what a server sends."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.services: set[str] = set()
        self.metadata: list[Any] = []

    async def Export(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.metadata += context.invocation_metadata()
        for resource in request.resource_spans:
            attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
            self.services.add(attributes["service.name"])
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Collector]:
    collector, server = Collector(), grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{port}")
    yield collector
    await server.stop(0)


async def test_every_call_is_a_span_with_its_status_and_nothing_secret(collector: Collector, tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db") as server:
        async with channel_to(server.address) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            await health.Check(health_pb2.HealthCheckRequest())
            client = Client.on(channel)
            table = await client.playing("anna", "ben")
            with refused("WRONG_PHASE"):
                await client.act(table, "anna", "discard 2C")
            async with client.watch(table, "anna") as watching:
                await watching.next()
            await client.act(table, "anna", "draw")
        server.signal(signal.SIGTERM)
        assert (await server.ended())[0] == 0

    codes = {(span.name.rpartition(".")[2], _attribute(span, "rpc.grpc.status_code")) for span in collector.spans}
    told = str(collector.spans) + str(collector.metadata)
    assert collector.services == {"rummy500-server"}
    assert {("PlayService/Act", 0), ("PlayService/Act", 9), ("TableService/CreateTable", 0)} <= codes
    assert any(name == "PlayService/Watch" for name, _ in codes)
    assert not any("Health" in name for name, _ in codes)
    assert secret_of("anna") not in told
    assert "authorization" not in told


def _attribute(span: Span, name: str) -> int | None:
    return next((each.value.int_value for each in span.attributes if each.key == name), None)


async def test_a_collector_that_is_gone_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    async with server_process(tmp_path / "games.db") as server:
        async with channel_to(server.address) as channel:
            table = await Client.on(channel).playing("anna", "ben")
            await Client.on(channel).act(table, "anna", "draw")
        server.signal(signal.SIGTERM)
        status, _ = await asyncio.wait_for(server.ended(), 30)
    assert status == 0


async def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "opentelemetry"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('none', name='opentelemetry')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = await serve("--database", str(tmp_path / "games.db"), PYTHONPATH=path, **{ENDPOINT: "http://x:1"})
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().splitlines() == [
        f"rummy500-server: {ENDPOINT} is set, but OpenTelemetry is not installed (opentelemetry is missing): "
        "`pip install 'rummy500[otel]'`, or unset it"
    ]
    assert not (tmp_path / "games.db").exists()
