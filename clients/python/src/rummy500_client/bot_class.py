"""Finds the class that `mybot.py:MyBot` or `package.module:MyBot` names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from rummy500_client.bot import Bot
from rummy500_client.errors import ClientError


def is_class_path(text: str) -> bool:
    """Whether the text has the form of a class's path."""
    where, colon, name = text.rpartition(":")
    return bool(where and colon and name.isidentifier())


def load_bot(text: str) -> Bot:
    """Makes the bot. Raises ClientError, which says what is wrong with the path, the file or the class."""
    if not is_class_path(text):
        raise ClientError(f"{text!r} names no bot: give FILE.py:CLASS or MODULE:CLASS, for example mybot.py:MyBot")
    where, _, name = text.rpartition(":")
    module = _load_file(Path(where)) if where.endswith(".py") else _load_module(where)
    found = getattr(module, name, None)
    if found is None:
        raise ClientError(f"{where} has no class {name}")
    if not isinstance(found, type) or not issubclass(found, Bot):
        raise ClientError(f"{text} is no bot: a bot is a class that inherits from rummy500_client.Bot")
    try:
        return found()
    except Exception as error:
        raise ClientError(f"{text} cannot be made: {type(error).__name__}: {error}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ClientError(f"{path} is not there")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ClientError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _load_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise ClientError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
