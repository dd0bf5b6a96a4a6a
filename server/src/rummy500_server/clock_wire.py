"""A table's clock on the wire, and which settings contradict each other."""

from __future__ import annotations

from rummy500.v1 import table_pb2
from rummy500_bots import BotSpec
from rummy500_server.bot_wire import bot_message, read_bot
from rummy500_server.clock_terms import STAND_IN, ClockTerms, WhenLate
from rummy500_server.status import bad_request

LEAST_DECISION_MS, MOST_MS = 50, 86_400_000
MOST_FORFEIT_AFTER = 1_000
_EXTRA = ("bank_ms", "increment_ms", "startup_ms", "grace_ms")
_WHEN_LATE = {each: table_pb2.WhenLate.Value(f"WHEN_LATE_{each.name}") for each in WhenLate}
_READ_WHEN_LATE = {number: each for each, number in _WHEN_LATE.items()}


def clock_message(terms: ClockTerms) -> table_pb2.ClockSettings:
    """With every default filled in."""
    if terms.is_untimed:
        return table_pb2.ClockSettings(untimed=True, forfeit_after=terms.forfeit_after)
    message = table_pb2.ClockSettings(
        decision_ms=terms.decision_ms,
        bank_ms=terms.bank_ms,
        increment_ms=terms.increment_ms,
        startup_ms=terms.startup_ms,
        grace_ms=terms.grace_ms,
        when_late=_WHEN_LATE[terms.when_late],
        forfeit_after=terms.forfeit_after,
    )
    if terms.has_bank:
        message.most_bank_ms = terms.most_bank_ms
    if terms.stand_in:
        message.stand_in.CopyFrom(bot_message(BotSpec.read(terms.stand_in)))
    return message


def read_clock(message: table_pb2.ClockSettings, usual: ClockTerms, path: str) -> ClockTerms:
    """`usual` is what holds where nothing is said. Raises Failure, naming the field."""
    forfeit_after = message.forfeit_after if message.HasField("forfeit_after") else usual.forfeit_after
    if forfeit_after > MOST_FORFEIT_AFTER:
        raise bad_request(f"{path}.forfeit_after", f"{forfeit_after}: it is 0 to {MOST_FORFEIT_AFTER}, 0 for never")
    if message.untimed:
        return _untimed(message, forfeit_after, path)
    decision_ms = message.decision_ms or usual.decision_ms
    if not LEAST_DECISION_MS <= decision_ms <= MOST_MS:
        raise bad_request(f"{path}.decision_ms", f"{decision_ms}: it is {LEAST_DECISION_MS} to {MOST_MS}, or 0")
    given = {field.name: value for field, value in message.ListFields()}
    extra = {name: given.get(name, getattr(usual, name)) for name in _EXTRA}
    for name, value in extra.items():
        if value > MOST_MS:
            raise bad_request(f"{path}.{name}", f"{value}: at most {MOST_MS}")
    most_bank_ms = _read_most_bank(message, usual, path, bank_ms=extra["bank_ms"], increment_ms=extra["increment_ms"])
    when_late, stand_in = _read_when_late(message, usual, path)
    return ClockTerms(
        decision_ms=decision_ms,
        **extra,
        most_bank_ms=most_bank_ms,
        when_late=when_late,
        stand_in=stand_in,
        forfeit_after=forfeit_after,
    )


def _untimed(message: table_pb2.ClockSettings, forfeit_after: int, path: str) -> ClockTerms:
    told = [each.name for each, _ in message.ListFields() if each.name not in ("untimed", "forfeit_after")]
    if told:
        raise bad_request(f"{path}.untimed", f"without a clock there is no {told[0]}: leave one of the two out")
    return ClockTerms(decision_ms=0, forfeit_after=forfeit_after)


def _read_most_bank(
    message: table_pb2.ClockSettings, usual: ClockTerms, path: str, *, bank_ms: int, increment_ms: int
) -> int:
    field, is_given = f"{path}.most_bank_ms", message.HasField("most_bank_ms")
    if not bank_ms and not increment_ms:
        if is_given:
            raise bad_request(field, "there is no bank: set bank_ms or increment_ms, or leave it out")
        return usual.most_bank_ms
    if not is_given:
        return max(usual.most_bank_ms, bank_ms)
    if not bank_ms <= message.most_bank_ms <= MOST_MS:
        raise bad_request(field, f"{message.most_bank_ms}: it is bank_ms, {bank_ms}, to {MOST_MS}")
    return message.most_bank_ms


def _read_when_late(message: table_pb2.ClockSettings, usual: ClockTerms, path: str) -> tuple[WhenLate, str]:
    when_late = usual.when_late
    if message.when_late:
        if message.when_late not in _READ_WHEN_LATE:
            raise bad_request(f"{path}.when_late", f"{message.when_late} is none of {', '.join(map(_name, WhenLate))}")
        when_late = _READ_WHEN_LATE[message.when_late]
    if when_late is not WhenLate.BOT:
        if message.HasField("stand_in"):
            raise bad_request(f"{path}.stand_in", f"a bot stands in only where when_late is {_name(WhenLate.BOT)}")
        return when_late, ""
    if not message.HasField("stand_in"):
        return when_late, STAND_IN
    return when_late, str(read_bot(message.stand_in, f"{path}.stand_in"))


def _name(when_late: WhenLate) -> str:
    return f"WHEN_LATE_{when_late.name}"
