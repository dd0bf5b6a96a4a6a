"""Even the top discard must be used at once; the use may have to be a new meld, or the first play."""

from __future__ import annotations

from rummy500_engine.hooks import hookimpl
from rummy500_engine.terms import Option, Table, TakeDuty


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("use", "meld_or_layoff", "How the taken card must be used.", choices=("meld_or_layoff", "new_meld")),
        Option("when", "same_turn", "When it must be used.", choices=("same_turn", "first_play")),
    )


@hookimpl
def rummy500_sentence() -> str:
    return "Every card taken from the pile obliges, the top discard too."


@hookimpl
def rummy500_take_duty(table: Table) -> TakeDuty:
    return TakeDuty(
        top_too=True,
        new_meld=table.text("strict-take.use") == "new_meld",
        first_play=table.text("strict-take.when") == "first_play",
    )
