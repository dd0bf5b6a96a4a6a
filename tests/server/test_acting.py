"""PlayService.Act and ListLegalActions: actions of a seat, and what is said when they cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest
from tests.server.at_table import SECONDS, Client, position, refused, secret_of
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import action_pb2, card_pb2, view_pb2
from rummy500.v1 import play_service_pb2 as pb


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield Client.on(channel)


SETS = position(hands={"anna": "7S 7H 7D 2C", "ben": "2S 3S"}, discards="9C", stock="5D KC 8C")


async def test_a_turn_is_a_draw_plays_and_a_discard(client: Client) -> None:
    table = await client.at_position(**SETS)

    drawn = await client.act(table, "anna", "draw")
    played = await client.act(table, "anna", "meld 7S 7H 7D", "discard 2C", with_view=True)

    assert drawn.events[0].drew_from_stock.card == card_pb2.CARD_5D
    assert (played.applied, played.stop) == (2, pb.ACT_STOP_ALL_APPLIED)
    assert [event.WhichOneof("kind") for event in played.events] == ["melded", "discarded"]
    assert [event.sequence for event in played.events] == [drawn.sequence + 1, drawn.sequence + 2]
    assert played.sequence == played.events[-1].sequence == played.view.sequence
    assert list(played.view.hand) == [card_pb2.CARD_5D]
    assert (played.view.turn, played.view.phase) == (1, view_pb2.PHASE_DRAW)


async def test_an_answer_stops_when_something_is_revealed(client: Client) -> None:
    table = await client.at_position(**SETS)
    answer = await client.act(table, "anna", "draw", "discard 2C")
    assert (answer.applied, answer.stop) == (1, pb.ACT_STOP_REVEALED)


async def test_an_answer_stops_when_the_turn_is_over(client: Client) -> None:
    table = await client.at_position(**SETS)
    answer = await client.act(table, "anna", "take 9C", "discard 2C", "draw")
    assert (answer.applied, answer.stop) == (2, pb.ACT_STOP_TURN_ENDED)


async def test_an_answer_stops_at_the_first_refusal(client: Client) -> None:
    table = await client.at_position(**SETS)
    await client.act(table, "anna", "draw")

    answer = await client.act(table, "anna", "meld 7S 7H 7D", "meld 2C 5D KC", "discard 2C")

    assert (answer.applied, answer.stop) == (1, pb.ACT_STOP_REFUSED)
    assert answer.refusal.code == "CARD_NOT_IN_HAND"
    assert answer.refusal.sentence


async def test_a_refusal_says_why_and_changes_nothing(client: Client) -> None:
    table = await client.at_position(**SETS)
    await client.act(table, "anna", "draw")
    before = await client.view(table, "anna")

    for line, reason in (
        ("draw", "WRONG_PHASE"),
        ("discard KS", "CARD_NOT_IN_HAND"),
        ("meld 7S 7H 2C", "NOT_A_MELD"),
        ("layoff 2C m1", "NO_SUCH_MELD"),
        ("layoff 2C", "AMBIGUOUS"),
        ("sing", "UNKNOWN_ACTION"),
        ("call 9C m1", "NO_CALL_OPEN"),
    ):
        with refused(reason) as said:
            await client.act(table, "anna", line)
        assert said.code is grpc.StatusCode.FAILED_PRECONDITION
        assert said.sentence
    with refused("NOT_YOUR_TURN"):
        await client.act(table, "ben", "draw")
    assert await client.view(table, "anna") == before


async def test_messages_and_text_mean_the_same(client: Client) -> None:
    seven = [card_pb2.CARD_7S, card_pb2.CARD_7H, card_pb2.CARD_7D]
    messages = [
        action_pb2.Action(lay_meld=action_pb2.LayMeld(cards=seven)),
        action_pb2.Action(discard=action_pb2.Discard(card=card_pb2.CARD_2C)),
    ]
    views = []
    for actions in (messages, None):
        table = await client.at_position(**SETS)
        await client.act(table, "anna", "draw")
        if actions is None:
            await client.act(table, "anna", "meld 7S 7H 7D", "discard 2C")
        else:
            request = pb.ActRequest(table=table, actions=actions)
            await client.plays.Act(request, metadata=bearer(secret_of("anna")))
        view = await client.view(table, "anna")
        view.table = ""
        views.append(view)
    assert views[0] == views[1]


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (action_pb2.Action(), "actions[0]"),
        (action_pb2.Action(text="x" * 1_025), "actions[0].text"),
        (action_pb2.Action(discard=action_pb2.Discard()), "actions[0].discard.card"),
        (action_pb2.Action(lay_meld=action_pb2.LayMeld(cards=[card_pb2.CARD_7S] * 65)), "actions[0].lay_meld.cards"),
        (
            action_pb2.Action(lay_meld=action_pb2.LayMeld(cards=[card_pb2.CARD_7S] * 3, stands_for=[card_pb2.CARD_7S])),
            "actions[0].lay_meld.stands_for",
        ),
        (
            action_pb2.Action(lay_off=action_pb2.LayOff(card=card_pb2.CARD_7S, stands_for=card_pb2.CARD_8S, meld=1)),
            "actions[0].lay_off.stands_for",
        ),
    ],
)
async def test_an_action_that_is_none_is_a_bad_request(client: Client, action: action_pb2.Action, field: str) -> None:
    table = await client.at_position(**SETS)
    with refused("BAD_REQUEST") as said:
        request = pb.ActRequest(table=table, actions=[action])
        await client.plays.Act(request, metadata=bearer(secret_of("anna")))
    assert said.code is grpc.StatusCode.INVALID_ARGUMENT
    assert said.fields == [field]


async def test_an_answer_has_at_least_one_action_and_at_most_64(client: Client) -> None:
    table = await client.at_position(**SETS)
    for lines in ((), ("draw",) * 65):
        with refused("BAD_REQUEST") as said:
            await client.act(table, "anna", *lines)
        assert said.fields == ["actions"]


async def test_a_stale_sequence_is_aborted_and_changes_nothing(client: Client) -> None:
    table = await client.at_position(**SETS)
    now = (await client.view(table, "anna")).sequence
    with refused("STALE_SEQUENCE") as said:
        await client.act(table, "anna", "draw", expected_sequence=now - 1)
    assert said.code is grpc.StatusCode.ABORTED
    assert said.metadata["sequence"] == str(now)
    await client.act(table, "anna", "draw", expected_sequence=now)


async def test_only_the_seats_token_acts_for_it(client: Client) -> None:
    table = await client.at_position(**SETS)
    with refused("NOT_SEATED") as said:
        await client.act(table, "stranger", "draw")
    assert said.code is grpc.StatusCode.PERMISSION_DENIED
    with refused("NO_TOKEN") as said:
        await client.plays.Act(pb.ActRequest(table=table, actions=[action_pb2.Action(text="draw")]))
    assert said.code is grpc.StatusCode.UNAUTHENTICATED
    with refused("NOT_SEATED"):
        request = pb.ListLegalActionsRequest(table=table)
        await client.plays.ListLegalActions(request, metadata=bearer(secret_of("stranger")))


async def test_nobody_acts_before_the_start(client: Client) -> None:
    table = await client.create(2)
    await client.join(table, "anna")
    with refused("WRONG_TABLE_STATE"):
        await client.act(table, "anna", "draw")


async def test_a_retry_gets_the_first_answer_again(client: Client) -> None:
    table = await client.at_position(**SETS)

    first = await client.act(table, "anna", "draw", request_id="r1")
    again = await client.act(table, "anna", "draw", request_id="r1")

    assert again == first
    assert (await client.view(table)).stock_count == 2
    with refused("REQUEST_ID_REUSED"):
        await client.act(table, "anna", "discard 2C", request_id="r1")


async def test_a_refused_request_may_be_tried_again(client: Client) -> None:
    table = await client.at_position(**SETS)
    with refused("WRONG_PHASE"):
        await client.act(table, "anna", "discard 2C", request_id="r2")
    await client.act(table, "anna", "draw")
    await client.act(table, "anna", "discard 2C", request_id="r2")


async def test_legal_actions_come_page_by_page(client: Client) -> None:
    table = await client.at_position(**SETS)
    await client.act(table, "anna", "draw")
    listed = action_pb2.LegalActions()
    token, pages = "", 0
    while token or not pages:
        request = pb.ListLegalActionsRequest(table=table, page_size=2, page_token=token)
        page = await client.plays.ListLegalActions(request, metadata=bearer(secret_of("anna")), timeout=SECONDS)
        assert page.legal_actions.complete is not bool(page.next_page_token)
        listed.MergeFrom(page.legal_actions)
        token, pages = page.next_page_token, pages + 1
    whole = (await client.view(table, "anna")).legal_actions
    assert pages == 3
    assert listed == whole

    first = pb.ListLegalActionsRequest(table=table, page_size=2)
    answer = await client.plays.ListLegalActions(first, metadata=bearer(secret_of("anna")))
    await client.act(table, "anna", "discard 2C")
    for token, reason in ((answer.next_page_token, "STALE_SEQUENCE"), ("nonsense", "BAD_REQUEST")):
        with refused(reason):
            request = pb.ListLegalActionsRequest(table=table, page_token=token)
            await client.plays.ListLegalActions(request, metadata=bearer(secret_of("anna")))


async def test_a_seat_that_is_not_asked_has_no_legal_actions(client: Client) -> None:
    table = await client.at_position(**SETS)
    view = await client.view(table, "ben")
    assert view.legal_actions == action_pb2.LegalActions(complete=True)
    answer = await client.plays.ListLegalActions(
        pb.ListLegalActionsRequest(table=table), metadata=bearer(secret_of("ben"))
    )
    assert answer.legal_actions == action_pb2.LegalActions(complete=True)
