"""How a connection is protected: TLS, whom it trusts, and the certificate that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import grpc

from rummy500_client.errors import ClientError


@dataclass(frozen=True)
class Security:
    """`ca`, `cert` and `key` are files in PEM: who signs the server's certificate (empty: the usual authorities), and
    the client's own certificate with its key, where the server wants one."""

    ca: str = ""
    cert: str = ""
    key: str = ""

    def credentials(self) -> grpc.ChannelCredentials:
        """Raises ClientError when a file cannot be read."""
        if bool(self.cert) != bool(self.key):
            raise ClientError("--cert and --key belong together: give both, or neither")
        ca, key, cert = _read(self.ca), _read(self.key), _read(self.cert)
        return grpc.ssl_channel_credentials(ca, key, cert)


def _read(file: str) -> bytes | None:
    if not file:
        return None
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}") from None
    if b"-----BEGIN " not in content:
        raise ClientError(f"{file} is no certificate or key in PEM")
    return content
