"""The terms in which hooks answer: small frozen values that the composed rules are made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from rummy500_engine.cards import Card

OptionValue = int | bool | str


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a variant. `default` also says its type. A number has `low` and `high`; a text has `choices`;
    a number that may be left unset has `none=True` (the text "none" on the wire)."""

    name: str
    default: OptionValue
    sentence: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    none: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """What a hook is told of the table to be: how many play and every option, explicit, under its flat key."""

    players: int
    variants: tuple[str, ...]
    options: dict[str, OptionValue]

    def number(self, key: str) -> int:
        value = self.options[key]
        assert isinstance(value, int), key
        return value

    def number_or_none(self, key: str) -> int | None:
        return None if self.options[key] == "none" else self.number(key)

    def flag(self, key: str) -> bool:
        value = self.options[key]
        assert isinstance(value, bool), key
        return value

    def text(self, key: str) -> str:
        value = self.options[key]
        assert isinstance(value, str), key
        return value


class Specificity(IntEnum):
    """Which answer about a card's points goes before which (RULES 2, `values`: precedence)."""

    FACE = 0
    SCALE = 1
    RANK = 2
    LOW_ACE = 3
    NAMED_CARD = 4


@dataclass(frozen=True, slots=True)
class Points:
    points: int
    specificity: Specificity


@dataclass(frozen=True, slots=True)
class Pack:
    """`decks` packs of 52 and, with each, `jokers` jokers. None: as the others say."""

    decks: int | None = None
    jokers: int | None = None


class AceEnds(Enum):
    """Where an ace may stand in a run; CORNER: runs go round."""

    LOW_OR_HIGH = "low_or_high"
    LOW_ONLY = "low_only"
    HIGH_ONLY = "high_only"
    CORNER = "corner"


@dataclass(frozen=True, slots=True)
class Sets:
    """`largest` cards at most (None: no limit); `identical`: whether two equal cards may lie in one set."""

    largest: int | None = 4
    identical: bool = False


class JokerPoints(Enum):
    """What a joker on the table is worth: its own points, or those of the card it stands for."""

    FIXED = "fixed"
    REPRESENTED = "represented"


@dataclass(frozen=True, slots=True)
class Jokers:
    min_natural: int = 1
    scores: JokerPoints = JokerPoints.FIXED


class GoingOut(Enum):
    """ANY: by meld, lay-off or discard. DISCARD: with a discard only. DISCARD_UNPLAYABLE: that discard fits no meld.
    FLOATING: with a discard only, but a hand may be emptied without one and its player stays in."""

    ANY = "any"
    DISCARD = "discard"
    DISCARD_UNPLAYABLE = "discard_unplayable"
    FLOATING = "floating"


@dataclass(frozen=True, slots=True)
class FirstMeld:
    """A meld of one's own before any lay-off (`required`), worth `minimum` points: the first meld alone (`single`), or
    all melds of its turn."""

    required: bool = False
    minimum: int = 0
    single: bool = False


@dataclass(frozen=True, slots=True)
class TakeDuty:
    """`top_too`: the top discard alone carries the duty as well. `new_meld`: a lay-off does not meet it.
    `first_play`: the first play of the turn must contain the target."""

    top_too: bool = False
    new_meld: bool = False
    first_play: bool = False


class StockRule(Enum):
    """What an empty stock does: see RULES 1.9 (USE_ALL) and the variant table, `stock-out`."""

    USE_ALL = "use_all"
    PILE_OR_END = "pile_or_end"
    END_NOW = "end_now"
    RESHUFFLE = "reshuffle"
    FLIP = "flip"


@dataclass(frozen=True, slots=True)
class StockOut:
    """`recycles`: how often the pile may become the stock (None: no limit). `deduct`: whether cards in hand count when
    the stock ends the round."""

    rule: StockRule = StockRule.USE_ALL
    recycles: int | None = None
    deduct: bool = True


@dataclass(frozen=True, slots=True)
class Deal:
    """`extra_card`: the dealer's left gets one card more, there is no up-card, and the round opens with a discard."""

    extra_card: bool = False
    winner_deals: bool = False


class Phase(Enum):
    """Of a round: the seat in turn is to draw, or to play and discard; several seats answer; the round has ended."""

    DRAW = "draw"
    PLAY = "play"
    POLL = "poll"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Poll:
    """Several seats answer, in any order, before play goes on.

    `name` is the phase as texts show it; `card` and `by` say which discard of whom led to it; `asked` are the seats
    that answer, in the order in which their answers rank; `answers` what they said so far, by seat.
    """

    variant: str
    name: str
    card: Card | None
    by: int
    asked: tuple[int, ...]
    answers: tuple[tuple[int, object], ...] = ()
    seconds: int = 0
    """How long the answers may take before silence is a pass; 0: as the table's clock says."""
    draw_closes: bool = False
    """The next seat may draw meanwhile, from a stock that is not empty, which closes the poll."""

    @property
    def waiting(self) -> tuple[int, ...]:
        answered = {seat for seat, _ in self.answers}
        return tuple(seat for seat in self.asked if seat not in answered)

    def with_answers(self, answers: tuple[tuple[int, object], ...]) -> Poll:
        return Poll(self.variant, self.name, self.card, self.by, self.asked, answers, self.seconds, self.draw_closes)


class VariantError(Exception):
    """A plugin's mistake: names variant, hook and distribution. Never a player's."""

    def __init__(self, *, variant: str, hook: str, distribution: str, problem: str) -> None:
        super().__init__(f"variant {variant!r} (distribution {distribution}), hook {hook}: {problem}")
        self.variant, self.hook, self.distribution, self.problem = variant, hook, distribution, problem


class RulesRefused(Exception):
    """A table that cannot be: what contradicts what, or which option is out of range, and the way out."""

    def __init__(self, sentence: str, *, field: str = "rules") -> None:
        super().__init__(sentence)
        self.field = field
