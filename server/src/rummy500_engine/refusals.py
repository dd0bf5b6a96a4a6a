"""Why an action is refused: a code that never changes its meaning, and a sentence for people (NOTATION)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Refusal(Enum):
    """The codes of NOTATION.md; the names go on the wire unchanged."""

    NOT_YOUR_TURN = "another seat is to act"
    WRONG_PHASE = "this kind of action belongs to another part of the turn"
    ROUND_OVER = "the round has ended"
    GAME_OVER = "the game has ended"
    CARD_NOT_IN_HAND = "a card named is not in the hand"
    CARD_NOT_IN_PILE = "the card named is not in the discard pile"
    NO_SUCH_MELD = "the meld named is not on the table"
    NOT_A_MELD = "the cards are neither a set nor a run"
    DOES_NOT_FIT = "the card does not fit the meld"
    AMBIGUOUS = "the action has more than one reading"
    STOCK_EMPTY = "the stock is empty"
    TAKE_NOT_USABLE = "the turn could not be finished after this take"
    MUST_USE_TAKEN_CARD = "the taken card must be used first"
    TAKEN_CARD_WOULD_STRAND = "the taken card could not be used as it must, or the turn not be finished"
    CANNOT_DISCARD_TAKEN_CARD = "the card taken may not be thrown back this turn"
    MUST_KEEP_A_DISCARD = "going out needs a discard at this table"
    MUST_MELD_FIRST = "a meld of one's own comes before a lay-off at this table"
    BELOW_MINIMUM = "the first meld must reach the minimum of this table"
    OWN_MELDS_ONLY = "lay-offs go on one's own melds at this table"
    FLOATING_STOCK_ONLY = "a floating player draws from the stock only"
    CALL_NOT_VALID = "the call is not valid"
    NO_CALL_OPEN = "no call window is open"
    UNKNOWN_ACTION = "this is no action of this table"


@dataclass(slots=True, eq=False)
class Refused(Exception):
    """A player's mistake as data. `reason` is a Refusal or a variant's own upper-case code."""

    reason: Refusal | str
    sentence: str
    events: tuple[Any, ...] = ()
    """What happened all the same: only a false call that costs points leaves a trace (RULES 3.7). Such a refusal is
    journaled and shown as an action is."""

    @property
    def code(self) -> str:
        return self.reason.name if isinstance(self.reason, Refusal) else self.reason

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"
