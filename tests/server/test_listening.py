"""To whom the server is open: TLS, client certificates, and nothing open to other machines that nobody asked for."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.certificates import Certificates, issue
from tests.server.running import server_process
from tests.server.test_metrics import free_port
from tests.server.test_process import refused_start

from rummy500.v1.rules_service_pb2 import ListVariantsRequest
from rummy500.v1.rules_service_pb2_grpc import RulesServiceStub


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return issue(tmp_path_factory.mktemp("certificates"))


async def answers(address: str, *files: str | None) -> str:
    """What a client gets that trusts, and shows, these files."""
    credentials = grpc.ssl_channel_credentials(*(Path(file).read_bytes() if file else None for file in files))
    async with grpc.aio.secure_channel(address, credentials) as channel:
        rules: Any = RulesServiceStub(channel)
        try:
            await rules.ListVariants(ListVariantsRequest(), timeout=10)
        except grpc.aio.AioRpcError as error:
            return error.code().name
    return "OK"


async def test_with_a_certificate_it_speaks_tls_and_a_renewed_one_needs_no_restart(
    tmp_path: Path, certificates: Certificates
) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    shutil.copy(certificates.server_cert, cert)
    shutil.copy(certificates.server_key, key)
    flags = ("--tls-cert", str(cert), "--tls-key", str(key))
    async with server_process(tmp_path / "games.db", *flags) as server:
        assert await answers(server.address, certificates.ours_ca) == "OK"
        assert await answers(server.address, certificates.others_ca) == "UNAVAILABLE"

        shutil.copy(certificates.expired_cert, cert)
        assert await answers(server.address, certificates.ours_ca) == "OK", "a key that does not fit changes nothing"
        shutil.copy(certificates.expired_key, key)
        assert await answers(server.address, certificates.ours_ca) == "UNAVAILABLE"
        shutil.copy(certificates.server_cert, cert)
        shutil.copy(certificates.server_key, key)
        assert await answers(server.address, certificates.ours_ca) == "OK"

        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    assert "the key is not that of the certificate" in errors


async def test_with_mutual_tls_a_client_must_show_a_certificate(tmp_path: Path, certificates: Certificates) -> None:
    flags = ("--tls-cert", certificates.server_cert, "--tls-key", certificates.server_key)
    async with server_process(tmp_path / "games.db", *flags, "--tls-client-ca", certificates.ours_ca) as server:
        shown = (certificates.client_key, certificates.client_cert)
        assert await answers(server.address, certificates.ours_ca, *shown) == "OK"
        assert await answers(server.address, certificates.ours_ca) == "UNAVAILABLE"
        strange = (certificates.stranger_key, certificates.stranger_cert)
        assert await answers(server.address, certificates.ours_ca, *strange) == "UNAVAILABLE"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (
            ("--host", "0.0.0.0"),
            "--host 0.0.0.0 lets other machines connect: everything, tokens too, can be read on the way, without "
            "--tls-cert and --tls-key; anybody may play, without --require-token and --tokens; give what is missing, "
            "or say --insecure",
        ),
        (
            ("--host", "::", "--tls-cert", "server_cert", "--tls-key", "server_key"),
            "anybody may play, without --require",
        ),
        (
            ("--admin-host", "0.0.0.0", "--admin-port", "9"),
            "--admin-host 0.0.0.0 lets other machines connect: anybody may read metrics and health on the admin port, "
            "which knows neither tokens nor TLS; choose an address of this machine only, or say --admin-insecure",
        ),
        (("--tls-cert", "server_cert"), "--tls-cert and --tls-key belong together: give both, or neither"),
        (("--tls-client-ca", "ours_ca"), "--tls-client-ca needs TLS: give --tls-cert and --tls-key too"),
        (("--require-token",), "--require-token needs --tokens FILE; `rummy500-server token new"),
        (("--tokens", "missing"), "the token file missing is not there: `rummy500-server token new"),
        (("--tls-cert", "server_cert", "--tls-key", "client_key"), "the key is not that of the certificate"),
        (("--tls-cert", "server_cert", "--tls-key", "missing"), "cannot be read: No such file or directory"),
        (("--tls-cert", "server_key", "--tls-key", "server_cert"), "cannot be used: "),
    ],
)
async def test_what_is_not_safe_or_not_whole_does_not_start(
    tmp_path: Path, certificates: Certificates, flags: tuple[str, ...], sentence: str
) -> None:
    given = [getattr(certificates, flag) if flag.partition("_")[2] in ("cert", "key", "ca") else flag for flag in flags]
    said = await refused_start("--port", "0", "--database", str(tmp_path / "games.db"), *given)
    assert sentence in said
    assert not (tmp_path / "games.db").exists()


async def test_insecure_is_possible_where_it_is_said_and_logged(tmp_path: Path) -> None:
    async with server_process(tmp_path / "games.db", "--host", "0.0.0.0", "--insecure") as server:
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    assert errors.count("server.exposed") == 1
    assert "can be read on the way" in errors


async def test_an_open_admin_port_is_possible_where_it_is_said_and_logged(tmp_path: Path) -> None:
    flags = ("--admin-host", "0.0.0.0", "--admin-port", str(free_port()), "--admin-insecure")
    async with server_process(tmp_path / "games.db", *flags) as server:
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    assert errors.count("server.exposed") == 1
    assert "anybody may read metrics and health on the admin port" in errors
