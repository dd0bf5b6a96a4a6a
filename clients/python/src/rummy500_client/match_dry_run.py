"""What a match comes to, before it is begun: its games, who plays in how many of them, and by which terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rummy500.v1.match_pb2 import MATCH_UNIT_GAME, MatchPlan, MatchSchedule
from rummy500.v1.match_service_pb2 import PlanMatchRequest, PlanMatchResponse
from rummy500_client.clock_options import clock_text
from rummy500_client.connection import Connection
from rummy500_client.match_bots import BotSpec, match_bot
from rummy500_client.screen import table_text


def ask_plan(connection: Connection, specs: Sequence[BotSpec], plan: MatchPlan) -> PlanMatchResponse:
    """What the server makes of the plan with these bots. Raises ServerRefused."""
    asked = MatchPlan()
    asked.CopyFrom(plan)
    asked.bots.extend(map(match_bot, specs))
    return connection.ask(connection.matches.PlanMatch, PlanMatchRequest(plan=asked))


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
    yield f"clock: {clock_text(plan.clock)}"
    yield f"{plan.concurrency} tables at a time"
    rows = [
        [spec.name, f"{spec.kind}:{spec.what}", str(own.count), str(own.count) if spec.is_started_here else "-"]
        for spec, own in zip(specs, planned.bots, strict=True)
    ]
    yield from table_text(["bot", "what plays", "seatings of a deal", "processes"], rows)
