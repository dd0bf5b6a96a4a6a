"""One person, or one script, at one seat: what is typed goes to the server, what happens is shown."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

import grpc

from rummy500.v1.action_pb2 import Action
from rummy500.v1.event_pb2 import Event
from rummy500.v1.play_service_pb2 import (
    ACT_STOP_REVEALED,
    ACT_STOP_TURN_ENDED,
    ActRequest,
    ActResponse,
    GameOver,
    WatchResponse,
)
from rummy500.v1.table_service_pb2 import LeaveTableRequest
from rummy500.v1.view_pb2 import PHASE_CALL, View
from rummy500_client.backoff import Backoff
from rummy500_client.connection import Connection, new_secret
from rummy500_client.displays import Display
from rummy500_client.errors import ClientError, ServerRefused
from rummy500_client.fair import DealCheck
from rummy500_client.typed import Aside, Wanted, read_input, read_json_line, read_line, slip
from rummy500_client.watching import ConnectionBack, ConnectionLost, Seen, TypedLine, WatchEnded, Watcher

ATTEMPTS, ACT_SECONDS = 5, 15.0
"""How often an action is sent when the connection breaks, and how long an answer is waited for."""
WARNED_BEFORE = 10.0
"""Seconds before the end of a decision's time at which the player is warned; less when it has little time at all."""
_STOPS = {
    ACT_STOP_REVEALED: "something new was revealed before the rest: look and go on",
    ACT_STOP_TURN_ENDED: "the turn ended before the rest",
}


class Left(Exception):
    """The person left the seat's game, to come back later."""


class Session:
    """Plays the seat that `secret` holds. What happened up to event number `past` is not shown again. `check` is this
    table's. `hint` says what the seat might do, when it has to decide."""

    def __init__(
        self,
        connection: Connection,
        table: str,
        *,
        secret: str,
        display: Display,
        check: DealCheck,
        past: int = 0,
        is_json: bool = False,
        hint: Callable[[View], str] | None = None,
    ) -> None:
        self._connection = connection
        self._table = table
        self._secret = secret
        self._display = display
        self._check = check
        self._past = past
        self._is_json = is_json
        self._hint = hint
        self._read = read_json_line if is_json else read_line
        # A person is answered at once; the lines of a script wait until its seat is asked.
        self._lines_wait = not is_json and not sys.stdin.isatty()
        self._seen: SimpleQueue[Seen] = SimpleQueue()
        self._lines: deque[str] = deque()
        self._has_input = True
        self._view = View()
        self._awaited = 0
        self._asked = False
        self._over: GameOver | None = None
        self._deadline = self._warned_before = 0.0
        self._is_warned = False

    def run(self) -> GameOver:
        """Returns when the game is over. Raises Left, ClientError, KeyboardInterrupt."""
        watcher = Watcher(self._connection, self._table, self._seen, token=self._secret)
        watcher.start()
        read_input(self._seen)
        try:
            while self._over is None:
                try:
                    self._take(self._seen.get(timeout=self._seconds_to_warning))
                except Empty:
                    self._warn()
                self._do_lines()
                self._ask()
            return self._over
        finally:
            watcher.stop()

    def _take(self, seen: Seen) -> None:
        match seen:
            case TypedLine(None):
                self._has_input = False
            case TypedLine(str() as text):
                self._lines.append(text)
            case ConnectionLost(sentence):
                self._display.note(f"{sentence}; trying again")
            case ConnectionBack():
                self._display.note("connected again")
                self._asked = False
            case WatchEnded(refused):
                raise refused
            case WatchResponse():
                self._show(seen)

    def _show(self, response: WatchResponse) -> None:
        match response.WhichOneof("kind"):
            case "snapshot":
                self._look(response.snapshot)
            case "events":
                for event in response.events.events:
                    self._happened(event)
                if response.events.HasField("view"):
                    self._look(response.events.view)
            case "game_over":
                self._over = response.game_over
                self._display.over(response.game_over.result)
            case _:
                pass

    def _happened(self, event: Event) -> None:
        checked = self._check.see(event)
        if event.sequence <= self._past:
            self._display.remember(event)
            return
        if not event.HasField("game_won"):  # the end is told by GameOver
            self._display.event(event)
        if checked is not None:
            self._display.deal_checked(checked)

    def _look(self, view: View) -> None:
        moved = view.sequence != self._view.sequence or view.legal_actions != self._view.legal_actions
        self._view = view
        self._asked = self._asked and not moved
        if moved:
            self._see_clock(view)

    @property
    def _must_decide(self) -> bool:
        legal = self._view.legal_actions
        is_listed = legal.can_draw or legal.can_pass or legal.takes or legal.melds or legal.lay_offs
        return bool(is_listed or legal.discards or legal.calls or legal.others)

    def _ask(self) -> None:
        if self._over is None and not self._asked and self._is_settled and self._must_decide:
            self._asked = True
            if self._hint is not None:
                self._display.note(self._hint(self._view))
            self._display.decision(self._view)

    # --- the clock

    @property
    def _seconds_to_warning(self) -> float | None:
        """None: there is nothing to warn of."""
        if not self._asked or self._is_warned or not self._deadline:
            return None
        return max(0.0, self._deadline - self._warned_before - time.monotonic())

    def _warn(self) -> None:
        self._is_warned = True
        self._display.time_left(self._deadline - time.monotonic())

    def _see_clock(self, view: View) -> None:
        """The time that is left runs from now on; another decision has its own warning."""
        left = view.clock.time_left_ms / 1000
        self._deadline = time.monotonic() + left if left else 0.0
        self._warned_before = min(WARNED_BEFORE, left / 4)
        self._is_warned = False

    @property
    def _is_settled(self) -> bool:
        """Whether the view shows what the last own action did."""
        return self._view.sequence >= self._awaited

    def _do_lines(self) -> None:
        while self._lines and self._over is None and self._is_ready_for(self._lines[0]):
            self._ask()
            text = self._lines.popleft()
            self._display.typed()
            try:
                self._do(text)
            except ServerRefused as refused:
                self._asked = False
                self._display.refused(refused.reason, refused.sentence)
            except ClientError as error:
                self._asked = False
                self._display.refused("", error.sentence)
        if not self._has_input and not self._lines:
            raise Left

    def _is_ready_for(self, text: str) -> bool:
        """An action waits until the last one is seen; a script's lines wait for its turn, but for the last word."""
        try:
            wanted = self._read(text)
        except ClientError:
            return True
        if wanted == Aside("quit"):
            return True
        if self._lines_wait:
            return self._is_settled and self._must_decide
        return self._is_settled or not isinstance(wanted, Wanted)

    def _do(self, text: str) -> None:
        match self._read(text):
            case Aside("quit"):
                raise Left
            case Aside(name):
                self._aside(name)
            case Wanted(actions):
                self._find_slips(actions)
                self._act([Action(text=action) for action in actions])
            case None:
                pass

    def _find_slips(self, actions: Sequence[str]) -> None:
        """Raises ClientError for what a person cannot have meant; a script is answered by the server."""
        others = [part.text.partition(" ")[0] for part in self._view.legal_actions.others]
        slips = [] if self._is_json else [told for action in actions if (told := slip(action, others))]
        if slips:
            raise ClientError(slips[0])

    def _aside(self, name: str) -> None:
        match name:
            case "legal":
                self._display.legal(self._view)
            case "scores":
                self._display.scores()
            case "hand":
                self._display.hand(self._view)
            case "view":
                self._display.view(self._view)
            case "resign":
                request = LeaveTableRequest(table=self._table)
                self._connection.ask(self._connection.tables.LeaveTable, request, token=self._secret)
            case _:
                self._display.help()
        self._asked = False

    def _act(self, actions: list[Action]) -> None:
        request = ActRequest(table=self._table, actions=actions, request_id=new_secret())
        if self._must_decide:
            request.expected_sequence = self._view.sequence
        request.with_view = self._view.phase == PHASE_CALL
        response = self._send(request)
        self._awaited = response.sequence
        self._asked = False
        if response.HasField("view") and response.sequence == self._view.sequence:
            self._look(response.view)  # an answer in a call window is no event: nothing else tells that it was given
        if response.HasField("refusal"):
            self._display.refused(response.refusal.code, response.refusal.sentence)
        elif response.stop in _STOPS:
            self._display.note(_STOPS[response.stop])

    def _send(self, request: ActRequest) -> ActResponse:
        """Sends it again when the connection breaks: its request_id makes that safe."""
        act, wait, attempts = self._connection.plays.Act, Backoff(), ATTEMPTS
        while True:
            attempts -= 1
            try:
                return self._connection.ask(act, request, token=self._secret, timeout=ACT_SECONDS, waits=True)
            except ServerRefused as refused:
                if not attempts or not (refused.is_lost or refused.code is grpc.StatusCode.UNAVAILABLE):
                    raise
                wait.at_least(refused.details.retry_after or 0.0)
                time.sleep(wait.next_seconds())
