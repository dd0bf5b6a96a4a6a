"""Named tables: presets are data. The classic table is not among them: it is there without any package."""

from __future__ import annotations

from rummy500_engine.rules import Preset

_HOUSE_RULES = "rummy500-variant-house-rules"
_JOKERS = ("jokers", "rummy500-variant-jokers")
_TWO_DECKS = ("two-decks", "rummy500-variant-two-decks")
_QUEEN_OF_SPADES = ("queen-of-spades", "rummy500-variant-queen-of-spades")
_CALL_RUMMY = ("call-rummy", "rummy500-variant-call-rummy")
_PARTNERS = ("partners", "rummy500-variant-partners")
_MUST_DISCARD = ("must-discard", _HOUSE_RULES)
_FLOATING = ("floating", _HOUSE_RULES)
_STRICT_TAKE = ("strict-take", _HOUSE_RULES)
_STOCK_OUT = ("stock-out", _HOUSE_RULES)
_VALUES = ("values", _HOUSE_RULES)
_SETTLEMENT = ("settlement", _HOUSE_RULES)

PRESETS: tuple[Preset, ...] = (
    Preset(
        "pagat",
        "Jokers, calls of Rummy!, an empty stock leaves the pile in play; two packs from five players on.",
        variants=("jokers", "call-rummy", "stock-out"),
        options=(("stock-out.rule", "pile_or_end"),),
        more_players=((5, ("two-decks",)),),
        packages=(_JOKERS, _CALL_RUMMY, _STOCK_OUT, _TWO_DECKS),
    ),
    Preset(
        "bicycle",
        "Even the top discard must be used at once, and at the end the winner collects the differences.",
        variants=("strict-take", "settlement"),
        packages=(_STRICT_TAKE, _SETTLEMENT),
    ),
    Preset(
        "ten-card",
        "Ten cards for two players, an ace always counts 15, and the last stock card ends the round.",
        variants=("values", "stock-out"),
        options=(("deal_two", 10), ("values.ace_low", "15"), ("stock-out.rule", "end_now")),
        players=(2, 4),
        packages=(_VALUES, _STOCK_OUT),
    ),
    Preset(
        "flat",
        "Two to nine count five, ten to king ten, and an ace always 15.",
        variants=("values",),
        options=(("values.scale", "flat"), ("values.ace_low", "15")),
        packages=(_VALUES,),
    ),
    Preset("six-handed", "Six players, two packs.", variants=("two-decks",), players=(6, 6), packages=(_TWO_DECKS,)),
    Preset(
        "partners",
        "Four players in two sides, or six in three; partners sit half-way round the table.",
        variants=("partners",),
        players=(4, 6),
        packages=(_PARTNERS,),
    ),
    Preset(
        "queen-40",
        "The queen of spades counts 40, melded and caught.",
        variants=("queen-of-spades",),
        packages=(_QUEEN_OF_SPADES,),
    ),
    Preset(
        "strict",
        "Going out needs a discard, and one that fits no meld on the table.",
        variants=("must-discard",),
        options=(("must-discard.unplayable", True),),
        packages=(_MUST_DISCARD,),
    ),
    Preset(
        "floating",
        "A player without cards stays in until a turn ends with a discard.",
        variants=("floating",),
        packages=(_FLOATING,),
    ),
)
