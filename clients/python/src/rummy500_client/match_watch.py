"""Looking on at a match that somebody else runs."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rummy500.v1.match_pb2 import Match
from rummy500.v1.match_service_pb2 import WatchMatchRequest
from rummy500_client.backoff import Backoff
from rummy500_client.connection import Connection
from rummy500_client.errors import ServerRefused
from rummy500_client.match_run import PATIENCE, is_going_on


def follow(connection: Connection, name: str) -> Iterator[Match]:
    """The match as it goes on, to its end, also when the connection is lost for a while. Raises ServerRefused."""
    wait = Backoff()
    request = WatchMatchRequest(match=name)
    while True:
        try:
            with connection.stream(connection.matches.WatchMatch, request) as stream:
                for response in stream:
                    wait = Backoff()
                    yield response.match
                    if not is_going_on(response.match):
                        return
        except ServerRefused as refused:
            if not (refused.is_lost or refused.reason == "DRAINING") or wait.lasted > PATIENCE:
                raise
        time.sleep(wait.next_seconds())
