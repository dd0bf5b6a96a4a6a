"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rummy500_client.errors import ClientError


def make_directory(path: Path) -> None:
    """Raises ClientError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClientError(f"{path} cannot be made: {error.strerror}") from None


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Callable[[bytes], object]]:
    """A file that appears under its name only when all of it is written. Raises ClientError."""
    make_directory(path.parent)
    try:
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file.write
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
