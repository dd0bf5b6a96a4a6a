"""Runs a match: makes it on the server or finds it again, starts the bots that belong here, and follows it."""

from __future__ import annotations

import contextlib
import secrets
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import grpc

from rummy500.v1.match_pb2 import (
    MATCH_STATE_FINISHED,
    MATCH_STATE_PAUSED,
    MATCH_STATE_RUNNING,
    MATCH_STATE_WAITING,
    BotReport,
    Match,
    MatchBot,
    MatchPlan,
)
from rummy500.v1.match_service_pb2 import (
    CreateMatchRequest,
    GetMatchRequest,
    GetRecordRequest,
    PauseMatchRequest,
    PlanMatchRequest,
    PlanMatchResponse,
    ReportBotRequest,
    WatchMatchRequest,
    WatchMatchResponse,
)
from rummy500.v1.result_pb2 import TERMINATION_CRASH, TERMINATION_START_FAILURE
from rummy500_client.backoff import Backoff
from rummy500_client.bot_dial import DialledBot
from rummy500_client.bot_process import BotGuard, BotProcess, Ended, stop_all
from rummy500_client.connection import Connection, Request, Response, Stream, new_secret
from rummy500_client.describe import termination_text
from rummy500_client.errors import ClientError, ServerRefused, ServerUnreachable
from rummy500_client.files import whole_file
from rummy500_client.match_bots import BotSpec, match_bot
from rummy500_client.match_folder import MatchFolder, RunnerState
from rummy500_client.match_view import MatchView
from rummy500_client.options import NAME, TOKEN, environment_of

PATIENCE = 60.0
"""Seconds to look for a server that is gone before the match is given up."""
PAUSE_SECONDS = 3.0
MOST_KEPT = 20
"""Processes of one bot that ended and of which a file is kept."""
_GOING_ON = (MATCH_STATE_WAITING, MATCH_STATE_RUNNING, MATCH_STATE_PAUSED)


class Interrupted:
    """Somebody wants it to stop: Ctrl-C."""


def resumable(refused: ServerRefused) -> ServerRefused:
    """The same; of a connection that was lost it says that the match is not."""
    if not refused.is_lost:
        return refused
    sentence = f"{refused.sentence}; the same command goes on with the match"
    return ServerUnreachable(refused.code, sentence, refused.details)


class MatchRunner:
    """Runs one match over `connection`, which `folder` remembers. Use it in a `with`: whatever it started is stopped at
    its end. A match that is not over then waits until it is run again."""

    def __init__(self, connection: Connection, specs: Sequence[BotSpec], view: MatchView, folder: MatchFolder) -> None:
        self._connection, self._specs, self._view, self._folder = connection, specs, view, folder
        self._processes: dict[str, BotProcess | DialledBot] = {}
        """By the name of their connection."""
        self._guard: BotGuard | None = None
        self._progress: dict[str, int] = {}
        """Games that were over when a process was started, by the name of its connection."""
        self._kept: Counter[str] = Counter()
        self._news: SimpleQueue[Match | Ended | ServerRefused | Interrupted] = SimpleQueue()
        self._is_closed = threading.Event()
        self._stream: Stream[WatchMatchResponse] | None = None
        self._told: set[str] = set()
        self._match = Match()
        self._state: RunnerState | None = None
        self._attending = new_secret()
        self.is_interrupted = False

    def __enter__(self) -> MatchRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        if self._stream is not None:
            self._stream.cancel()
        try:
            stop_all(list(self._processes.values()))
        finally:
            if self._guard is not None:
                self._guard.close()

    def run(self, plan: MatchPlan, state: RunnerState) -> Match:
        """Plays the plan, whose bots are filled in here, until it is over or paused. Raises ClientError."""
        self._state = state
        if not state.match:
            try:
                self._begin(plan, state)
            except ServerRefused as refused:
                raise refused.before_the_beginning() from None
        with self._interrupts():
            return self._follow(state)

    def _begin(self, plan: MatchPlan, state: RunnerState) -> None:
        if not state.connections:
            state.connections = self._names(self._planned(plan))
            state.tokens = {name: new_secret() for own in state.connections for name in own.values()}
        self._folder.keep(state)
        made = self._create(plan, state)
        state.match, state.commitment = made.name, made.commitment.hex()
        self._folder.keep(state)

    def _planned(self, plan: MatchPlan) -> PlanMatchResponse:
        """What the plan comes to, with the bots of this match. Raises ClientError."""
        request = PlanMatchRequest(plan=_with_bots(plan, map(match_bot, self._specs)))
        return self._ask(self._connection.matches.PlanMatch, request)

    def _names(self, planned: PlanMatchResponse) -> list[dict[int, str]]:
        """For each bot that is started here the name of each of its processes by seating: a random one, from which the
        process cannot tell which seating it plays. Raises ClientError."""
        names: list[dict[int, str]] = []
        for spec, own in zip(self._specs, planned.bots, strict=True):
            if spec.is_started_here and own.count > len(own.seatings):
                raise ClientError(
                    f"bot {spec.name} sits in {own.count} seatings of a deal, and would need a process for each: "
                    "choose fewer bots, fewer seats, or another schedule"
                )
            seatings = own.seatings if spec.is_started_here else ()
            names.append({seating: f"{spec.name}-{secrets.token_hex(5)}" for seating in seatings})
        return names

    def _create(self, plan: MatchPlan, state: RunnerState) -> Match:
        bots = [match_bot(spec, own.values()) for spec, own in zip(self._specs, state.connections, strict=True)]
        asked = _with_bots(plan, bots)
        asked.attended = True
        request = CreateMatchRequest(plan=asked, request_id=state.request_id, bot_secrets=state.tokens.values())
        return self._ask(self._connection.matches.CreateMatch, request).match

    def _ask(self, method: grpc.UnaryUnaryMultiCallable[Request, Response], request: Request) -> Response:
        """Asks again as long as no server is there: each of these questions may be asked twice. Raises ClientError."""
        wait = Backoff()
        while True:
            try:
                return self._connection.ask(method, request)
            except ServerRefused as refused:
                if not is_lost_for_now(refused, wait):
                    raise self._explained(refused) from None
                self._is_closed.wait(wait.next_seconds())

    def _follow(self, state: RunnerState) -> Match:
        follower = threading.Thread(target=self._watch, args=(state.match,), name=f"match {state.match}", daemon=True)
        follower.start()
        while True:
            match self._news.get():
                case Ended() as ended:
                    self._report(ended)
                case ServerRefused() as refused:
                    raise self._explained(refused)
                case Interrupted():
                    self._pause()
                case Match() as match:
                    self._match = match
                    self._view.show(match)
                    if not is_going_on(match):
                        self._tell_refused(match)
                        return match
                    if match.state == MATCH_STATE_PAUSED and not match.games_open:
                        return match
                    if self._guard is None:
                        self._start_all(state)

    def _watch(self, name: str) -> None:
        """Attends the match in a thread of its own, also when the connection is lost for a while."""
        wait = Backoff()
        request = WatchMatchRequest(match=name, attend=self._attending)
        while not self._is_closed.is_set():
            try:
                with self._connection.stream(self._connection.matches.WatchMatch, request) as stream:
                    self._stream = stream
                    for response in stream:
                        wait = Backoff()
                        self._news.put(response.match)
                        if not is_going_on(response.match):
                            return
            except ServerRefused as refused:
                if not is_lost_for_now(refused, wait):
                    self._news.put(refused)
                    return
            self._is_closed.wait(wait.next_seconds())

    def _explained(self, refused: ServerRefused) -> ClientError:
        match refused.reason:
            case "NO_SUCH_MATCH":
                return ClientError(f"{refused.sentence} on this server any more: --fresh begins it anew")
            case "STREAM_REPLACED":
                return ClientError("the same match is run by another command now")
        return resumable(refused)

    # --- Ctrl-C

    @contextlib.contextmanager
    def _interrupts(self) -> Iterator[None]:
        """The first lets what is open come to its end, the second is an interrupt like any other."""

        def interrupted(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, before)
            self._news.put(Interrupted())

        before = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _pause(self) -> None:
        self.is_interrupted = True
        request = PauseMatchRequest(match=self._match.name)
        try:
            match = self._connection.ask(self._connection.matches.PauseMatch, request, timeout=PAUSE_SECONDS).match
        except ServerRefused as refused:
            if refused.reason == "MATCH_OVER":
                return
            raise KeyboardInterrupt from None
        if match.games_open:
            games = "1 game" if match.games_open == 1 else f"{match.games_open} games"
            self._view.tell(
                f"nothing new begins; {games} to finish. Ctrl-C again stops at once, and they are played again"
            )

    # --- the bots' processes

    def _start_all(self, state: RunnerState) -> None:
        self._guard = BotGuard()
        for spec, own in zip(self._specs, state.connections, strict=True):
            for seating, name in own.items():
                self._start(spec, seating=seating, start=1, name=name)

    def _start(self, spec: BotSpec, *, seating: int, start: int, name: str) -> None:
        assert self._guard is not None
        assert self._state is not None
        # Each process has a token of its own, which the server knows as long as the match goes on.
        token, ended = self._state.tokens[name], self._news.put
        self._progress[name] = self._match.games_finished
        if spec.kind == "dial":
            seconds = self._match.plan.arrival_ms / 1000
            self._processes[name] = DialledBot(
                spec,
                self._connection,
                seating=seating,
                start=start,
                name=name,
                token=token,
                seconds=seconds,
                ended=ended,
            )
            return
        environment = environment_of(self._connection) | {TOKEN: token, NAME: name}
        self._processes[name] = BotProcess(
            spec, seating=seating, start=start, environment=environment, guard=self._guard, ended=ended
        )

    def _report(self, ended: Ended) -> None:
        # What was seen last may be old: bots are asked as soon as the match runs.
        request = GetMatchRequest(match=self._match.name)
        now = self._match = self._ask(self._connection.matches.GetMatch, request).match
        has_started = ended.has_started and now.state != MATCH_STATE_WAITING
        name = ended.process.name
        is_again = has_started and (ended.process.start == 1 or now.games_finished > self._progress[name])
        report = BotReport(
            bot=ended.spec.name,
            kind=TERMINATION_CRASH if has_started else TERMINATION_START_FAILURE,
            stderr_tail=ended.stderr_tail,
            seating=ended.seating,
            is_restarted=is_again,
        )
        if ended.exit_code is not None:
            report.exit_code = ended.exit_code
        told, is_out = self._told_server(report)
        self._keep(ended, told)
        self._tell(ended, has_started=has_started)
        if is_again and not is_out:
            ended.process.wait_stopped()
            self._start(ended.spec, seating=ended.seating, start=ended.process.start + 1, name=name)

    def _told_server(self, report: BotReport) -> tuple[BotReport, bool]:
        """The report with what the server knows about it, and whether the bot is out, or the match over."""
        request = ReportBotRequest(match=self._match.name, report=report)
        try:
            match = self._ask(self._connection.matches.ReportBot, request).match
        except ServerRefused as refused:
            if refused.reason != "MATCH_OVER":
                raise
            return report, True
        own = [each for each in match.reports if (each.bot, each.seating) == (report.bot, report.seating)]
        is_out = any(result.name == report.bot and result.out for result in match.results)
        return (own[-1] if own else report), is_out or not is_going_on(match)

    def _keep(self, ended: Ended, report: BotReport) -> None:
        """What the process last said lies beside the records."""
        self._kept[ended.spec.name] += 1
        if self._kept[ended.spec.name] > MOST_KEPT:
            return
        code = "none" if ended.exit_code is None else _code_text(ended.exit_code)
        text = (
            f"bot: {ended.spec.name}, seating {ended.seating}, start {ended.process.start}\n"
            f"ended: {termination_text(report.kind)}\nexit code: {code}\n"
            f"last sent: {report.last_sent or 'nothing'}\nstandard error:\n{ended.stderr_tail}"
        )
        with contextlib.suppress(ClientError):  # a disk that is full is told when records are written
            self._folder.keep_bot(f"{ended.spec.name}.{ended.seating}.{ended.process.start}", text)

    def _tell(self, ended: Ended, *, has_started: bool) -> None:
        """One sentence a bot, not one a process."""
        if ended.spec.name in self._told:
            return
        self._told.add(ended.spec.name)
        lines = ended.stderr_tail.strip().splitlines()
        what = "ended in mid-match" if has_started else "does not start"
        code = "" if ended.exit_code is None else f" (exit code {ended.exit_code})"
        self._view.tell(f"bot {ended.spec.name} {what}{code}: {lines[-1] if lines else 'it says nothing'}")

    def _tell_refused(self, match: Match) -> None:
        """What a bot with refusals last said, for nobody sees the standard error of a bot that goes on."""
        processes = list(self._processes.values())
        for result in match.results:
            tails = [process.stderr_tail for process in processes if process.spec.name == result.name]
            said = next((lines[-1] for tail in tails if (lines := tail.strip().splitlines())), "")
            if result.refusals and said and result.name not in self._told:
                self._view.tell(f"bot {result.name} had {result.refusals} answers refused; it last said: {said}")


def is_lost_for_now(refused: ServerRefused, wait: Backoff) -> bool:
    """Whether the server may come back, and was not looked for too long."""
    return (refused.is_lost or refused.reason == "DRAINING") and wait.lasted <= PATIENCE


def _with_bots(plan: MatchPlan, bots: Iterable[MatchBot]) -> MatchPlan:
    whole = MatchPlan(bots=bots)
    whole.MergeFrom(plan)
    return whole


def _code_text(code: int) -> str:
    if code >= 0:
        return str(code)
    with contextlib.suppress(ValueError):
        return f"{code} ({signal.Signals(-code).name})"
    return str(code)


def is_going_on(match: Match) -> bool:
    """Whether it is not over: it is played, or will be."""
    return match.state in _GOING_ON


def is_complete(match: Match) -> bool:
    return match.state == MATCH_STATE_FINISHED


def fetch_records(connection: Connection, request: GetRecordRequest, path: Path) -> Path:
    """Writes the records to a file, wholly or not at all. Raises ClientError."""
    with whole_file(path) as write, connection.stream(connection.matches.GetRecord, request) as stream:
        for response in stream:
            write(response.chunk)
    return path
