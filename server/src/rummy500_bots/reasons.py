"""Why a bot chose what it chose, in one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_bots.policy import Policy, taken_cards
from rummy500_engine.actions import Action, Call, Discard, Draw, LayMeld, LayOff, Pass, Take, VariantAction
from rummy500_engine.cards import Card, add, card_text, cards_of, cards_text, remove
from rummy500_engine.round import Round


def reason(round: Round, seat: int, actions: Sequence[Action], policy: Policy) -> str:
    """One sentence on the actions. `round` is as the seat sees it before them."""
    parts = []
    plays = [action for action in actions if isinstance(action, LayMeld | LayOff)]
    if plays:
        points = sum(policy.points(play) for play in plays)
        parts.append(f"laying {'it' if len(plays) == 1 else 'them'} down now earns {points} points for certain")
    for action in actions:
        said = _said(round, seat, action, policy)
        if said:
            parts.append(said)
    sentence = "; ".join(parts) or "nothing else is possible"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _said(round: Round, seat: int, action: Action, policy: Policy) -> str:
    match action:
        case Draw():
            return "the pile holds nothing that is worth more than an unknown card of the stock"
        case Take():
            return _take(round, seat, taken_cards(round.pile, action), policy)
        case Call(card):
            return f"calling {card_text(card)} lays it down at once, and gives the turn to you"
        case Pass():
            return "what could be taken is worth less than the cards that would come with it"
        case Discard(card):
            return _discard(round, seat, card, policy)
        case VariantAction(verb=verb, cards=cards):
            return f"{verb} {cards_text(cards)} is worth more than to keep things as they are"
        case LayMeld() | LayOff():
            return ""


def _take(round: Round, seat: int, cards: Sequence[Card], policy: Policy) -> str:
    hand = round.hands[seat]
    before, _ = policy.judge.laid(round, seat, hand)
    for card in cards:
        hand = add(hand, card)
    after, left = policy.judge.laid(round, seat, hand)
    others = sum(left >> card & 1 for card in set(cards))
    rest = f", and {others} of the {len(cards)} cards stay in hand to build on" if others and len(cards) > 1 else ""
    if after > before:
        return f"with {cards_text(cards[:1])} you can lay {after - before} points more{rest}"
    return f"{cards_text(cards)} goes with what you hold{rest}"


def _discard(round: Round, seat: int, card: Card, policy: Policy) -> str:
    judge = policy.judge
    prospect = judge.prospect(round, seat)
    hand = round.hands[seat]
    left = remove(hand, card) if hand >> card & 1 else hand
    partners = [other for one, other, _ in judge.loose(hand, prospect).pairs if one == card and left >> other & 1] + [
        one for one, other, _ in judge.loose(hand, prospect).pairs if other == card and left >> one & 1
    ]
    goes = f"goes only with {cards_text(partners[:2])}" if partners else "goes with nothing that you hold"
    danger = judge.danger(round, card, prospect)
    use = "others can hardly use it" if danger < policy.rules.placed_points[card] / 2 else "others may use it"
    if not cards_of(left):
        return f"throwing {card_text(card)} goes out"
    return f"{card_text(card)} {goes}, costs {policy.rules.held_points[card]} if you are caught with it, and {use}"
