"""The module `insight` of the SDK: what it says of a decision, and the first good bot that is made of it."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from tests.clients.running import REPOSITORY, rummy500

from rummy500.v1.rules_pb2 import RulesChoice
from rummy500.v1.table_service_pb2 import AddBotRequest, CreateTableRequest
from rummy500_client.bot import Answer, Bot, Request
from rummy500_client.connection import Connection, new_secret
from rummy500_client.examples import goodbot
from rummy500_client.insight import Insight, Insights
from rummy500_client.options import read_seated_bot
from rummy500_client.play_stream import BotPlayer

SHOWN = Path(goodbot.__file__).read_text(encoding="utf-8")


def test_the_good_bot_that_is_shown_is_the_one_that_is_tested() -> None:
    page = (REPOSITORY / "docs" / "write-a-bot.md").read_text(encoding="utf-8")

    assert f"```python\n{SHOWN}```" in page
    assert len(SHOWN.splitlines()) <= 50


def test_the_good_bot_plays_every_game_to_its_end_and_beats_easy(state: Path) -> None:
    (state / "goodbot.py").write_text(SHOWN, encoding="utf-8")

    for preset in ("classic", "pagat"):
        ended = rummy500(
            *("match", "run", "--bot", "goodbot.py:GoodBot", "--bot", "builtin:easy", "--deals", "4", "--seed", "5"),
            *("--preset", preset, "--name", preset, "--clock", "30"),
            state=state,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        shown = re.search(r"goodbot\D*(-?\d+\.\d+)", ended.stdout, re.IGNORECASE)
        assert shown is not None, ended.stdout
        assert float(shown.group(1)) > 40, ended.stdout


class LookingBot(Bot):
    """Draws, throws, and compares what insight says with what the request says."""

    def __init__(self) -> None:
        self.insights, self.looked = Insights(), 0
        self.is_here = threading.Event()

    def connected(self) -> None:
        self.is_here.set()

    def act(self, request: Request) -> Answer:
        insight = self.insights.of(request)
        self.check(request, insight)
        self.looked += 1
        return "draw" if request.can("draw") else request.legal[-1]

    def check(self, request: Request, insight: Insight) -> None:
        melds = [card for cards in request.melds.values() for card in cards]
        other = 1 - request.seat
        seen = [*request.hand, *request.pile, *melds, *insight.known(other)]
        assert len(seen) + len(insight.unseen) == sum(request.rules.pack)
        assert not (set(insight.unseen) & set(seen)) - {"JK"}
        assert all(0 <= insight.chance(other, card) <= 1 for card in insight.unseen[:3])
        assert all(insight.chance(other, card) == 1 for card in insight.known(other))
        if any(action.kind == "discard" for action in request.legal):
            plays = insight.best_plays()
            assert all(play.split()[0] in ("meld", "layoff") for play in plays)
            texts = [str(action) for action in request.legal]
            assert not plays or "JK" in plays[0] or plays[0] in texts  # of jokers the listing has one reading


def test_what_insight_says_agrees_with_the_request(server: str) -> None:
    bot = LookingBot()
    with Connection(server, token=new_secret()) as bots, Connection(server, token=new_secret()) as owner:
        player = BotPlayer(bot, bots, "looking", games=1, patience=0)
        playing = threading.Thread(target=player.play)
        playing.start()
        assert bot.is_here.wait(60)
        request = CreateTableRequest(seats=2, start_when_full=True, seed=bytes(32), rules=RulesChoice(preset="pagat"))
        request.rules.options.add(name="max_rounds", value="1")
        table = owner.ask(owner.tables.CreateTable, request).table.name
        for seated in (AddBotRequest(table=table, connected="looking"), read_seated_bot("normal")):
            seated.table = table
            owner.ask(owner.tables.AddBot, seated)
        playing.join(60)

    assert not playing.is_alive()
    assert bot.looked > 10
