"""A bot under examination: its process, the desk where it connects, and the server behind that."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rummy500.v1.play_service_pb2 import DecisionRefused, GameOver
from rummy500.v1.result_pb2 import TERMINATION_NORMAL, TERMINATION_ROUND_LIMIT
from rummy500.v1.rules_pb2 import Preset, RulesChoice
from rummy500.v1.rules_service_pb2 import ListPresetsRequest
from rummy500.v1.table_pb2 import BuiltinBot, ClockSettings
from rummy500.v1.table_service_pb2 import AddBotRequest, CloseTableRequest, CreateTableRequest, StartTableRequest
from rummy500_client.connection import Connection, new_secret
from rummy500_client.describe import termination_text
from rummy500_client.doctor.conversation import Conversation, Turn
from rummy500_client.doctor.desk import Desk
from rummy500_client.doctor.dialled import DialledPatient
from rummy500_client.doctor.finding import Ailing, fail
from rummy500_client.doctor.patient import Patient
from rummy500_client.errors import ClientError, ServerRefused
from rummy500_client.match_bots import BotSpec
from rummy500_client.notation import action_text
from rummy500_client.options import NAME, SERVER, TOKEN, environment_of
from rummy500_client.private_server import private_server

HANG_UP_SECONDS = 5.0
"""How long the end of its process may take to reach the desk."""
MOST_REFUSALS = 5
"""Refused answers at one table after which nothing better is waited for."""
_LEGAL = (
    "send what the request lists in view.legal_actions and nothing else; the refusal that comes with the next request "
    "says what was wrong"
)
_IN_TIME = "answer each decision request with a legal action before its deadline_unix_ms"


@dataclass
class Played:
    """A game as the bot played it. `over` None: it did not end in time."""

    table: str
    turns: list[Turn]
    refusals: list[DecisionRefused]
    over: GameOver | None
    seconds: float

    @property
    def actions(self) -> list[str]:
        """The first word of each thing that it did, in notation."""
        return [action_text(action).partition(" ")[0] for turn in self.turns for action in turn.decision.actions]

    @property
    def first(self) -> str:
        """Its first answer."""
        return ", ".join(action_text(action) for action in self.turns[0].decision.actions) if self.turns else "nothing"


@dataclass
class Examination:
    """Of the bot that was admitted last. `clock` is how long a decision may take and `patience` how long a check waits
    for something to happen, both in seconds; `memory_games` are played before its memory is looked at; with
    `shows_stderr` what the bot says there is shown. Use it in a `with`."""

    clock: float = 10.0
    patience: float = 30.0
    memory_games: int = 40
    shows_stderr: bool = False
    news: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.desk = Desk(self.news)
        self.name, self.token = "", ""
        self.patients: list[Patient | DialledPatient] = []
        self._spec: BotSpec | None = None
        self._admitted = 0
        self._server = contextlib.ExitStack()
        self._owner: Connection | None = None
        self._environment: dict[str, str] = {}
        self.presets: Sequence[Preset] = ()
        """What the server has."""
        self._directory = Path(tempfile.mkdtemp(prefix="rummy500-doctor-"))

    def __enter__(self) -> Examination:
        self.start_server()
        self.desk.open()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.dismiss()
        finally:
            self.desk.close()
            self.stop_server()
            shutil.rmtree(self._directory, ignore_errors=True)

    def admit(self, spec: BotSpec) -> None:
        """From now on that bot is examined, which is started or dialled from here."""
        self.dismiss()
        self._spec = spec
        self._admitted += 1
        self.name, self.token = f"examined-{self._admitted}", new_secret()

    def dismiss(self) -> None:
        """The bot is stopped, and what was seen of it forgotten."""
        for patient in self.patients:
            patient.stop()
        self.patients.clear()
        self.desk.is_scripted = False
        self.desk.forget()

    # --- the server

    def start_server(self) -> None:
        address = self._server.enter_context(private_server(database=str(self._directory / "games.db")))
        self._owner = self._server.enter_context(Connection(address, token=new_secret()))
        # On a busy machine a connection takes its time.
        listing = ListPresetsRequest(page_size=100)
        self.presets = self._owner.ask(self._owner.rules.ListPresets, listing, waits=True).presets
        self._environment = environment_of(self._owner)
        self.desk.upstream = address

    def stop_server(self) -> None:
        self._owner = None
        self._server.close()

    @property
    def owner(self) -> Connection:
        """The caller who makes the tables."""
        assert self._owner is not None
        return self._owner

    # --- the bot

    @property
    def patient(self) -> Patient | DialledPatient:
        """What was started last."""
        return self.patients[-1]

    @property
    def is_dialled(self) -> bool:
        """Whether the bot's process is not ours."""
        return self._spec is not None and self._spec.kind == "dial"

    @property
    def processes(self) -> list[Patient]:
        """The bot's processes so far; none of a bot that is dialled."""
        return [patient for patient in self.patients if isinstance(patient, Patient)]

    @property
    def conversation(self) -> Conversation | None:
        """The stream that is open."""
        return next((each for each in reversed(self.desk.conversations) if each.ended_at is None), None)

    def start_bot(self) -> None:
        """Starts it anew."""
        if self.patients:
            self.patient.stop()
            with self.news:
                self.news.wait_for(lambda: self.conversation is None, HANG_UP_SECONDS)
        try:
            self.patients.append(self._started())
        except ClientError as error:
            raise Ailing(fail(error.sentence, "is the command right, and may it be executed?")) from None

    def _started(self) -> Patient | DialledPatient:
        assert self._spec is not None
        if self.is_dialled:
            return DialledPatient(
                self._spec, self.desk.address, name=self.name, token=self.token, patience=self.patience
            )
        environment = self._environment | {SERVER: self.desk.address, TOKEN: self.token, NAME: self.name}
        return Patient(self._spec.command(), environment, shows_stderr=self.shows_stderr)

    def bot(self) -> Conversation:
        """The bot, connected to the real server; it is started when it does not run. Raises Ailing."""
        if self.desk.is_scripted or not self.patients or self.patient.exit_code is not None:
            self.desk.is_scripted = False
            self.start_bot()
        return self.connected_bot()

    def connected_bot(self) -> Conversation:
        """Raises Ailing when the bot does not connect."""
        self.wait(lambda: self._welcomed() is not None)
        found = self._welcomed()
        if found is None:
            raise self._stays_away(f"it was not connected after {self.patience:.0f} s")
        return found

    def _stays_away(self, what: str) -> Ailing:
        advice = f"connect to {SERVER}, open PlayService.Play, send Hello first, and keep the stream open"
        why = next((each.refused_as for each in reversed(self.desk.conversations) if each.refused_as), "")
        return Ailing(fail(f"{what}{f'; the server ended its stream: {why}' if why else ''}", advice))

    def _welcomed(self) -> Conversation | None:
        open_one = self.conversation
        return open_one if open_one is not None and open_one.welcome is not None else None

    def wait(self, is_so: Callable[[], object], seconds: float | None = None) -> bool:
        """Whether it came to be so in that time, else in the time of its patience. Raises Ailing when the bot ends."""
        until = time.monotonic() + (self.patience if seconds is None else seconds)
        with self.news:
            while not is_so():
                remaining = until - time.monotonic()
                if remaining <= 0:
                    return False
                if self.patients and self.patient.exit_code is not None:
                    break
                self.news.wait(min(remaining, 0.1))
            if is_so():
                return True
        raise Ailing(fail(self.patient.ended_text(), "keep the bot running until it is stopped, whatever it is sent"))

    # --- games

    def play(
        self,
        *,
        seats: int = 2,
        rules: RulesChoice | None = None,
        position: str = "",
        others: str = "easy",
        seed: bytes = b"",
    ) -> Played:
        """One game of the bot, in seat 0, against built-in bots. Raises Ailing."""
        return self.play_all([self.table(seats=seats, rules=rules, position=position, seed=seed)], others)[0]

    def table(
        self, *, seats: int = 2, rules: RulesChoice | None = None, position: str = "", seed: bytes = b""
    ) -> CreateTableRequest:
        clock = ClockSettings(decision_ms=round(self.clock * 1000))
        return CreateTableRequest(
            seats=0 if position else seats, rules=rules, position_json=position, clock=clock, seed=seed
        )

    def play_all(self, wanted: Sequence[CreateTableRequest], others: str = "easy") -> list[Played]:
        """Games at the same time, as many as the bot takes."""
        conversation = self.bot()
        assert conversation.welcome is not None
        most = max(1, conversation.welcome.max_concurrent_games)
        played: list[Played] = []
        for first in range(0, len(wanted), most):
            tables = [self.open_table(request, others) for request in wanted[first : first + most]]
            played += self.finish(tables)
        return played

    def open_table(self, request: CreateTableRequest, others: str) -> str:
        """The name of a table at which a game has begun."""
        tables, hello = self.owner.tables, self.connected_bot().hello
        assert hello is not None
        created = self.owner.ask(tables.CreateTable, request).table
        try:
            self.owner.ask(tables.AddBot, AddBotRequest(table=created.name, seat=0, connected=hello.name))
        except ServerRefused as refused:
            if refused.reason != "NO_SUCH_BOT":
                raise
            raise self._stays_away("it is not connected any more") from None
        for seat in range(1, len(created.seats)):
            self.owner.ask(tables.AddBot, AddBotRequest(table=created.name, seat=seat, builtin=BuiltinBot(name=others)))
        self.owner.ask(tables.StartTable, StartTableRequest(table=created.name))
        return created.name

    def finish(self, tables: Sequence[str]) -> list[Played]:
        """Waits until these games are over, or until it makes no sense any more."""
        began = time.monotonic()

        def is_settled() -> bool:
            return all(self._over(table) is not None or len(self._refusals(table)) >= MOST_REFUSALS for table in tables)

        try:
            self.wait(is_settled)
        finally:
            for table in tables:
                if self._over(table) is None:
                    with contextlib.suppress(ClientError):
                        self.owner.ask(self.owner.tables.CloseTable, CloseTableRequest(table=table))
        took = time.monotonic() - began
        return [Played(table, self._turns(table), self._refusals(table), self._over(table), took) for table in tables]

    def _over(self, table: str) -> GameOver | None:
        return next((each.over[table] for each in self.desk.conversations if table in each.over), None)

    def _turns(self, table: str) -> list[Turn]:
        return [turn for each in self.desk.conversations for turn in each.turns_at(table)]

    def _refusals(self, table: str) -> list[DecisionRefused]:
        """But for answers to what was answered before: those are a matter of their own."""
        again = {(said.table, said.sequence) for each in self.desk.conversations for said in each.unasked}
        return [
            refused
            for each in self.desk.conversations
            for refused in each.refusals
            if refused.table == table and (table, refused.sequence) not in again
        ]

    @property
    def turns(self) -> list[Turn]:
        """Every decision for a real server so far."""
        return [turn for each in self.real_conversations for turn in each.turns]

    @property
    def refusals(self) -> list[DecisionRefused]:
        return [refused for each in self.real_conversations for refused in each.refusals]

    @property
    def real_conversations(self) -> list[Conversation]:
        return [each for each in self.desk.conversations if not each.is_scripted]


def verify_played(played: Played) -> None:
    """Raises Ailing when the bot did not play that game as it should."""
    if played.refusals:
        refused = played.refusals[0]
        if refused.refusal.code == "STALE_SEQUENCE":
            raise Ailing(fail(f"an answer came too late: {refused.refusal.sentence}", _IN_TIME))
        answer = next((turn for turn in played.turns if turn.request.sequence == refused.sequence), None)
        said = "; ".join(map(action_text, answer.decision.actions)) if answer else "an answer"
        sentence = f"{said!r:.100} was refused: {refused.refusal.code}: {refused.refusal.sentence}"
        raise Ailing(fail(sentence, _LEGAL))
    if played.over is None:
        told = f"the game was not over after {played.seconds:.0f} s, {len(played.turns)} decisions were made"
        raise Ailing(fail(told, _IN_TIME))
    if played.over.result.termination not in (TERMINATION_NORMAL, TERMINATION_ROUND_LIMIT):
        result = played.over.result
        told = f"the game ended as {termination_text(result.termination)}: {result.sentence}"
        raise Ailing(fail(told, _IN_TIME))


def choice(preset: str = "", variants: Sequence[str] = (), options: Mapping[str, str] | None = None) -> RulesChoice:
    """Rules of a table that is over after one round."""
    made = RulesChoice(preset=preset, variants=variants)
    for name, value in {"max_rounds": "1", **(options or {})}.items():
        made.options.add(name=name, value=value)
    return made
