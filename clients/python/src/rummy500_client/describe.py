"""A table in words: each event as a sentence, a view as a page, the scores as a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rummy500.v1.event_pb2 import (
    CLOCK_REASON_DISCONNECT,
    CLOCK_REASON_REFUSALS,
    ROUND_END_MAX_TURNS,
    ROUND_END_STOCK_EMPTY,
    ROUND_END_WENT_OUT,
    Event,
    RoundDealt,
    RoundScored,
)
from rummy500.v1.meld_pb2 import MELD_KIND_RUN
from rummy500.v1.result_pb2 import GameResult, Termination
from rummy500.v1.view_pb2 import (
    PHASE_CALL,
    PHASE_DRAW,
    PHASE_GAME_OVER,
    PHASE_PLAY,
    PHASE_ROUND_OVER,
    View,
)
from rummy500_client.notation import card_text, cards_text, shown_meld_text
from rummy500_client.screen import Paint, table_text

PHASES = {
    PHASE_DRAW: "draw",
    PHASE_PLAY: "play",
    PHASE_CALL: "call",
    PHASE_ROUND_OVER: "round over",
    PHASE_GAME_OVER: "game over",
}
_CLOCK = {CLOCK_REASON_REFUSALS: "five refusals", CLOCK_REASON_DISCONNECT: "gone, and its time is up"}
_ROUND_ENDS = {
    ROUND_END_STOCK_EMPTY: "the stock is empty",
    ROUND_END_MAX_TURNS: "the most turns have been played",
}


def termination_text(termination: Termination.ValueType) -> str:
    return Termination.Name(termination).removeprefix("TERMINATION_")


def phase_text(view: View) -> str:
    return view.phase_name or PHASES.get(view.phase, "waiting")


class Words:
    """Tells what happens, with the players' `names` by seat; `own` is the seat that is "you", None for a spectator."""

    def __init__(self, names: Sequence[str], *, own: int | None = None) -> None:
        self._names = list(names)
        self._own = own

    def name(self, seat: int) -> str:
        if seat == self._own:
            return "you"
        return self._names[seat] if seat < len(self._names) and self._names[seat] else f"seat {seat}"

    def _does(self, seat: int, verb: str) -> str:
        """`anna draws`, `you draw`."""
        if seat == self._own:
            return f"you {verb}"
        word, space, rest = verb.partition(" ")
        ending = "es" if word.endswith(("s", "sh", "ch", "o", "x")) else "s"
        return f"{self.name(seat)} {word}{ending}{space}{rest}"

    def event(self, event: Event) -> str:
        """One sentence; empty for an event that this client does not know."""
        match event.WhichOneof("kind"):
            case "round_dealt":
                return self._dealt(event.round_dealt)
            case "drew_from_stock":
                drew = event.drew_from_stock
                card = f" {card_text(drew.card)}" if drew.card else ""
                return f"{self._does(drew.seat, 'draw')}{card}"
            case "took_from_pile":
                took = event.took_from_pile
                duty = f" (must use {cards_text(took.must_use)})" if took.must_use else ""
                return f"{self._does(took.seat, 'take')} {cards_text(took.cards)}{duty}"
            case "melded":
                melded = event.melded
                cards = shown_meld_text(melded.meld, self._names).rpartition(" (")[0]
                return f"{self._does(melded.seat, 'meld')} m{melded.meld.id}: {cards}"
            case "laid_off":
                laid = event.laid_off
                return f"{self._does(laid.seat, f'lay {card_text(laid.card)} off')} on m{laid.meld}"
            case "discarded":
                return f"{self._does(event.discarded.seat, 'discard')} {card_text(event.discarded.card)}"
            case "passed":
                return self._does(event.passed.seat, "pass")
            case "call_window_opened":
                return f"{card_text(event.call_window_opened.card)} may be called"
            case "rummy_called":
                called = event.rummy_called
                return f'{self._does(called.seat, "call")} "Rummy!" on {card_text(called.card)}'
            case "call_window_closed":
                return "" if event.call_window_closed.HasField("caller") else "nobody calls"
            case _:
                return self._other(event)

    def _other(self, event: Event) -> str:
        match event.WhichOneof("kind"):
            case "stock_recycled":
                how = "shuffled" if event.stock_recycled.shuffled else "turned over"
                return f"the discard pile becomes the stock, {how}: {event.stock_recycled.stock_count} cards"
            case "round_scored":
                return self._scored(event.round_scored)
            case "game_won":
                return self.result(event.game_won.result)
            case "variant_part":
                part = event.variant_part
                return part.text or f"{part.variant}: {part.name} {cards_text(part.cards)}".rstrip()
            case "seat_joined":
                return f"{event.seat_joined.name} sits down{' (a bot)' if event.seat_joined.is_bot else ''}"
            case "seat_left":
                return f"{self.name(event.seat_left.seat)} left"
            case "table_closed":
                return f"the table is closed: {event.table_closed.sentence or 'by its owner'}"
            case "clock_acted":
                acted = event.clock_acted
                why = _CLOCK.get(acted.reason, "time is up")
                whose = "your turn" if acted.seat == self._own else f"the turn of {self.name(acted.seat)}"
                so_far = f" ({acted.finished_turns} so far)" if acted.finished_turns > 1 else ""
                return f"{why}: the clock finishes {whose}{so_far}"
            case "seat_taken_over":
                taken = event.seat_taken_over
                why = _CLOCK.get(taken.reason, "time is up")
                return f"{why}: {taken.bot} (a bot) plays for {self.name(taken.seat)}"
            case "seat_returned":
                seat = event.seat_returned.seat
                return "you are back" if seat == self._own else f"{self.name(seat)} is back"
            case "deal_committed" if event.deal_committed.round == 0:
                return f"the server commits to its deals: {event.deal_committed.commitment.hex()}"
            case "seat_forfeited":
                forfeited = event.seat_forfeited
                why = termination_text(forfeited.termination)
                return f"{self._does(forfeited.seat, 'forfeit')} the game ({why})"
            case _:
                return ""

    def _dealt(self, dealt: RoundDealt) -> str:
        up = f", {card_text(dealt.up_card)} is turned up" if dealt.up_card else ""
        return f"round {dealt.round}: {self._does(dealt.dealer, 'deal')}{up}, {self._does(dealt.turn, 'begin')}"

    def _scored(self, scored: RoundScored) -> str:
        if scored.reason == ROUND_END_WENT_OUT and scored.HasField("went_out"):
            return f"{self._does(scored.went_out, 'go')} out: round {scored.round} is over"
        why = scored.reason_name or _ROUND_ENDS.get(scored.reason, "")
        return f"round {scored.round} is over{f': {why}' if why else ''}"

    def result(self, result: GameResult) -> str:
        if not result.winners:
            return result.sentence or f"the game is over: {termination_text(result.termination)}"
        shared = " share the lead" if len(result.winners) > 1 else ""
        names = " and ".join(self.name(seat) for seat in result.winners)
        won = f"{names}{shared}" if shared else self._does(result.winners[0], "win")
        points = ", ".join(f"{self.name(seat)} {total}" for seat, total in enumerate(result.totals))
        how = termination_text(result.termination)
        return f"{won} ({points}){'' if how == 'NORMAL' else f', {how}'}"


def hand_text(cards: Sequence[int], paint: Paint) -> str:
    """The hand by suits, ascending, with a bar between suits."""
    texts = [card_text(card) for card in cards]
    suits = [" ".join(group) for _, group in groupby(texts, key=lambda text: text[1])]
    return "  ".join(paint.cards(suit) for suit in suits) or "no cards"


def duty_text(view: View) -> str:
    """What the turn still owes, or nothing."""
    parts = []
    if view.duty.must_use:
        parts.append(f"must use {cards_text(view.duty.must_use)} in this turn")
    if view.duty.banned:
        parts.append(f"may not discard {card_text(view.duty.banned)}")
    return ", ".join(parts)


def view_lines(view: View, names: Sequence[str], paint: Paint) -> list[str]:
    """The table as one viewer sees it."""
    waiting = set(view.waiting)
    own = view.seat if view.HasField("seat") else None
    lines = [paint("bold", f"-- {view.table}, round {view.round} --")]
    for seat, count in enumerate(view.hand_counts):
        mark = ">" if seat in waiting else " "
        notes = ["you"] if seat == own else []
        notes += ["deals"] if seat == view.dealer else []
        known = next((known.cards for known in view.known_cards if known.seat == seat and seat != own), ())
        seen = f"   known: {paint.cards(cards_text(known))}" if known else ""
        about = f" ({', '.join(notes)})" if notes else ""
        total = view.totals[seat] if seat < len(view.totals) else 0
        lines.append(f"{mark} {names[seat] + about:24} {count:2} cards  {total:5} points{seen}")
    for meld in view.melds:
        kind = "run" if meld.kind == MELD_KIND_RUN else "set"
        lines.append(f"  m{meld.id} {kind}: {paint.cards(shown_meld_text(meld, names))}")
    lines += [f"  {part.text}" for part in view.variant_parts if part.text]
    lines.append(f"  pile:  {paint.cards(cards_text(view.discards)) or 'empty'}")
    lines.append(f"  stock: {view.stock_count} cards")
    if own is not None:
        lines.append(f"  hand:  {hand_text(view.hand, paint)}")
    return lines


class ScoreSheet:
    """The scores of a game, round by round."""

    def __init__(self) -> None:
        self._rounds: list[RoundScored] = []

    def add(self, scored: RoundScored) -> None:
        if all(known.round != scored.round for known in self._rounds):
            self._rounds.append(scored)

    def lines(self, names: Sequence[str]) -> list[str]:
        if not self._rounds:
            return ["no round has been scored yet"]
        rows = []
        for scored in self._rounds:
            scores = {score.seat: score for score in scored.scores}
            rows.append([f"round {scored.round}", *(_points(scores[seat].round_score) for seat in sorted(scores))])
        last = {score.seat: score for score in self._rounds[-1].scores}
        totals = ["total", *(str(last[seat].total) for seat in sorted(last))]
        return table_text(["", *names], [*rows, totals])

    def round_lines(self, scored: RoundScored, names: Sequence[str], paint: Paint) -> list[str]:
        """How the scores of one round came about."""
        lines = []
        for score in scored.scores:
            extra = "".join(f" {adjusted.points:+} {adjusted.name}" for adjusted in score.adjustments)
            held = f" - {score.held} held" if score.held else ""
            cards = f"   ({paint.cards(cards_text(score.held_cards))})" if score.held_cards else ""
            told = f"{score.placed} laid{held}{extra} = {score.round_score}"
            lines.append(f"  {names[score.seat]}: {told}{cards}")
        return lines


def _points(points: int) -> str:
    return f"{points:+}"
