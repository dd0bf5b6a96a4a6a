"""RulesService: what can be played here, and what a choice of rules comes to."""

from __future__ import annotations

from typing import Any

import grpc

from rummy500.v1 import rules_service_pb2 as pb
from rummy500.v1 import rules_service_pb2_grpc
from rummy500_catalog import Catalog, ChoiceRefused
from rummy500_engine.terms import RulesRefused, VariantError
from rummy500_server.paging import page_of
from rummy500_server.rules_wire import (
    preset_message,
    read_choice,
    read_players,
    refusal_message,
    rules_message,
    variant_message,
)
from rummy500_server.status import Failure, Reason, bad_request

_Context = grpc.aio.ServicerContext[Any, Any]


class RulesServicer(rules_service_pb2_grpc.RulesServiceServicer):
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def ListVariants(self, request: pb.ListVariantsRequest, context: _Context) -> pb.ListVariantsResponse:
        page, token = page_of(
            self._catalog.variants(), "variants", page_size=request.page_size, page_token=request.page_token
        )
        return pb.ListVariantsResponse(variants=map(variant_message, page), next_page_token=token)

    async def GetVariant(self, request: pb.GetVariantRequest, context: _Context) -> pb.GetVariantResponse:
        if not 1 <= len(request.variant) <= 64:
            raise bad_request("variant", "1 to 64 characters")
        try:
            listed = self._catalog.variant(request.variant)
        except ChoiceRefused as refused:
            raise Failure(Reason.NO_SUCH_VARIANT, str(refused), variant=request.variant) from refused
        return pb.GetVariantResponse(variant=variant_message(listed))

    async def ListPresets(self, request: pb.ListPresetsRequest, context: _Context) -> pb.ListPresetsResponse:
        page, token = page_of(
            self._catalog.presets(), "presets", page_size=request.page_size, page_token=request.page_token
        )
        return pb.ListPresetsResponse(presets=map(preset_message, page), next_page_token=token)

    async def ResolveRules(self, request: pb.ResolveRulesRequest, context: _Context) -> pb.ResolveRulesResponse:
        choice, players = read_choice(request.choice), read_players(request.players)
        try:
            rules = choice.rules(self._catalog, players)
        except (RulesRefused, VariantError) as refused:
            return pb.ResolveRulesResponse(refused=refusal_message(refused))
        return pb.ResolveRulesResponse(rules=rules_message(self._catalog, rules, choice))
