"""The whole public API for variants: the questions that the composed rules ask.

A variant is a module (or object) with functions marked `@hookimpl`. It answers what it changes and leaves the rest;
`None` means "as the rules below say". Every specification states how answers combine, never by order of naming:

- *one answer*: at most one variant answers beside the classic rules; two that differ are refused, naming both.
- *most specific*: the answer with the highest Specificity; two that differ at one specificity are refused.
- *field by field*: as *one answer*, for each field of the answer.
- *any of*: each non-None answer counts; the first by the variants' names is the one shown.
- *all of*: the answers of all, in order of the variants' names.
- *own*: only the variant that owns the action, event or poll is asked.

The first group is asked once, when a table's rules are composed. The second is asked in play, and only of variants
that implement the hook: the inner loops never go through pluggy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

from rummy500_engine.actions import Action, VariantAction
from rummy500_engine.cards import Card
from rummy500_engine.events import Event, SeatScore, VariantEvent
from rummy500_engine.refusals import Refused
from rummy500_engine.terms import (
    AceEnds,
    Deal,
    FirstMeld,
    GoingOut,
    Jokers,
    Option,
    Pack,
    Points,
    Poll,
    Sets,
    StockOut,
    Table,
    TakeDuty,
)

if TYPE_CHECKING:
    from rummy500_engine.round import Round

PROJECT = "rummy500"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class ComposedHooks:
    """Asked when a table's rules are composed."""

    @hookspec
    def rummy500_options(self) -> Sequence[Option] | None:
        """The variant's own options; keys become "<variant>.<option>". *Own.*"""

    @hookspec
    def rummy500_sentence(self) -> str | None:
        """One sentence for people: what the variant changes. *Own.*"""

    @hookspec
    def rummy500_table_refusal(self, table: Table) -> str | None:
        """Why this table cannot be, and the way out. *Any of.*"""

    @hookspec
    def rummy500_pack(self, table: Table) -> Pack | None:
        """Packs and jokers. *Field by field.*"""

    @hookspec
    def rummy500_held_points(self, table: Table, card: Card) -> Points | None:
        """What a card in hand costs. *Most specific.*"""

    @hookspec
    def rummy500_placed_points(self, table: Table, card: Card, low: bool) -> Points | None:
        """What a card on the table earns; `low`: it is an ace at the low end of a run. *Most specific.*"""

    @hookspec
    def rummy500_jokers(self, table: Table) -> Jokers | None:
        """How jokers meld and score. *One answer.*"""

    @hookspec
    def rummy500_ace_ends(self, table: Table) -> AceEnds | None:
        """Where an ace may stand in a run. *One answer.*"""

    @hookspec
    def rummy500_sets(self, table: Table) -> Sets | None:
        """How large a set may be, and whether of equal cards. *One answer.*"""

    @hookspec
    def rummy500_going_out(self, table: Table) -> GoingOut | None:
        """How a hand may become empty. *One answer.*"""

    @hookspec
    def rummy500_first_meld(self, table: Table) -> FirstMeld | None:
        """What must come before a lay-off. *One answer.*"""

    @hookspec
    def rummy500_take_duty(self, table: Table) -> TakeDuty | None:
        """What a take from the pile obliges to. *One answer.*"""

    @hookspec
    def rummy500_own_melds_only(self, table: Table) -> bool | None:
        """Whether lay-offs go on melds of one's own side only. *One answer.*"""

    @hookspec
    def rummy500_stock_out(self, table: Table) -> StockOut | None:
        """What happens when the stock is empty. *One answer.*"""

    @hookspec
    def rummy500_deal(self, table: Table) -> Deal | None:
        """Who deals next and how the round opens. *One answer.*"""

    @hookspec
    def rummy500_sides(self, table: Table) -> tuple[int, ...] | None:
        """The side of each seat. *One answer.*"""

    @hookspec
    def rummy500_settles(self, table: Table) -> bool | None:
        """Whether the winner collects the differences at the end. *One answer.*"""

    @hookspec
    def rummy500_depends_on_arrival(self, table: Table) -> bool | None:
        """Whether the outcome may depend on which seat's message arrives first; no match is played so. *Any of.*"""

    @hookspec
    def rummy500_verbs(self, table: Table) -> Sequence[str] | None:
        """The verbs of the variant's own actions, as typed. *Own*; a verb claimed twice is refused, naming both."""


class PlayHooks:
    """Asked in play. `round` is to be read, never changed; `table` is what composed it."""

    @hookspec
    def rummy500_veto(self, table: Table, round: Round, seat: int, action: Action) -> Refused | None:
        """Why this play or discard, legal so far, is refused at this table. *Any of.* It must depend on public facts
        and the seat's own hand only. The engine asks it before a play and in its search for dead ends (RULES 1.10)."""

    @hookspec
    def rummy500_adjustments(
        self, table: Table, round: Round, scores: tuple[SeatScore, ...]
    ) -> Mapping[str, Sequence[int]] | None:
        """Points of the round beside the cards: name -> points by seat. *All of*, added up."""

    @hookspec
    def rummy500_actions(self, table: Table, round: Round, seat: int) -> Sequence[VariantAction] | None:
        """The variant's own legal actions of the seat in turn, in phase play. *All of.*"""

    @hookspec
    def rummy500_perform(self, table: Table, round: Round, seat: int, action: VariantAction) -> Sequence[Event] | None:
        """What a legal action of the variant's own does, as events; the engine applies them. *Own.*"""

    @hookspec
    def rummy500_state(self, table: Table, state: Any, event: VariantEvent) -> Any:
        """The variant's state after one of its own events (None at the start of a round). *Own.*"""

    @hookspec
    def rummy500_view(self, table: Table, round: Round, seat: int | None) -> Mapping[str, Any] | None:
        """Fields that a viewer is shown: JSON values that depend only on what that seat may see. *All of*, each under
        its variant's name."""

    @hookspec
    def rummy500_poll(self, table: Table, round: Round, seat: int, card: Card, final: bool) -> Poll | None:
        """Whom to ask after `seat` discarded `card` (`final`: that discard ended the round). *All of*, one poll after
        the other. Whether a poll opens may depend only on what all can see."""

    @hookspec
    def rummy500_poll_actions(self, table: Table, round: Round, seat: int) -> Sequence[Action] | None:
        """What a waiting seat may answer to the open poll. *Own.*"""

    @hookspec
    def rummy500_false_answer(
        self, table: Table, round: Round, seat: int, action: Action
    ) -> Sequence[VariantEvent] | None:
        """What a refused call by a seat that still has to answer brings about; None: nothing. If it brings about
        anything, it counts as that seat's pass (RULES 3.7). *Own.*"""

    @hookspec
    def rummy500_poll_result(self, table: Table, round: Round) -> Sequence[Event] | None:
        """What the answers so far lead to, as events; None: the poll stays open. *Own*, asked after each answer. When
        every asked seat has answered, None closes the poll without effect."""
