"""Where the server listens, and to whom: the address, TLS, and what may not be open to other machines unsaid."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from pathlib import Path
from typing import Any

import grpc
import structlog

from rummy500_server.settings import Settings

log = structlog.stdlib.get_logger("rummy500")


class CannotListen(Exception):
    """The server cannot listen as the settings say; the sentence says why."""


def verify_can_listen(settings: Settings) -> None:
    """Raises CannotListen: the address, the certificates, or an openness that nobody asked for."""
    _verify_together(settings)
    _verify_exposure(settings)
    if settings.tls_cert:
        _verify_certificates(settings)
    try_address(settings.host, settings.port)


def listen(server: grpc.aio.Server, settings: Settings) -> int:
    """Answers the port. Raises CannotListen."""
    verify_can_listen(settings)
    address = address_of(settings.host, settings.port)
    try:
        if settings.tls_cert:
            return server.add_secure_port(address, _credentials(settings))
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise CannotListen(f"cannot listen on {address}: {error}") from error


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --- who may connect


def exposed(settings: Settings) -> str:
    """What others could do that nobody should on a network, in words; empty: nothing, or they cannot connect."""
    return "; ".join(filter(None, (_exposed_games(settings), _exposed_admin(settings))))


def _exposed_admin(settings: Settings) -> str:
    if not settings.admin_port or _is_loopback(settings.admin_host):
        return ""
    return "anybody may read metrics and health on the admin port, which knows neither tokens nor TLS"


def _exposed_games(settings: Settings) -> str:
    if _is_loopback(settings.host):
        return ""
    missing = []
    if not settings.tls_cert:
        missing.append("everything, tokens too, can be read on the way, without --tls-cert and --tls-key")
    if not settings.require_token:
        missing.append("anybody may play, without --require-token and --tokens")
    return "; ".join(missing)


def _verify_together(settings: Settings) -> None:
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise CannotListen("--tls-cert and --tls-key belong together: give both, or neither")
    if settings.tls_client_ca and not settings.tls_cert:
        raise CannotListen("--tls-client-ca needs TLS: give --tls-cert and --tls-key too")
    if settings.require_token and not settings.tokens:
        raise CannotListen(
            "--require-token needs --tokens FILE; `rummy500-server token new --role host --name NAME --file FILE` "
            "makes one"
        )


def _verify_exposure(settings: Settings) -> None:
    games, admin = _exposed_games(settings), _exposed_admin(settings)
    if games and not settings.insecure:
        raise CannotListen(
            f"--host {settings.host} lets other machines connect: {games}; give what is missing, or say --insecure"
        )
    if admin and not settings.admin_insecure:
        raise CannotListen(
            f"--admin-host {settings.admin_host} lets other machines connect: {admin}; choose an address of this "
            "machine only, or say --admin-insecure"
        )


def _is_loopback(host: str) -> bool:
    """A name is one if all its addresses are; one that has none cannot be listened on, and that is said elsewhere."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return True
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)


def try_address(host: str, port: int) -> None:
    """Raises CannotListen. gRPC says nothing of why it cannot bind; a plain socket does."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {address_of(host, port)}: {reason}") from error


# --- TLS


def _verify_certificates(settings: Settings) -> None:
    """gRPC says nothing of a key that does not fit; the ssl module does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = f"--tls-cert {settings.tls_cert} with --tls-key {settings.tls_key}"
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password=lambda: "")
        if settings.tls_client_ca:
            files = f"--tls-client-ca {settings.tls_client_ca}"
            context.load_verify_locations(settings.tls_client_ca)
    except ssl.SSLError as error:
        raise CannotListen(f"{files} cannot be used: {_why(error)}") from None
    except OSError as error:
        raise CannotListen(f"{files} cannot be read: {error.strerror}") from None


def _why(error: ssl.SSLError) -> str:
    match error.reason:
        case "KEY_VALUES_MISMATCH":
            return "the key is not that of the certificate"
        case None:
            return "a file is no PEM, or the key has a passphrase: give it without one"
        case reason:
            return reason.lower().replace("_", " ")


class _Certificates:
    """The files as they are: looked at for every connection, so that a renewed certificate needs no restart."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files = [Path(settings.tls_key), Path(settings.tls_cert)]
        if settings.tls_client_ca:
            self._files.append(Path(settings.tls_client_ca))
        self._stamp = self._seen()

    def read(self) -> grpc.ServerCertificateConfiguration:
        key, certificate, *client_ca = (file.read_bytes() for file in self._files)
        return grpc.ssl_server_certificate_configuration(
            [(key, certificate)], root_certificates=client_ca[0] if client_ca else None
        )

    def renewed(self) -> Any:
        """A `grpc.ServerCertificateConfiguration` if the files changed and fit together; None: nothing changes."""
        stamp = self._seen()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            _verify_certificates(self._settings)
            configuration = self.read()
        except (CannotListen, OSError) as error:
            log.error("certificate.not_read", sentence=str(error))
            return None  # when the other file has changed too, the next connection looks again
        log.info("certificate.read", file=self._settings.tls_cert)
        return configuration

    def _seen(self) -> list[tuple[int, int]]:
        stamps = []
        for file in self._files:
            try:
                found = file.stat()
            except OSError:
                return []
            stamps.append((found.st_mtime_ns, found.st_ino))
        return stamps


def _credentials(settings: Settings) -> grpc.ServerCredentials:
    certificates = _Certificates(settings)
    return grpc.dynamic_ssl_server_credentials(
        certificates.read(), certificates.renewed, require_client_authentication=bool(settings.tls_client_ca)
    )
