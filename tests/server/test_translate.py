"""Engine to protobuf and back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import assert_never, get_args

import pytest

from rummy500.v1 import action_pb2, card_pb2, event_pb2, meld_pb2, refusal_pb2, variant_part_pb2, view_pb2
from rummy500_catalog import Catalog
from rummy500_engine import events as engine
from rummy500_engine.actions import Action, Call, Discard, Draw, End, LayMeld, LayOff, Pass, Take, VariantAction
from rummy500_engine.cards import FACES, JOKER, card_text, rank_of, read_card, read_cards
from rummy500_engine.events import RoundEnd, SeatScore
from rummy500_engine.game import Game
from rummy500_engine.melds import Meld
from rummy500_engine.notation import read_action
from rummy500_engine.position import set_up
from rummy500_engine.refusals import Refusal
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.view import View, redact, seat_view
from rummy500_server import table_events as shell
from rummy500_server.results import GameResult, Termination
from rummy500_server.translate.actions import action_from, legal_bytes, variant_action_into
from rummy500_server.translate.cards import CARDS, END, WIRE, wire_cards
from rummy500_server.translate.events import event_bytes, is_same_for_all
from rummy500_server.translate.pieces import tag, varint
from rummy500_server.translate.views import ClockFace, PublicPieces, meld_message, refusal_message, view_into

CATALOG = Catalog()
RULES = CATALOG.rules(players=2)


def test_cards_are_the_numbers_of_the_contract() -> None:
    for card in (*FACES, JOKER):
        assert card_pb2.Card.Name(WIRE[card]) == f"CARD_{card_text(card)}"
        assert CARDS[WIRE[card]] == card


def action_into(message: action_pb2.Action, action: Action) -> None:
    """The action as a message, so that `action_from` gives it back."""
    match action:
        case Draw():
            message.draw.SetInParent()
        case Pass():
            message.passing.SetInParent()
        case Take(card, place):
            message.take.card, message.take.place = WIRE[card], place
        case LayMeld(cards, stands_for, end):
            message.lay_meld.cards.extend(wire_cards(cards))
            message.lay_meld.stands_for.extend(wire_cards(stands_for))
            message.lay_meld.end = END[end]
        case LayOff(card, meld, end, face):
            message.lay_off.card, message.lay_off.meld, message.lay_off.end = WIRE[card], meld, END[end]
            if face is not None:
                message.lay_off.stands_for = WIRE[face]
        case Discard(card):
            message.discard.card = WIRE[card]
        case Call(card, place, meld, with_cards, stands_for, end):
            called = message.call
            called.card, called.place, called.meld, called.end = WIRE[card], place, meld, END[end]
            called.with_cards.extend(wire_cards(with_cards))
            called.stands_for.extend(wire_cards(stands_for))
        case VariantAction():
            variant_action_into(message.variant_part, action)
        case _:
            assert_never(action)


@pytest.mark.parametrize(
    "action",
    [
        Draw(),
        Pass(),
        Take(read_card("9H")),
        Take(read_card("9H"), 3),
        LayMeld(read_cards("7S 7H 7D")),
        LayMeld(read_cards("6S 7S JK"), read_cards("6S 7S 8S")),
        LayMeld(tuple(range(13)), (), End.LOW),
        LayOff(read_card("QH"), 1),
        LayOff(read_card("AS"), 2, End.HIGH),
        LayOff(JOKER, 2, None, read_card("7S")),
        LayOff(read_card("QH"), 0),
        Discard(read_card("6S")),
        Call(read_card("8H"), 0, 2),
        Call(read_card("8H"), 2, 0, read_cards("9H TH")),
        Call(read_card("8H"), 0, 0, (read_card("9H"), JOKER), read_cards("8H 9H TH"), End.LOW),
        VariantAction("jokers", "exchange", read_cards("9C"), "m1"),
    ],
)
def test_an_action_comes_back_as_it_went(action: Action) -> None:
    message = action_pb2.Action()
    action_into(message, action)
    if isinstance(action, VariantAction):
        message.variant_part.text = ""
    sent = action_pb2.Action.FromString(message.SerializeToString())
    assert action_from(sent, RULES, "actions[0]") == action


@pytest.mark.parametrize("line", ["draw", "take 9H@3", "meld 6S 7S JK=8S", "layoff AS m2 low", "call 8H with 9H TH"])
def test_a_line_of_notation_is_an_action(line: str) -> None:
    assert action_from(action_pb2.Action(text=line), RULES, "actions[0]") == read_action(line, RULES)


# --- views


def games(players: int, *, seed: int, actions: int = 300) -> Iterator[tuple[Game, list[engine.Event]]]:
    """Random play: the game after each action, and what the action brought about."""
    dice = random.Random(seed)
    rules = CATALOG.rules(players=players)
    game, dealt = Game(rules), 0
    for _ in range(actions):
        if game.over:
            game = Game(rules)
        events: list[engine.Event] = []
        if game.needs_deal:
            dealt += 1
            round_seed = seed_for(bytes([seed] * 32), "round", dealt)
            events += game.deal(shuffle(round_seed, rules.pack), seed=round_seed)
        seat = game.to_act()[0]
        events += game.apply(seat, dice.choice(game.legal_actions(seat)))
        if not game.needs_deal and not game.over:
            yield game, events


def plainly(view: View, sequence: int) -> view_pb2.View:
    """The view set field by field, as the contract says."""
    message = view_pb2.View(
        table="t-1",
        sequence=sequence,
        hand=[WIRE[card] for card in view.hand],
        melds=map(meld_message, view.melds),
        discards=[WIRE[card] for card in view.pile],
        stock_count=view.stock_count,
        hand_counts=view.hand_counts,
        totals=view.totals,
        round=view.round,
        dealer=view.dealer,
        turn=view.turn,
        phase=view_pb2.Phase.Value(f"PHASE_{view.phase.name}"),
        waiting=view.to_act,
        turns_played=view.turns_played,
        times_recycled=view.recycled,
        melds_this_turn=view.laid,
    )
    for seat, cards in enumerate(view.known):
        if cards:
            message.known_cards.add(seat=seat, cards=[WIRE[card] for card in cards])
    if view.must_use or view.banned is not None:
        message.duty.must_use.extend(WIRE[card] for card in view.must_use)
        if view.target in view.must_use and view.target is not None:
            message.duty.target = WIRE[view.target]
        if view.banned is not None:
            message.duty.banned = WIRE[view.banned]
    if view.seat is not None:
        message.seat = view.seat
        message.legal_actions.CopyFrom(listed_plainly(view))
    return message


def listed_plainly(view: View) -> action_pb2.LegalActions:
    legal = action_pb2.LegalActions(complete=True)
    for action in view.legal:
        match action:
            case Draw():
                legal.can_draw = True
            case Pass():
                legal.can_pass = True
            case Take(card, place):
                legal.takes.add(card=WIRE[card], place=place)
            case LayMeld(cards, _, end):
                legal.melds.add(cards=[WIRE[card] for card in cards], end=END[end])
            case LayOff(card, meld, end):
                legal.lay_offs.add(card=WIRE[card], meld=meld, end=END[end])
            case Discard(card):
                legal.discards.append(WIRE[card])
    return legal


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_view_joined_from_pieces_is_the_view_set_field_by_field(players: int) -> None:
    public = PublicPieces("t-1")
    for sequence, (game, _) in enumerate(games(players, seed=players)):
        for seat in (None, *range(players)):
            view = seat_view(game, seat)
            message = view_pb2.View()
            view_into(message, game, seat, view.legal, public=public, sequence=sequence, clock=None)
            assert message == plainly(view, sequence)


def test_the_clock_is_in_the_view() -> None:
    game, _ = next(games(2, seed=1))
    message = view_pb2.View()
    face = ClockFace(9_000, 1_796_054_627_000, (0, 2), (60_000, 0))
    view_into(message, game, 0, (), public=PublicPieces("t-1"), sequence=1, clock=face)
    assert message.clock == view_pb2.ClockState(
        time_left_ms=9_000, deadline_unix_ms=1_796_054_627_000, finished_turns=[0, 2], bank_ms=[60_000, 0]
    )


def test_legal_actions_are_what_can_be_sent_back() -> None:
    """Whatever is listed is, sent back, an action that the engine lists."""
    for game, _ in games(2, seed=7):
        seat = game.to_act()[0]
        legal = game.legal_actions(seat)
        message = action_pb2.LegalActions.FromString(legal_bytes(legal, complete=True))
        sent = [action_pb2.Action(lay_meld=meld) for meld in message.melds]
        sent += [action_pb2.Action(lay_off=lay_off) for lay_off in message.lay_offs]
        sent += [action_pb2.Action(take=take) for take in message.takes]
        sent += [action_pb2.Action(discard=action_pb2.Discard(card=card)) for card in message.discards]
        sent += [action_pb2.Action(draw=action_pb2.Draw())] * message.can_draw
        sent += [action_pb2.Action(passing=action_pb2.Pass())] * message.can_pass
        assert sorted(map(repr, (action_from(each, game.rules, "") for each in sent))) == sorted(map(repr, legal))


def test_a_meld_with_jokers_is_listed_once_with_its_readings() -> None:
    seven, eight, nine = read_cards("7S 8S 9S")
    six, ten = read_cards("6S TS")
    legal: list[Action] = [
        LayMeld((JOKER, seven, eight), (six, seven, eight)),
        LayMeld((seven, eight, JOKER), (seven, eight, nine)),
        LayMeld((seven, eight, nine)),
        LayMeld((eight, JOKER, ten), (eight, nine, ten)),
        LayOff(JOKER, 1, None, six),
        LayOff(JOKER, 1, None, ten),
    ]
    message = action_pb2.LegalActions.FromString(legal_bytes(legal, complete=False))

    plain, two, one = message.melds
    assert list(plain.cards) == [WIRE[seven], WIRE[eight], WIRE[nine]]
    assert list(two.cards) == [WIRE[seven], WIRE[eight], WIRE[JOKER]]
    assert [list(reading.stands_for) for reading in two.readings] == [
        [WIRE[seven], WIRE[eight], WIRE[six]],
        [WIRE[seven], WIRE[eight], WIRE[nine]],
    ]
    assert not one.readings
    assert list(one.stands_for) == [WIRE[eight], WIRE[ten], WIRE[nine]]
    assert [lay_off.stands_for for lay_off in message.lay_offs] == [WIRE[six], WIRE[ten]]
    assert not message.complete


@pytest.mark.parametrize(
    ("text", "cards", "ace", "laid_off"),
    [
        ("9H TH JH by anna; QH by anna; 8H by ben", "8H 9H TH JH QH", None, [4, 0]),
        ("7S 7H 7D by ben; 7C by anna", "7S 7H 7D 7C", None, [3]),
        ("2C 3C 4C by ben; AC by anna", "AC 2C 3C 4C", End.LOW, [0]),
        ("QD KD AD by anna; JD by anna", "JD QD KD AD", End.HIGH, [0]),
    ],
)
def test_a_meld_is_told_as_it_is_printed(text: str, cards: str, ace: End | None, laid_off: list[int]) -> None:
    meld = _meld(text)
    message = meld_message(meld)
    assert list(message.cards) == [WIRE[card] for card in read_cards(cards)]
    assert message.ace == END[ace]
    assert list(message.laid_off) == laid_off
    assert message.laid_by == meld.placed[0].seat
    credits = {(placed.card, placed.seat) for placed in meld.placed}
    assert {(CARDS[card], seat) for card, seat in zip(message.cards, message.placed_by, strict=True)} == credits


def _meld(text: str) -> Meld:
    game, _ = set_up(RULES, {"players": ["anna", "ben"], "melds": [text], "stock": "KS", "discards": "QS"})
    assert game.round is not None
    return game.round.melds[0]


# --- events


def event_message(event: shell.TableEvent, sequence: int, seat: int | None) -> event_pb2.Event:
    return event_pb2.Event.FromString(event_bytes(event, sequence, seat))


def everything() -> list[shell.TableEvent]:
    """One of each kind of event."""
    score = SeatScore(10, 3, (("go-out-bonus", 25),), 32)
    result = GameResult(Termination.TIMEOUT, (1,), (10, 20), (), 0, 12, "t-1", 2, "anna forfeited")
    scored = engine.RoundScored(1, RoundEnd.OUT, 0, (score, score), (32, 32), ((), (5,)))
    return [
        engine.RoundDealt(1, 1, ((3, 1), (5, 4)), (2, 2), 7, 40),
        engine.DrewFromStock(0, 17, 39),
        engine.TookFromPile(1, (17, 18), (17,)),
        engine.Melded(0, 1, read_cards("QD KD AD"), read_cards("QD KD AD"), None),
        engine.Melded(0, 2, read_cards("7S 7H 7D"), read_cards("7S 7H 7D"), None),
        engine.LaidOff(0, 1, read_card("JD"), read_card("JD"), End.LOW),
        engine.Discarded(0, 9),
        engine.Passed(1),
        engine.Exchanged(0, 1, 9),
        engine.PollOpened("call-rummy", "call", 9, 0, (1,)),
        engine.PollOpened("other", "vote", None, 0, (1, 0)),
        engine.PollClosed("call-rummy", "call", None),
        engine.PollClosed("call-rummy", "call", 1, 9, 2),
        engine.PollClosed("other", "vote", 1),
        engine.TurnPassed(1, True),
        engine.StockRecycled(30, True),
        engine.VariantEvent("other", "bid", 1, (("points", 5),), (9,), private=True),
        shell.SeatJoined(0, "anna", False),
        shell.SeatLeft(0),
        shell.TableClosed(Termination.CANCELLED, "closed"),
        shell.ClockActed(0, shell.ClockReason.DISCONNECT, 2),
        shell.SeatTakenOver(1, "easy", shell.ClockReason.DISCONNECT),
        shell.SeatReturned(1),
        shell.SeatForfeited(0, Termination.CRASH),
        shell.RoundCounted(scored, 1),
        shell.GameEnded(result),
        shell.DealCommitted(1, bytes(32)),
        shell.DealRevealed(1, bytes(32)),
    ]


def test_every_kind_of_event_is_told() -> None:
    kinds = {type(event) for event in everything()}
    told_otherwise = {engine.RoundScored: shell.RoundCounted, engine.GameWon: shell.GameEnded}
    assert kinds == {told_otherwise.get(kind, kind) for kind in get_args(shell.TableEvent)}
    told = {event_message(event, 3, 0).WhichOneof("kind") for event in everything()}
    assert told == {field.name for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields}


def test_what_all_may_see_is_the_same_for_all() -> None:
    for event in everything():
        seen = {event_message(event, 1, seat).SerializeToString(deterministic=True) for seat in (0, 1, None)}
        assert (len(seen) == 1) is is_same_for_all(event), event


def test_hidden_cards_are_not_in_the_message() -> None:
    dealt, drawn = everything()[:2]
    assert list(event_message(dealt, 1, 0).round_dealt.hand) == [WIRE[1], WIRE[3]]
    assert not event_message(dealt, 1, None).round_dealt.hand
    assert event_message(drawn, 2, 0).drew_from_stock.card == WIRE[17]
    assert event_message(drawn, 2, 1).drew_from_stock.card == card_pb2.CARD_UNSPECIFIED
    private = next(event for event in everything() if isinstance(event, engine.VariantEvent))
    assert not event_message(private, 1, 0).variant_part.cards
    assert event_message(private, 1, 1).variant_part.fields["points"] == 5


def test_events_of_play_say_what_happened() -> None:
    for _, events in games(3, seed=2, actions=120):
        for event in events:
            if isinstance(event, engine.RoundScored | engine.GameWon):
                continue
            for seat in (0, 1, None):
                message, seen = event_message(event, 9, seat), redact(event, seat)
                assert message.sequence == 9
                if isinstance(seen, engine.Melded):
                    assert [CARDS[card] for card in message.melded.meld.cards] == list(seen.cards)
                    is_run = rank_of(seen.cards[0]) != rank_of(seen.cards[1])
                    kind = meld_pb2.MELD_KIND_RUN if is_run else meld_pb2.MELD_KIND_SET
                    assert message.melded.meld.kind == kind


# --- the rest


def test_refusals_carry_their_code() -> None:
    for code in Refusal:
        message = refusal_message(code.name, code.value)
        assert refusal_pb2.RefusalReason.Name(message.reason) == f"REFUSAL_REASON_{code.name}"
    own = refusal_message("QUEEN_FIRST", "x" * 600)
    assert (own.reason, own.code, len(own.sentence)) == (0, "QUEEN_FIRST", 512)


def test_a_variants_action_says_its_line() -> None:
    part = variant_part_pb2.VariantPart()
    variant_action_into(part, VariantAction("jokers", "exchange", read_cards("9C"), "m1"))
    assert (part.variant, part.name, part.text) == ("jokers", "exchange", "exchange 9C m1")
    assert part.fields["where"] == "m1"


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 16_384, 2**40])
def test_numbers_are_written_as_the_wire_has_them(number: int) -> None:
    message = view_pb2.View.FromString(tag(view_pb2.View, "sequence") + varint(number))
    assert message.sequence == number
