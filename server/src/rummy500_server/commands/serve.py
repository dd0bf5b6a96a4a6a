"""`rummy500-server serve`: a server, from its start to its end.

It prints one line on standard output once it listens, `listening on ADDRESS`; with --ready-file it also writes
the address to that file, whole or not at all. Logs go to standard error. Exit status: 0 after a signal,
2 when a setting, the database, the token file or the address cannot be used, with one sentence on standard error, 3
when the watchdog ended it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from rummy500_server.admin import AdminPort
from rummy500_server.app import App, open_app
from rummy500_server.commands.database import refuse
from rummy500_server.door import Door
from rummy500_server.journal import JournalError
from rummy500_server.journal_file import JournalUnusable
from rummy500_server.listening import CannotListen, verify_can_listen
from rummy500_server.logs import configure_logs
from rummy500_server.memory import keep_small
from rummy500_server.settings import BadSetting, Settings, add_flags, read_settings
from rummy500_server.stalled import Stalls
from rummy500_server.tokens import BadTokenFile
from rummy500_server.tracing import Tracing, tracing_from
from rummy500_server.watchdog import Watchdog

try:
    from uvloop import new_event_loop
except ImportError:  # it does not exist for every system and every Python
    from asyncio import new_event_loop  # type: ignore[assignment]

SWITCH_INTERVAL = 0.0001
"""Seconds after which the loop lets the journal's thread have the interpreter; the default of 0.005 would delay every
commit under load."""

LONGEST_STOP = 10.0
"""Seconds after draining; a disk that does not answer holds nobody up for longer."""

log = structlog.stdlib.get_logger("rummy500")


def add(commands: Any) -> None:
    serve: argparse.ArgumentParser = commands.add_parser("serve", help="serve games until a signal comes")
    add_flags(serve)
    serve.add_argument("--print-config", action="store_true", help="print the settings as they are, and stop")
    serve.add_argument("--ready-file", type=Path, metavar="FILE", help="write the address here when listening")
    serve.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="stop when standard input ends, as for a server started by a program",
    )
    serve.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        settings = read_settings(vars(arguments), os.environ)
        tracing = None if arguments.print_config else tracing_from(os.environ)
    except BadSetting as error:
        return refuse(error)
    if arguments.print_config:
        print("\n".join(settings.lines()))
        return 0
    configure_logs(settings.log_format, settings.log_level)
    sys.setswitchinterval(SWITCH_INTERVAL)
    keep_small()
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            ready_file, with_stdin = arguments.ready_file, arguments.exit_with_stdin
            runner.run(_serve(settings, tracing, ready_file=ready_file, with_stdin=with_stdin))
    except (JournalUnusable, JournalError, CannotListen, BadTokenFile, OSError) as error:
        return refuse(error)
    return 0


async def _serve(settings: Settings, tracing: Tracing | None, *, ready_file: Path | None, with_stdin: bool) -> None:
    verify_can_listen(settings)  # before there is a database that nobody needs
    watchdog = Watchdog(settings.stall_seconds, Stalls(settings))
    watchdog.start()
    try:
        await _serve_watched(settings, tracing, ready_file=ready_file, with_stdin=with_stdin)
    finally:
        watchdog.end()
        if tracing is not None:
            await asyncio.to_thread(tracing.stop)


async def _serve_watched(
    settings: Settings, tracing: Tracing | None, *, ready_file: Path | None, with_stdin: bool
) -> None:
    app = await open_app(settings, tracing=tracing)
    stopping = asyncio.Event()
    signals = _Signals(stopping, app.door)
    try:
        if settings.admin_port:
            app.on_stop(AdminPort(app).close)
        address = await app.start()
    except CannotListen:
        await app.stop(drain_seconds=0)
        raise
    if with_stdin:
        _watch_stdin(signals.stdin_ended)
    log.info("server.started", address=address, database=settings.database, version=version("rummy500"))
    try:
        if ready_file is not None:
            _write_whole(ready_file, address + "\n")
        print(f"listening on {address}", flush=True)
        await stopping.wait()
    finally:
        await _stop(app, signals)


async def _stop(app: App, signals: _Signals) -> None:
    seconds = 0.0 if signals.is_hasty else app.settings.drain_ms / 1000
    log.info("server.draining", reason=signals.reason, seconds=seconds)
    bound = threading.Timer(seconds + LONGEST_STOP, _give_up)
    bound.daemon = True
    bound.start()
    await app.stop(drain_seconds=seconds)
    bound.cancel()
    log.info("server.stopped")


def _give_up() -> None:
    log.critical("server.stop_held_up", seconds=LONGEST_STOP)
    os._exit(1)  # what was answered is durable


class _Signals:
    """Why the server stops. A second signal, or the end of standard input, does not wait for streams. SIGHUP stops
    nothing: the token file is read again."""

    def __init__(self, stopping: asyncio.Event, door: Door) -> None:
        self._stopping = stopping
        self.reason = ""
        self.is_hasty = False
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled, number)
        loop.add_signal_handler(signal.SIGHUP, door.refresh)

    def _signalled(self, number: signal.Signals) -> None:
        if self._stopping.is_set():
            os._exit(1)  # what was answered is durable
        self.reason = number.name
        self._stopping.set()

    def stdin_ended(self) -> None:
        self.reason, self.is_hasty = "standard input ended", True
        self._stopping.set()


def _watch_stdin(ended: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def watch() -> None:
        with contextlib.suppress(OSError):  # it was closed from the start
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            loop.call_soon_threadsafe(ended)

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.replace(path)
