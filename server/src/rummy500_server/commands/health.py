"""`rummy500-server health`: whether a running server serves, as a container's health check asks."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, cast

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rummy500_server.commands.database import CommandRefused, refuse
from rummy500_server.settings import Settings, variable

NOT_SERVING = 1


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "health",
        help="ask a running server whether it serves",
        description="Asks a running server over gRPC whether it serves, and prints the answer. Exit status 0 when it "
        "does, 1 when it is draining or does not answer.",
    )
    port = os.environ.get(variable("port"), str(Settings().port))
    parser.add_argument("--address", default=f"127.0.0.1:{port}", help="where it listens; default %(default)s")
    parser.add_argument("--service", default="", help="one service, as rummy500.v1.PlayService; default: all of it")
    parser.add_argument(
        "--ca", type=Path, metavar="FILE", help="TLS: who signed its certificate, or that certificate itself, in PEM"
    )
    parser.add_argument("--host-name", metavar="NAME", help="TLS: the name in its certificate, where it is another")
    parser.add_argument("--cert", type=Path, metavar="FILE", help="mutual TLS: a certificate of one's own, in PEM")
    parser.add_argument("--key", type=Path, metavar="FILE", help="mutual TLS: its key")
    parser.add_argument("--timeout", type=float, default=5.0, metavar="SECONDS", help="default %(default)g")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        with _channel(arguments) as channel:
            status = _status(channel, arguments.service, arguments.timeout)
    except CommandRefused as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"{error.filename} cannot be read: {error.strerror}")
    print(status)
    return 0 if status == "SERVING" else NOT_SERVING


def _channel(arguments: argparse.Namespace) -> grpc.Channel:
    """Raises OSError, or CommandRefused."""
    if (arguments.cert is None) != (arguments.key is None):
        raise CommandRefused("--cert and --key belong together")
    if arguments.ca is None:
        if arguments.cert is not None or arguments.host_name is not None:
            raise CommandRefused("--cert, --key and --host-name are for TLS: give --ca too")
        return grpc.insecure_channel(arguments.address)
    own = (arguments.key.read_bytes(), arguments.cert.read_bytes()) if arguments.cert else (None, None)
    credentials = grpc.ssl_channel_credentials(arguments.ca.read_bytes(), *own)
    options = [("grpc.ssl_target_name_override", arguments.host_name)] if arguments.host_name else []
    return grpc.secure_channel(arguments.address, credentials, options)


def _status(channel: grpc.Channel, service: str, timeout: float) -> str:
    stub: Any = health_pb2_grpc.HealthStub(cast(Any, channel))
    try:
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=timeout)
    except grpc.RpcError as error:
        failed = cast(grpc.Call, error)
        if failed.code() is grpc.StatusCode.NOT_FOUND:
            raise CommandRefused(f"the server has no service {service!r}") from error
        return f"{failed.code().name}: {failed.details()}"
    return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
