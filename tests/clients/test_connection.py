"""A connection to a server that is far away."""

from __future__ import annotations

from tests.tcp_proxy import proxy_to

from rummy500.v1.rules_service_pb2 import ListPresetsRequest
from rummy500_client.connection import Connection


def test_a_server_whose_answers_take_half_a_second_is_reached(server: str) -> None:
    with proxy_to(server) as far, Connection(far.address) as connection:
        far.delay = 0.25
        assert connection.ask(connection.rules.ListPresets, ListPresetsRequest()).presets
