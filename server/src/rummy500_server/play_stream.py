"""One bot's stream: what it is due, put together once a turn of the loop, and what it answers, applied at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from google.protobuf.json_format import MessageToJson

from rummy500.v1 import play_service_pb2 as pb
from rummy500_engine.refusals import Refused
from rummy500_server.acting import Acting, Stop, actions_from, verify_play_request
from rummy500_server.clock import Moment, Timer, moment
from rummy500_server.clock_wire import clock_message
from rummy500_server.commits import Commits
from rummy500_server.decision_requests import MOST_EVENTS, decision_request, request_prefix
from rummy500_server.keeper import Keeper
from rummy500_server.limits import Bucket
from rummy500_server.rules_messages import RulesMessages
from rummy500_server.sight import view_of
from rummy500_server.status import Failure, Reason, rejection_of
from rummy500_server.table import TableState
from rummy500_server.translate.events import result_into
from rummy500_server.translate.pieces import block, tag
from rummy500_server.translate.views import refusal_message

_OPEN = TableState.OPEN
_REQUESTS = tag(pb.PlayResponse, "decision_requests")
LONGEST_MESSAGE = 512 << 10
"""Bytes after which what is due goes into another message."""
DECISIONS_A_TURN = 64
"""Decisions of one message that are applied before others get the loop."""
LONGEST_LAST_SENT = 2_000
"""Characters that are told of the last decision of a bot that is gone."""
MOST_RELAYED_US = 100_000
"""What a relay may say that it held."""
MOST_REFUSALS = 2_048
"""Refusals that wait for a slow reader."""


@dataclass(eq=False, slots=True)
class PlayLink:
    """A seat as its stream plays it. `asked` is the sequence of the last request sent; `resume_after` what the bot says
    it has seen, when it is in the game again. `prefix` begins every request."""

    stream: PlayStream
    keeper: Keeper
    seat: int
    is_started: bool = False
    asked: int = -1
    resume_after: int | None = None
    prefix: bytes = b""
    refused: list[tuple[int, Acting]] = field(default_factory=list)
    """Refusals that are told when what came before them is durable: a false call may have left a trace."""

    def __post_init__(self) -> None:
        self.prefix = request_prefix(self.keeper, self.seat)

    def published(self) -> None:
        keeper = self.keeper
        is_due = self.seat in keeper.asked or not self.is_started or self.refused
        if is_due or keeper.table.result is not None or keeper.scribe.is_lost:
            self.stream.mark(self)


class PlayStream:
    def __init__(
        self,
        *,
        who: str,
        name: str,
        most_games: int,
        rules: RulesMessages,
        bucket: Bucket,
        commits: Commits,
        timer: Timer,
        is_relayed: bool = False,
    ) -> None:
        self.who, self.name, self.most_games = who, name, most_games
        self._rules, self._bucket, self._commits, self._timer = rules, bucket, commits, timer
        self._is_relayed = is_relayed
        self._rules_sent: set[str] = set()
        self._links: dict[str, PlayLink] = {}
        self._due: dict[PlayLink, None] = {}
        self._refusals: deque[pb.DecisionRefused] = deque()
        self._ended: deque[tuple[Keeper, int, int]] = deque()
        """Games that ended while the bot was away: the seat, and the last event that the bot has."""
        self._asked: list[PlayLink] = []
        """Those whose requests are in the message that is put together."""
        self._next = pb.PlayResponse()
        self._wake = asyncio.Event()
        self._failure: Failure | None = None
        self._last_decision: pb.Decision | None = None
        self._unreadable = ""
        self._is_finished = False

    @property
    def games(self) -> int:
        """Games that are not over; of one that is the bot may not have been told yet."""
        return sum(not link.keeper.table.is_over for link in self._links.values())

    @property
    def is_full(self) -> bool:
        return self.games >= self.most_games

    @property
    def is_ending(self) -> bool:
        """Whether nothing more is read: it broke, the bot has no more to say, or the server is about to stop."""
        return self._failure is not None or self._is_finished

    @property
    def last_sent(self) -> str:
        """The last decision that came, as a line of JSON, or why what came cannot be read; empty: nothing came."""
        if self._unreadable or self._last_decision is None:
            return self._unreadable[:LONGEST_LAST_SENT]
        return MessageToJson(self._last_decision, indent=None)[:LONGEST_LAST_SENT]

    # --- seats

    def link(self, keeper: Keeper, seat: int) -> None:
        """The bot plays that seat from now on."""
        name = keeper.table.name
        if name in self._links:
            return
        link = self._links[name] = PlayLink(self, keeper, seat)
        keeper.viewers[link] = None
        keeper.connect(seat)
        self.mark(link)

    def unlink(self, table: str) -> None:
        link = self._links.pop(table, None)
        if link is not None:
            self._due.pop(link, None)
            link.keeper.viewers.pop(link, None)
            link.keeper.disconnect(link.seat)

    def unlink_all(self) -> None:
        for table in tuple(self._links):
            self.unlink(table)

    def mark(self, link: PlayLink) -> None:
        """The link may be due something."""
        self._due[link] = None
        self._wake.set()

    # --- in

    def resume(self, table: str, after: int) -> None:
        """What was missed at a table of the bot's is sent first."""
        link = self._links.get(table)
        if link is not None:
            link.resume_after = after
            self.mark(link)

    def tell_over(self, keeper: Keeper, seat: int, after: int) -> None:
        """A game of the bot's ended while it was away."""
        self._ended.append((keeper, seat, after))
        self._wake.set()

    async def read(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Applies what comes, until the bot has no more to say; then the stream ends."""
        try:
            async for request in requests:
                await self._take_in(request)
                if self._failure is not None:
                    return
        except Failure as failure:
            self._unreadable = failure.sentence
            self.fail(failure)
        finally:
            self._is_finished = True
            self._wake.set()

    async def _take_in(self, request: pb.PlayRequest) -> None:
        came, read_at = time.perf_counter(), self._timer.time()
        verify_play_request(request)
        if self._is_relayed:
            read_at -= min(request.relayed_us, MOST_RELAYED_US) / 1e6
        if request.decisions:
            self._last_decision = request.decisions[-1]
        for table in request.rules_wanted:
            self._send_rules(table)
        for decision in request.decisions[:DECISIONS_A_TURN]:
            self._decide(decision, read_at)
        if len(request.decisions) > DECISIONS_A_TURN:
            await self._decide_more(request.decisions[DECISIONS_A_TURN:], read_at)
        if request.decisions:
            self._commits.answer(came, len(request.decisions))

    async def _decide_more(self, decisions: Sequence[pb.Decision], read_at: float) -> None:
        """Others get the loop in between."""
        with ExitStack() as reading:
            for decision in decisions:
                link = self._links.get(decision.table)
                if link is not None:
                    reading.enter_context(link.keeper.reading(link.seat))
            for number, decision in enumerate(decisions):
                if number % DECISIONS_A_TURN == 0:
                    await asyncio.sleep(0)
                self._decide(decision, read_at)

    def _send_rules(self, table: str) -> None:
        link = self._links.get(table)
        if link is None:
            self.refuse(table, 0, self.not_mine(table))
            return
        self._rules_sent.discard(link.keeper.table.rules.digest)
        link.is_started, link.asked = False, -1
        self.mark(link)

    @staticmethod
    def not_mine(table: str) -> Failure:
        return Failure(Reason.NOT_SEATED, f"this bot has no seat at a table {table!r} whose game is on")

    def _decide(self, decision: pb.Decision, read_at: float) -> None:
        table, sequence = decision.table, decision.sequence
        link = self._links.get(table)
        if link is None:
            self.refuse(table, sequence, self.not_mine(table))
            return
        keeper, seat = link.keeper, link.seat
        try:
            if sequence != keeper.table.sequence:
                raise keeper.stale(seat, sequence)
            actions = actions_from(decision.actions, keeper.table.rules)
            keeper.submit(seat, actions, lambda outcome: self._decided(link, sequence, outcome), read_at=read_at)
        except Failure as failure:
            self.refuse(table, sequence, failure)
            if failure.reason is Reason.BAD_REQUEST:
                keeper.refuse(seat, Refused(failure.reason.name, failure.sentence))
                self._ask_again(link)

    def _decided(self, link: PlayLink, sequence: int, outcome: Acting | Failure) -> None:
        if isinstance(outcome, Failure):
            self.refuse(link.keeper.table.name, sequence, outcome)
        elif outcome.stop is Stop.REFUSED and outcome.refused is not None:
            link.refused.append((sequence, outcome))
            self._ask_again(link)

    def _ask_again(self, link: PlayLink) -> None:
        link.asked = -1
        self.mark(link)

    def refuse(self, table: str, sequence: int, error: Failure | Refused, *, applied: int = 0) -> None:
        """Tells the bot why something about a table could not be."""
        rejection = rejection_of(error)
        assert rejection is not None
        if isinstance(error, Failure):
            self._commits.tally.rejected_decisions[rejection.reason] += 1
        refusal = refusal_message(rejection.reason, rejection.sentence)
        self._refusals.append(
            pb.DecisionRefused(
                table=table, sequence=sequence, applied=applied, status=rejection.number, refusal=refusal
            )
        )
        if len(self._refusals) > MOST_REFUSALS and self._failure is None:
            self._commits.tally.slow_readers["PlayService/Play"] += 1
            self.fail(Failure(Reason.SLOW_READER, "too many refusals are waiting to be read", resume_after=0))
        wait = self._bucket.wait_for()
        if wait:
            limit = self._bucket.rate
            sentence = f"more than {limit} decisions a second that were refused, or that nobody asked for"
            self.fail(Failure(Reason.TOO_MANY_REQUESTS, sentence, retry_after=wait, limit=limit))
        self._wake.set()

    # --- out

    def fail(self, failure: Failure) -> None:
        """The stream ends with this error, after what is due."""
        self._failure = self._failure or failure
        self._wake.set()

    def drain(self, *, stops_at: float) -> None:
        """The server is about to stop."""
        left = max(0.0, stops_at - time.time())
        self._next.draining.stops_at_unix_ms = round(stops_at * 1000)
        self._next.draining.retry_after_ms = round(left * 1000) + 1_000
        self.fail(Failure(Reason.DRAINING, "the server is about to stop; the games go on later", retry_after=left + 1))

    def welcome(self, *, version: str, features: Iterable[str], keepalive_ms: int) -> None:
        welcome = self._next.welcome
        welcome.server_version, welcome.max_concurrent_games = version, self.most_games
        welcome.features.extend(features)
        welcome.keepalive_ms = keepalive_ms
        self._wake.set()

    async def response(self) -> bytes:
        """What is due, as soon as something is: a PlayResponse, serialized; empty: the stream has ended. Raises the
        failure that it ends with."""
        while not (response := self._put_together()):
            if self._failure is not None:
                raise self._failure
            if self._is_finished:
                return b""
            await self._wake.wait()
            self._wake.clear()
        sent_at = self._timer.time()
        for link in self._asked:
            link.keeper.shown(link.seat, sent_at)
        self._asked.clear()
        return response

    def _put_together(self) -> bytes:
        """The next message: what is due, at most so much; empty: nothing is."""
        size, now = 0, None
        requests: list[bytes] = []
        while self._ended and size < LONGEST_MESSAGE:
            size += self._game_over_into(self._next, *self._ended.popleft())
        while self._due and size < LONGEST_MESSAGE:
            link = next(iter(self._due))
            del self._due[link]
            now = now or moment(self._timer)
            size += self._show(link, requests, now)
        while self._refusals and size < LONGEST_MESSAGE:
            refusal = self._refusals.popleft()
            self._next.refusals.append(refusal)
            size += refusal.ByteSize()
        if self._next.ByteSize():
            requests.append(self._next.SerializeToString())
            self._next = pb.PlayResponse()
        return b"".join(requests)

    def _show(self, link: PlayLink, requests: list[bytes], now: Moment) -> int:
        """Writes what the link is due now, a request into `requests`. Answers its size in bytes, about."""
        keeper, table, message = link.keeper, link.keeper.table, self._next
        is_over = table.result is not None
        if keeper.scribe.is_lost:
            self.fail(lost())
            return 0
        if not keeper.scribe.is_durable or (table.state is _OPEN and not is_over):
            return 0
        size = 0
        while link.refused:
            sequence, acting = link.refused.pop(0)
            assert acting.refused is not None
            self.refuse(table.name, sequence, acting.refused, applied=acting.applied)
        if not link.is_started:
            link.is_started = True
            size += self._started_into(message.games_started.add(), link)
        if link.resume_after is not None:
            size += self._resumed_into(message.resumed.add(), link, link.resume_after)
            link.resume_after = None
        if is_over:
            size += self._game_over_into(message, keeper, link.seat, keeper.players[link.seat].seen)
            self.unlink(table.name)
        elif link.asked != table.sequence and keeper.is_asked(link.seat):
            request = self._request(link, now)
            requests.append(request)
            self._asked.append(link)
            size += len(request)
        return size

    def _started_into(self, started: pb.GameStarted, link: PlayLink) -> int:
        table = link.keeper.table
        started.table, started.seat, started.rules_digest = table.name, link.seat, table.rules.digest
        if table.rules.digest not in self._rules_sent:
            self._rules_sent.add(table.rules.digest)
            started.rules.CopyFrom(self._rules.message(table))
        started.clock.CopyFrom(clock_message(table.creation.clock))
        started.players.extend(seat.name for seat in table.seats)
        started.match = table.creation.match
        return started.ByteSize()

    def _resumed_into(self, resumed: pb.Resumed, link: PlayLink, after: int) -> int:
        table = link.keeper.table
        resumed.table = table.name
        if table.log.reaches_back_to(after) or table.game.round is None:
            resumed.events.SetInParent()
            resumed.events.events.extend(table.log.messages(after, link.seat))
        else:
            view_of(link.keeper, link.seat, resumed.view)
        return resumed.ByteSize()

    def _request(self, link: PlayLink, now: Moment) -> bytes:
        """The decision request that the link is due, serialized as a PlayResponse; empty: a variant has just ended the
        table."""
        request = decision_request(link.keeper, link.seat, link.prefix, now)
        if not request:
            return b""
        link.asked = link.keeper.table.sequence
        return block(_REQUESTS, request)

    @staticmethod
    def _game_over_into(message: pb.PlayResponse, keeper: Keeper, seat: int, after: int) -> int:
        table = keeper.table
        assert table.result is not None
        over = message.games_over.add(table=table.name, sequence=table.sequence)
        result_into(over.result, table.result)
        over.events.extend(table.log.messages(after, seat, most=MOST_EVENTS))
        return over.ByteSize()


def lost() -> Failure:
    return Failure(Reason.NOT_KEPT, "the journal could not be written; the table goes back to what it has kept")
