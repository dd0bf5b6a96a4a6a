"""The catalog: what is installed, and the rules that a choice comes to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rummy500_catalog.listing import ListedPreset, ListedVariant
from rummy500_catalog.offers import PRESETS, VARIANTS, Offer, installed
from rummy500_catalog.sheet import sheet
from rummy500_engine import classic
from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.rules import Preset, Rules, compose
from rummy500_engine.terms import RulesRefused, VariantError

DEFAULT_PRESET = "classic"
BASE_DISTRIBUTION = "rummy500"
REMEMBERED_RULES = 256

_CLASSIC_PRESET = Preset(DEFAULT_PRESET, "The classic game: 2 to 8 players, one pack, to 500.")


class ChoiceRefused(RulesRefused):
    """A choice that names what is not installed: these variants, which the distributions `missing` would bring."""

    def __init__(
        self, sentence: str, *, field: str, variants: tuple[str, ...] = (), missing: tuple[str, ...] = ()
    ) -> None:
        super().__init__(sentence, field=field)
        self.variants, self.missing = variants, missing


@dataclass(frozen=True, slots=True)
class _Merged:
    """A preset and what was chosen besides, as one choice."""

    variants: tuple[str, ...]
    options: dict[str, object]


class Catalog:
    """Variants and presets by name. Entry points are found when it is made and loaded when they are first used."""

    def __init__(self, variants: Iterable[Offer] | None = None, presets: Iterable[Offer] | None = None) -> None:
        self._base = Plugin("classic", classic, _base_version(), BASE_DISTRIBUTION)
        self._offers: dict[str, list[Offer]] = {}
        for offer in installed(VARIANTS) if variants is None else variants:
            self._offers.setdefault(offer.name, []).append(offer)
        self._preset_offers = tuple(installed(PRESETS) if presets is None else presets)
        self._plugins: dict[str, Plugin] = {}
        self._listed: dict[str, ListedVariant] = {}
        self._presets: dict[str, ListedPreset] | None = None
        self._rules: OrderedDict[object, Rules] = OrderedDict()

    # What is installed

    def variants(self) -> tuple[ListedVariant, ...]:
        """The classic rules, then the installed variants by name, also those that are broken."""
        pretenders = [
            ListedVariant(
                offer.name, offer.version, offer.distribution, problem="this is the name of the classic rules"
            )
            for offer in self._offers.get(self._base.name, ())
        ]
        others = [self.variant(name) for name in sorted(self._offers) if name != self._base.name]
        return (self.variant(self._base.name), *pretenders, *others)

    def variant(self, name: str) -> ListedVariant:
        """One of them. Raises ChoiceRefused when it is not installed."""
        if name not in self._listed:
            self._listed[name] = self._list_variant(name)
        return self._listed[name]

    def plugin(self, name: str) -> Plugin:
        """A variant, loaded; the classic rules by their name. Raises ChoiceRefused or VariantError."""
        return self._base if name == self._base.name else self._plugin(name)

    def presets(self) -> tuple[ListedPreset, ...]:
        """The presets by name, also those that cannot be used."""
        return tuple(listed for _, listed in sorted(self._known_presets().items()))

    def sheet(self, rules: Rules, *, preset: str = "") -> str:
        """The rules as a sheet for people, in Markdown."""
        return sheet(rules, [self.variant(name) for name in (self._base.name, *rules.table.variants)], preset=preset)

    # Rules

    def rules(
        self,
        preset: str = "",
        variants: Sequence[str] = (),
        options: Mapping[str, object] | None = None,
        *,
        players: int = 2,
    ) -> Rules:
        """The rules of a table. Options are flat keys with values or their texts; they go before the preset's.

        Raises RulesRefused (with the field at fault) or VariantError (with the distribution at fault).
        """
        key = (preset, tuple(sorted(variants)), tuple(sorted((options or {}).items(), key=str)), players)
        if key in self._rules:
            self._rules.move_to_end(key)
            return self._rules[key]
        merged = self._merge(preset or DEFAULT_PRESET, variants, options or {}, players)
        plugins = [self._plugin(name) for name in merged.variants]
        rules = compose(self._base, plugins, players=players, options=merged.options)
        self._rules[key] = rules
        if len(self._rules) > REMEMBERED_RULES:
            self._rules.popitem(last=False)
        return rules

    def _merge(self, name: str, variants: Sequence[str], options: Mapping[str, object], players: int) -> _Merged:
        preset = self._preset(name)
        low, high = preset.players
        if not low <= players <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            raise RulesRefused(f"preset {name} is for {wanted} players, not for {players}", field="players")
        own = list(preset.variants)
        for least, more in preset.more_players:
            if players >= least:
                own += [variant for variant in more if variant not in own]
        extra = [variant for variant in variants if variant not in own]
        return _Merged((*own, *extra), {**dict(preset.options), **options})

    def _preset(self, name: str) -> Preset:
        known = self._known_presets()
        if name not in known:
            names = ", ".join(sorted(known))
            raise ChoiceRefused(f"there is no preset {name!r}; there are: {names}", field="preset")
        listed = known[name]
        if listed.missing:
            raise ChoiceRefused(
                f"preset {name} cannot be played here: install {', '.join(listed.missing)}",
                field="preset",
                missing=listed.missing,
            )
        if listed.problem:
            raise ChoiceRefused(f"preset {name} cannot be played here: {listed.problem}", field="preset")
        return listed.preset

    def _plugin(self, name: str) -> Plugin:
        """Loads a variant. Raises ChoiceRefused when it is not installed, VariantError when it does not load."""
        if name in self._plugins:
            return self._plugins[name]
        if name == self._base.name:
            raise ChoiceRefused("the classic rules are at every table: do not name them", field="variants")
        offers = self._offers.get(name, [])
        if not offers:
            names = ", ".join(sorted(self._offers)) or "none"
            raise ChoiceRefused(
                f"the variant {name!r} is not installed; installed: {names}", field="variants", variants=(name,)
            )
        if len(offers) > 1:
            owners = " and ".join(sorted(offer.distribution for offer in offers))
            raise VariantError(
                variant=name, hook="entry point", distribution=owners, problem="claimed by more than one: remove one"
            )
        (offer,) = offers
        try:
            loaded = offer.load()
        except (Exception, SystemExit) as error:
            raise VariantError(
                variant=name,
                hook="entry point",
                distribution=offer.distribution,
                problem=f"cannot be loaded: {type(error).__name__}: {error}",
            ) from error
        self._plugins[name] = Plugin(name, loaded, offer.version, offer.distribution)
        return self._plugins[name]

    # Listing

    def _list_variant(self, name: str) -> ListedVariant:
        if name == self._base.name:
            return self._described(self._base, PluginSet(self._base, ()), prefix="")
        try:
            plugin = self._plugin(name)
            listed = self._described(plugin, PluginSet(self._base, (plugin,)), prefix=f"{name}.")
            self._try(plugin)
        except VariantError as error:
            offer = self._offers[name][0]
            return ListedVariant(name, offer.version, error.distribution, prefix=f"{name}.", problem=str(error))
        return listed

    @staticmethod
    def _described(plugin: Plugin, plugins: PluginSet, *, prefix: str) -> ListedVariant:
        options = plugins.options(plugin)
        sentence = plugins.own(plugin, "rummy500_sentence") or ""
        if not isinstance(sentence, str):
            raise PluginSet.broken(plugin, "rummy500_sentence", f"answered {sentence!r}, which is no str")
        return ListedVariant(plugin.name, plugin.version, plugin.distribution, sentence, options, prefix)

    def _try(self, plugin: Plugin) -> None:
        """Composes a small table with it. A table that cannot be is no fault: some variants are not for two players."""
        try:
            compose(self._base, [plugin], players=2, options={})
        except RulesRefused:
            return

    def _known_presets(self) -> dict[str, ListedPreset]:
        if self._presets is None:
            known = {DEFAULT_PRESET: ListedPreset(_CLASSIC_PRESET, BASE_DISTRIBUTION)}
            for offer in self._preset_offers:
                for listed in self._offered_presets(offer):
                    known[listed.name] = _claimed_twice(known[listed.name], listed) if listed.name in known else listed
            self._presets = known
        return self._presets

    def _offered_presets(self, offer: Offer) -> list[ListedPreset]:
        try:
            offered = offer.load()
            presets = offered() if callable(offered) else offered
            if not isinstance(presets, Sequence) or not all(isinstance(preset, Preset) for preset in presets):
                raise TypeError(f"{presets!r} is no sequence of Preset")
        except (Exception, SystemExit) as error:
            problem = f"distribution {offer.distribution} cannot be loaded: {type(error).__name__}: {error}"
            return [ListedPreset(Preset(offer.name, ""), offer.distribution, problem=problem)]
        return [ListedPreset(preset, offer.distribution, self._missing(preset)) for preset in presets]

    def _missing(self, preset: Preset) -> tuple[str, ...]:
        packages = dict(preset.packages)
        named = [*preset.variants, *(variant for _, more in preset.more_players for variant in more)]
        missing = {packages.get(variant, f"a variant {variant}") for variant in named if variant not in self._offers}
        return tuple(sorted(missing))


def _claimed_twice(left: ListedPreset, right: ListedPreset) -> ListedPreset:
    owners = " and ".join(sorted({left.distribution, right.distribution}))
    return ListedPreset(left.preset, owners, problem=f"{owners} both claim the name {left.name}: remove one")


def _base_version() -> str:
    return version(BASE_DISTRIBUTION)
