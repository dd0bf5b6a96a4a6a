"""A server for the client's tests: a real process, one for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rummy500_client.private_server import private_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a running server."""
    with private_server() as address:
        yield address


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A directory for what the client keeps, and to run it in."""
    directory = tmp_path / "state"
    directory.mkdir()
    return directory
