"""What the journal keeps of a match."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from rummy500_server.match_plan import MatchSpec
from rummy500_server.results import Termination


class MatchState(Enum):
    """The names are those of the contract."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Report:
    """What was reported about a bot's program. `seating` None: about all of them. `last_sent`: its last decision."""

    bot: str
    kind: Termination
    stderr_tail: str
    exit_code: int | None = None
    seating: int | None = None
    is_restarted: bool = False
    last_sent: str = ""


@dataclass(slots=True)
class MatchDocument:
    """What the journal keeps. `owner` is the digest of the owner's token, `digest` that of the full rules."""

    name: str
    owner: str
    spec: MatchSpec
    digest: str
    created_ms: int
    state: MatchState = MatchState.WAITING
    sentence: str = ""
    finished_ms: int = 0
    reports: list[Report] = field(default_factory=list)
    bots: tuple[str, ...] = ()
    """The digests of the tokens that its client made for connected bots."""
    run: str = ""
    """The run of its runner that attended it last."""
    is_held: bool = False
    """Its owner paused it: the same run does not make it go on."""
    strikes: dict[str, int] = field(default_factory=dict)
    """By bot the faults that count."""
    out: dict[str, Termination] = field(default_factory=dict)
    """The bots that are out, and why."""
    faults: dict[str, int] = field(default_factory=dict)
    """By record how often the server was at fault in that game."""
    again: int = 0
    """Games that were broken off to be played again."""

    @property
    def is_over(self) -> bool:
        return self.state in (MatchState.FINISHED, MatchState.CANCELLED, MatchState.FAILED)

    def to_json(self) -> bytes:
        values: dict[str, Any] = {
            "name": self.name,
            "owner": self.owner,
            "spec": self.spec.to_json(),
            "digest": self.digest,
            "created_ms": self.created_ms,
            "state": self.state.name,
            "sentence": self.sentence,
            "finished_ms": self.finished_ms,
            "reports": [{**asdict(report), "kind": report.kind.name} for report in self.reports],
            "bots": self.bots,
            "run": self.run,
            "is_held": self.is_held,
            "strikes": self.strikes,
            "out": {name: termination.name for name, termination in self.out.items()},
            "faults": self.faults,
            "again": self.again,
        }
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> MatchDocument:
        values = json.loads(text)
        reports = [Report(**{**report, "kind": Termination[report["kind"]]}) for report in values["reports"]]
        spec, state = MatchSpec.from_json(values["spec"]), MatchState[values["state"]]
        bots = tuple(values.get("bots", ()))
        out = {name: Termination[termination] for name, termination in values.get("out", {}).items()}
        return cls(**{**values, "spec": spec, "state": state, "reports": reports, "bots": bots, "out": out})
