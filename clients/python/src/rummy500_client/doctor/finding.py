"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a check came out. SKIP: it could not be made, or means nothing for this bot."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True)
class Finding:
    """`seen` is what was seen, `advice` what to do about it; that of a check that went well is empty."""

    verdict: Verdict
    seen: str
    advice: str = ""


def ok(seen: str) -> Finding:
    return Finding(Verdict.OK, seen)


def warn(seen: str, advice: str) -> Finding:
    return Finding(Verdict.WARN, seen, advice)


def fail(seen: str, advice: str) -> Finding:
    return Finding(Verdict.FAIL, seen, advice)


def skip(seen: str) -> Finding:
    return Finding(Verdict.SKIP, seen)


class Ailing(Exception):
    """The check cannot go on, and that is its finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.seen)
        self.finding = finding
