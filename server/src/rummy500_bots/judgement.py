"""What a hand is worth: the points that it can lay now, what its cards may still become, and what they cost if caught.

A card that is left goes with others of its hand: each pair lacks one card of a meld, and that card comes with a chance
that follows from where it is (unseen, in the pile, known in another hand) and from how much of the stock is left. All
counts are on masks and cost microseconds, for rollouts ask for them thousands of times a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rummy500_bots.covers import covers_of
from rummy500_bots.styles import Style
from rummy500_bots.trios import trios_of
from rummy500_engine.cards import DISTINCT, JOKER, JOKER_BIT, NATURALS, Card, Mask, cards_of, hand_of, less
from rummy500_engine.finish import reachable
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules


class Prospect(NamedTuple):
    """What the seat sees that bears on its hand: `live` masks the faces that may still come from the stock or from
    hands, `pile` and `known` those that lie in the pile and those that other hands are known to hold; `chance` is that
    of one unseen card to come to this hand; `theirs` that of one to be in another hand."""

    live: Mask
    pile: Mask
    known: Mask
    chance: float
    theirs: float


class Loose(NamedTuple):
    """Cards left of a hand: by card the chance that it is never laid, and the pairs among them that lack one card with
    the chance that none comes."""

    misses: dict[Card, float]
    pairs: list[tuple[Card, Card, float]]


class Judge:
    """Weighs hands at one table in one style. It reads nothing of a round that the seat does not see."""

    def __init__(self, rules: Rules, style: Style) -> None:
        self.rules, self.style = rules, style
        self.covers, self.trios = covers_of(rules), trios_of(rules)
        self._pack = hand_of(rules.pack)
        naturals = [card for card in rules.pack if card != JOKER]
        self._has_twins = len(naturals) > len(set(naturals))

    def prospect(self, round: Round, seat: int) -> Prospect:
        return self._prospect(round, seat, *self._open(round))

    def _open(self, round: Round) -> tuple[Mask, Mask]:
        """The faces that lie in the pile, and those in melds."""
        pile = melded = 0
        for card in round.pile:
            pile |= 1 << card
        for meld in round.melds:
            for placed in meld.placed:
                melded |= 1 << placed.card
        return pile, melded

    def _prospect(self, round: Round, seat: int, pile: Mask, melded: Mask) -> Prospect:
        rules, style, sides = self.rules, self.style, self.rules.sides
        others, held, fewest = 0, 0, len(rules.pack)
        for other, known in enumerate(round.known):
            if other != seat:
                others |= known & DISTINCT
                cards = round.hands[other].bit_count()
                held += cards
                if cards < fewest and sides[other] != sides[seat]:
                    fewest = cards
        if self._has_twins:
            live = self._live_of_twins(round, seat)
        else:
            live = NATURALS & ~(round.hands[seat] | melded | pile | others)
        unseen = max(1, len(round.stock) + held)
        drawn = min(len(round.stock), rules.players * style.turns * fewest)
        return Prospect(live, pile, others, style.chance * drawn / unseen, held / unseen)

    def _live_of_twins(self, round: Round, seat: int) -> Mask:
        """The faces of which the seat does not see every copy."""
        live = less(self._pack, round.hands[seat])
        for other, known in enumerate(round.known):
            if other != seat:
                live = less(live, known)
        live = less(live, hand_of(round.pile))
        return less(live, hand_of([placed.card for meld in round.melds for placed in meld.placed])) & NATURALS

    # --- what can be laid now

    def laid(self, round: Round, seat: int, hand: Mask) -> tuple[int, Mask]:
        """About the most points that the hand can lay at once, by melds and then lay-offs, and what is left of it."""
        points, used = self.covers.best(hand)
        left = less(hand, used) if used else hand
        if left & round.fits:
            fitting = reachable(self.rules, seat, left & DISTINCT, round.melds)
            if fitting:
                placed = self.rules.placed_points
                for card in cards_of(fitting):
                    points += placed[card]
                left = less(left, fitting)
        return points, left

    # --- what is left

    def worth(self, left: Mask, prospect: Prospect) -> float:
        """Points that the cards left will bring, less what they cost if they are caught, as expected."""
        held, placed = self.rules.held_points, self.rules.placed_points
        total = 0.0
        for card, miss in self.loose(left, prospect).misses.items():
            total += placed[card] * (1 - miss) - held[card] * miss
        if left & JOKER_BIT:
            total += self.joker_worth(prospect)
        return total

    def joker_worth(self, prospect: Prospect) -> float:
        return min(1.0, 0.5 + prospect.chance) * self.rules.placed_points[JOKER]

    def worth_without(self, hand: Mask, cards: Sequence[Card], prospect: Prospect) -> list[float]:
        """For each card the worth of the hand without it."""
        held, placed = self.rules.held_points, self.rules.placed_points
        misses, pairs = self.loose(hand, prospect)
        worth = {card: placed[card] * (1 - miss) - held[card] * miss for card, miss in misses.items()}
        total = sum(worth.values())
        for one, other, miss in pairs:
            worth[one] += (placed[other] + held[other]) * misses[other] * (1 / miss - 1)
            worth[other] += (placed[one] + held[one]) * misses[one] * (1 / miss - 1)
        return [total - (self.joker_worth(prospect) if card == JOKER else worth[card]) for card in cards]

    def loose(self, left: Mask, prospect: Prospect) -> Loose:
        live, pile, known, chance, _ = prospect
        style, trios = self.style, self.trios
        near = live | pile
        alone = 1 - style.lone * chance * chance
        miss_live, miss_pile = 1 - chance, 1 - chance * style.pile_chance
        miss_known = 1 - chance * style.known_chance
        among, partners, outs_of = trios.among, trios.partners, trios.outs
        misses: dict[Card, float] = {}
        pairs: list[tuple[Card, Card, float]] = []
        rest = left & NATURALS
        while rest:
            bit = rest & -rest
            rest ^= bit
            card = bit.bit_length() - 1
            misses[card] = alone ** len(among(card, near))
            found = rest & partners[card]
            while found:
                partner = found & -found
                found ^= partner
                outs = outs_of[card][partner]
                miss = miss_live ** (outs & live).bit_count()
                if outs & pile:
                    miss *= miss_pile ** (outs & pile).bit_count()
                if outs & known:
                    miss *= miss_known ** (outs & known).bit_count()
                if miss < 1:
                    pairs.append((card, partner.bit_length() - 1, miss))
        for one, other, miss in pairs:
            misses[one] *= miss
            misses[other] *= miss
        return Loose(misses, pairs)

    def prospects(self, round: Round) -> list[float]:
        """By seat what its hand is expected to add to the score as it stands, with all of its cards held."""
        pile, melded = self._open(round)
        held_points = self.rules.held_points
        found = []
        for seat, hand in enumerate(round.hands):
            points, left = self.laid(round, seat, hand)
            held = sum([held_points[card] for card in cards_of(hand)])
            found.append(points + self.worth(left, self._prospect(round, seat, pile, melded)) + held)
        return found

    # --- what a discard gives away

    def danger(self, round: Round, card: Card, prospect: Prospect) -> float:
        """Points that others would make of this discard."""
        rules = self.rules
        if card == JOKER:
            return 2.0 * rules.placed_points[JOKER]
        points = rules.placed_points[card]
        if round.fits >> card & 1 and not rules.own_melds_only:
            return float(points)
        known, chance = prospect.known, prospect.theirs
        safe = 1.0
        for two in self.trios.among(card, known | prospect.live):
            unsure = (two & ~known).bit_count()
            if not unsure:
                return 3.0 * points
            safe *= 1 - (chance if unsure == 1 else chance * chance)
        return 3.0 * points * (1 - safe)
