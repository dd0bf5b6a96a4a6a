"""The clock of a table on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rummy500.v1.table_pb2 import WHEN_LATE_BOT, WHEN_LATE_FINISH_TURN, WHEN_LATE_FORFEIT, ClockSettings
from rummy500_client.errors import ClientError
from rummy500_client.options import between, read_builtin

A_DAY = 86_400


def add_clock(parser: argparse.ArgumentParser, *, decision_ms: int = 0, is_match: bool = False) -> None:
    """The flags that `read_clock` reads; `decision_ms` 0: the server's default. In a match nobody stands in."""
    usual = f"default {decision_ms // 1000}" if decision_ms else "else the server's default"
    clock = parser.add_argument_group("the clock")
    clock.add_argument(
        "--clock", type=seconds(0.05), default=decision_ms, metavar="SECONDS", help=f"for one decision, {usual}"
    )
    clock.add_argument("--bank", type=seconds(), metavar="SECONDS", help="for a game, when decisions take longer")
    clock.add_argument("--increment", type=seconds(), metavar="SECONDS", help="added to the bank at each own turn")
    clock.add_argument("--most-bank", type=seconds(), metavar="SECONDS", help="the most that a bank holds")
    clock.add_argument("--startup", type=seconds(), metavar="SECONDS", help="more for a seat's first decision")
    clock.add_argument("--grace", type=seconds(), metavar="SECONDS", help="more, in a game, for a lost connection")
    clock.add_argument(
        "--when-late",
        metavar="WHAT",
        default="",
        help="finish: the clock finishes the turn; forfeit" + ("" if is_match else "; bot or bot:NAME plays meanwhile"),
    )
    clock.add_argument(
        "--forfeit-after", type=between(0, 1_000), metavar="N", help="so many finished turns forfeit, 0 for never"
    )
    if not is_match:
        clock.add_argument("--no-clock", action="store_true", help="no time limit, but for the server's of a day")


def seconds(least: float = 0.0) -> Callable[[str], int]:
    """An argument type: seconds, up to a day, as milliseconds."""

    def read(text: str) -> int:
        try:
            number = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None
        if not least <= number <= A_DAY:
            raise argparse.ArgumentTypeError(f"{text} is not from {least:g} to {A_DAY}")
        return round(number * 1000)

    return read


def read_clock(arguments: argparse.Namespace) -> ClockSettings:
    """Raises ClientError."""
    if getattr(arguments, "no_clock", False):
        return ClockSettings(untimed=True, forfeit_after=arguments.forfeit_after)
    settings = ClockSettings(
        decision_ms=arguments.clock,
        bank_ms=arguments.bank,
        increment_ms=arguments.increment,
        most_bank_ms=arguments.most_bank,
        startup_ms=arguments.startup,
        grace_ms=arguments.grace,
        forfeit_after=arguments.forfeit_after,
    )
    what, colon, bot = arguments.when_late.partition(":")
    if what == "bot":
        settings.when_late = WHEN_LATE_BOT
        if colon:
            settings.stand_in.CopyFrom(read_builtin(bot))
    elif what in _WHEN_LATE and not colon:
        settings.when_late = _WHEN_LATE[what]
    elif arguments.when_late:
        raise ClientError(f"--when-late {arguments.when_late!r}: it is finish, forfeit, bot or bot:NAME")
    return settings


_WHEN_LATE = {"finish": WHEN_LATE_FINISH_TURN, "forfeit": WHEN_LATE_FORFEIT}


def clock_text(clock: ClockSettings) -> str:
    """`10 s a decision, bank 60 s + 2 s a turn; late: easy plays`."""
    forfeit = f"{clock.forfeit_after} finished turns forfeit" if clock.forfeit_after else "no finished turn forfeits"
    if clock.untimed:
        return f"none; {forfeit}"
    times = [f"{_seconds(clock.decision_ms)} a decision"]
    if clock.bank_ms or clock.increment_ms:
        times.append(f"bank {_seconds(clock.bank_ms)} + {_seconds(clock.increment_ms)} a turn")
    if clock.startup_ms:
        times.append(f"{_seconds(clock.startup_ms)} more at first")
    if clock.grace_ms:
        times.append(f"{_seconds(clock.grace_ms)} for a lost connection")
    late = {WHEN_LATE_BOT: f"{clock.stand_in.name} plays", WHEN_LATE_FORFEIT: "the seat forfeits"}
    return f"{', '.join(times)}; late: {late.get(clock.when_late, 'the clock finishes the turn')}; {forfeit}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g} s"
