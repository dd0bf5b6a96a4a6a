"""Whether calls are traced: they are when OTEL_EXPORTER_OTLP_ENDPOINT says where to, by the extra `otel`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

import grpc

from rummy500_server.settings import BadSetting

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing(Protocol):
    interceptor: grpc.aio.ServerInterceptor
    """Goes around everything else."""

    def stop(self) -> None:
        """Sends what is left. It waits, but not for long."""
        ...


def tracing_from(environment: Mapping[str, str]) -> Tracing | None:
    """None: nobody wants traces. Raises BadSetting when somebody does and the extra is not installed."""
    wanted = [name for name in ENDPOINTS if environment.get(name)]
    if not wanted or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        module = import_module("rummy500_server.otel")
    except ModuleNotFoundError as error:
        raise BadSetting(
            f"{wanted[0]} is set, but OpenTelemetry is not installed ({error.name} is missing): "
            "`pip install 'rummy500[otel]'`, or unset it"
        ) from error
    return cast(Tracing, module.OpenTelemetryTracing(environment))
