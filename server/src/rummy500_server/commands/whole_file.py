"""A file that a command writes: there whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from rummy500_server.commands.database import CommandRefused


@contextlib.contextmanager
def whole_file(path: Path, *, force: bool) -> Iterator[Path]:
    """A place beside it, readable by its owner only, to write to; at the end it takes the name. Raises CommandRefused
    when the file is there already, unless `force`, or cannot be written; then nothing is left behind."""
    if path.exists() and not force:
        raise CommandRefused(f"{path} is there already: choose another name, or say --force to write over it")
    partial = path.with_name(path.name + ".partial")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.close(handle)
        yield partial
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise CommandRefused(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
