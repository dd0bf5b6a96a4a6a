"""Who owns a database: one process at a time, by a lock on a file beside it.

SQLite's own lock would keep readers out too; with this one `rummy500-server backup` and the like read while a server
writes. The system lets go of the lock when its process dies, however it dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


class DatabaseInUse(Exception):
    """Another process owns the database."""


class DatabaseLock:
    """Held from `acquire` to `release`."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    @classmethod
    def acquire(cls, database: Path) -> DatabaseLock:
        """Raises DatabaseInUse, or OSError when there can be no file beside the database."""
        path = lock_path(database)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_still(path, handle):
                    return cls(path, handle)
            except BlockingIOError as error:
                os.close(handle)
                raise DatabaseInUse from error
            os.close(handle)  # its owner has just let go of it and removed it

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def is_in_use(database: Path) -> bool:
    """Whether a process owns the database. Leaves everything as it is."""
    try:
        handle = os.open(lock_path(database), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return not os.access(lock_path(database), os.R_OK) and lock_path(database).exists()
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def lock_path(database: Path) -> Path:
    return Path(f"{database}.lock")


def _is_still(path: Path, handle: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.stat(path), os.fstat(handle))
    return False
