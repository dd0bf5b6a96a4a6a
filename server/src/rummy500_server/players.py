"""All registered players, and the ranked games that count for them.

A ranked game is kept under the name of its record, together with the entry that ends it: it counts once, whenever the
server is killed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from rummy500_catalog import DEFAULT_PRESET
from rummy500_server.journal import Journal, Put, Write, read_documents
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby, Wish
from rummy500_server.ranked import Outcome, RankedResult, Standing, ranks_of, settle, standing_of, verify_ranked
from rummy500_server.status import Failure, Reason

PLAYER, RANKED = "player", "ranked"
"""Kinds of documents: a player by the digest of its token; a ranked game that is over by its record's name."""
MOST_PLAYERS = 100_000
SEAT = 0
"""Where the player of a ranked table sits."""


@dataclass(frozen=True, slots=True)
class Registration:
    """`who` is the digest of the player's token."""

    who: str
    name: str
    registered_ms: int

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Registration:
        return cls(**json.loads(text))


@dataclass(slots=True)
class Player:
    """`results` in the order in which the games ended."""

    registration: Registration
    results: list[RankedResult] = field(default_factory=list)
    _standing: Standing | None = None

    @property
    def name(self) -> str:
        return self.registration.name

    @property
    def standing(self) -> Standing:
        if self._standing is None:
            self._standing = standing_of(self.results)
        return self._standing

    def add(self, result: RankedResult) -> None:
        self.results.append(result)
        self.results.sort(key=lambda each: (each.finished_ms, each.record))
        self._standing = None


class Players:
    def __init__(self, lobby: Lobby, journal: Journal) -> None:
        self._journal = journal
        self._by_who: dict[str, Player] = {}
        self._by_name: dict[str, str] = {}
        """Who has a name, by that name without case."""
        self._ending: dict[str, RankedResult] = {}
        """By table: games whose end is not durable yet."""
        self._board: list[Player] | None = None
        lobby.when_over.append(self._keep)
        lobby.after_over.append(self._kept)

    async def open(self) -> None:
        registrations = await read_documents(self._journal, PLAYER, Registration.from_json)
        for registration in registrations.values():
            self._add(registration)
        for result in (await read_documents(self._journal, RANKED, RankedResult.from_json)).values():
            if result.player in self._by_who:
                self._by_who[result.player].add(result)

    def _add(self, registration: Registration) -> Player:
        player = self._by_who[registration.who] = Player(registration)
        self._by_name[registration.name.casefold()] = registration.who
        return player

    # --- registering and finding

    async def register(self, who: str, name: str) -> Player:
        """Returns when the player is durable. Raises Failure PLAYER_EXISTS or TOO_MANY_PLAYERS, or JournalError."""
        known = self._by_who.get(who)
        if known is not None and known.name != name:
            raise Failure(Reason.PLAYER_EXISTS, f"this token is that of the player {known.name}, and stays so")
        if known is None:
            self._verify_free(who, name)
            self._by_name[name.casefold()] = who
        registration = Registration(who, name, round(time.time() * 1000)) if known is None else known.registration
        try:
            await self._journal.commit(Put(PLAYER, who, registration.to_json()))
        except BaseException:
            if who not in self._by_who:
                self._by_name.pop(name.casefold(), None)
            raise
        return self._by_who.get(who) or self._add(registration)

    def _verify_free(self, who: str, name: str) -> None:
        if self._by_name.get(name.casefold(), who) != who:
            raise Failure(Reason.PLAYER_EXISTS, f"there is a player called {name}: choose another name")
        if len(self._by_name) >= MOST_PLAYERS:
            sentence = f"{MOST_PLAYERS} players are registered, which is the limit"
            raise Failure(Reason.TOO_MANY_PLAYERS, sentence, limit=MOST_PLAYERS)

    def verify_may_play(self, wish: Wish, lobby: Lobby) -> None:
        """Whether who wishes for a ranked table may have it. Raises Failure, RulesRefused or VariantError."""
        if wish.owner not in self._by_who:
            raise Failure(Reason.NOT_A_PLAYER, "this token is no player's: RegisterPlayer makes it one")
        rules = wish.choice.rules(lobby.catalog, wish.players)
        verify_ranked(wish, wish.clock or lobby.usual_clock, rules)
        lobby.verify_another_bot(wish.owner)

    def of_token(self, who: str) -> Player | None:
        return self._by_who.get(who)

    def named(self, name: str) -> Player | None:
        return self._by_who.get(self._by_name.get(name.casefold(), ""))

    def board(self) -> list[Player]:
        """The players that have games that count, in the order of the leaderboard."""
        if self._board is None:
            playing = [player for player in self._by_who.values() if player.standing.games]
            self._board = sorted(
                playing,
                key=lambda each: (
                    -each.standing.points,
                    -each.standing.rating,
                    each.registration.registered_ms,
                    each.name,
                ),
            )
        return self._board

    def place(self, player: Player) -> int:
        """On the leaderboard, from 1; 0: it is not there."""
        return self.board().index(player) + 1 if player.standing.games else 0

    # --- games

    def _keep(self, keeper: Keeper) -> Sequence[Write]:
        result = _result_of(keeper)
        if result is None:
            return ()
        self._ending[result.record] = result
        return (Put(RANKED, result.record, result.to_json()),)

    def _kept(self, keeper: Keeper) -> None:
        result = self._ending.pop(keeper.table.name, None)
        if result is not None and result.player in self._by_who:
            self._by_who[result.player].add(result)
            self._board = None


def _result_of(keeper: Keeper) -> RankedResult | None:
    """None: the game is not ranked, or never began."""
    table, result = keeper.table, keeper.table.result
    creation = table.creation
    if not creation.ranked or result is None or table.game.round is None:
        return None
    outcome = settle(result, seat=SEAT)
    return RankedResult(
        record=creation.name,
        player=creation.owner,
        preset=creation.choice.preset or DEFAULT_PRESET,
        levels=creation.ranked,
        outcome=outcome,
        ranks=() if outcome is Outcome.VOID else ranks_of(result, outcome, seat=SEAT),
        finished_ms=round(time.time() * 1000),
    )
