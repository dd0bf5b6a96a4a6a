"""What a match comes to, before it is begun: its games, who plays in how many of them, by which terms, and about how
long they will take."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rummy500.v1.match_pb2 import (
    MATCH_STATE_FINISHED,
    MATCH_STATE_RUNNING,
    MATCH_STATE_WAITING,
    MATCH_UNIT_GAME,
    Match,
    MatchPlan,
    MatchSchedule,
)
from rummy500.v1.match_service_pb2 import PlanMatchRequest, PlanMatchResponse
from rummy500_client.clock_options import clock_text
from rummy500_client.connection import Connection
from rummy500_client.errors import ServerRefused
from rummy500_client.match_bots import BotSpec, match_bot
from rummy500_client.match_folder import MatchFolder, RunnerState
from rummy500_client.match_run import MatchRunner
from rummy500_client.match_view import duration_text
from rummy500_client.screen import table_text

TRIAL_SECONDS = 10.0
GAMES_A_TABLE = 50
"""Of the trial, so that all tables are busy and a rate can be seen; slow bots do not come so far."""


def ask_plan(connection: Connection, specs: Sequence[BotSpec], plan: MatchPlan) -> PlanMatchResponse:
    """What the server makes of the plan with these bots. Raises NotBegun, or ServerUnreachable."""
    asked = MatchPlan()
    asked.CopyFrom(plan)
    asked.bots.extend(map(match_bot, specs))
    try:
        return connection.ask(connection.matches.PlanMatch, PlanMatchRequest(plan=asked))
    except ServerRefused as refused:
        raise refused.before_the_beginning() from None


def schedule_text(plan: MatchPlan) -> str:
    return MatchSchedule.Name(plan.schedule).removeprefix("MATCH_SCHEDULE_").lower().replace("_", " ")


def plan_lines(planned: PlanMatchResponse, specs: Sequence[BotSpec]) -> Iterator[str]:
    plan = planned.plan
    unit = "games to the target" if plan.unit == MATCH_UNIT_GAME else "rounds"
    yield f"{plan.deals} deals, each in {planned.seatings} seatings: {planned.games} {unit}"
    if len(specs) > plan.players:
        yield f"{schedule_text(plan)}: {len(specs)} bots, {plan.players} at a table"
    if planned.is_paired:
        yield "paired: all seatings of a deal share its packs"
    else:
        yield "UNPAIRED: each seating has packs of its own, so that luck counts for more"
    chosen = [*plan.rules.variants, *(f"{option.name}={option.value}" for option in plan.rules.options)]
    yield f"rules: {' '.join([plan.rules.preset or 'the default preset', *chosen])}"
    if plan.HasField("stopping"):
        rule = plan.stopping
        between = f"{rule.bot} less {rule.other} is {rule.difference1:+g} or {rule.difference0:+g} points a round"
        yield f"it may end early, when it is decided whether {between} (error rates {rule.alpha:g} and {rule.beta:g})"
    yield f"clock: {clock_text(plan.clock)}"
    yield f"{plan.concurrency} tables at a time"
    rows = [
        [spec.name, f"{spec.kind}:{spec.what}", str(own.count), str(own.count) if spec.is_started_here else "-"]
        for spec, own in zip(specs, planned.bots, strict=True)
    ]
    yield from table_text(["bot", "what plays", "seatings of a deal", "processes"], rows)


class TrialOver(Exception):
    """It has taken long enough."""


class Trial:
    """How fast the games of a match come to their ends, seen from a few of them; what bots do wrong is kept. The view
    of a runner."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.match = Match()
        self._began = time.monotonic()
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def play(self, connection: Connection, specs: Sequence[BotSpec], planned: PlanMatchResponse) -> None:
        """Plays so many deals that every table has games to play. Raises ClientError."""
        plan = MatchPlan()
        plan.CopyFrom(planned.plan)
        for field in ("bots", "stopping"):
            plan.ClearField(field)
        plan.deals = min(plan.deals, max(1, -(-GAMES_A_TABLE * plan.concurrency // planned.seatings)))
        with (
            tempfile.TemporaryDirectory(prefix="rummy500-") as directory,
            MatchFolder(Path(directory), "trial") as folder,
            MatchRunner(connection, specs, self, folder) as runner,
            contextlib.suppress(TrialOver),
        ):
            runner.run(plan, RunnerState({}))

    def show(self, match: Match) -> None:
        now = time.monotonic()
        self.match = match
        if match.state != MATCH_STATE_WAITING:
            self._first = self._first or (now, match.games_finished)
            self._last = now, match.games_finished
        if now - self._began > TRIAL_SECONDS:
            raise TrialOver

    def tell(self, sentence: str) -> None:
        self.told.append(sentence)

    def close(self) -> None:
        pass

    @property
    def has_failed(self) -> bool:
        return self.match.state not in (MATCH_STATE_WAITING, MATCH_STATE_RUNNING, MATCH_STATE_FINISHED)

    def lines(self, games: int) -> Iterator[str]:
        """About how long so many games will take, and what went wrong."""
        began, first = self._first or (0.0, 0)
        ended, last = self._last
        if last > first and ended > began:
            seconds = games * (ended - began) / (last - first)
            yield f"about {duration_text(seconds)}: {last - first} games of a trial took {ended - began:.1f} s"
        else:
            yield f"no telling how long: no game of a trial was over after {TRIAL_SECONDS:.0f} s"
        yield from (f"in the trial: {sentence}" for sentence in self.told)
        if self.match.sentence:
            yield f"in the trial: {self.match.sentence}"
