"""Runs a match: makes it on the server, starts the bots that belong here, follows it, and fetches its records."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

from rummy500.v1.match_pb2 import (
    MATCH_STATE_FINISHED,
    MATCH_STATE_RUNNING,
    MATCH_STATE_WAITING,
    BotReport,
    Match,
    MatchBot,
    MatchPlan,
)
from rummy500.v1.match_service_pb2 import (
    CancelMatchRequest,
    CreateMatchRequest,
    GetMatchRequest,
    GetRecordRequest,
    PlanMatchRequest,
    PlanMatchResponse,
    ReportBotRequest,
    WatchMatchRequest,
    WatchMatchResponse,
)
from rummy500.v1.result_pb2 import TERMINATION_CRASH, TERMINATION_START_FAILURE
from rummy500_client.backoff import Backoff
from rummy500_client.connection import Connection, Stream, new_secret
from rummy500_client.errors import ClientError, ServerRefused
from rummy500_client.match_bots import (
    BotProcess,
    BotSpec,
    Ended,
    match_bot,
    stop_all,
)
from rummy500_client.match_view import MatchView
from rummy500_client.options import NAME, TOKEN, environment_of

PATIENCE = 60.0
"""Seconds to look for a server that is gone before the match is given up."""
CANCEL_SECONDS = 3.0
_GOING_ON = (MATCH_STATE_WAITING, MATCH_STATE_RUNNING)


class MatchRunner:
    """Runs one match over `connection`. Use it in a `with`: whatever it started is stopped at its end, and a match that
    is still going on is cancelled."""

    def __init__(self, connection: Connection, specs: Sequence[BotSpec], view: MatchView) -> None:
        self._connection = connection
        self._specs = specs
        self._view = view
        self._processes: list[BotProcess] = []
        self._news: SimpleQueue[Match | Ended | ServerRefused] = SimpleQueue()
        self._is_closed = threading.Event()
        self._stream: Stream[WatchMatchResponse] | None = None
        self._told: set[str] = set()
        self._match: Match | None = None
        self.commitment = b""
        """To what all packs of the match follow from, as it was told before anything was played."""

    def __enter__(self) -> MatchRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        try:
            self._cancel()
            if self._stream is not None:
                self._stream.cancel()
        finally:
            stop_all(self._processes)

    def run(self, plan: MatchPlan) -> Match:
        """Plays the plan, whose bots are filled in here, to its end. Raises ClientError."""
        names = self._names(self._planned(plan))
        asked = _with_bots(plan, [match_bot(*each) for each in zip(self._specs, map(dict.values, names), strict=True)])
        # Each process has a token of its own, which the server knows as long as the match goes on.
        tokens = {name: new_secret() for own in names for name in own.values()}
        request = CreateMatchRequest(plan=asked, request_id=new_secret(), bot_secrets=tokens.values())
        self._match = self._connection.ask(self._connection.matches.CreateMatch, request).match
        self.commitment = self._match.commitment
        for spec, own in zip(self._specs, names, strict=True):
            for seating, name in own.items():
                environment = environment_of(self._connection) | {TOKEN: tokens[name], NAME: name}
                process = BotProcess(spec, seating=seating, environment=environment, ended=self._news.put)
                self._processes.append(process)
        return self._follow(self._match.name)

    def _planned(self, plan: MatchPlan) -> PlanMatchResponse:
        """What the plan comes to, with the bots of this match. Raises ClientError."""
        request = PlanMatchRequest(plan=_with_bots(plan, map(match_bot, self._specs)))
        return self._connection.ask(self._connection.matches.PlanMatch, request)

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

    def _follow(self, name: str) -> Match:
        follower = threading.Thread(target=self._watch, args=(name,), name=f"match {name}", daemon=True)
        follower.start()
        while True:
            match self._news.get():
                case Ended() as ended:
                    self._report(ended)
                case ServerRefused() as refused:
                    raise refused
                case Match() as match:
                    self._match = match
                    self._view.show(match)
                    if not is_going_on(match):
                        self._tell_refused(match)
                        return match

    def _watch(self, name: str) -> None:
        """Follows the match in a thread of its own, also when the connection is lost for a while."""
        wait = Backoff()
        request = WatchMatchRequest(match=name)
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
                if not (refused.is_lost or refused.reason == "DRAINING") or wait.lasted > PATIENCE:
                    self._news.put(refused)
                    return
            self._is_closed.wait(wait.next_seconds())

    def _report(self, ended: Ended) -> None:
        assert self._match is not None
        # What was seen last may be old: bots are asked as soon as the match runs.
        request = GetMatchRequest(match=self._match.name)
        now = self._connection.ask(self._connection.matches.GetMatch, request).match
        has_started = ended.exit_code is not None and now.state != MATCH_STATE_WAITING
        report = BotReport(
            bot=ended.spec.name,
            kind=TERMINATION_CRASH if has_started else TERMINATION_START_FAILURE,
            stderr_tail=ended.stderr_tail,
            seating=ended.seating,
        )
        if ended.exit_code is not None:
            report.exit_code = ended.exit_code
        self._tell(ended, has_started=has_started)
        reporting = ReportBotRequest(match=self._match.name, report=report)
        try:
            self._connection.ask(self._connection.matches.ReportBot, reporting)
        except ServerRefused as refused:
            if refused.reason != "MATCH_OVER":
                raise

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
        for result in match.results:
            tails = [process.stderr_tail for process in self._processes if process.spec.name == result.name]
            said = next((lines[-1] for tail in tails if (lines := tail.strip().splitlines())), "")
            if result.refusals and said and result.name not in self._told:
                self._view.tell(f"bot {result.name} had {result.refusals} answers refused; it last said: {said}")

    def _cancel(self) -> None:
        if self._match is None or not is_going_on(self._match):
            return
        request = CancelMatchRequest(match=self._match.name)
        with contextlib.suppress(ServerRefused):
            self._connection.ask(self._connection.matches.CancelMatch, request, timeout=CANCEL_SECONDS)


def _with_bots(plan: MatchPlan, bots: Iterable[MatchBot]) -> MatchPlan:
    whole = MatchPlan(bots=bots)
    whole.MergeFrom(plan)
    return whole


def is_going_on(match: Match) -> bool:
    return match.state in _GOING_ON


def is_complete(match: Match) -> bool:
    return match.state == MATCH_STATE_FINISHED


def fetch_records(connection: Connection, request: GetRecordRequest, path: Path) -> Path:
    """Writes the records to a file, wholly or not at all. Raises ClientError."""
    with whole_file(path) as write, connection.stream(connection.matches.GetRecord, request) as stream:
        for response in stream:
            write(response.chunk)
    return path


def make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClientError(f"{path} cannot be made: {error.strerror}") from None


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Callable[[bytes], object]]:
    """A file that appears under its name only when all of it is written."""
    make_directory(path.parent)
    try:
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file.write
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
