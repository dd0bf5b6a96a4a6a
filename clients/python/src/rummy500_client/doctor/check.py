"""One check of an examination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Finding


@dataclass(frozen=True)
class Check:
    """`examine` may raise Ailing. `needs` names a check without which this one says nothing; one `of_process` is about
    the bot's process, which must have been started here."""

    name: str
    what: str
    examine: Callable[[Examination], Finding]
    needs: str = ""
    of_process: bool = False
