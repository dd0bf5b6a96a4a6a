"""A span around every call, sent where OTEL_EXPORTER_OTLP_ENDPOINT says, by OpenTelemetry's own instrumentation.

The only module that needs the extra `otel`; `tracing` imports it when it is wanted.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.metadata import version

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.grpc import aio_server_interceptor, filters
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

LAST_SPANS = 2.0
"""Seconds that a stopping server gives to spans that are not sent yet: a collector may be gone."""


class OpenTelemetryTracing:
    """`interceptor` goes around everything else. Where to send, how often and under which name OpenTelemetry reads from
    the OTEL_… variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        names = {SERVICE_VERSION: version("rummy500")}
        if "OTEL_SERVICE_NAME" not in environment:
            names[SERVICE_NAME] = "rummy500-server"
        self._provider = TracerProvider(resource=Resource.create(names))
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        without_health = filters.negate(filters.health_check())
        self.interceptor: grpc.aio.ServerInterceptor = aio_server_interceptor(self._provider, filter_=without_health)

    def stop(self) -> None:
        """Sends what is left, if that is soon done."""
        last = threading.Thread(target=self._provider.shutdown, name="last spans", daemon=True)
        last.start()
        last.join(LAST_SPANS)
