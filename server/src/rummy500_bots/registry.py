"""Which built-in bots there are, and how one is named: `easy`, `random,seed=3`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rummy500_bots.decision import Bot
from rummy500_bots.easy import EasyBot
from rummy500_bots.effort import DEFAULT_TIME_MS, Effort
from rummy500_bots.expert import ExpertBot
from rummy500_bots.normal import NormalBot
from rummy500_bots.random_play import RandomBot
from rummy500_bots.styles import BALANCED, FAIR, STYLES, styled

SEEDS = 1 << 64


class BotRefused(ValueError):
    """There is no such bot, or not with these settings. `args[0]` is one sentence that names what there is."""


@dataclass(frozen=True, slots=True)
class BotSetting:
    """What a bot may be given: a whole number between `low` and `high`, or one of `words`."""

    name: str
    sentence: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()

    def allows(self, value: str) -> bool:
        if self.words:
            return value in self.words
        return value.isascii() and value.isdecimal() and self.low <= int(value) <= self.high

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        return ", ".join(self.words) if self.words else f"a whole number from {self.low} to {self.high}"


Maker = Callable[[int, Mapping[str, str]], Bot]
"""Makes a bot from its seed and its settings."""


@dataclass(frozen=True, slots=True)
class BotKind:
    """A built-in bot. `deterministic`: its seed makes no difference. `thinks`: it takes so long over a decision that
    nobody else should have to wait for it."""

    name: str
    sentence: str
    make: Maker
    deterministic: bool
    settings: tuple[BotSetting, ...] = ()
    thinks: bool = False


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot by name, with the settings that differ from its defaults. `read` reads `random,seed=3`."""

    name: str
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> BotSpec:
        name, *settings = [part.strip() for part in text.split(",")]
        pairs = []
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise BotRefused(f"{setting!r} in {text!r} is no setting: a bot is NAME or NAME,SETTING=VALUE")
            pairs.append((key.strip(), value.strip()))
        return cls(name, tuple(pairs))

    def __str__(self) -> str:
        return ",".join((self.name, *(f"{name}={value}" for name, value in self.settings)))


def _random(seed: int, settings: Mapping[str, str]) -> Bot:
    return RandomBot(int(settings.get("seed", seed)))


def _easy(seed: int, settings: Mapping[str, str]) -> Bot:
    return EasyBot()


def _normal(seed: int, settings: Mapping[str, str]) -> Bot:
    return NormalBot(styled(FAIR, settings.get("style", BALANCED)))


def _expert(seed: int, settings: Mapping[str, str]) -> Bot:
    samples = int(settings.get("samples", 0))
    time_ms = int(settings["time_ms"]) if "time_ms" in settings else 0 if samples else DEFAULT_TIME_MS
    effort = Effort(time_ms, samples)
    return ExpertBot(int(settings.get("seed", seed)), effort, settings.get("style", BALANCED))


_SEED = BotSetting("seed", "What its choices follow from, in every game the same.", 0, SEEDS - 1)
_STYLE = BotSetting("style", "How it weighs things.", words=tuple(STYLES))
_KINDS = (
    BotKind(
        "easy",
        "Draws from the stock, melds and lays off at once what it can, throws its highest loose card.",
        _easy,
        deterministic=True,
    ),
    BotKind(
        "expert",
        "Counts cards, plays whole turns as one plan, and looks ahead where it is in doubt.",
        _expert,
        deterministic=False,
        settings=(
            BotSetting("time_ms", f"Milliseconds for a decision; {DEFAULT_TIME_MS} if nothing is said.", 1, 60_000),
            BotSetting("samples", "Guesses to look ahead on: with them alone its play can be repeated.", 1, 100_000),
            _SEED,
            _STYLE,
        ),
        thinks=True,
    ),
    BotKind(
        "normal",
        "Takes useful cards from the pile, lays what it can, and throws what others can least use.",
        _normal,
        deterministic=True,
        settings=(_STYLE,),
    ),
    BotKind(
        "random",
        "Takes any legal action, each with the same chance.",
        _random,
        deterministic=False,
        settings=(_SEED,),
    ),
)


def kinds() -> Mapping[str, BotKind]:
    """The built-in bots by name."""
    return {kind.name: kind for kind in _KINDS}


def built_in(spec: str | BotSpec, *, seed: int) -> Bot:
    """A bot of its own for one seat of one game; `seed` is what its dice follow from. Raises BotRefused."""
    if isinstance(spec, str):
        spec = BotSpec.read(spec)
    known = kinds()
    kind = known.get(spec.name)
    if kind is None:
        raise BotRefused(f"there is no built-in bot {spec.name!r}; there are {', '.join(known)}")
    return kind.make(seed % SEEDS, _settings(kind, spec))


def _settings(kind: BotKind, spec: BotSpec) -> dict[str, str]:
    allowed = {setting.name: setting for setting in kind.settings}
    given: dict[str, str] = {}
    for name, value in spec.settings:
        setting = allowed.get(name)
        if setting is None:
            there = f"it has {', '.join(allowed)}" if allowed else "it has none"
            raise BotRefused(f"the bot {kind.name} has no setting {name!r}; {there}")
        if name in given:
            raise BotRefused(f"the setting {name} of the bot {kind.name} is given twice")
        if not setting.allows(value):
            raise BotRefused(f"the setting {name} of the bot {kind.name} is {value!r}; it takes {setting.allowed}")
        given[name] = value
    return given
