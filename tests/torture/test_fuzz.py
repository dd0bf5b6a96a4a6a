"""Some thousands of bad inputs; `python -m tests.torture fuzz` is the long form."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from tests.server.running import channel_to, running_app
from tests.torture.fuzz import fuzz
from tests.torture.fuzz_calls import BadCaller, Tally
from tests.torture.grounds import Grounds

from rummy500_server.listing import Listing

INPUTS = 4_000


async def test_whatever_is_sent_is_the_callers_affair_and_play_goes_on(tmp_path: Path) -> None:
    verdict = await fuzz(tmp_path / "fuzz.db", INPUTS, seed=random.randrange(1 << 30), peer_size=40)
    assert not verdict.wrong, "\n".join(verdict.lines())
    kinds = {kind.partition(":")[0] for kind in verdict.answers}
    assert {"mutated", "random", "notation", "position", "options", "decision"} <= kinds


async def test_a_server_that_makes_a_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def mistaken(*_: object, **__: object) -> None:
        raise KeyError("a mistake")

    async with running_app(requests_per_second=1_000_000) as app, channel_to(app.address) as channel:
        dice, tally = random.Random(1), Tally(2_000)
        grounds = Grounds(channel, dice)
        await grounds.tend()
        monkeypatch.setattr(Listing, "page", mistaken)
        calling = asyncio.create_task(BadCaller(channel, grounds, tally, dice).go_on())
        while not tally.wrong and not calling.done():
            await asyncio.sleep(0.01)
        calling.cancel()
    assert tally.answers["mutated", "INTERNAL"] or tally.answers["random", "INTERNAL"]
