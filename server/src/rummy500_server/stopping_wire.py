"""The stopping rule of a match on the wire, and what it says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rummy500.v1 import match_pb2
from rummy500_arena.statistics import MatchStatistics
from rummy500_arena.stopping import StoppingRule, Verdict
from rummy500_server.status import bad_request

USUAL_ERROR = 0.05
WIDEST = 10_000
_VERDICT = {each: match_pb2.StoppingVerdict.Value(f"STOPPING_VERDICT_{each.name}") for each in Verdict}


def read_stopping(message: match_pb2.StoppingRule, names: Sequence[str]) -> StoppingRule:
    """Raises Failure BAD_REQUEST, naming the field."""
    bot, other = (
        _read_bot(name, names, f"plan.stopping.{field}", usual=usual)
        for usual, (field, name) in enumerate((("bot", message.bot), ("other", message.other)))
    )
    if bot == other:
        raise bad_request("plan.stopping.other", f"{names[other]!r} is both bots: name two")
    for field in ("difference0", "difference1"):
        value = getattr(message, field)
        if not math.isfinite(value) or abs(value) > WIDEST:
            raise bad_request(f"plan.stopping.{field}", f"{value}: it is -{WIDEST} to {WIDEST} points a round")
    if message.difference0 == message.difference1:
        raise bad_request("plan.stopping.difference1", f"{message.difference1:g}: it must differ from difference0")
    for field in ("alpha", "beta"):
        value = getattr(message, field)
        if not 0 <= value < 0.5:
            raise bad_request(f"plan.stopping.{field}", f"{value}: it is more than 0 and less than 0.5")
    return StoppingRule(
        message.difference0,
        message.difference1,
        alpha=message.alpha or USUAL_ERROR,
        beta=message.beta or USUAL_ERROR,
        bot=bot,
        other=other,
    )


def _read_bot(name: str, names: Sequence[str], field: str, *, usual: int) -> int:
    if not name:
        return usual
    if name not in names:
        raise bad_request(field, f"{name!r}: the bots are {', '.join(names)}")
    return names.index(name)


def stopping_message(rule: StoppingRule, names: Sequence[str]) -> match_pb2.StoppingRule:
    return match_pb2.StoppingRule(
        bot=names[rule.bot],
        other=names[rule.other],
        difference0=rule.difference0,
        difference1=rule.difference1,
        alpha=rule.alpha,
        beta=rule.beta,
    )


def state_message(rule: StoppingRule, statistics: MatchStatistics, *, deals: int) -> match_pb2.StoppingState:
    tested = statistics.tested
    return match_pb2.StoppingState(
        ratio=rule.ratio(tested),
        lower=rule.lower,
        upper=rule.upper,
        deals=tested.count,
        verdict=_VERDICT[statistics.verdict],
        is_stopped_early=statistics.is_stopped and statistics.next_deal < deals,
    )


def verdict_sentence(rule: StoppingRule, statistics: MatchStatistics, names: Sequence[str], *, deals: int) -> str:
    """What a match that is over says about its rule."""
    between = f"{names[rule.bot]} less {names[rule.other]}"
    found = {Verdict.DIFFERENCE0: rule.difference0, Verdict.DIFFERENCE1: rule.difference1}.get(statistics.verdict)
    if found is None:
        return (
            f"all {deals} deals were played, and whether {between} is {rule.difference0:g} or {rule.difference1:g} "
            "points a round is undecided"
        )
    against = rule.difference1 if found == rule.difference0 else rule.difference0
    verdict = (
        f"{between} is {found:g} points a round rather than {against:g} (alpha {rule.alpha:g}, beta {rule.beta:g})"
    )
    if statistics.next_deal == deals:
        return f"after all {deals} deals: {verdict}"
    return (
        f"stopped early after {statistics.next_deal} of {deals} deals: {verdict}; the intervals are biased, "
        "for they are those of a match whose length was fixed"
    )
