"""RulesService over the wire: what is installed and what a choice comes to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.server.running import channel_to, running_app

from rummy500.v1 import card_pb2, rules_pb2
from rummy500.v1 import rules_service_pb2 as pb
from rummy500.v1.rules_service_pb2_grpc import RulesServiceStub
from rummy500_catalog import Catalog, installed
from rummy500_catalog.offers import VARIANTS

if TYPE_CHECKING:
    from rummy500.v1.rules_service_pb2_grpc import RulesServiceAsyncStub


@pytest.fixture(scope="module")
async def rules() -> AsyncIterator[RulesServiceAsyncStub]:
    only_the_queen = [offer for offer in installed(VARIANTS) if offer.name == "queen-of-spades"]
    async with running_app(catalog=Catalog(variants=only_the_queen)) as app, channel_to(app.address) as channel:
        yield RulesServiceStub(channel)


async def resolve(rules: RulesServiceAsyncStub, players: int = 2, **choice: Any) -> pb.ResolveRulesResponse:
    options = [rules_pb2.Option(name=name, value=value) for name, value in choice.pop("options", {}).items()]
    return await rules.ResolveRules(
        pb.ResolveRulesRequest(choice=rules_pb2.RulesChoice(options=options, **choice), players=players)
    )


async def test_variants_are_listed_with_their_options(rules: RulesServiceAsyncStub) -> None:
    listed = (await rules.ListVariants(pb.ListVariantsRequest())).variants

    queen = next(each for each in listed if each.name == "queen-of-spades")
    assert listed[0].name == "classic"
    assert (queen.distribution, queen.problem) == ("rummy500-variant-queen-of-spades", "")
    assert [(option.name, option.default_value, option.type) for option in queen.options] == [
        ("queen-of-spades.points", "40", rules_pb2.OPTION_TYPE_INTEGER),
        ("queen-of-spades.card", "QS", rules_pb2.OPTION_TYPE_CHOICE),
    ]
    assert (queen.options[0].minimum, queen.options[0].maximum) == (-1000, 1000)
    assert list(queen.options[1].choices) == ["QS", "QH"]
    assert not queen.options[1].HasField("minimum")


async def test_lists_come_in_pages(rules: RulesServiceAsyncStub) -> None:
    whole = (await rules.ListPresets(pb.ListPresetsRequest())).presets
    names: list[str] = []
    token = ""
    while True:
        page = await rules.ListPresets(pb.ListPresetsRequest(page_size=3, page_token=token))
        names += [preset.name for preset in page.presets]
        token = page.next_page_token
        if not token:
            break
    assert names == [preset.name for preset in whole]
    assert "classic" in names


@pytest.mark.parametrize(("size", "token", "field"), [(101, "", "page_size"), (0, "nonsense", "page_token")])
async def test_a_page_that_cannot_be_is_a_bad_request(
    rules: RulesServiceAsyncStub, size: int, token: str, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await rules.ListPresets(pb.ListPresetsRequest(page_size=size, page_token=token))
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (failed.value.details() or "").startswith(f"{field}: ")


async def test_one_variant_is_shown_and_an_unknown_one_not_found(rules: RulesServiceAsyncStub) -> None:
    shown = await rules.GetVariant(pb.GetVariantRequest(variant="queen-of-spades"))
    assert shown.variant.summary

    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await rules.GetVariant(pb.GetVariantRequest(variant="nope"))
    assert failed.value.code() is grpc.StatusCode.NOT_FOUND


async def test_the_full_rules_of_a_choice_are_explicit(rules: RulesServiceAsyncStub) -> None:
    answer = await resolve(rules, 3, preset="queen-40", options={"target": "300"})

    full = answer.rules
    points = dict(zip(card_pb2.Card.values(), full.hand_points, strict=True))
    assert len(full.digest) == 64
    assert [each.name for each in full.variants] == ["classic", "queen-of-spades"]
    assert {each.name: each.value for each in full.options}["target"] == "300"
    assert {each.name: each.value for each in full.options}["queen-of-spades.points"] == "40"
    assert list(full.pack) == [0] + [1] * 52 + [0]
    assert points[card_pb2.CARD_QS] == 40
    assert points[card_pb2.CARD_QH] == 10
    assert "| `target` | 300 |" in full.sheet


async def test_the_order_of_naming_makes_no_difference(rules: RulesServiceAsyncStub) -> None:
    one = await resolve(rules, preset="queen-40")
    other = await resolve(rules, variants=["queen-of-spades"])

    assert one.rules.digest == other.rules.digest


@pytest.mark.parametrize(
    ("choice", "field", "value"),
    [
        ({"options": {"target": "0"}}, "option", "target"),
        ({"options": {"nope": "1"}}, "option", "nope"),
        ({"options": {"deal": "many"}}, "option", "deal"),
        ({"variants": ["nope"]}, "variants", ["nope"]),
        ({"preset": "pagat"}, "missing_distributions", None),
        ({"players": 8}, "option", "deal"),
    ],
)
async def test_a_refused_choice_is_an_answer_that_says_why(
    rules: RulesServiceAsyncStub, choice: dict[str, Any], field: str, value: object
) -> None:
    answer = await resolve(rules, **choice)

    assert answer.WhichOneof("outcome") == "refused"
    assert answer.refused.sentence
    found = getattr(answer.refused, field)
    assert found == value if value is not None else len(found) > 0


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ResolveRulesRequest(players=1), "players"),
        (pb.ResolveRulesRequest(players=2, choice=rules_pb2.RulesChoice(preset="x" * 65)), "choice.preset"),
        (pb.ResolveRulesRequest(players=2, choice=rules_pb2.RulesChoice(variants=["x"] * 33)), "choice.variants"),
        (pb.ResolveRulesRequest(players=2, choice=rules_pb2.RulesChoice(variants=[""])), "choice.variants[0]"),
        (
            pb.ResolveRulesRequest(
                players=2, choice=rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value="1")] * 2)
            ),
            "choice.options[1].name",
        ),
    ],
)
async def test_a_malformed_choice_is_a_bad_request(
    rules: RulesServiceAsyncStub, request_: pb.ResolveRulesRequest, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await rules.ResolveRules(request_)
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (failed.value.details() or "").startswith(f"{field}: ")


async def test_the_server_works_when_no_variant_and_no_preset_is_installed() -> None:
    async with (
        running_app(catalog=Catalog(variants=(), presets=())) as app,
        channel_to(app.address) as channel,
    ):
        rules: RulesServiceAsyncStub = RulesServiceStub(channel)
        assert [each.name for each in (await rules.ListPresets(pb.ListPresetsRequest())).presets] == ["classic"]
        assert (await resolve(rules)).rules.players == 2
