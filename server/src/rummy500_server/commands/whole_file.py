"""A file that a command writes: there whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from rummy500_server.commands.database import CommandRefused
from rummy500_server.database_lock import lock_path


@contextlib.contextmanager
def whole_file(path: Path, *, force: bool, keeps_access: bool = False) -> Iterator[Path]:
    """A place beside it, readable by its owner only, to write to; at the end it takes the name. With `keeps_access`
    it has the owner, group and mode of the file that was there, so that whoever could read it still can. Raises
    CommandRefused when the file is there already, unless `force`, or cannot be written; then nothing is left behind."""
    if path.exists() and not force:
        raise CommandRefused(f"{path} is there already: choose another name, or say --force to write over it")
    partial = path.with_name(path.name + ".partial")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.close(handle)
        yield partial
        if keeps_access and path.exists():
            _give_access(path, partial)
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise CommandRefused(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def verify_apart(path: Path, database: Path) -> None:
    """Raises CommandRefused when a command that reads the database is to write in the place of one of its files."""
    own = (database, lock_path(database), *(database.with_name(database.name + end) for end in ("-wal", "-shm")))
    if any(
        path.resolve() == each.resolve() or (path.exists() and each.exists() and path.samefile(each)) for each in own
    ):
        raise CommandRefused(f"{path} is the database itself, or a file of its: choose another name")


def _give_access(like: Path, to: Path) -> None:
    was, now = like.stat(), to.stat()
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.chown(to, was.st_uid, was.st_gid)
    os.chmod(to, stat.S_IMODE(was.st_mode))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
