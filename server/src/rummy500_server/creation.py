"""What a table is made of, once and for all: the document that the journal keeps of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rummy500_engine.rules import Rules
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.journal import newest_first
from rummy500_server.rules_wire import Choice


@dataclass(frozen=True, slots=True)
class Creation:
    """`secret` is what the packs follow from (`rummy500_engine.fair`); `from_seed`: somebody gave it. `owner` is the
    digest of the owner's token. `record` names the game's record; `match` is empty outside of matches, in one the table
    plays that `seating` of that `deal`. `single_round`: the game ends when its round is scored. `aligned`: each seat
    draws from a share of its own of the stock. `position`: a scenario."""

    name: str
    owner: str
    players: int
    secret: bytes
    clock: ClockTerms
    created_ms: int
    choice: Choice = field(default_factory=Choice)
    title: str = ""
    from_seed: bool = False
    position: Mapping[str, Any] | None = None
    start_when_full: bool = False
    private: bool = False
    single_round: bool = False
    aligned: bool = False
    match: str = ""
    record: str = ""
    deal: int = 0
    seating: int = 0
    ranked: tuple[str, ...] = ()
    """The levels of the owner's opponents in a ranked game; empty: the game is not ranked."""
    digest: str = ""
    variants: tuple[tuple[str, str], ...] = ()
    """The digest of the full rules, and the variants with their versions: what they were when the table was made."""

    @property
    def is_listed(self) -> bool:
        return not self.match

    @property
    def listed_at(self) -> str:
        """Where the table stands in lists."""
        return newest_first(self.created_ms, self.name)

    @property
    def listed_for(self) -> str:
        """The digest of whom the table is listed for; empty: everybody."""
        return self.owner if self.private else ""

    @property
    def is_fair(self) -> bool:
        """Whether the deals are committed to before they are made: chance alone made the secret."""
        return not self.from_seed and self.position is None

    @property
    def place(self) -> str:
        """What commitments are made under: the table's name; in a match `deal.seating`, so that commitments do not show
        which tables play one deal."""
        return f"{self.deal}.{self.seating}" if self.match else self.name

    def to_json(self) -> bytes:
        values = asdict(self) | {"secret": self.secret.hex(), "clock": self.clock.to_json()}
        return json.dumps(values, separators=(",", ":"), sort_keys=True).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Creation:
        values = json.loads(text)
        choice = values["choice"]
        values["choice"] = Choice(choice["preset"], tuple(choice["variants"]), choice["options"])
        values["clock"] = ClockTerms.from_json(values)
        values["secret"] = bytes.fromhex(values["secret"])
        values["ranked"] = tuple(values.get("ranked", ()))
        values["variants"] = tuple((name, version) for name, version in values["variants"])
        if values["match"] and "deal" not in values:  # a record's name told it once
            values["deal"], values["seating"] = map(int, values["record"].split(".")[1:])
        return cls(**values)

    def difference(self, rules: Rules) -> str:
        """What has changed since the table was made, in words; empty: nothing."""
        if rules.digest == self.digest:
            return ""
        then, now = dict(self.variants), dict(rules.variants)
        changed = [
            f"{name} was {then[name]} and is {now[name]}" for name in then if now.get(name) not in (None, then[name])
        ]
        return f"the rules of this table are others now: {', '.join(changed) or 'an option or the base has changed'}"
