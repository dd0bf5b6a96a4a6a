"""A bot under examination that serves and is dialled: its process is not ours."""

from __future__ import annotations

import threading
import time

from rummy500_client.bot_dial import DialledBot
from rummy500_client.bot_process import Ended
from rummy500_client.connection import Connection
from rummy500_client.match_bots import BotSpec


class DialledPatient:
    """One stream to the bot, passed on to the desk at `address`. `exit_code` 1: the bot ended the stream."""

    def __init__(self, spec: BotSpec, address: str, *, name: str, token: str, patience: float) -> None:
        self.began = time.monotonic()
        self.stdout, self.stdout_bytes, self.stderr_bytes = b"", 0, 0
        self._has_ended = threading.Event()
        self._why = ""
        self._connection = Connection(address, token=token)
        self._bot = DialledBot(
            spec,
            self._connection,
            seating=0,
            start=1,
            name=name,
            token=token,
            seconds=patience,
            ended=self._ended,
        )

    def _ended(self, ended: Ended) -> None:
        self._why = ended.stderr_tail
        self._has_ended.set()

    @property
    def exit_code(self) -> int | None:
        return 1 if self._has_ended.is_set() else None

    def ended_text(self) -> str:
        return f"the bot is gone: {self._why}"

    def stop(self) -> None:
        self._bot.wait_stopped()
        self._connection.close()
