"""The bots that are connected over PlayService.Play, and the seats that each of them has."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from rummy500_server.entries import SeatKind
from rummy500_server.keeper import Keeper
from rummy500_server.play_stream import PlayStream, lost
from rummy500_server.status import Failure, Reason


class Connected:
    """Streams by name and by the digest of their token. A bot that was dropped finds its seats again by its token."""

    def __init__(self) -> None:
        self._by_name: dict[str, PlayStream] = {}
        self._by_who: dict[str, PlayStream] = {}
        self._seats: dict[str, dict[str, tuple[Keeper, int]]] = {}
        """By digest and table: the seats at tables that are in memory and not over."""
        self._expected: dict[str, frozenset[str]] = {}
        """By match: the digests of its bots' tokens."""
        self._relayed: dict[str, frozenset[str]] = {}
        """By match: the names of streams that its owner relays."""
        self._arrivals: dict[str, list[asyncio.Future[PlayStream]]] = {}
        self._turned_away: dict[str, str] = {}
        """Why a bot that is waited for was not let in: by its name, or by the digest of its token."""
        self._last_sent: dict[str, tuple[str, str]] = {}
        """By name: the digest and the last decision of a match's bot whose stream has ended."""

    def named(self, name: str) -> PlayStream | None:
        """The bot of that name that can be given games: one whose stream is about to end is not there any more."""
        stream = self._by_name.get(name)
        return None if stream is None or stream.is_ending else stream

    def all(self) -> Iterable[PlayStream]:
        return tuple(self._by_who.values())

    def expect(self, match: str, whos: Iterable[str], *, relayed: Iterable[str] = ()) -> None:
        """Bots of these digests belong to a match that goes on. `relayed`: the names of those that its owner relays."""
        self._expected[match], self._relayed[match] = frozenset(whos), frozenset(relayed)

    def is_relayed(self, name: str, who: str) -> bool:
        """Whether what that bot says of a relay is believed."""
        return any(name in self._relayed[match] and who in whos for match, whos in self._expected.items())

    def expect_no_more(self, match: str) -> None:
        whos = self._expected.pop(match, frozenset())
        self.why_away(whos)
        self._relayed.pop(match, None)
        self._last_sent = {name: last for name, last in self._last_sent.items() if last[0] not in whos}

    def dismiss(self, name: str, whos: Collection[str]) -> None:
        """Ends the stream of that name, if its token is one of these: the program behind it is not there any more."""
        stream = self._by_name.get(name)
        if stream is not None and stream.who in whos:
            stream.fail(Failure(Reason.STREAM_REPLACED, "the match's runner has begun anew, or says that it is gone"))
            self.leave(stream)

    def is_expected(self, who: str) -> bool:
        """Whether the token of that digest is that of a match's bot, or of a seat at a table that is not over."""
        return who in self._seats or any(who in whos for whos in self._expected.values())

    async def wait_for(self, name: str, seconds: float) -> PlayStream | None:
        """The bot of that name, as soon as it is connected; None when the time is over."""
        if (stream := self.named(name)) is not None:
            return stream
        arrival: asyncio.Future[PlayStream] = asyncio.get_running_loop().create_future()
        self._arrivals.setdefault(name, []).append(arrival)
        try:
            return await asyncio.wait_for(arrival, seconds)
        except TimeoutError:
            return None
        finally:
            waiting = self._arrivals.get(name, [])
            if arrival in waiting:
                waiting.remove(arrival)
            if not waiting:
                self._arrivals.pop(name, None)

    def turn_away(self, why: str, *, name: str = "", who: str = "") -> None:
        """A bot was not let in, of which the name or the token is known."""
        if name in self._arrivals:
            self._turned_away[name] = why
        elif any(who in whos for whos in self._expected.values()):
            self._turned_away[who] = why

    def why_away(self, names: Iterable[str]) -> list[str]:
        """Why bots of these names, or digests, were not let in when they last tried. It is told once."""
        return [why for name in names if (why := self._turned_away.pop(name, ""))]

    def enter(self, stream: PlayStream) -> None:
        """Raises Failure BOT_NAME_TAKEN. An older stream of the same bot is ended."""
        holder = self._by_name.get(stream.name)
        if holder is not None and holder.who != stream.who:
            raise Failure(Reason.BOT_NAME_TAKEN, f"a bot named {stream.name!r} is connected with another token")
        older = self._by_who.get(stream.who)
        if older is not None:
            older.fail(Failure(Reason.STREAM_REPLACED, "a newer stream of this bot has taken over"))
            self.leave(older)
        self._by_name[stream.name] = self._by_who[stream.who] = stream
        self.why_away((stream.name, stream.who))
        for keeper, seat in list(self._seats.get(stream.who, {}).values()):
            stream.link(keeper, seat)
        for arrival in self._arrivals.pop(stream.name, []):
            if not arrival.done():
                arrival.set_result(stream)

    def last_sent(self, name: str) -> str:
        """The last decision of the bot of a match that has that name, as JSON; empty: there is none."""
        stream = self._by_name.get(name)
        return stream.last_sent if stream is not None else self._last_sent.get(name, ("", ""))[1]

    def leave(self, stream: PlayStream) -> None:
        stream.unlink_all()
        if any(stream.who in whos for whos in self._expected.values()):
            self._last_sent[stream.name] = stream.who, stream.last_sent
        if self._by_who.get(stream.who) is stream:
            del self._by_who[stream.who]
        if self._by_name.get(stream.name) is stream:
            del self._by_name[stream.name]

    # --- seats

    def seated(self, keeper: Keeper, seat: int) -> None:
        """That seat is taken: its player is shown the table, now if it is connected, else when it comes."""
        who = keeper.table.seats[seat].who
        self._seats.setdefault(who, {})[keeper.table.name] = (keeper, seat)
        stream = self._by_who.get(who)
        if stream is not None:
            stream.link(keeper, seat)

    def opened(self, keeper: Keeper) -> None:
        """A table is in memory, new or folded."""
        if keeper.table.is_over:
            return
        for seat in keeper.table.seats:
            if seat.kind in (SeatKind.JOINED, SeatKind.CONNECTED_BOT):
                self.seated(keeper, seat.number)
        keeper.after_over.append(self._over)

    def left(self, keeper: Keeper, who: str) -> None:
        """Nobody of that digest sits at the table any more."""
        self._forget(keeper, who)
        stream = self._by_who.get(who)
        if stream is not None:
            stream.unlink(keeper.table.name)

    def lost(self, keeper: Keeper) -> None:
        """The journal did not keep what was played at the table, its seats perhaps: bots come back and ask."""
        for seat in keeper.table.seats:
            stream = self._by_who.get(seat.who)
            if stream is not None:
                stream.fail(lost())
            self._forget(keeper, seat.who)

    def _over(self, keeper: Keeper) -> None:
        for seat in keeper.table.seats:
            self._forget(keeper, seat.who)

    def _forget(self, keeper: Keeper, who: str) -> None:
        seats = self._seats.get(who, {})
        seats.pop(keeper.table.name, None)
        if not seats:
            self._seats.pop(who, None)
