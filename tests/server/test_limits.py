"""Limits count by principal and say when to come back."""

from __future__ import annotations

import asyncio

import pytest

from rummy500_server.limits import Bucket, Usage
from rummy500_server.status import Failure, Reason


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_fills_with_time() -> None:
    clock = Clock()
    bucket = Bucket(10, clock)

    assert [bucket.wait_for() for _ in range(10)] == [0.0] * 10
    assert bucket.wait_for() == pytest.approx(0.1)
    clock.now = 0.2
    assert [bucket.wait_for(), bucket.wait_for()] == [0.0, 0.0]
    assert bucket.wait_for() > 0


def test_more_at_once_than_the_rate_is_paid_for_afterwards() -> None:
    clock = Clock()
    bucket = Bucket(10, clock)

    assert bucket.wait_for(30) == 0.0
    assert bucket.wait_for() == pytest.approx(2.1)


def test_one_principal_does_not_use_up_the_requests_of_another() -> None:
    usage = Usage(requests_per_second=2, streams=1, now=Clock())

    usage.request("anna")
    usage.request("anna")
    usage.request("ben")
    with pytest.raises(Failure) as failed:
        usage.request("anna")
    assert (failed.value.reason, failed.value.metadata) == (Reason.TOO_MANY_REQUESTS, {"limit": "2"})
    assert failed.value.retry_after == pytest.approx(0.5)


async def test_streams_are_counted_while_they_are_open() -> None:
    usage = Usage(requests_per_second=2, streams=1)

    with usage.stream("anna"):
        with usage.stream("ben"), pytest.raises(Failure) as failed, usage.stream("anna"):
            pass
        assert failed.value.reason is Reason.TOO_MANY_STREAMS
        quiet = asyncio.ensure_future(usage.no_streams(60))
        await asyncio.sleep(0)
        assert not quiet.done()
    await quiet
    with usage.stream("anna"):
        await usage.no_streams(0.01)
