"""A server of the examination's own: it sends the bot what a real one sends, changed a little."""

from __future__ import annotations

from itertools import count

from rummy500.v1.play_service_pb2 import DecisionRequest, GameStarted, PlayResponse
from rummy500_client.doctor.conversation import Conversation, Turn
from rummy500_client.doctor.examination import Examination, verify_played
from rummy500_client.doctor.finding import Ailing, fail
from rummy500_client.doctor.positions import NOTHING_TO_LAY, cases
from rummy500_client.notation import action_text, legal_actions

END_SECONDS = 5.0
_tables = count(1)


class Script:
    """One conversation with the bot. What it sends is made from a request that a real server sent this bot before."""

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        self._game, self._request = _sample(examination)
        desk = examination.desk
        if not desk.is_scripted or examination.conversation is None or examination.patient.exit_code is not None:
            desk.is_scripted = True
            examination.start_bot()
        self.conversation: Conversation = examination.connected_bot()

    def game(self) -> GameStarted:
        """A game at a table that the bot does not know yet."""
        game = GameStarted()
        game.CopyFrom(self._game)
        game.table = f"t-script-{next(_tables):04}"
        return game

    def request(self, game: GameStarted) -> DecisionRequest:
        """The first request of that game: its hand can only be thrown card by card."""
        request = DecisionRequest()
        request.CopyFrom(self._request)
        request.table = request.view.table = game.table
        return request

    def send(self, *messages: PlayResponse | bytes) -> None:
        for message in messages:
            self.conversation.outbox.put(message if isinstance(message, bytes) else message.SerializeToString())

    def ask(self, game: GameStarted, request: DecisionRequest) -> Turn:
        """Starts that game with that request and answers what the bot decides. Raises Ailing."""
        self.send(PlayResponse(games_started=[game], decision_requests=[request]))
        return self.answer(game.table)

    def answer(self, table: str, number: int = 1) -> Turn:
        """The bot's answer number `number` at that table. Raises Ailing when it gives none."""
        conversation = self.conversation

        def is_answered() -> bool:
            return len(conversation.turns_at(table)) >= number or conversation.ended_at is not None

        self.examination.wait(is_answered)
        turns = conversation.turns_at(table)
        if len(turns) < number:
            if conversation.ended_at is not None:
                self.examination.wait(lambda: False, END_SECONDS)  # perhaps it ends altogether, and says why
            what = "ended the stream" if conversation.ended_at is not None else "did not answer"
            raise Ailing(fail(what, "pass over what you do not know: fields are added to the contract, never changed"))
        return turns[number - 1]


def is_legal(turn: Turn) -> bool:
    """Whether the first action of the answer was listed."""
    listed = {action_text(action) for action in legal_actions(turn.request.view.legal_actions)}
    said = turn.decision.actions[0] if turn.decision.actions else None
    return said is not None and " ".join(action_text(said).split()) in listed


def answer_text(turn: Turn) -> str:
    return "; ".join(map(action_text, turn.decision.actions)) or "nothing"


def _sample(examination: Examination) -> tuple[GameStarted, DecisionRequest]:
    """A request with discards only, of a game that the bot played on the real server."""
    for _ in range(2):
        for conversation in examination.real_conversations:
            for turn in conversation.turns:
                legal = turn.request.view.legal_actions
                game = conversation.started.get(turn.request.table)
                is_plain = len(legal.discards) > 2 and not (legal.melds or legal.lay_offs or legal.others)
                if is_plain and game is not None and game.HasField("rules"):
                    return game, turn.request
        examination.desk.is_scripted = False
        examination.start_bot()
        verify_played(examination.play(position=cases()[NOTHING_TO_LAY].text))
    raise Ailing(fail("it answered no request of a real server", "see the check game"))
