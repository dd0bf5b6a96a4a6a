"""One table: a fold of its entries. What is in memory can be thrown away at any moment and folded again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from rummy500_engine.actions import Action
from rummy500_engine.events import Event, GameWon, RoundScored
from rummy500_engine.fair import THE_TABLE, commitment, round_secret, round_seed
from rummy500_engine.game import Game
from rummy500_engine.position import players_of, set_up
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import shuffle
from rummy500_server.banks import Banks
from rummy500_server.clock_terms import WhenLate
from rummy500_server.creation import Creation
from rummy500_server.entries import (
    Acted,
    Clocked,
    Closed,
    Entry,
    Forfeited,
    Invited,
    Joined,
    Left,
    Returned,
    SeatKind,
    Started,
    TakenOver,
    Uninvited,
)
from rummy500_server.eventlog import EventLog
from rummy500_server.results import GameResult, Termination
from rummy500_server.status import Failure, Reason
from rummy500_server.table_events import (
    ClockActed,
    DealCommitted,
    DealRevealed,
    GameEnded,
    RoundCounted,
    SeatForfeited,
    SeatJoined,
    SeatLeft,
    SeatReturned,
    SeatTakenOver,
    TableClosed,
    TableEvent,
    digest_of_events,
)


class TableState(Enum):
    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    CLOSED = "closed"


_PLAYING = TableState.PLAYING
"""Bound once: looking up an enum member on its class costs as much as a call."""


@dataclass(slots=True)
class Seat:
    """`who` as in `Joined`. `kind` None: the seat is free. `stand_in` is the built-in bot that plays for its player."""

    number: int
    kind: SeatKind | None = None
    name: str = ""
    who: str = ""
    entropy: bytes = b""
    forfeited: Termination | None = None
    stand_in: str = ""
    overrun_ms: int = 0


class Table:
    """`enter` is the only thing that changes it. `history` are the entries so far."""

    def __init__(self, creation: Creation, rules: Rules) -> None:
        self.creation = creation
        self.rules = rules
        self.seats = [Seat(number) for number in range(rules.players)]
        self.state = TableState.OPEN
        self.log = EventLog()
        self.sequence = 0
        """The number of the last event."""
        self.history: list[Entry] = []
        self.game = Game(
            rules,
            single_round=creation.single_round or creation.position is not None,
            aligned=creation.aligned,
        )
        self.result: GameResult | None = None
        self.traced: Refused | None = None
        self.invitations: dict[str, Invited] = {}
        """By the digests of their secrets."""
        self.banks = Banks(creation.clock, rules.players) if creation.clock.has_extra_time else None
        """What the seats have beyond the time of a decision; None: nobody has anything."""
        self.finished_turns = (0,) * rules.players
        """By seat the turns that the clock finished."""
        self.is_polled = False
        """Whether a poll is open: several seats are asked, and nobody is in turn."""
        self._to_act: tuple[int, ...] = ()
        self._turn = (0, 0)
        self._revealed = 0
        """The last round whose secret is out."""
        self._tell([*self._committed(THE_TABLE), *self._committed(1)])

    # --- what it is

    @property
    def name(self) -> str:
        return self.creation.name

    @property
    def is_over(self) -> bool:
        return self.result is not None

    @property
    def is_broken(self) -> bool:
        return self.result is not None and self.result.termination is Termination.SERVER_FAULT

    @property
    def is_full(self) -> bool:
        return all(seat.kind is not None for seat in self.seats)

    def seat_of(self, who: str | None) -> int | None:
        """The seat whose token has that digest."""
        for seat in self.seats:
            if who is not None and seat.who == who and seat.kind is not SeatKind.BUILTIN_BOT:
                return seat.number
        return None

    def place_names(self) -> list[str]:
        """The names that a position gives to its seats; empty: seats are taken under any name."""
        return players_of(self.creation.position) if self.creation.position is not None else []

    @property
    def turn(self) -> tuple[int, int]:
        """Which turn is played: the round, and the turns before it."""
        round = self.game.round
        return (0, 0) if round is None else (round.number, round.turns_played)

    def to_act(self) -> tuple[int, ...]:
        return self._to_act

    # --- what happens

    def verify_may_act(self, seat: int, action: Action | Refused) -> None:
        """Before the rules are asked: raises Failure or Refused when the table, or the seat, is not in the game, or
        the action could not be read. After the end of a game the rules say what is to be said."""
        if self.state is TableState.OPEN:
            raise Failure(Reason.WRONG_TABLE_STATE, "the game has not started yet", state=self.state.value)
        if self.result is not None and self.is_broken:
            raise Failure(Reason.TABLE_BROKEN, self.result.sentence)
        if self.seats[seat].forfeited is not None:
            raise Refused(Refusal.GAME_OVER, "this seat has forfeited the game")
        if isinstance(action, Refused):
            if self.game.over or (self.game.round is not None and self.game.round.over):
                raise Refused(Refusal.GAME_OVER if self.game.over else Refusal.ROUND_OVER, "nothing is played any more")
            raise action
        round = self.game.round
        if self.result is not None and not self.game.over and not (round is not None and round.over):
            raise Refused(Refusal.GAME_OVER, self.result.sentence)

    def enter(self, entry: Entry) -> list[TableEvent]:
        """What the entry brings about. Raises Refused for an action that is not legal, and then nothing has changed.

        A refused call that costs points is entered like an action; `traced` is its refusal then, else None.
        """
        self.traced, banks = None, self.banks
        is_charged = banks is not None and not self.is_polled
        try:
            events = self._brought_about(entry)
        except Refused as refused:
            if not refused.events:
                raise
            self.traced, events = refused, self._told(refused.events)
        self.history.append(entry)
        self._tell(events)
        if banks is not None:
            self._keep_time(banks, entry, is_charged=is_charged)
        self._to_act = self.game.to_act() if self.state is _PLAYING else ()
        self.is_polled = self.game.round is not None and self.game.round.poll is not None
        return events

    def _tell(self, events: Sequence[TableEvent]) -> None:
        self.log.extend(events)
        self.sequence = self.log.sequence

    def _brought_about(self, entry: Entry) -> list[TableEvent]:
        match entry:
            case Acted(seat, action):
                return self._told(self.game.apply(seat, action))
            case Joined(seat, kind, name, who, entropy):
                self.seats[seat] = Seat(seat, kind, name, who, entropy)
                return [SeatJoined(seat, name, kind is not SeatKind.JOINED, entropy)]
            case Left(seat):
                if self.state is TableState.OPEN:
                    self.seats[seat] = Seat(seat)
                return [SeatLeft(seat)]
            case Started():
                return self._start()
            case Clocked(seat, reason, overrun):
                self.finished_turns = tuple(n + (other == seat) for other, n in enumerate(self.finished_turns))
                self.seats[seat].overrun_ms = overrun
                return [ClockActed(seat, reason, self.finished_turns[seat])]
            case TakenOver(seat, reason, bot, overrun):
                self.seats[seat].stand_in, self.seats[seat].overrun_ms = bot, overrun
                return [SeatTakenOver(seat, bot, reason)]
            case Returned(seat):
                self.seats[seat].stand_in = ""
                return [SeatReturned(seat)]
            case Forfeited(seat, termination, overrun):
                self.seats[seat].overrun_ms = overrun or self.seats[seat].overrun_ms
                return self._forfeit(seat, termination)
            case Closed(termination, sentence):
                self.state = TableState.CLOSED
                self.result = self._result(termination, (), sentence=sentence)
                return [*self._all_revealed(), TableClosed(termination, sentence)]
            case Invited(who):
                self.invitations[who] = entry
                return []
            case Uninvited(who):
                self.invitations.pop(who, None)
                return []

    # --- time

    def _keep_time(self, banks: Banks, entry: Entry, *, is_charged: bool) -> None:
        """A poll has a time of its own and is not charged, nor is what a seat's player did not do itself."""
        match entry:
            case Acted(seat, _, spent, False) if is_charged and not self.seats[seat].stand_in:
                banks.charge(seat, spent)
            case Clocked(seat, _, _, spent) | TakenOver(seat, _, _, _, spent):
                banks.charge(seat, spent)
            case _:
                pass
        round, turn = self.game.round, self.turn
        if turn != self._turn and round is not None and not round.over:
            self._turn = turn
            if not self.seats[round.turn].stand_in:
                banks.begin_turn(round.turn)

    def _start(self) -> list[TableEvent]:
        self.state = TableState.PLAYING
        if self.creation.position is None:
            return self._told([])
        self.game, events = set_up(self.rules, self.creation.position)
        return self._told(events)

    def _told(self, events: Iterable[Event]) -> list[TableEvent]:
        """The events, the end of the game told as the table tells it, and the next deal."""
        round = self.game.round
        if round is not None and not round.over:
            return [*events]
        told: list[TableEvent] = []
        for event in events:
            match event:
                case RoundScored():
                    told.append(RoundCounted(event, None if self.game.over else self.game.dealer))
                    told += self._round_revealed()
                case GameWon():
                    told += self._end(self._won(event))
                case _:
                    told.append(event)
        if self.game.needs_deal:
            told += self._deal(self.game.rounds_played + 1)
        elif self.result is None and self.game.single_round and self.game.rounds_played:
            told += self._end(self._result(self._termination(Termination.NORMAL), self._leaders()))
        return told

    # --- the deals

    def _deal(self, round: int) -> list[TableEvent]:
        """The round, and before it the commitment to the one that may follow."""
        seed = round_seed(self.creation.secret, round, [seat.entropy for seat in self.seats])
        dealt = self.game.deal(shuffle(seed, self.rules.pack), seed=seed)
        return [*([] if self.game.single_round else self._committed(round + 1)), *dealt]

    def committed_to(self, round: int) -> bytes:
        """The commitment to the secret of a round, or of THE_TABLE; empty where deals are not committed to."""
        creation = self.creation
        return commitment(creation.secret, creation.place, round) if creation.is_fair else b""

    @property
    def committed_round(self) -> int:
        """The last round that was committed to."""
        return self.game.round.number + (not self.game.single_round) if self.game.round is not None else 1

    def _committed(self, round: int) -> list[TableEvent]:
        return [DealCommitted(round, self.committed_to(round))] if self.creation.is_fair else []

    def _round_revealed(self) -> list[TableEvent]:
        """The round's secret, when it is over. In a match other tables may still play the same deal."""
        round, creation = self.game.round, self.creation
        if round is None or round.number == self._revealed or not creation.is_fair or creation.match:
            return []
        self._revealed = round.number
        return [DealRevealed(round.number, round_secret(creation.secret, round.number))]

    def _all_revealed(self) -> list[TableEvent]:
        """At the end of a table: the open round, if one was broken off, and what all rounds follow from."""
        if self.game.round is None or not self.creation.is_fair or self.creation.match:
            return []
        return [*self._round_revealed(), DealRevealed(THE_TABLE, self.creation.secret)]

    def _forfeit(self, seat: int, termination: Termination) -> list[TableEvent]:
        self.seats[seat].forfeited, self.seats[seat].stand_in = termination, ""
        events: list[TableEvent] = [SeatForfeited(seat, termination)]
        playing = {self.rules.sides[each.number] for each in self.seats if each.forfeited is None}
        if len(playing) > 1:
            return events
        winners = tuple(each.number for each in self.seats if self.rules.sides[each.number] in playing)
        is_at_once = termination is Termination.TIMEOUT and self.creation.clock.when_late is WhenLate.FORFEIT
        why = "its time ran out" if is_at_once else termination.value
        sentence = f"{self.seats[seat].name} forfeited: {why}"
        return [*events, *self._end(self._result(termination, winners, sentence=sentence))]

    # --- how it ended

    def _won(self, won: GameWon) -> GameResult:
        ended = Termination.ROUND_LIMIT if won.round_limit else Termination.NORMAL
        return self._result(self._termination(ended), won.winners or self._leaders(), settlement=won.settlement)

    def _termination(self, by_the_rules: Termination) -> Termination:
        """A game in which a seat forfeited is told so, also when the others played it to its end."""
        forfeited = self._forfeited()
        return by_the_rules if forfeited is None or forfeited.forfeited is None else forfeited.forfeited

    def _forfeited(self) -> Seat | None:
        """The first seat that forfeited."""
        for entry in self.history:
            if isinstance(entry, Forfeited):
                return self.seats[entry.seat]
        return next((seat for seat in self.seats if seat.forfeited is not None), None)

    def _leaders(self) -> tuple[int, ...]:
        """Who has the most points of those who play to the end."""
        totals = {seat.number: self.game.totals[seat.number] for seat in self.seats if seat.forfeited is None}
        return tuple(seat for seat, total in totals.items() if total == max(totals.values()))

    def _result(
        self,
        termination: Termination,
        winners: Sequence[int],
        *,
        settlement: tuple[int, ...] = (),
        sentence: str = "",
    ) -> GameResult:
        to_blame = self._forfeited() if self.state is TableState.PLAYING else None
        if to_blame is not None and any(self.seats[seat].forfeited is not None for seat in winners):
            winners = [seat for seat in winners if self.seats[seat].forfeited is None] or self._leaders()
        return GameResult(
            termination=termination,
            winners=tuple(winners),
            totals=tuple(self.game.totals),
            settlement=settlement,
            at_fault=None if to_blame is None else to_blame.number,
            overrun_ms=to_blame.overrun_ms if to_blame is not None and termination is Termination.TIMEOUT else 0,
            record=self.creation.record or self.creation.name,
            rounds=self.game.rounds_played,
            sentence=sentence or self._sentence(winners),
        )

    def _sentence(self, winners: Sequence[int]) -> str:
        names = " and ".join(self.seats[seat].name for seat in winners)
        points = max((self.game.totals[seat] for seat in winners), default=0)
        if len({self.rules.sides[seat] for seat in winners}) > 1:
            return f"{names} share the lead with {points} points"
        return f"{names} won with {points} points"

    def _end(self, result: GameResult) -> list[TableEvent]:
        self.state, self.result = TableState.FINISHED, result
        return [*self._all_revealed(), GameEnded(result)]


class FoldMismatch(Exception):
    """The same entries do not give the same events any more: rules or code have changed."""


def fold(creation: Creation, rules: Rules, entries: Iterable[tuple[Entry, str]]) -> Table:
    """The table after these entries, each with the digest of the events that it caused when it was new.

    Raises FoldMismatch.
    """
    table = Table(creation, rules)
    for number, (entry, digest) in enumerate(entries, 1):
        where = f"entry {number} of table {creation.name}"
        try:
            events = table.enter(entry)
        except Refused as refused:
            raise FoldMismatch(f"{where} is refused now: {refused.sentence}") from refused
        if digest_of_events(events) != digest:
            raise FoldMismatch(f"{where} does not give the events that it once gave")
    return table
