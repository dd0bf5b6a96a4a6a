"""The composed rules of a table in sentences, by what they are about. They say what holds, whoever brought it about."""

from __future__ import annotations

from rummy500_engine.cards import JOKER
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, GoingOut, JokerPoints, StockRule

Line = tuple[str, str]
"""What it is about, and one or more sentences."""

_ACES = {
    AceEnds.LOW_OR_HIGH: "an ace stands low (A 2 3) or high (Q K A), never in the middle",
    AceEnds.LOW_ONLY: "an ace stands low only (A 2 3)",
    AceEnds.HIGH_ONLY: "an ace stands high only (Q K A)",
    AceEnds.CORNER: "runs go round the corner (K A 2)",
}
_OUT = {
    GoingOut.ANY: "By a meld, a lay-off or a discard; the round ends at once.",
    GoingOut.DISCARD: "With a discard only: no play may leave you without one.",
    GoingOut.DISCARD_UNPLAYABLE: "With a discard only, and one that fits no meld on the table.",
    GoingOut.FLOATING: "With a discard only. Who has no cards and no discard floats: stays in, draws from the stock "
    "only, and is out when a turn ends with a discard and no cards.",
}
_STOCK = {
    StockRule.USE_ALL: "Take from the pile only what is all used in the same turn, or pass, which ends the round.",
    StockRule.PILE_OR_END: "The pile plays on as usual; declining it ends the round.",
    StockRule.END_NOW: "The round ends with the turn in which the last card was drawn.",
    StockRule.RESHUFFLE: "All but the top discard are shuffled into a new stock",
    StockRule.FLIP: "All but the top discard are turned over into a new stock, the old bottom card first",
}


def sentences(rules: Rules) -> list[Line]:
    lines = [
        ("Aim", _aim(rules)),
        ("Pack and deal", _deal(rules)),
        ("Melds", _melds(rules)),
        ("Taking from the pile", _taking(rules)),
        ("Laying off", _laying_off(rules)),
        ("Going out", _OUT[rules.going_out]),
        ("Empty stock", _stock(rules)),
        ("Score of a round", "What you laid on the table, wherever it lies, less what is left in your hand."),
    ]
    if JOKER in rules.pack:
        lines.insert(3, ("Jokers", _jokers(rules)))
    if len(set(rules.sides)) < rules.players:
        lines.insert(1, ("Sides", _sides(rules)))
    return lines


def _aim(rules: Rules) -> str:
    whose = "The side" if len(set(rules.sides)) < rules.players else "The player"
    said = f"{whose} with the highest total wins when it is {rules.target} or more after a round; "
    said += f"if the lead is shared, all play on. After {rules.max_rounds} rounds the highest total wins."
    if rules.settles:
        said += " The winner then collects from each of the others the difference of the totals."
    return said


def _sides(rules: Rules) -> str:
    seats: dict[int, list[str]] = {}
    for seat, side in enumerate(rules.sides, 1):
        seats.setdefault(side, []).append(str(seat))
    told = " against ".join(f"players {' and '.join(members)}" for members in seats.values())
    return f"{told.capitalize()}, counted round the table. A side's score is the sum of its players'."


def _deal(rules: Rules) -> str:
    jokers = rules.pack.count(JOKER)
    pack = f"{len(rules.pack)} cards" + (f", {jokers} of them jokers" if jokers else "")
    said = f"The pack has {pack}; each player gets {rules.hand_size}. "
    if rules.deal.extra_card:
        said += "The dealer's left gets one more, nothing is turned up, and play begins with a discard of that player. "
    else:
        said += "The next card starts the discard pile, and the dealer's left begins. "
    dealer = "Whoever scored most deals next." if rules.deal.winner_deals else "The deal moves to the left."
    return f"{said}{dealer} A round ends after {rules.max_turns} turns at the latest."


def _melds(rules: Rules) -> str:
    size = (
        "3 or more"
        if rules.sets.largest is None
        else f"3 or {rules.sets.largest}"
        if rules.sets.largest == 4
        else f"3 to {rules.sets.largest}"
    )
    suits = "equal ones too" if rules.sets.identical else "of different suits"
    return (
        f"A set is {size} cards of one rank, {suits}. A run is 3 or more of one suit in a row; {_ACES[rules.ace_ends]}."
    )


def _jokers(rules: Rules) -> str:
    natural = rules.jokers.min_natural
    worth = "its own points" if rules.jokers.scores is JokerPoints.FIXED else "the points of the card it stands for"
    return (
        "A joker stands for any card, which is said when it is laid and never changes. "
        f"A meld has at least {natural} natural card{'s' if natural > 1 else ''}. On the table a joker counts {worth}."
    )


def _taking(rules: Rules) -> str:
    duty = rules.take_duty
    how = "in a new meld" if duty.new_meld else "in a meld or a lay-off"
    when = "by the first play of the turn" if duty.first_play else "in the same turn"
    said = "The top discard, or a deeper one with every card above it. "
    if duty.top_too:
        return f"{said}The deepest card taken must be used {how} {when}, the top discard alone too."
    return (
        f"{said}Of several, the deepest must be used {how} {when}; the top discard alone may be kept, "
        "but a card of that face is not thrown back in that turn."
    )


def _laying_off(rules: Rules) -> str:
    sides = len(set(rules.sides)) < rules.players
    whose = "any meld"
    if rules.own_melds_only:
        whose = "your side's melds only" if sides else "your own melds only"
    said = f"On {whose}; the card scores for whoever lays it."
    first = rules.first_meld
    if first.required:
        said += " Not before a meld of your own in this round."
    if first.minimum:
        which = "Your first meld" if first.single else "The melds of the turn in which you first meld"
        said += f" {which} must be worth {first.minimum} points."
    return said


def _stock(rules: Rules) -> str:
    terms = rules.stock_out
    said = _STOCK[terms.rule]
    if terms.rule in (StockRule.RESHUFFLE, StockRule.FLIP):
        often = "as often as need be" if terms.recycles is None else f"at most {terms.recycles} times in a round"
        said += f", {often}."
    if not terms.deduct:
        said += " When the stock ends the round, cards in hand do not count."
    return said
