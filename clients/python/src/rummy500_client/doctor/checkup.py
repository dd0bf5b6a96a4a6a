"""All checks of a bot, in their order, and how they are gone through."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence

from rummy500_client.doctor.check import Check
from rummy500_client.doctor.checks_connection import CONNECTION_CHECKS
from rummy500_client.doctor.checks_play import play_checks
from rummy500_client.doctor.checks_process import PROCESS_CHECKS
from rummy500_client.doctor.checks_start import START_CHECKS
from rummy500_client.doctor.checks_wire import WIRE_CHECKS
from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Ailing, Finding, Verdict, skip
from rummy500_client.errors import ClientError


def all_checks(examination: Examination) -> list[Check]:
    return [*START_CHECKS, *play_checks(examination), *WIRE_CHECKS, *CONNECTION_CHECKS, *PROCESS_CHECKS]


def selected(checks: Sequence[Check], names: Collection[str]) -> list[Check]:
    """Those of these names, and of groups such as `preset`; all for none. Raises ClientError."""
    known = {check.name for check in checks} | {check.name.partition(":")[0] for check in checks}
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            meant = (
                f": did you mean {close[0]}?" if close else f"; there are {', '.join(check.name for check in checks)}"
            )
            raise ClientError(f"there is no check {name!r}{meant}")
    return [check for check in checks if not names or {check.name, check.name.partition(":")[0]} & set(names)]


def examine(examination: Examination, checks: Sequence[Check]) -> Iterator[tuple[Check, Finding]]:
    """Makes the checks one after the other. One whose need was looked at and did not hold is passed over."""
    failed: set[str] = set()
    for check in checks:
        if check.needs in failed:
            finding = skip(f"the check {check.needs} failed")
            failed.add(check.name)
        else:
            finding = _examine(examination, check)
            if finding.verdict is Verdict.FAIL:
                failed.add(check.name)
        yield check, finding


def _examine(examination: Examination, check: Check) -> Finding:
    if check.of_process and examination.is_dialled:
        return skip("a bot that is dialled has a process of its own")
    try:
        return check.examine(examination)
    except Ailing as ailing:
        return ailing.finding
    except ClientError as error:
        return skip(f"it could not be made: {error.sentence}")
