"""The laws of RULES 4, each a check that raises AssertionError with what does not hold.

`check_state` and `check_choices` look at one moment of a game; `check_listing` and `check_refusals` try out a large
set of actions against it; `check_clone` plays on with a copy.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from rummy500_engine.actions import Action, Call, VariantAction
from rummy500_engine.cards import ACE, cards_of, cards_text, rank_of, suit_of
from rummy500_engine.events import Discarded, Event, PollClosed, PollOpened, RoundEnd, RoundScored
from rummy500_engine.game import Game
from rummy500_engine.legal import refusal
from rummy500_engine.melds import Kind, Meld
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.readings import canonical
from rummy500_engine.refusals import Refused
from rummy500_engine.round import ROUND_FIELDS, Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import AceEnds, Phase
from rummy500_engine.view import seat_view
from rummy500_kit.candidates import candidates
from rummy500_kit.ledger import Ledger


def round_of(game: Game) -> Round:
    assert game.round is not None, "no round has been dealt"
    return game.round


def state_of(game: Game) -> dict[str, Any]:
    """Everything that an action could change, as values to compare."""
    state: dict[str, Any] = {"totals": tuple(game.totals), "dealer": game.dealer, "outcome": game.outcome}
    state["rounds_played"] = game.rounds_played
    return state | (round_state(game.round) if game.round is not None else {})


def round_state(round: Round) -> dict[str, Any]:
    return {name: _frozen(getattr(round, name)) for name in ROUND_FIELDS if name != "rules"}


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return dict(value) if isinstance(value, dict) else value


# --- the state


def check_state(game: Game, ledger: Ledger) -> None:
    """Conservation and credit: the state is what the events told, and holds the whole pack once."""
    round = round_of(game)
    check_conservation(round)
    check_ledger(round, ledger)
    for meld in round.melds:
        check_meld(round.rules, meld)
    fits = 0
    for meld in round.melds:
        fits |= meld.fits
    assert round.fits == fits, "the faces that fit some meld are noted wrongly"
    for seat, hand in enumerate(round.hands):
        _check_part(round.known[seat], hand, f"seat {seat} is known to hold")
        opened = sum(meld.opener == seat for meld in round.melds)
        assert round.opened[seat] == opened, f"seat {seat} laid {opened} melds, not {round.opened[seat]}"
    if round.phase is Phase.PLAY:
        _check_part(round.must_use, round.hands[round.turn], "must still be used")
    assert len(round.laid) == len(round.laid_points)


def _check_part(part: int, hand: int, what: str) -> None:
    missing = part & ~hand
    assert not missing, f"{what} {cards_text(cards_of(missing))}, which is not in the hand"


def check_conservation(round: Round) -> None:
    cards = [*round.stock, *round.pile]
    for hand in round.hands:
        cards += cards_of(hand)
    for meld in round.melds:
        cards += [placed.card for placed in meld.placed]
    assert sorted(cards) == sorted(round.rules.pack), "the cards are not the whole pack, each once"


def check_ledger(round: Round, ledger: Ledger) -> None:
    assert round.pile == ledger.pile, "the pile is not what the events say"
    assert len(round.stock) == ledger.stock_count, "the stock is not what the events say"
    for seat, hand in enumerate(round.hands):
        assert cards_of(hand) == sorted(ledger.hands[seat]), f"the hand of seat {seat} is not what the events say"
        known = cards_of(round.known[seat])
        assert known == sorted(ledger.known[seat]), f"what is known of seat {seat} is not what the events say"
    if round.rules.ace_ends is not AceEnds.CORNER:  # round the corner an event alone does not tell the lowest card
        table = [list(meld.placed) for meld in round.melds]
        assert table == ledger.melds, "a card on the table has lost who placed it, or its end"


def check_meld(rules: Rules, meld: Meld) -> None:
    """The meld is one by the plain rules, and each ace stands at the end that it was placed on."""
    faces = [placed.face for placed in meld.placed]
    assert len(faces) == meld.length >= 3
    if meld.kind is Kind.SET:
        assert len({rank_of(face) for face in faces}) == 1, f"{cards_text(faces)} is no set"
        assert rules.sets.identical or len(set(faces)) == len(faces), f"{cards_text(faces)}: a suit twice"
        assert rules.sets.largest is None or len(faces) <= rules.sets.largest
        assert not any(placed.low for placed in meld.placed)
        return
    assert len({suit_of(face) for face in faces}) == 1, f"{cards_text(faces)} is no run"
    assert len(set(faces)) == len(faces) <= 13, f"{cards_text(faces)}: a rank twice"
    if rules.catalogue.corner:
        wanted = {(meld.start + step) % 13 for step in range(meld.length)}
        assert {rank_of(face) for face in faces} == wanted, f"{cards_text(faces)} has a gap"
        return
    positions = [13 if rank_of(p.face) == ACE and not p.low else rank_of(p.face) for p in meld.placed]
    wanted_positions = list(range(meld.start, meld.start + meld.length))
    assert sorted(positions) == wanted_positions, f"{cards_text(faces)} has a gap, or an ace in the middle"


# --- choices


def check_choices(game: Game) -> None:
    """Who is asked has a legal action, whoever is not has none, but for a draw that closes an open poll."""
    round = round_of(game)
    asked = game.to_act()
    assert bool(asked) is not (game.over or round.over), "nobody is asked, and the round goes on"
    poll = round.poll
    meanwhile = {round.turn} if poll is not None and poll.draw_closes and round.stock else set()
    for seat in range(game.rules.players):
        legal = game.legal_actions(seat)
        may = seat in asked or seat in meanwhile
        assert bool(legal) is may, f"seat {seat}: {len(legal)} legal actions, asked: {asked}"
        assert len(set(legal)) == len(legal), f"seat {seat}: an action is listed twice"


def check_listing(game: Game, seat: int, dice: random.Random) -> int:
    """What is listed is exactly what is accepted of a large set of actions, in its canonical form; says how many."""
    round = round_of(game)
    listed = set(game.legal_actions(seat))
    for action in listed:
        assert canonical(round, action) == action, f"{action} is listed, but not in its canonical form"
        refused = refusal(round, seat, action)
        assert refused is None, f"{write_action(action)} is listed, but refused: {refused}"
    tried = candidates(round, seat, dice)
    accepted = {canonical(round, action) for action in tried if refusal(round, seat, action) is None}
    extra = [write_action(action) for action in accepted - listed]
    assert not extra, f"accepted but not listed: {', '.join(extra)}"
    return len(tried)


def check_refusals(game: Game, seat: int, dice: random.Random, *, most: int = 40) -> None:
    """A refused action changes neither the state nor anybody's view (but a false call where it costs points)."""
    round = round_of(game)
    costs = round.poll is not None and bool(round.rules.false_answer)
    tried = [action for action in candidates(round, seat, dice) if not (costs and isinstance(action, Call))]
    refused = [action for action in tried if refusal(round, seat, action) is not None]
    if not refused:
        return
    before = state_of(game)
    views = [seat_view(game, viewer) for viewer in (None, *range(game.rules.players))]
    for action in dice.sample(refused, min(most, len(refused))):
        sentence = _refusal_of(game, seat, action)
        assert sentence, f"{action} was refused by verify and played by apply, or refused without a sentence"
    assert state_of(game) == before, "a refused action changed the state"
    assert [seat_view(game, viewer) for viewer in (None, *range(game.rules.players))] == views


def _refusal_of(game: Game, seat: int, action: Action) -> str:
    try:
        game.apply(seat, action)
    except Refused as refused:
        return refused.sentence
    return ""


def check_notation(game: Game, seat: int) -> None:
    """Every legal action reads back from its text as itself."""
    for action in game.legal_actions(seat):
        text = write_action(action)
        again = canonical(round_of(game), read_action(text, game.rules))
        assert again == action, f"{text!r} reads back as {write_action(again)!r}"


MOST_REPEATS = 200


def check_turn_ends(game: Game, seat: int, dice: random.Random) -> None:
    """Actions of variants alone do not go on for ever: a turn of them ends, or they are used up."""
    copy = round_of(game).clone()
    for _ in range(MOST_REPEATS):
        if copy.over or copy.poll is not None or copy.turn != seat:
            return
        own = [action for action in copy.legal_actions(seat) if isinstance(action, VariantAction)]
        if not own:
            return
        copy.apply(seat, dice.choice(own))
    raise AssertionError(f"seat {seat} may repeat {write_action(own[0])} in one turn without end")


def check_polls(events: Iterable[Event]) -> None:
    """Every poll that opens is closed before play goes on."""
    is_open = False
    for event in events:
        match event:
            case PollOpened():
                assert not is_open, f"{event} opened before the poll before it was closed"
                is_open = True
            case PollClosed():
                is_open = False
            case Discarded() | RoundScored():
                assert not is_open, "play went on, and the poll was never told to be closed"


def check_clone(game: Game, seat: int, action: Action) -> None:
    """A copy is equal and independent: playing on with it leaves the original as it was, and does the same."""
    round = round_of(game)
    before = state_of(game)
    copy = round.clone()
    for name in ROUND_FIELDS:
        assert getattr(copy, name) == getattr(round, name), f"the copy differs in {name}"
    told = copy.apply(seat, action)
    assert state_of(game) == before, "playing on with a copy changed the original"
    other = round.clone()
    assert other.apply(seat, action) == told, "two copies of one state went different ways"


# --- ends


def check_scores(game: Game, ledger: Ledger, before: list[int]) -> None:
    """The round that has just ended was scored by what lies and what is held; `before` are the totals until then."""
    scored = ledger.scored
    assert isinstance(scored, RoundScored), "the round ended without a score"
    rules = game.rules
    deducts = scored.reason is RoundEnd.OUT or rules.stock_out.deduct
    for seat, score in enumerate(scored.seats):
        assert score.placed == ledger.placed_points(seat), f"seat {seat}: points placed"
        assert score.held == (ledger.held_points(seat) if deducts else 0), f"seat {seat}: points held"
        added = sum(points for _, points in score.adjustments)
        assert score.points == score.placed - score.held + added, f"seat {seat}: the score does not add up"
        assert list(scored.hands[seat]) == sorted(ledger.hands[seat]), f"seat {seat}: the hand shown at the end"
    for seat, total in enumerate(scored.totals):
        side = [other for other in range(rules.players) if rules.sides[other] == rules.sides[seat]]
        assert total == before[seat] + sum(scored.seats[other].points for other in side), f"seat {seat}: total"
        assert total == game.totals[seat]
    assert (scored.out is not None) is (scored.reason is RoundEnd.OUT)
    if scored.out is not None and not rules.polls:  # a poll after the last discard may make its discarder draw
        assert not scored.hands[scored.out], "who went out holds cards"
    _check_winner(game)


def _check_winner(game: Game) -> None:
    top = max(game.totals)
    leaders = {game.rules.sides[seat] for seat, total in enumerate(game.totals) if total == top}
    limit = game.rounds_played >= game.rules.max_rounds
    wins = top >= game.rules.target and len(leaders) == 1
    assert game.over is (wins or limit), "the game should be over, or should not"
    if game.outcome is not None:
        winners = [seat for seat, side in enumerate(game.rules.sides) if len(leaders) == 1 and side in leaders]
        assert list(game.outcome.winners) == winners
        assert game.outcome.round_limit is not wins
