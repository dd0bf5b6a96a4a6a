"""The settings of a server: each is a flag, an environment variable and a line of --print-config."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

PREFIX = "RUMMY500_"
IN_MEMORY = ":memory:"


class BadSetting(Exception):
    """A setting that cannot be; the sentence names it, its value and what it may be."""


def _setting(default: object, sentence: str, *, low: int = 0, high: int = 2**53, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"sentence": sentence, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is started with. Names are those of the flags (`--decision-ms`) and, in upper case with RUMMY500_
    before them, of the environment variables."""

    host: str = _setting("127.0.0.1", "the address to listen on; 0.0.0.0 for every interface")
    port: int = _setting(50500, "the port to listen on; 0 for a free one", high=65_535)
    admin_host: str = _setting("127.0.0.1", "the address of the admin port")
    admin_port: int = _setting(0, "the port for metrics and health over HTTP; 0: none", high=65_535)
    admin_insecure: bool = _setting(False, "other machines may read the admin port, which asks for no token")
    insecure: bool = _setting(False, "other machines may connect without TLS, or without a token that the server knows")
    tls_cert: str = _setting("", "the file of the server's certificate, with its chain, in PEM; needs --tls-key")
    tls_key: str = _setting("", "the file of the certificate's key, in PEM")
    tls_client_ca: str = _setting("", "clients must show a certificate that one of this file signed (mutual TLS)")
    tokens: str = _setting("", "the file of registered tokens, which `rummy500-server token` makes and edits")
    require_token: bool = _setting(False, "only tokens that the server knows are let in; needs --tokens")
    database: str = _setting("rummy500.db", "the file of the journal; :memory: keeps nothing after the end")
    durability: str = _setting(
        "disk",
        "disk: accepted actions survive a power cut; process: a crash of the server",
        choices=("disk", "process"),
    )
    log_format: str = _setting("console", "how log lines look", choices=("console", "json"))
    log_level: str = _setting("info", "the least level that is logged", choices=("debug", "info", "warning", "error"))
    decision_ms: int = _setting(10_000, "time for one decision where a table names none", low=50, high=86_400_000)
    bank_ms: int = _setting(0, "bank of a seat at the start of a game where a table names none", high=86_400_000)
    increment_ms: int = _setting(0, "what a bank gains at its seat's turn where a table does not say", high=86_400_000)
    most_bank_ms: int = _setting(3_600_000, "the most that a bank holds where a table does not say", high=86_400_000)
    startup_ms: int = _setting(0, "more time for a seat's first decision where a table names none", high=86_400_000)
    grace_ms: int = _setting(0, "more time in a game for an absent player where a table names none", high=86_400_000)
    when_late: str = _setting(
        "finish-turn",
        "what becomes of a seat whose time is over where a table does not say",
        choices=("finish-turn", "bot", "forfeit"),
    )
    forfeit_after: int = _setting(
        3, "so many turns that the clock finished forfeit where a table does not say; 0: never", high=1_000
    )
    ceiling_minutes: int = _setting(
        1_440, "a game in which no player has acted for so long is closed", low=1, high=525_600
    )
    open_table_minutes: int = _setting(
        1_440, "a table that has not started after so long is closed", low=1, high=525_600
    )
    keep_records_days: int = _setting(
        0, "tables, records and matches that have been over for so long are dropped; 0: never", high=36_500
    )
    receive_bytes: int = _setting(64 << 10, "the longest message taken", low=1 << 10, high=64 << 20)
    send_bytes: int = _setting(1 << 20, "the longest message sent", low=64 << 10, high=64 << 20)
    tables_per_principal: int = _setting(1_000, "open tables of one principal", low=1)
    matches_per_principal: int = _setting(16, "open matches of one principal", low=1)
    streams_per_principal: int = _setting(256, "open streams of one principal", low=1)
    games_per_bot: int = _setting(1_024, "games of one connected bot at the same time", low=1, high=1_024)
    requests_per_second: int = _setting(2_000, "requests a second of one principal", low=1)
    refusals_per_second: int = _setting(
        2_000, "refused decisions a second of one Play stream; others are not counted", low=1
    )
    bot_processes: int = _setting(2, "processes in which built-in bots think that take their time", low=1, high=256)
    builtin_bots_per_principal: int = _setting(2_000, "built-in bots at the open tables of one principal", low=1)
    events_behind: int = _setting(
        1_024, "events that a slow reader may be behind before its stream ends", low=16, high=2_000
    )
    idle_connection_minutes: int = _setting(30, "a connection on which no call is open for so long is closed", low=1)
    keepalive_ms: int = _setting(
        10_000,
        "a connection that was silent for so long is pinged, and cut when half as long later no answer came",
        low=100,
        high=3_600_000,
    )
    stall_seconds: int = _setting(60, "a server that a variant holds up for so long ends", low=1, high=86_400)
    drain_ms: int = _setting(5_000, "how long a stopping server waits for its streams", high=600_000)

    def __post_init__(self) -> None:
        for each in fields(self):
            value, meta = getattr(self, each.name), each.metadata
            if isinstance(value, bool):
                continue
            if isinstance(value, int) and not meta["low"] <= value <= meta["high"]:
                raise BadSetting(f"{flag(each.name)} is {value}: it may be {meta['low']} to {meta['high']}")
            if meta["choices"] and value not in meta["choices"]:
                raise BadSetting(f"{flag(each.name)} is {value!r}: it may be {' or '.join(meta['choices'])}")

    def lines(self) -> list[str]:
        """As environment variables, one a line."""
        return [f"{variable(each.name)}={text_of(getattr(self, each.name))}" for each in fields(self)]


def text_of(value: object) -> str:
    """A value as the environment has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    return PREFIX + name.upper()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds one flag a setting; one that is not given stays unset, so that the environment may speak."""
    for each in fields(Settings):
        choices = f" ({', '.join(each.metadata['choices'])})" if each.metadata["choices"] else ""
        help_text = (
            f"{each.metadata['sentence']}{choices}; {variable(each.name)}, default {text_of(each.default) or 'none'}"
        )
        if isinstance(each.default, bool):
            parser.add_argument(
                flag(each.name), dest=each.name, default=None, action=argparse.BooleanOptionalAction, help=help_text
            )
            continue
        parser.add_argument(flag(each.name), dest=each.name, default=None, help=help_text, metavar=each.name.upper())


def read_settings(given: Mapping[str, str | bool | None], environment: Mapping[str, str]) -> Settings:
    """Flags before environment variables before defaults. Raises BadSetting."""
    values: dict[str, Any] = {}
    for each in fields(Settings):
        value, source = given.get(each.name), flag(each.name)
        if value is None:
            value, source = environment.get(variable(each.name)), variable(each.name)
        if value is None:
            continue
        text = text_of(value)
        if isinstance(each.default, bool):
            if text.strip().lower() not in ("true", "false"):
                raise BadSetting(f"{source} is {text!r}: it may be true or false")
            values[each.name] = text.strip().lower() == "true"
        elif isinstance(each.default, int):
            if not text.strip().lstrip("-").isdecimal():
                raise BadSetting(f"{source} is {text!r}: it must be a whole number")
            values[each.name] = int(text)
        else:
            values[each.name] = text
    unknown = sorted(
        name
        for name in environment
        if name.startswith(PREFIX) and name not in {variable(each.name) for each in fields(Settings)} | NOT_OURS
    )
    if unknown:
        raise BadSetting(f"{unknown[0]} is no setting; the settings are in `rummy500-server serve --help`")
    return Settings(**values)


NOT_OURS = frozenset(
    PREFIX + name
    for name in (
        "SERVER",
        "TOKEN",
        "TOKEN_FILE",
        "NAME",
        "TLS",
        "CA",
        "CERT",
        "KEY",
        "INVITATION",
        "INVITATION_FILE",
        "LONG",
    )
)
"""Variables of the client and the tests, which a server that they start inherits."""
