"""What a bot is: a class with one method, `act`, and the request that it is handed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rummy500.v1 import action_pb2
from rummy500.v1.event_pb2 import Event
from rummy500.v1.play_service_pb2 import DecisionRequest, GameStarted
from rummy500.v1.refusal_pb2 import Refusal
from rummy500.v1.result_pb2 import GameResult
from rummy500.v1.rules_pb2 import Rules
from rummy500.v1.view_pb2 import View
from rummy500_client.notation import CARD_TEXTS, action_text, card_number, legal_actions, table_meld_text

_KINDS = {"lay_meld": "meld", "lay_off": "layoff", "passing": "pass", "variant_part": "variant"}


class LegalAction:
    """One action that would be accepted now. `str(action)` is its line of notation: `meld 7S 7H 7D`.

    `kind` is draw, take, meld, layoff, discard, pass, call or variant; `cards` are the cards that it names; `meld` the
    number of the meld on the table, 0 for none.
    """

    __slots__ = ("cards", "kind", "meld", "message")

    def __init__(self, message: action_pb2.Action) -> None:
        self.message = message
        which = message.WhichOneof("kind") or "draw"
        self.kind: str = _KINDS.get(which, which)
        self.cards = tuple(CARD_TEXTS[card] for card in _cards_of(message, which))
        self.meld = _meld_of(message, which)

    @property
    def text(self) -> str:
        return action_text(self.message)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"


def _cards_of(message: action_pb2.Action, which: str) -> Sequence[int]:
    match which:
        case "take":
            return (message.take.card,)
        case "lay_meld":
            return message.lay_meld.cards
        case "lay_off":
            return (message.lay_off.card,)
        case "discard":
            return (message.discard.card,)
        case "call":
            return (message.call.card, *message.call.with_cards)
        case "variant_part":
            return message.variant_part.cards
        case _:
            return ()


def _meld_of(message: action_pb2.Action, which: str) -> int:
    if which == "lay_off":
        return message.lay_off.meld
    return message.call.meld if which == "call" else 0


Answer = LegalAction | action_pb2.Action | str
"""One action: one of `request.legal`, a message, or a line of notation such as `"discard 6S"`."""


class Request:
    """A decision that a seat must make, complete: a bot that keeps nothing can play from it.

    Cards are texts as in notation: `TH`, `AS`, `JK`. Everything that the server sent is in `message`.
    """

    def __init__(self, message: DecisionRequest, game: GameStarted, rules: Rules) -> None:
        self.message = message
        self.game = game
        self.rules = rules

    @property
    def table(self) -> str:
        return self.message.table

    @property
    def seat(self) -> int:
        return self.message.seat

    @property
    def view(self) -> View:
        """All that the seat sees, as the contract has it."""
        return self.message.view

    @property
    def events(self) -> Sequence[Event]:
        """What happened since this seat's last decision."""
        return self.message.events

    @property
    def time_left(self) -> float:
        """Seconds left when the server asked; 0.0 when no clock runs."""
        return self.message.time_left_ms / 1000

    @property
    def refusal(self) -> Refusal | None:
        """Why the last answer was refused, when this is the same question again."""
        return self.message.refusal if self.message.HasField("refusal") else None

    @cached_property
    def hand(self) -> list[str]:
        return [CARD_TEXTS[card] for card in self.view.hand]

    @cached_property
    def pile(self) -> list[str]:
        """The discard pile, bottom card first: `pile[-1]` is its top card."""
        return [CARD_TEXTS[card] for card in self.view.discards]

    @cached_property
    def melds(self) -> dict[int, list[str]]:
        """The cards of each meld on the table by its number, a run low to high."""
        return {meld.id: [CARD_TEXTS[card] for card in meld.cards] for meld in self.view.melds}

    @cached_property
    def legal(self) -> list[LegalAction]:
        """Every action that would be accepted now."""
        return [LegalAction(message) for message in legal_actions(self.view.legal_actions)]

    @property
    def must_use(self) -> list[str]:
        """Cards taken from the pile that must still be used in this turn."""
        return [CARD_TEXTS[card] for card in self.view.duty.must_use]

    def can(self, kind: str) -> bool:
        """Whether an action of that kind is legal: `request.can("draw")`."""
        return any(action.kind == kind for action in self.legal)

    def points(self, card: str) -> int:
        """What the card counts against its holder at this table."""
        number = card_number(card)
        if number is None:
            raise ValueError(f"{card!r} is no card")
        return self.rules.hand_points[number]

    def __repr__(self) -> str:
        names = self.game.players
        melds = " | ".join(table_meld_text(meld, names) for meld in self.view.melds)
        return f"<request {self.table} seat {self.seat}: hand {' '.join(self.hand)}; melds {melds or 'none'}>"


LONGEST_LINE = 500
"""Characters that a line of notation may have."""


class Bot:
    """A player. Write `act`; the other methods may be left alone. One object plays all the bot's games."""

    def act(self, request: Request) -> Answer | Sequence[Answer]:
        """What to do: an action, or several in order; they are applied until one reveals something new."""
        raise NotImplementedError(f"{type(self).__name__} has no method act(self, request)")

    def connected(self) -> None:
        """The server has let the bot in: from now on it can be seated under its name."""

    def game_started(self, game: GameStarted) -> None:
        """A game begins, or goes on after the connection was lost."""

    def game_over(self, table: str, result: GameResult) -> None:
        """A game is over."""


def answer_messages(answer: object, bot: Bot) -> list[action_pb2.Action]:
    """What `act` returned as messages. Raises TypeError when it is no action."""
    parts: Sequence[object] = answer if isinstance(answer, list | tuple) else [answer]
    messages = [_answer_message(part) for part in parts]
    if not messages or None in messages:
        raise TypeError(
            f"{type(bot).__name__}.act returned {answer!r:.200}; it must return one of request.legal, "
            f"a line of notation of at most {LONGEST_LINE} characters, or a list of those"
        )
    return [message for message in messages if message is not None]


def _answer_message(part: object) -> action_pb2.Action | None:
    match part:
        case LegalAction():
            return part.message
        case action_pb2.Action():
            return part
        case str() if 0 < len(part) <= LONGEST_LINE:
            return action_pb2.Action(text=part)
        case _:
            return None
