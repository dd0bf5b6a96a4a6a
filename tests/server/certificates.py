"""Certificates for tests of TLS, made when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Certificates:
    """Files: a server's certificate with its key, an older one that has expired, a client's, and who signed them."""

    directory: Path

    def __getattr__(self, name: str) -> str:
        stem, _, kind = name.rpartition("_")
        return str(self.directory / f"{stem.replace('_', '-')}.{kind}")


def issue(directory: Path) -> Certificates:
    """Makes them in the directory."""
    ours, others = trustme.CA(), trustme.CA()
    ours.cert_pem.write_to_path(directory / "ours.ca")
    others.cert_pem.write_to_path(directory / "others.ca")
    begin, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    for name, leaf in {
        "server": ours.issue_cert("localhost", "127.0.0.1"),
        "expired": ours.issue_cert("localhost", "127.0.0.1", not_before=begin, not_after=end),
        "elsewhere": ours.issue_cert("example.org"),
        "client": ours.issue_cert("anna@example.org"),
        "stranger": others.issue_cert("eve@example.org"),
    }.items():
        leaf.private_key_pem.write_to_path(directory / f"{name}.key")
        (directory / f"{name}.cert").write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
    return Certificates(directory)
