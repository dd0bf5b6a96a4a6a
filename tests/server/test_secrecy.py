"""API law 4: tables that differ only in what a viewer may not see send it the same bytes, on every path."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.twin_script import Step, Twins, twins_from_the_deal, twins_in_play
from tests.server.twin_worlds import transcripts, verify_alike

from rummy500.v1.play_service_pb2 import WatchResponse
from rummy500.v1.table_pb2 import Table
from rummy500_catalog import Catalog
from rummy500_catalog.offers import VARIANTS, Offer, installed
from rummy500_engine.actions import PASS, Action, Call, LayMeld, LayOff
from rummy500_engine.cards import Card, card_text, cards_of, rank_of, suit_of
from rummy500_engine.events import DrewFromStock, RoundDealt
from rummy500_engine.hooks import hookimpl
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.terms import Poll
from rummy500_server.eventlog import EventLog
from rummy500_server.keeper import Keeper
from rummy500_server.services import table as table_service
from rummy500_server.table_wire import table_message
from rummy500_server.window import PollWindow

IS_LONG = os.environ.get("RUMMY500_LONG") == "1"
ROUNDS = 60 if IS_LONG else 2
if IS_LONG:
    pytestmark = pytest.mark.timeout(0)
CATALOG = Catalog()
HEARTS = 2
TABLES: list[tuple[int, Mapping[str, Any]]] = [
    (2, {}),
    (3, {}),
    (3, {"preset": "pagat"}),
    (4, {"preset": "partners"}),
    (2, {"variants": ["jokers"]}),
    (3, {"variants": ["two-decks", "jokers"], "options": {"jokers.per_deck": 4, "jokers.exchange": "exact"}}),
    (3, {"preset": "floating"}),
    (4, {"variants": ["call-rummy", "queen-of-spades"], "options": {"call-rummy.false_call_points": 10}}),
    (3, {"variants": ["call-rummy"], "options": {"call-rummy.priority": "first_received"}}),
    (2, {"preset": "strict", "variants": ["call-rummy"]}),
    (3, {"variants": ["stock-out", "own-melds", "meld-first"], "options": {"stock-out.rule": "reshuffle"}}),
    (5, {"variants": ["deal", "must-discard", "ace-runs"]}),
]


def twins_of(players: int, choice: Mapping[str, Any], dice: random.Random, *, catalog: Catalog = CATALOG) -> Twins:
    options = choice.get("options", {})
    rules = catalog.rules(choice.get("preset", ""), choice.get("variants", ()), options, players=players)
    if dice.random() < 0.4:
        return twins_from_the_deal(rules, choice, dice, viewer=dice.choice((None, *range(players))))
    while True:
        twins = twins_in_play(rules, choice, dice)
        if twins is not None and twins.steps:
            return twins


@pytest.mark.parametrize(("players", "choice"), TABLES, ids=lambda each: str(each))
async def test_a_viewer_is_sent_the_same_bytes_whatever_it_may_not_see(players: int, choice: Mapping[str, Any]) -> None:
    dice = random.Random(f"{players} {choice}")
    for _ in range(ROUNDS):
        twins = twins_of(players, choice, dice)
        compared = verify_alike(await transcripts(twins, are_bots=dice.random() < 0.4))
        assert compared > 5


# --- the opening and the closing of a call window


def window_twins() -> Twins:
    """anna is about to throw TD. In one world ben could call it into a set, in the other nobody could."""
    position: dict[str, Any] = {
        "rules": {"variants": ["call-rummy"], "options": {"call-rummy.scope": "with_hand"}},
        "players": ["anna", "ben", "cleo"],
        "discards": "5H",
        "turn": "anna",
        "phase": "play",
    }
    could = position | {"hands": {"anna": "TD 2H", "ben": "TH TS 4S", "cleo": "KC 3H"}, "stock": "3C 4C 6C 8C"}
    could_not = position | {"hands": {"anna": "TD 2H", "ben": "3C 6C 4S", "cleo": "KC 3H"}, "stock": "TH 4C TS 8C"}
    steps = (
        Step(("discard 9D",), ((0, "discard TD"),), in_poll=False),
        Step(("call TD m1",), ((1, "pass"), (2, "pass")), in_poll=True),
    )
    return Twins(0, position["rules"], 3, (could, could_not), None, steps)


@pytest.mark.parametrize("are_bots", [False, True], ids=["people", "bots"])
async def test_a_call_window_opens_and_closes_whether_anybody_could_call_or_not(are_bots: bool) -> None:
    found = await transcripts(window_twins(), are_bots=are_bots)
    verify_alike(found)
    told = [event for message in found[0]["watch"] for event in WatchResponse.FromString(message).events.events]
    kinds = [event.WhichOneof("kind") for event in told]
    assert kinds[1:3] == ["call_window_opened", "call_window_closed"]


# --- planted leaks are found


def shows_the_next_card(round: Round, seat: int | None) -> Mapping[str, Any]:
    return {"next": card_text(round.stock[-1]) if round.stock else ""}


def counts_the_hearts_of_others(round: Round, seat: int | None) -> Mapping[str, Any]:
    hands = [hand for other, hand in enumerate(round.hands) if other != seat]
    return {"hearts": sum(suit_of(card) == HEARTS for hand in hands for card in cards_of(hand))}


def lets_nobody_lay_what_another_could(round: Round, seat: int, action: Action) -> Refused | None:
    if not isinstance(action, LayMeld | LayOff):
        return None
    ranks = {rank_of(card) for other, hand in enumerate(round.hands) if other != seat for card in cards_of(hand)}
    laid = action.cards[0] if isinstance(action, LayMeld) else action.card
    return Refused("LEAKY_HELD", "somebody holds a card like that") if rank_of(laid) in ranks else None


def refuses_with_a_card_of_the_stock(round: Round, seat: int, action: Action) -> Refused | None:
    if not isinstance(action, LayOff) or not round.stock:
        return None
    return Refused("LEAKY_NO_LAY_OFF", f"nothing is laid off before {card_text(round.stock[0])} is drawn")


def asks_who_holds_such_a_card(round: Round, seat: int, card: Card, final: bool) -> Poll | None:
    asked = [
        other
        for other, hand in enumerate(round.hands)
        if other != seat and any(rank_of(held) == rank_of(card) for held in cards_of(hand))
    ]
    return Poll("leaky", "question", card, seat, tuple(asked)) if asked and not final else None


LEAKY: dict[str, dict[str, Any]] = {
    "a view with a card of the stock": {"view": shows_the_next_card},
    "a view with a number that hands decide": {"view": counts_the_hearts_of_others},
    "legal actions that hang on other hands": {"veto": lets_nobody_lay_what_another_could},
    "a poll of those who hold something": {
        "poll": asks_who_holds_such_a_card,
        "poll_actions": lambda: (PASS,),
        "poll_result": lambda: None,
    },
}
PATIENCE = 25
"""So many twins, and a leak that is there has shown."""


def catalog_with(hooks: Mapping[str, Any]) -> Catalog:
    hooks = {"sentence": lambda: "A variant that gives something away.", **hooks}
    leaky = SimpleNamespace(**{f"rummy500_{name}": hookimpl(hook) for name, hook in hooks.items()})
    return Catalog(variants=[*installed(VARIANTS), Offer("leaky", "dist-of-leaky", "1.0", lambda: leaky)])


async def leaks(dice: random.Random, players: int, choice: Mapping[str, Any], *, catalog: Catalog = CATALOG) -> bool:
    """Whether twins tell their viewer apart what it may not see."""
    for _ in range(PATIENCE):
        try:
            verify_alike(await transcripts(twins_of(players, choice, dice, catalog=catalog), catalog=catalog))
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("hooks", LEAKY.values(), ids=LEAKY)
async def test_a_variant_that_gives_something_away_is_found(hooks: Mapping[str, Any]) -> None:
    assert await leaks(random.Random(1), 3, {"variants": ["leaky"]}, catalog=catalog_with(hooks))


async def test_a_refusal_that_names_a_hidden_card_is_found() -> None:
    """Everything else is alike, and so is the number of bytes."""
    position: dict[str, Any] = {
        "rules": {"variants": ["leaky"]},
        "players": ["anna", "ben"],
        "hands": {"anna": "7C 2H", "ben": "TH TS"},
        "melds": ["7D 7H 7S by ben"],
        "turn": "anna",
        "phase": "play",
    }
    steps = (Step(("layoff 7C m1",), ((0, "discard 2H"),), in_poll=False),)
    positions = (position | {"stock": "3C 4C"}, position | {"stock": "4C 3C"})
    twins = Twins(0, position["rules"], 2, positions, None, steps)
    found = await transcripts(twins, catalog=catalog_with({"veto": refuses_with_a_card_of_the_stock}))
    with pytest.raises(AssertionError, match="Act, message 0"):
        verify_alike(found)


def shows_events_as_their_seat_sees_them(patch: pytest.MonkeyPatch) -> None:
    whole = EventLog._piece

    def piece(log: EventLog, index: int, seat: int | None) -> bytes:
        event = log._events[index]
        return whole(log, index, event.seat if isinstance(event, DrewFromStock) else seat)

    patch.setattr(EventLog, "_piece", piece)


def shows_the_first_hand_of_a_deal(patch: pytest.MonkeyPatch) -> None:
    whole = EventLog._piece

    def piece(log: EventLog, index: int, seat: int | None) -> bytes:
        return whole(log, index, 0 if isinstance(log._events[index], RoundDealt) else seat)

    patch.setattr(EventLog, "_piece", piece)


def is_longer_for_high_cards(patch: pytest.MonkeyPatch) -> None:

    def message(keeper: Keeper) -> Table:
        told, round = table_message(keeper), keeper.table.game.round
        told.title = " " * rank_of(round.stock[-1]) if round is not None and round.stock else ""
        return told

    patch.setattr(table_service, "table_message", message)


def says_whose_cards_are_wanted(patch: pytest.MonkeyPatch) -> None:
    whole = Keeper.refuse

    def refuse(keeper: Keeper, seat: int, refused: Refused) -> None:
        round = keeper.table.game.round
        if round is not None and round.stock:
            refused.sentence += f" (next: {card_text(round.stock[-1])})"
        whole(keeper, seat, refused)

    patch.setattr(Keeper, "refuse", refuse)


SPOILT = [
    shows_events_as_their_seat_sees_them,
    shows_the_first_hand_of_a_deal,
    is_longer_for_high_cards,
    says_whose_cards_are_wanted,
]


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
async def test_a_server_that_gives_something_away_is_found(
    spoil: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch)
    assert await leaks(random.Random(2), 3, {})


async def test_a_window_that_closes_when_nobody_could_call_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = PollWindow.is_young

    def is_young(window: PollWindow) -> bool:
        round = window._keeper.table.game.round
        calls = round is not None and [
            action for seat in round.to_act() for action in round.legal_actions(seat) if isinstance(action, Call)
        ]
        return bool(calls) and bool(whole.fget(window))

    monkeypatch.setattr(PollWindow, "is_young", property(is_young))
    found = await transcripts(window_twins())
    with pytest.raises(AssertionError):
        verify_alike(found)
