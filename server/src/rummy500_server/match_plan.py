"""What a match plays: as it is asked for, as the journal keeps it, and as the arena plans it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from rummy500.v1 import match_pb2, match_service_pb2, table_pb2
from rummy500_arena.plan import Plan, Schedule, Unit, secret_of_seed
from rummy500_arena.records import MatchPlace
from rummy500_arena.stopping import StoppingRule
from rummy500_bots import BotSpec
from rummy500_engine.fair import THE_TABLE, commitment
from rummy500_engine.rules import MAX_PLAYERS, MIN_PLAYERS
from rummy500_engine.shuffle import SEED_BYTES
from rummy500_server.bot_wire import bot_message, read_bot
from rummy500_server.clock_terms import ClockTerms, WhenLate
from rummy500_server.clock_wire import clock_message, read_clock
from rummy500_server.names import read_name
from rummy500_server.rules_wire import Choice, choice_message, read_choice
from rummy500_server.status import bad_request
from rummy500_server.stopping_wire import read_stopping, stopping_message

MOST_BOTS, MOST_DEALS, MOST_TABLES = 64, 1_000_000, 1_024
MOST_GAMES = 10_000_000
MOST_STREAMS = 1_024
"""Of a match's bots that are connected."""
USUAL_STRIKES, MOST_STRIKES = 3, 1_000
USUAL_ARRIVAL_MS, LEAST_ARRIVAL_MS, MOST_ARRIVAL_MS = 30_000, 1_000, 3_600_000
USUAL_TABLES, TABLES_OF_OUR_OWN = 16, 2
"""Tables that are played at the same time where the plan does not say; the second for the server's own bots, who wait
for nobody: more tables at a time would only make others wait."""

_UNIT = {
    match_pb2.MATCH_UNIT_UNSPECIFIED: Unit.DEAL,
    match_pb2.MATCH_UNIT_DEAL: Unit.DEAL,
    match_pb2.MATCH_UNIT_GAME: Unit.GAME,
}
_SCHEDULE = {
    match_pb2.MATCH_SCHEDULE_UNSPECIFIED: Schedule.ROUND_ROBIN,
    match_pb2.MATCH_SCHEDULE_ROUND_ROBIN: Schedule.ROUND_ROBIN,
    match_pb2.MATCH_SCHEDULE_GAUNTLET: Schedule.GAUNTLET,
    match_pb2.MATCH_SCHEDULE_POOL: Schedule.POOL,
}
_WIRE_SCHEDULE = {schedule: number for number, schedule in _SCHEDULE.items()}
_WIRE_UNIT = {Unit.DEAL: match_pb2.MATCH_UNIT_DEAL, Unit.GAME: match_pb2.MATCH_UNIT_GAME}


@dataclass(frozen=True, slots=True)
class MatchBot:
    """`builtin` or `connected`: the names of the streams that play it, one for all seatings or one for each in which
    it sits. `is_relayed`: what its relay says that it held is not charged."""

    name: str
    builtin: BotSpec | None = None
    connected: tuple[str, ...] = ()
    is_relayed: bool = False

    @property
    def sees_all_sides(self) -> bool:
        """Whether one stream plays it in more than one seating of a deal."""
        return len(self.connected) == 1


@dataclass(frozen=True)
class MatchSpec:
    """Every choice filled in, the server's too. All packs follow from `secret`: from `seed`, or drawn where that is
    None. `unpaired`: each seating of a deal has packs of its own, so that a bot that sees several of them learns
    nothing. `attended`, `strikes` (0: never) and `arrival_ms` as in the contract."""

    bots: tuple[MatchBot, ...]
    choice: Choice
    players: int
    deals: int
    unit: Unit
    seed: int | None
    secret: bytes
    concurrency: int
    clock: ClockTerms
    schedule: Schedule = Schedule.ROUND_ROBIN
    unpaired: bool = False
    attended: bool = False
    strikes: int = USUAL_STRIKES
    arrival_ms: int = USUAL_ARRIVAL_MS
    stopping: StoppingRule | None = None

    @cached_property
    def plan(self) -> Plan:
        return Plan(
            bots=len(self.bots),
            players=self.players,
            deals=self.deals,
            secret=self.secret,
            unit=self.unit,
            schedule=self.schedule,
            is_paired=self.is_paired,
        )

    @property
    def is_paired(self) -> bool:
        return not self.unpaired

    def connection(self, bot: int, seating: int) -> str:
        """The name of the stream that plays a bot in a seating; empty: the server does, or it does not sit there."""
        streams = self.bots[bot].connected
        return streams[0] if len(streams) == 1 else self._streams[bot].get(seating, "")

    @cached_property
    def _streams(self) -> list[dict[int, str]]:
        """By bot and seating, of the bots with many streams."""
        if not any(len(bot.connected) > 1 for bot in self.bots):
            return [{}] * len(self.bots)
        sits = self.plan.seatings_by_bot()
        return [dict(zip(own, bot.connected, strict=False)) for own, bot in zip(sits, self.bots, strict=True)]

    def committed_to(self, match: str) -> bytes:
        """The commitment to `secret`, made under the match's name; empty where somebody gave the seed."""
        return commitment(self.secret, match, THE_TABLE) if self.seed is None else b""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(bot.name for bot in self.bots)

    def place(self, deal: int, seating: int) -> MatchPlace:
        """What the record of that game says about the match."""
        planned = self.plan.game(deal * self.plan.seatings + seating)
        return MatchPlace(
            seed=self.seed,
            unit=self.unit.value,
            bots=self.names,
            pairing=planned.pairing,
            deal=planned.deal,
            rotation=planned.rotation,
            unpaired=self.unpaired,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "bots": [
                {
                    "name": bot.name,
                    "builtin": str(bot.builtin) if bot.builtin else "",
                    "connected": bot.connected,
                    "is_relayed": bot.is_relayed,
                }
                for bot in self.bots
            ],
            "choice": [self.choice.preset, self.choice.variants, dict(self.choice.options)],
            "players": self.players,
            "deals": self.deals,
            "unit": self.unit.value,
            "seed": self.seed,
            "secret": self.secret.hex(),
            "concurrency": self.concurrency,
            "clock": self.clock.to_json(),
            "schedule": self.schedule.value,
            "unpaired": self.unpaired,
            "attended": self.attended,
            "strikes": self.strikes,
            "arrival_ms": self.arrival_ms,
            "stopping": asdict(self.stopping) if self.stopping is not None else None,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> MatchSpec:
        preset, variants, options = values["choice"]
        bots = tuple(
            MatchBot(
                bot["name"],
                BotSpec.read(bot["builtin"]) if bot["builtin"] else None,
                tuple(bot["connected"]),
                bot.get("is_relayed", False),
            )
            for bot in values["bots"]
        )
        return cls(
            bots=bots,
            choice=Choice(preset, tuple(variants), options),
            players=values["players"],
            deals=values["deals"],
            unit=Unit(values["unit"]),
            seed=values["seed"],
            secret=bytes.fromhex(values["secret"]),
            concurrency=values["concurrency"],
            clock=ClockTerms.from_json(dict(values)),
            schedule=Schedule(values.get("schedule", Schedule.ROUND_ROBIN.value)),
            unpaired=values.get("unpaired", False),
            attended=values.get("attended", False),
            strikes=values.get("strikes", 0),
            arrival_ms=values.get("arrival_ms", USUAL_ARRIVAL_MS),
            stopping=StoppingRule(**values["stopping"]) if values.get("stopping") else None,
        )


def read_spec(message: match_pb2.MatchPlan, *, usual_clock: ClockTerms, may_be_nameless: bool = False) -> MatchSpec:
    """`may_be_nameless`: connected bots need not say yet by which streams. Raises Failure, naming the field."""
    if not 2 <= len(message.bots) <= MOST_BOTS:
        raise bad_request("plan.bots", f"{len(message.bots)}: a match has 2 to {MOST_BOTS} bots")
    players = message.players or len(message.bots)
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise bad_request("plan.players", f"{players}: a table has {MIN_PLAYERS} to {MAX_PLAYERS} seats")
    if players > len(message.bots):
        raise bad_request(
            "plan.players", f"{players} seats need {players} bots: one may be named twice, under two names"
        )
    if not 1 <= message.deals <= MOST_DEALS:
        raise bad_request("plan.deals", f"{message.deals}: it is 1 to {MOST_DEALS}")
    if message.concurrency > MOST_TABLES:
        raise bad_request("plan.concurrency", f"{message.concurrency}: it is 1 to {MOST_TABLES}, or 0")
    if message.unit not in _UNIT:
        raise bad_request("plan.unit", f"{message.unit} is none of MATCH_UNIT_DEAL and MATCH_UNIT_GAME")
    if message.schedule not in _SCHEDULE:
        known = ", ".join(f"MATCH_SCHEDULE_{each.name}" for each in Schedule)
        raise bad_request("plan.schedule", f"{message.schedule} is none of {known}")
    if message.strikes > MOST_STRIKES:
        raise bad_request("plan.strikes", f"{message.strikes}: it is 0 to {MOST_STRIKES}")
    if message.arrival_ms and not LEAST_ARRIVAL_MS <= message.arrival_ms <= MOST_ARRIVAL_MS:
        raise bad_request("plan.arrival_ms", f"{message.arrival_ms}: it is 1,000 to 3,600,000, or 0")
    bots = tuple(_read_bot(bot, f"plan.bots[{at}]") for at, bot in enumerate(message.bots))
    nameless = [at for at, bot in enumerate(bots) if bot.builtin is None and not bot.connected]
    if nameless and not may_be_nameless:
        path = f"plan.bots[{nameless[0]}].connected.names"
        raise bad_request(path, "name one stream, or one for each seating of a deal in which the bot sits")
    usual = TABLES_OF_OUR_OWN if all(bot.builtin for bot in bots) else USUAL_TABLES
    seed = message.seed if message.HasField("seed") else None
    spec = MatchSpec(
        bots=bots,
        choice=read_choice(message.rules, "plan.rules"),
        players=players,
        deals=message.deals,
        unit=_UNIT[message.unit],
        seed=seed,
        secret=secrets.token_bytes(SEED_BYTES) if seed is None else secret_of_seed(seed),
        concurrency=message.concurrency or usual,
        clock=_read_clock(message.clock, usual_clock),
        schedule=_SCHEDULE[message.schedule],
        unpaired=message.unpaired or any(bot.sees_all_sides for bot in bots),
        attended=message.attended,
        strikes=message.strikes if message.HasField("strikes") else USUAL_STRIKES,
        arrival_ms=message.arrival_ms or USUAL_ARRIVAL_MS,
        stopping=read_stopping(message.stopping, [bot.name for bot in bots]) if message.HasField("stopping") else None,
    )
    _verify_whole(spec)
    return spec


def _read_clock(message: table_pb2.ClockSettings, usual: ClockTerms) -> ClockTerms:
    """In a match a bot plays for itself, and a silent one holds up nobody for long."""
    if usual.when_late is WhenLate.BOT:
        usual = replace(usual, when_late=WhenLate.FINISH_TURN, stand_in="")
    clock = read_clock(message, usual, "plan.clock")
    if clock.is_untimed:
        raise bad_request("plan.clock.untimed", "must be false: a match has a clock, of up to 24 hours a decision")
    if clock.when_late is WhenLate.BOT:
        raise bad_request("plan.clock.when_late", "in a match no other bot plays for a bot that is late")
    return clock


def _read_bot(message: match_pb2.MatchBot, path: str) -> MatchBot:
    name = read_name(message.name, f"{path}.name")
    match message.WhichOneof("source"):
        case "builtin":
            return MatchBot(name, builtin=read_bot(message.builtin, f"{path}.builtin"))
        case "connected":
            names = tuple(
                read_name(stream, f"{path}.connected.names[{at}]") for at, stream in enumerate(message.connected.names)
            )
            return MatchBot(name, connected=names, is_relayed=message.connected.is_relayed)
        case None:
            raise bad_request(f"{path}.source", "set builtin or connected")


def _verify_whole(spec: MatchSpec) -> None:
    names: set[str] = set()
    streams: dict[str, int] = {}
    for at, bot in enumerate(spec.bots):
        if bot.name in names:
            raise bad_request(f"plan.bots[{at}].name", f"two bots are called {bot.name!r}")
        names.add(bot.name)
        path, sits = f"plan.bots[{at}].connected.names", spec.plan.seatings_with(at)
        if len(bot.connected) not in (0, 1, sits):
            raise bad_request(
                path,
                f"{len(bot.connected)}: it is 1, or one for each of the {sits} seatings of a deal in which it sits",
            )
        for stream in bot.connected:
            holder = streams.setdefault(stream, at)
            if holder != at:
                raise bad_request(path, f"{stream!r} plays for another bot of this match")
        if len(set(bot.connected)) < len(bot.connected):
            raise bad_request(
                path, "a stream is named twice: it would see two sides of one deal; name it alone instead"
            )
    if spec.plan.games > MOST_GAMES:
        raise bad_request("plan.deals", f"the plan comes to {spec.plan.games} games; it may be {MOST_GAMES}")


def planned_message(spec: MatchSpec, *, digest: str) -> match_service_pb2.PlanMatchResponse:
    """What a plan comes to."""
    plan = spec.plan
    counts = [plan.seatings_with(bot) for bot in range(plan.bots)]
    sits = plan.seatings_by_bot() if min(counts) <= MOST_STREAMS else [[] for _ in counts]
    return match_service_pb2.PlanMatchResponse(
        plan=spec_message(spec, with_seed=False),
        rules_digest=digest,
        seatings=plan.seatings,
        games=plan.games,
        is_paired=spec.is_paired,
        bots=[
            match_service_pb2.BotSeatings(count=count, seatings=own if count <= MOST_STREAMS else ())
            for count, own in zip(counts, sits, strict=True)
        ],
    )


def spec_message(spec: MatchSpec, *, with_seed: bool) -> match_pb2.MatchPlan:
    """The plan with every choice of the server filled in, and with the seed that was given, if it may be told: whoever
    knows it knows every pack."""
    message = match_pb2.MatchPlan(
        rules=choice_message(spec.choice),
        deals=spec.deals,
        unit=_WIRE_UNIT[spec.unit],
        players=spec.players,
        concurrency=spec.concurrency,
        schedule=_WIRE_SCHEDULE[spec.schedule],
        unpaired=spec.unpaired,
        clock=clock_message(spec.clock),
        attended=spec.attended,
        strikes=spec.strikes,
        arrival_ms=spec.arrival_ms,
    )
    if with_seed and spec.seed is not None:
        message.seed = spec.seed
    if spec.stopping is not None:
        message.stopping.CopyFrom(stopping_message(spec.stopping, spec.names))
    for bot in spec.bots:
        added = message.bots.add(name=bot.name)
        if bot.builtin is None:
            added.connected.names.extend(bot.connected)
            added.connected.is_relayed = bot.is_relayed
            continue
        added.builtin.CopyFrom(bot_message(bot.builtin))
    return message
