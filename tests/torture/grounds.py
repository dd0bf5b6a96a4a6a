"""What there is to spoil on a fuzzed server: tables in the middle of a game, a match that waits, and valid requests."""

from __future__ import annotations

import json
import random
from typing import Any

import grpc
from google.protobuf.message import Message
from tests.server.running import bearer
from tests.torture.nonsense import Nonsense, scenarios

from rummy500.v1 import action_pb2, match_pb2, result_pb2, rules_pb2, table_pb2
from rummy500.v1 import match_service_pb2 as matches
from rummy500.v1 import play_service_pb2 as plays
from rummy500.v1 import player_service_pb2 as players
from rummy500.v1 import rules_service_pb2 as rules
from rummy500.v1 import table_service_pb2 as tables
from rummy500.v1.card_pb2 import Card
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub

OWNER, SEAT, STRANGER = "owner-of-all-the-tables", "the-secret-of-one-seat", "the-token-of-a-stranger"
BOTS = tuple(f"the-token-of-fuzzed-bot-{number}" for number in range(4))
"""Who sits at the tables: a person at the first seat, a bot at the second."""
TABLES = 2 * len(BOTS)
HOUR_MS = 3_600_000
CLOCK = table_pb2.ClockSettings(decision_ms=HOUR_MS)


class Grounds:
    def __init__(self, channel: grpc.aio.Channel, dice: random.Random) -> None:
        self._tables: Any = TableServiceStub(channel)
        self._matches: Any = MatchServiceStub(channel)
        self._dice = dice
        self._positions = [each for each in scenarios() if len(each["players"]) == 2 and "steps" in each]
        self.tables: list[str] = []
        """The bots sit at them in turn."""
        self.match = ""
        self.nonsense = Nonsense(dice)

    def names(self) -> tuple[str, ...]:
        """Texts that mean something here."""
        return (
            *self.tables,
            self.match,
            "anna",
            "easy",
            "random",
            "pagat",
            "nobody",
            "fuzzed-bot",
            SEAT,
            "t-" + "0" * 12,
        )

    # --- keeping them as they are wanted

    async def tend(self) -> None:
        """Replaces what has ended, and ends what the fuzzed requests have made."""
        for at in range(TABLES):
            if at >= len(self.tables):
                self.tables.append(await self._table(at))
            elif not await self._goes_on(self.tables[at]):
                self.tables[at] = await self._table(at)
        await self._close_others()
        if not self.match or await self._match_is_over():
            request = matches.CreateMatchRequest(plan=plan())
            self.match = (await self._matches.CreateMatch(request, metadata=bearer(OWNER))).match.name

    async def _goes_on(self, name: str) -> bool:
        table = (await self._tables.GetTable(tables.GetTableRequest(table=name))).table
        return bool(table.state == table_pb2.TABLE_STATE_PLAYING)

    async def _table(self, number: int) -> str:
        """One of them is dealt, the others are in the middle of a round."""
        position = self._dice.choice(self._positions) if number else None
        names = ["anna", "ben"] if position is None else position["players"]
        request = tables.CreateTableRequest(seats=2, clock=CLOCK, start_when_full=True)
        if position is not None:
            request.seats, request.position_json = 0, json.dumps(position)
        name: str = (await self._tables.CreateTable(request, metadata=bearer(OWNER))).table.name
        for who, secret in zip(names, (SEAT, BOTS[number % len(BOTS)]), strict=True):
            await self._tables.JoinTable(tables.JoinTableRequest(table=name, name=who, seat_secret=secret))
        return name

    async def _close_others(self) -> None:
        states = [table_pb2.TABLE_STATE_OPEN, table_pb2.TABLE_STATE_PLAYING]
        listed = (await self._tables.ListTables(tables.ListTablesRequest(states=states, page_size=100))).tables
        for table in listed:
            if table.name not in self.tables:
                await self._let(self._tables.CloseTable, tables.CloseTableRequest(table=table.name))

    async def _match_is_over(self) -> bool:
        listed = (await self._matches.ListMatches(matches.ListMatchesRequest(page_size=100))).matches
        going_on = [each.name for each in listed if each.state in GOING_ON]
        for name in going_on:
            if name != self.match:
                await self._let(self._matches.CancelMatch, matches.CancelMatchRequest(match=name))
        return self.match not in going_on

    async def _let(self, method: Any, request: Message) -> None:
        """Whoever of us made it does this; what strangers made, or what is over meanwhile, stays as it is."""
        for token in (OWNER, SEAT, STRANGER, *BOTS):
            try:
                await method(request, metadata=bearer(token))
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.FAILED_PRECONDITION:
                    return
                if error.code() is not grpc.StatusCode.PERMISSION_DENIED:
                    raise
            else:
                return

    # --- valid requests

    def request(self, method: str) -> Message:
        """A request that is well formed, about what there is."""
        dice = self._dice
        table, match = dice.choice(self.tables), self.match
        match method:
            case "ListVariants":
                return rules.ListVariantsRequest(page_size=2)
            case "GetVariant":
                return rules.GetVariantRequest(variant=dice.choice(self.nonsense.variants))
            case "ListPresets":
                return rules.ListPresetsRequest(page_size=3)
            case "ResolveRules":
                return rules.ResolveRulesRequest(choice=self._choice(), players=dice.randint(2, 5))
            case "CreateTable":
                return tables.CreateTableRequest(seats=2, rules=self._choice(), clock=CLOCK, title="fuzzed")
            case "GetTable":
                return tables.GetTableRequest(table=table)
            case "ListTables":
                return tables.ListTablesRequest(states=[table_pb2.TABLE_STATE_PLAYING], page_size=5)
            case "JoinTable":
                return tables.JoinTableRequest(table=table, name="cleo", seat_secret=STRANGER, seat=1)
            case "LeaveTable":
                return tables.LeaveTableRequest(table="t-000000000000")
            case "AddBot":
                return tables.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name="easy"), seat=1)
            case "StartTable":
                return tables.StartTableRequest(table=table)
            case "CloseTable":
                return tables.CloseTableRequest(table="t-000000000000")
            case "RemoveSeat":
                return tables.RemoveSeatRequest(table=table, seat=1)
            case "InviteToTable":
                role = tables.INVITATION_ROLE_SPECTATOR
                return tables.InviteToTableRequest(table=table, secret="an-invitation-of-many", role=role, uses=3)
            case "RevokeInvitation":
                return tables.RevokeInvitationRequest(table=table, secret="an-invitation-of-many")
            case "Act":
                return plays.ActRequest(table=table, actions=self.actions(), expected_sequence=dice.randrange(30))
            case "Watch":
                return plays.WatchRequest(table=table, after_sequence=dice.randrange(9), with_views=True)
            case "Play":
                hello = plays.Hello(name="fuzzed-bot", features=["batches"], max_concurrent_games=9, program="p 1")
                hello.resume.add(table=table, after_sequence=dice.randrange(9))
                return plays.PlayRequest(hello=hello)
            case "ListLegalActions":
                return plays.ListLegalActionsRequest(table=table, page_size=5, page_token="3-5")
            case "CreateMatch":
                return matches.CreateMatchRequest(plan=plan())
            case "PlanMatch":
                return matches.PlanMatchRequest(plan=plan())
            case "GetMatch":
                return matches.GetMatchRequest(match=match)
            case "ListMatches":
                return matches.ListMatchesRequest(page_size=2)
            case "WatchMatch":
                return matches.WatchMatchRequest(match=match)
            case "CancelMatch":
                return matches.CancelMatchRequest(match="m-000000000000")
            case "PauseMatch":
                return matches.PauseMatchRequest(match=match)
            case "ReportBot":
                report = match_pb2.BotReport(bot="absent", kind=result_pb2.TERMINATION_CRASH, exit_code=-9, seating=1)
                return matches.ReportBotRequest(match=match, report=report)
            case "ListGames":
                return matches.ListGamesRequest(match=match, page_size=5)
            case "GetRecord":
                return matches.GetRecordRequest(record=table)
            case "RegisterPlayer":
                return players.RegisterPlayerRequest(name=f"player {dice.randrange(1_000)}")
            case "GetPlayer":
                return players.GetPlayerRequest(name=dice.choice(("", "player 7")))
            case "GetLeaderboard":
                return players.GetLeaderboardRequest(page_size=5)
        raise ValueError(f"no request is known for {method}: it must be fuzzed too")

    def actions(self) -> list[action_pb2.Action]:
        seven = [Card.CARD_7S, Card.CARD_7H, Card.CARD_7D]
        whole = [
            action_pb2.Action(draw=action_pb2.Draw()),
            action_pb2.Action(take=action_pb2.Take(card=Card.CARD_7S, place=1)),
            action_pb2.Action(lay_meld=action_pb2.LayMeld(cards=seven, stands_for=seven)),
            action_pb2.Action(lay_off=action_pb2.LayOff(card=Card.CARD_JK, stands_for=Card.CARD_7S, meld=1)),
            action_pb2.Action(discard=action_pb2.Discard(card=Card.CARD_KD)),
            action_pb2.Action(call=action_pb2.Call(card=Card.CARD_7S, meld=1, with_cards=seven)),
            action_pb2.Action(text=self.nonsense.line()),
        ]
        return self._dice.choices(whole, k=self._dice.randint(1, 3))

    def _choice(self) -> rules_pb2.RulesChoice:
        dice, nonsense = self._dice, self.nonsense
        named = dice.sample(nonsense.options, 2)
        options = [rules_pb2.Option(name=name, value=dice.choice(("1", "true", "low"))) for name in named]
        return rules_pb2.RulesChoice(
            preset=dice.choice(("", "pagat", "classic")), variants=dice.sample(nonsense.variants, 1), options=options
        )


GOING_ON = (match_pb2.MATCH_STATE_WAITING, match_pb2.MATCH_STATE_RUNNING)


def plan() -> match_pb2.MatchPlan:
    """A match of bots that never come."""
    names = ("absent", "missing")
    bots = [match_pb2.MatchBot(name=name, connected=match_pb2.ConnectedBot(names=[f"{name}-1"])) for name in names]
    return match_pb2.MatchPlan(bots=bots, deals=1, seed=1, clock=table_pb2.ClockSettings(decision_ms=1_000))
