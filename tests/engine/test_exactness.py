"""What the engine lists and accepts is what the plain rules allow, tried out move by move (RULES 1.6, 1.9, 1.10)."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from tests.engine.naive import Naive, NaiveMeld, NaiveRules, NaiveTurn
from tests.engine.tables import SEED, rules_of, variant
from tests.engine.throwaway import HEARTS_LAST

from rummy500_engine.actions import Action, Discard, End, LayMeld, LayOff, Take
from rummy500_engine.cards import FACES, JOKER, add, cards_of, hand_of, read_cards
from rummy500_engine.legal import legal_actions, refusal
from rummy500_engine.melds import Kind, Meld
from rummy500_engine.plugins import Plugin
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, FirstMeld, GoingOut, Jokers, Pack, Phase, Sets, StockOut, StockRule, TakeDuty

POSITIONS = 2_000 if os.environ.get("RUMMY500_LONG") else 100
"""Positions of a setting whose share is 1; each is checked at every step of its turn."""


@dataclass(frozen=True)
class Setting:
    """One table: the variant that makes it, and the same said to the second opinion."""

    name: str
    variant: Plugin | None
    naive: NaiveRules
    share: float = 1.0

    def rules(self) -> Rules:
        return rules_of(*([self.variant] if self.variant else []))


def two_packs(sets: Sets) -> Plugin:
    return variant("two-packs", pack=Pack(decks=2), sets=sets)


SETTINGS = [
    Setting("classic", None, NaiveRules(), share=4),
    Setting("two-packs", two_packs(Sets()), NaiveRules(), share=2),
    Setting(
        "two-packs-identical", two_packs(Sets(largest=4, identical=True)), NaiveRules(set_identical=True), share=0.5
    ),
    Setting(
        "two-packs-no-limit",
        two_packs(Sets(largest=None, identical=True)),
        NaiveRules(set_identical=True, set_largest=None),
        share=0.5,
    ),
    Setting("must-discard", variant("v", going_out=GoingOut.DISCARD), NaiveRules(going_out="discard")),
    Setting(
        "last-discard-unplayable",
        variant("v", going_out=GoingOut.DISCARD_UNPLAYABLE),
        NaiveRules(going_out="discard_unplayable"),
    ),
    Setting("meld-first", variant("v", first_meld=FirstMeld(required=True)), NaiveRules(meld_first=True)),
    Setting(
        "minimum-of-a-turn",
        variant("v", first_meld=FirstMeld(required=True, minimum=40)),
        NaiveRules(meld_first=True, minimum=40),
    ),
    Setting(
        "minimum-of-a-meld",
        variant("v", first_meld=FirstMeld(required=True, minimum=25, single=True)),
        NaiveRules(meld_first=True, minimum=25, single=True),
    ),
    Setting("strict-take", variant("v", take_duty=TakeDuty(top_too=True)), NaiveRules(top_too=True)),
    Setting(
        "strict-take-new-meld",
        variant("v", take_duty=TakeDuty(top_too=True, new_meld=True)),
        NaiveRules(top_too=True, new_meld=True),
    ),
    Setting(
        "strict-take-first-play",
        variant("v", take_duty=TakeDuty(top_too=True, first_play=True)),
        NaiveRules(top_too=True, first_play=True),
    ),
    Setting(
        "everything-strict",
        variant(
            "v",
            take_duty=TakeDuty(top_too=True, first_play=True),
            first_meld=FirstMeld(required=True, minimum=30),
            going_out=GoingOut.DISCARD_UNPLAYABLE,
            own_melds_only=True,
        ),
        NaiveRules(
            top_too=True, first_play=True, meld_first=True, minimum=30, going_out="discard_unplayable", own_melds=True
        ),
    ),
    Setting("floating", variant("v", going_out=GoingOut.FLOATING), NaiveRules(going_out="floating"), share=0.5),
    Setting("hearts-last", HEARTS_LAST, NaiveRules(hearts_last=True), share=0.3),
    Setting("own-melds", variant("v", own_melds_only=True), NaiveRules(own_melds=True)),
    Setting(
        "pile-or-end",
        variant("v", stock_out=StockOut(rule=StockRule.PILE_OR_END)),
        NaiveRules(use_all=False),
        share=0.5,
    ),
    Setting("ace-low-only", variant("v", ace_ends=AceEnds.LOW_ONLY), NaiveRules(ends="low_only"), share=0.5),
    Setting("ace-high-only", variant("v", ace_ends=AceEnds.HIGH_ONLY), NaiveRules(ends="high_only"), share=0.5),
    Setting("round-the-corner", variant("v", ace_ends=AceEnds.CORNER), NaiveRules(ends="corner"), share=0.5),
    Setting("jokers", variant("v", pack=Pack(jokers=2)), NaiveRules(), share=0.1),
    Setting("two-packs-with-jokers", variant("v", pack=Pack(decks=2, jokers=1)), NaiveRules(), share=0.5),
    Setting("three-packs-with-jokers", variant("v", pack=Pack(decks=3, jokers=1)), NaiveRules(), share=0.5),
    Setting(
        "jokers-and-a-minimum",
        variant("v", pack=Pack(decks=2, jokers=1), first_meld=FirstMeld(required=True, minimum=40)),
        NaiveRules(meld_first=True, minimum=40),
        share=0.3,
    ),
    Setting(
        "jokers-with-two-naturals",
        variant("v", pack=Pack(jokers=2), jokers=Jokers(min_natural=2)),
        NaiveRules(min_natural=2),
        share=0.05,
    ),
]


def chosen_pack(rules: Rules, dice: random.Random) -> list[int]:
    """A shuffled part of the pack, narrow enough that melds are common: a few neighbouring ranks, two to four suits."""
    width, first = dice.randint(3, 7), dice.randrange(13)
    ranks = {(first + step) % 13 for step in range(width)}
    suits = dice.sample(range(4), dice.randint(2, 4))
    cards = [card for card in rules.pack if card == JOKER or (card % 16 in ranks and card // 16 in suits)]
    dice.shuffle(cards)
    return cards


def some_melds(rules: Rules, cards: list[int], dice: random.Random) -> Iterator[Meld]:
    """Melds made from these cards, which are taken away from them, some of them grown by lay-offs."""
    for number in range(1, dice.choice((0, 1, 1, 2, 3)) + 1):
        natural = [card for card in cards if card != JOKER]
        found = [meld for meld in rules.catalogue.natural_melds(hand_of(natural)) if len(meld.cards) < 6]
        if not found:
            return
        asked = dice.choice(found)
        (shape,) = rules.catalogue.readings(asked)
        for card in asked.cards:
            cards.remove(card)
        meld = rules.catalogue.meld(number, shape, dice.randrange(rules.players))
        while dice.random() < 0.3:
            fitting = [card for card in cards_of(meld.fits) if card in cards]
            if not fitting:
                break
            card = dice.choice(fitting)
            cards.remove(card)
            end = dice.choice(meld.ends_taking(card))
            meld = rules.catalogue.extended(meld, card=card, face=card, seat=dice.randrange(rules.players), end=end)
        yield meld


def random_position(rules: Rules, dice: random.Random) -> Round:
    """Seat 0 is to draw; hand and pile are at most 12 cards together."""
    cards = chosen_pack(rules, dice)
    round = Round(rules, number=1, dealer=rules.players - 1, seed=SEED)
    round.melds = list(some_melds(rules, cards, dice))
    for meld in round.melds:
        round.opened[meld.placed[0].seat] += 1
    round.refit()
    size = dice.randint(1, 7)
    round.hands[0] = hand_of(cards[:size])
    pile = cards[size : size + dice.randint(1, 12 - size)]
    round.pile = pile or [next(card for card in FACES if hand_of(cards) >> card & 1 == 0)]
    rest = cards[size + len(pile) :]
    round.hands[1] = hand_of(rest[:3])
    round.stock = rest[3:5] if dice.random() < 0.4 else []
    return round


def as_naive(meld: Meld, rules: Rules) -> NaiveMeld:
    mine = rules.sides[meld.placed[0].seat] == rules.sides[0]
    if meld.kind is Kind.SET:
        return NaiveMeld(faces=tuple(sorted(placed.face for placed in meld.placed)), mine=mine)
    suit = meld.placed[0].face // 16
    return NaiveMeld(suit=suit, first=meld.start, last=meld.start + meld.length - 1, mine=mine)


def as_name(rules: Rules, action: Action) -> tuple[object, ...]:
    """The action as the second opinion names it."""
    match action:
        case LayMeld(cards, stands_for, end):
            faces = stands_for or cards
            said: object = end.value if end else None
            if len(cards) == 13 and rules.catalogue.corner:
                said = faces[0] % 16
            return ("meld", tuple(sorted(zip(faces, cards, strict=True))), said)
        case LayOff(card, meld, end, face):
            return ("layoff", card, meld, end.value if end else None, face)
        case Discard(card):
            return ("discard", card)
        case _:
            raise AssertionError(action)


def named(name: tuple[object, ...], *, corner: bool) -> Action:
    """The engine's action for a name of the second opinion."""
    match name:
        case ("meld", said, end):
            assert isinstance(said, tuple)
            pairs = list(said)
            if len({face // 16 for face, _ in pairs}) == 1 and len({face for face, _ in pairs}) == len(pairs):
                pairs = low_to_high(pairs, first=end if corner and isinstance(end, int) else None)
            faces = tuple(face for face, _ in pairs)
            cards = tuple(card for _, card in pairs)
            return LayMeld(cards, faces if JOKER in cards else (), End(end) if isinstance(end, str) else None)
        case ("layoff", int(card), int(number), end, face):
            return LayOff(card, number, End(end) if end else None, face if isinstance(face, int) else None)
        case ("discard", int(card)):
            return Discard(card)
        case _:
            raise AssertionError(name)


def low_to_high(pairs: Sequence[tuple[int, int]], *, first: int | None) -> list[tuple[int, int]]:
    if first is None:
        return list(pairs)
    return sorted(pairs, key=lambda pair: (pair[0] - first) % 16 if pair[0] % 16 >= first else pair[0] % 16 + 16)


def turn_of(round: Round) -> NaiveTurn:
    rules = round.rules
    return NaiveTurn(
        hand=tuple(cards_of(round.hands[0])),
        melds=tuple(as_naive(meld, rules) for meld in round.melds),
        must=tuple(cards_of(round.must_use)),
        banned=round.banned,
        target=round.target,
        opened=round.opened[0] > len(round.laid),
        laid=round.laid_points,
        waiting_for_target=round.first_play,
    )


def check_takes(round: Round, naive: Naive) -> None:
    hand = tuple(cards_of(round.hands[0]))
    melds = tuple(as_naive(meld, round.rules) for meld in round.melds)
    opened = bool(round.opened[0])
    places = naive.takes(hand, melds, round.pile, stock=bool(round.stock), opened=opened)
    listed = {action for action in legal_actions(round, 0) if isinstance(action, Take)}
    wanted = set()
    for place, card in enumerate(round.pile):
        allowed = refusal(round, 0, Take(card, place + 1)) is None
        assert allowed is (place in places), f"take {card}@{place + 1} of {round.pile}, hand {hand}, melds {melds}"
        if allowed:
            wanted.add(Take(card, 0 if card not in round.pile[place + 1 :] else place + 1))
    assert listed == wanted


def check_plays(round: Round, naive: Naive) -> None:
    """Listing, verify on what is legal, and verify on every formal play that is not."""
    turn = turn_of(round)
    legal = naive.legal(turn)
    actions = legal_actions(round, 0)
    listed = {as_name(round.rules, action) for action in actions}
    assert len(actions) == len(listed)
    assert listed == legal, f"only listed {listed - legal}, only legal {legal - listed}, {turn}"
    formal = {play.name for play in naive.plays(turn)} | {("discard", card) for card in turn.hand}
    for name in formal:
        allowed = refusal(round, 0, named(name, corner=round.rules.catalogue.corner)) is None
        assert allowed is (name in legal), f"{name} in {turn}"


def check_turn(round: Round, naive: Naive, dice: random.Random) -> int:
    """Takes, then the plays after one of them (or after a draw), then the plays after each play, to the turn's end.

    What is owed after each step is what the second opinion says.
    """
    check_takes(round, naive)
    checked = 1
    actions = legal_actions(round, 0)
    takes = [action for action in actions if isinstance(action, Take)]
    if takes and (not round.stock or dice.random() < 0.8):
        expected = after_take(round, naive, dice.choice(takes))
        assert turn_of(round) == expected
    elif round.stock:
        round.apply(0, actions[0])
    else:
        return checked
    while round.phase is Phase.PLAY and round.turn == 0:
        check_plays(round, naive)
        checked += 1
        actions = legal_actions(round, 0)
        assert actions, "a dead end"
        plays = [action for action in actions if not isinstance(action, Discard)]
        if not plays:
            break
        action = dice.choice(plays)
        name = as_name(round.rules, action)
        (after,) = (play.after for play in naive.plays(turn_of(round)) if play.name == name)
        round.apply(0, action)
        assert not after.hand or turn_of(round) == after, action
    return checked


def after_take(round: Round, naive: Naive, take: Take) -> NaiveTurn:
    """Plays the take; what the second opinion says of the turn after it."""
    place = take.place - 1 if take.place else len(round.pile) - 1 - round.pile[::-1].index(take.card)
    before = turn_of(round)
    stock, opened = bool(round.stock), bool(round.opened[0])
    pile = round.pile.copy()
    round.apply(0, take)
    return naive.taken(before.hand, before.melds, pile, place=place, stock=stock, opened=opened)


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])
def test_legality_is_what_the_plain_rules_allow(setting: Setting) -> None:
    dice = random.Random(setting.name)
    rules = setting.rules()
    naive = Naive(setting.naive)
    for _ in range(int(POSITIONS * setting.share)):
        naive.known.clear()
        check_turn(random_position(rules, dice), naive, dice)


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])
def test_a_duty_of_any_cards_is_decided_exactly(setting: Setting) -> None:
    """Positions in mid-turn that no take leads to: any part of the hand may have to be used."""
    dice = random.Random(setting.name)
    rules = setting.rules()
    naive = Naive(setting.naive)
    for _ in range(int(POSITIONS * setting.share / 2)):
        naive.known.clear()
        round = random_position(rules, dice)
        for card in round.pile:
            round.hands[0] = add(round.hands[0], card)
        hand = cards_of(round.hands[0])
        round.pile, round.phase = [], Phase.PLAY
        round.target = dice.choice(hand)
        round.must_use = hand_of(dice.sample(hand, dice.randint(1, len(hand)))) | 1 << round.target
        if not setting.naive.first_play and dice.random() < 0.3:
            round.banned = dice.choice(hand)
        round.first_play = setting.naive.first_play
        check_plays(round, naive)


def random_setting(dice: random.Random) -> Setting:
    """Any mix of rules at one table."""
    decks, jokers = dice.choice((1, 1, 2)), dice.choice((0, 0, 0, 1))
    naive = NaiveRules(
        set_largest=dice.choice((4, 4, None)) if decks > 1 else 4,
        set_identical=decks > 1 and dice.random() < 0.5,
        ends=dice.choice(list(AceEnds)).value,
        min_natural=dice.choice((1, 2)),
        going_out=dice.choice(list(GoingOut)).value,
        meld_first=dice.random() < 0.5,
        minimum=dice.choice((0, 0, 20, 40)),
        single=dice.random() < 0.5,
        top_too=dice.random() < 0.5,
        new_meld=dice.random() < 0.3,
        first_play=dice.random() < 0.3,
        own_melds=dice.random() < 0.3,
        use_all=dice.random() < 0.8,
    )
    table = variant(
        "v",
        pack=Pack(decks=decks, jokers=jokers),
        sets=Sets(largest=naive.set_largest, identical=naive.set_identical),
        jokers=Jokers(min_natural=naive.min_natural),
        ace_ends=AceEnds(naive.ends),
        going_out=GoingOut(naive.going_out),
        first_meld=FirstMeld(required=naive.meld_first, minimum=naive.minimum, single=naive.single),
        take_duty=TakeDuty(top_too=naive.top_too, new_meld=naive.new_meld, first_play=naive.first_play),
        own_melds_only=naive.own_melds,
        stock_out=StockOut(rule=StockRule.USE_ALL if naive.use_all else StockRule.PILE_OR_END),
    )
    return Setting("mixed", table, naive)


def test_any_mix_of_rules_is_exact() -> None:
    dice = random.Random(0)
    for _ in range(POSITIONS):
        setting = random_setting(dice)
        rules, naive = setting.rules(), Naive(setting.naive)
        for _ in range(2):
            naive.known.clear()
            check_turn(random_position(rules, dice), naive, dice)


def test_the_second_opinion_knows_the_aces_ends() -> None:
    """The reference itself: no run in which the ace stands in the middle."""
    naive = Naive(NaiveRules())
    hand = tuple(sorted(read_cards("QC KC AC 2C")))
    turn = NaiveTurn(hand=hand, melds=())
    assert [play.name for play in naive.melds(turn)] == [
        ("meld", tuple((card, card) for card in sorted(hand[:1] + hand[2:])), None)
    ]
