"""Runs scenarios against a server: a table at the position, steps by Act, and what must hold in the seats' views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import grpc

from rummy500.v1.action_pb2 import Action
from rummy500.v1.event_pb2 import Event
from rummy500.v1.play_service_pb2 import ActRequest, WatchRequest
from rummy500.v1.rules_service_pb2 import ListPresetsRequest, ListVariantsRequest
from rummy500.v1.table_pb2 import ClockSettings
from rummy500.v1.table_service_pb2 import (
    CloseTableRequest,
    CreateTableRequest,
    CreateTableResponse,
    JoinTableRequest,
    StartTableRequest,
)
from rummy500.v1.view_pb2 import View
from rummy500_client.connection import Connection, new_secret
from rummy500_client.describe import phase_text
from rummy500_client.errors import ServerRefused
from rummy500_client.scenario_compare import Differs, Seen, expect, is_listed, verify_then
from rummy500_client.scenario_file import NotAScenario, Scenario, Step

CLOCK = ClockSettings(decision_ms=600_000)


@dataclass(frozen=True)
class Outcome:
    """How a scenario went: `difference` is the first thing that does not hold, `missing` why it could not be run."""

    scenario: Scenario
    difference: str = ""
    missing: str = ""


class Runner:
    """Runs scenarios one after the other; each makes a table of its own and closes it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        variants = connection.ask(connection.rules.ListVariants, ListVariantsRequest(page_size=100)).variants
        presets = connection.ask(connection.rules.ListPresets, ListPresetsRequest(page_size=100)).presets
        self._variants = {variant.name for variant in variants if not variant.problem}
        self._presets = {preset.name: preset for preset in presets}

    def run(self, scenario: Scenario) -> Outcome:
        """Raises ServerRefused when the server fails, NotAScenario when it cannot read the position."""
        missing = self._missing(scenario)
        if missing:
            return Outcome(scenario, missing=missing)
        try:
            if scenario.table is not None:
                self._run_table(scenario)
            else:
                self._run_steps(scenario)
        except Differs as differs:
            return Outcome(scenario, difference=str(differs))
        return Outcome(scenario)

    def _missing(self, scenario: Scenario) -> str:
        """What the scenario needs that is not installed on the server."""
        lacking = sorted(set(scenario.rules.variants) - self._variants)
        if lacking:
            return f"needs the variant {', '.join(lacking)}"
        wanted = scenario.rules.preset
        preset = self._presets.get(wanted)
        if wanted and preset is None:
            return f"needs the preset {wanted}"
        if preset is not None and not preset.available:
            return f"needs {', '.join(preset.missing_distributions) or preset.problem} for the preset {wanted}"
        return ""

    def _run_table(self, scenario: Scenario) -> None:
        assert scenario.table is not None
        # The last seat deals first, so the players sit down with the dealer in it.
        first = scenario.players.index(scenario.dealer) + 1
        players = [*scenario.players[first:], *scenario.players[:first]]
        request = CreateTableRequest(seats=len(players), rules=scenario.rules, clock=CLOCK)
        try:
            created = self._connection.ask(self._connection.tables.CreateTable, request)
        except ServerRefused as refused:
            if refused.reason != "RULES_REFUSED":
                raise
            if scenario.table["result"] != "refused":
                raise Differs(f"table.result: wanted ok, got refused ({refused.sentence})") from None
            return
        table = _Table(self._connection, created, players)
        try:
            expect("table.result", scenario.table["result"], "ok")
            table.sit_down()
            view = table.view(0)
            found: dict[str, object] = {
                "hand_sizes": dict(zip(players, view.hand_counts, strict=True)),
                "discards_count": len(view.discards),
                "stock_count": view.stock_count,
                "turn": players[view.turn],
                "phase": phase_text(view),
            }
            for field, wanted in scenario.table.items():
                if field != "result":
                    expect(f"table.{field}", wanted, found.get(field))
        finally:
            table.close()

    def _run_steps(self, scenario: Scenario) -> None:
        request = CreateTableRequest(position_json=scenario.json, clock=CLOCK)
        try:
            created = self._connection.ask(self._connection.tables.CreateTable, request)
        except ServerRefused as refused:
            if refused.code is grpc.StatusCode.INVALID_ARGUMENT:
                raise NotAScenario(f"scenario {scenario.id}: {refused.sentence}") from None
            raise
        table = _Table(self._connection, created, scenario.players)
        try:
            table.sit_down()
            for index, step in enumerate(scenario.steps):
                table.step(f"steps[{index}] ({step.player}: {step.action})", step)
                if step.then:
                    verify_then(f"steps[{index}].then", step.then, table.seen())
            if scenario.then:
                verify_then("then", scenario.then, table.seen())
        finally:
            table.close()


class _Table:
    """A table with every seat in our hands."""

    def __init__(self, connection: Connection, created: CreateTableResponse, players: Sequence[str]) -> None:
        self._connection = connection
        self._name = created.table.name
        self._players = players
        self._secrets = [new_secret() for _ in players]

    def sit_down(self) -> None:
        tables = self._connection.tables
        for seat, (name, secret) in enumerate(zip(self._players, self._secrets, strict=True)):
            request = JoinTableRequest(table=self._name, seat=seat, name=name, seat_secret=secret)
            self._connection.ask(tables.JoinTable, request)
        self._connection.ask(tables.StartTable, StartTableRequest(table=self._name))

    def close(self) -> None:
        """Gives the table up. One that is over needs no closing, and then the server says so."""
        try:
            self._connection.ask(self._connection.tables.CloseTable, CloseTableRequest(table=self._name))
        except ServerRefused as refused:
            if refused.reason != "WRONG_TABLE_STATE":
                raise

    def step(self, where: str, step: Step) -> None:
        seat = self._players.index(step.player)
        listed = is_listed(step.action, self.view(seat))
        request = ActRequest(table=self._name, actions=[Action(text=step.action)])
        result, why = "ok", ""
        try:
            self._connection.ask(self._connection.plays.Act, request, token=self._secrets[seat])
        except ServerRefused as refused:
            if refused.code is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            result, why = refused.reason, f" ({refused.sentence})"
        if result not in step.results:
            raise Differs(f"{where}: wanted {' or '.join(step.results)}, got {result}{why}")
        if listed is not (result == "ok"):
            raise Differs(f"{where}: {result}, yet it {'stands' if listed else 'does not stand'} in the legal actions")

    def seen(self) -> Seen:
        return Seen(self._players, self.view, self._events())

    def view(self, seat: int) -> View:
        """What a seat sees now: the first answer of a new Watch."""
        request = WatchRequest(table=self._name)
        with self._connection.stream(self._connection.plays.Watch, request, token=self._secrets[seat]) as stream:
            for response in stream:
                if response.HasField("snapshot"):
                    return response.snapshot
        raise Differs(f"seat {seat} is shown no view")

    def _events(self) -> Sequence[Event]:
        request = WatchRequest(table=self._name, after_sequence=0)
        with self._connection.stream(self._connection.plays.Watch, request, token=self._secrets[0]) as stream:
            for response in stream:
                if response.HasField("events"):
                    return list(response.events.events)
        return ()
