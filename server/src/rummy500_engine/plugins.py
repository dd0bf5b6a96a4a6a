"""A set of plugins that answer together: who answers a hook, and how their answers combine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import iscoroutinefunction
from typing import Any, TypeVar

import pluggy

from rummy500_engine.answers import problem_of
from rummy500_engine.hooks import PROJECT, ComposedHooks, PlayHooks
from rummy500_engine.terms import Option, Points, RulesRefused, Table, VariantError

Answer = TypeVar("Answer")
BASE_VERBS = frozenset(("draw", "take", "meld", "layoff", "discard", "pass", "call"))


@dataclass(frozen=True)
class Plugin:
    """An installed variant, or the classic rules: its name on the wire, the object with the hooks, its origin."""

    name: str
    implementation: object
    version: str
    distribution: str

    @cached_property
    def hooks(self) -> Mapping[str, Callable[..., Any]]:
        """The hooks that it answers, by name. Raises VariantError for one that is none."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(ComposedHooks)
        manager.add_hookspecs(PlayHooks)
        try:
            manager.register(self.implementation, name=self.name)
            manager.check_pending()
        except pluggy.PluginValidationError as error:
            raise PluginSet.broken(self, "registration", str(error)) from error
        found: dict[str, Callable[..., Any]] = {}
        for caller in manager.get_hookcallers(self.implementation) or ():
            implementation = caller.get_hookimpls()[-1]
            if iscoroutinefunction(implementation.function):
                raise PluginSet.broken(self, caller.name, "is asynchronous; a hook answers at once")
            found[caller.name] = _narrowed(implementation.function, implementation.argnames)
        for hook, others in _TOGETHER:
            missing = [other for other in others if other not in found]
            if hook in found and missing:
                raise PluginSet.broken(self, hook, f"needs {' and '.join(missing)} beside it")
        return found


class PluginSet:
    """The classic rules and the variants of one table, sorted by name, so that the order of naming changes nothing."""

    def __init__(self, base: Plugin, variants: Sequence[Plugin]) -> None:
        self.base = base
        self.variants = tuple(sorted(variants, key=lambda plugin: plugin.name))
        self.all = (base, *self.variants)
        seen: set[str] = set()
        for plugin in self.all:
            if plugin.name in seen:
                raise RulesRefused(f"variant {plugin.name} is named twice", field="variants")
            seen.add(plugin.name)
        self._hooks = {plugin.name: plugin.hooks for plugin in self.all}

    @staticmethod
    def broken(plugin: Plugin, hook: str, problem: str) -> VariantError:
        return VariantError(variant=plugin.name, hook=hook, distribution=plugin.distribution, problem=problem)

    def _ask(self, plugin: Plugin, hook: str, **question: Any) -> Any:
        function = self._hooks[plugin.name].get(hook)
        if function is None:
            return None
        try:
            return function(**question)
        except (VariantError, RulesRefused):
            raise
        except Exception as error:
            raise self.broken(plugin, hook, f"raised {type(error).__name__}: {error}") from error

    def own(self, plugin: Plugin, hook: str, **question: Any) -> Any:
        return self._ask(plugin, hook, **question)

    def options(self, plugin: Plugin) -> tuple[Option, ...]:
        answer = self._ask(plugin, "rummy500_options") or ()
        if not isinstance(answer, Sequence) or not all(isinstance(option, Option) for option in answer):
            raise self.broken(plugin, "rummy500_options", f"answered {answer!r}, which is no sequence of Option")
        return tuple(answer)

    def answers(self, hook: str, **question: Any) -> Iterator[tuple[Plugin, Any]]:
        """The answers that are not None, the classic rules' first."""
        for plugin in self.all:
            answer = self._ask(plugin, hook, **question)
            if answer is not None:
                yield plugin, answer

    def one(self, hook: str, kind: type[Answer], **question: Any) -> Answer:
        """*One answer*: the variants' if there is one, else the classic rules'."""
        chosen: tuple[Plugin, Answer] | None = None
        for plugin, answer in self.answers(hook, **question):
            self.expect(plugin, hook, answer, kind)
            if chosen is not None and chosen[0] is not self.base and chosen[1] != answer:
                raise _conflict(hook, chosen[0], plugin)
            chosen = (plugin, answer)
        assert chosen is not None, f"the classic rules do not answer {hook}"
        return chosen[1]

    def by_field(self, hook: str, kind: type[Answer], **question: Any) -> dict[str, Any]:
        """*Field by field*: as `one`, for each field of the answer."""
        merged: dict[str, tuple[Plugin, Any]] = {}
        for plugin, answer in self.answers(hook, **question):
            self.expect(plugin, hook, answer, kind)
            for field in fields(answer):
                value = getattr(answer, field.name)
                if value is None:
                    continue
                before = merged.get(field.name)
                if before is not None and before[0] is not self.base and before[1] != value:
                    raise _conflict(f"{hook} ({field.name})", before[0], plugin)
                merged[field.name] = (plugin, value)
        return {name: value for name, (_, value) in merged.items()}

    def most_specific(self, hook: str, about: str, **question: Any) -> int:
        """The points at the highest specificity; a variant's go before the classic rules' of the same."""
        given = list(self.answers(hook, **question))
        for plugin, answer in given:
            self.expect(plugin, hook, answer, Points)
        top = max((answer.specificity for _, answer in given), default=None)
        best = [(plugin, answer) for plugin, answer in given if answer.specificity == top]
        if len(best) > 1 and best[0][0] is self.base:
            del best[0]
        for plugin, answer in best[1:]:
            if answer.points != best[0][1].points:
                raise _conflict(f"{hook} ({about})", best[0][0], plugin)
        return best[0][1].points if best else 0

    def flag(self, hook: str, **question: Any) -> bool:
        """*Any of*, for a yes or no."""
        found = False
        for plugin, answer in self.answers(hook, **question):
            self.expect(plugin, hook, answer, bool)
            found = found or bool(answer)
        return found

    def bound(self, hook: str, table: Table) -> tuple[tuple[str, Callable[..., Any]], ...]:
        """The functions of the plugins that implement a hook of play, by variant; a raise becomes a VariantError."""
        return tuple(
            (plugin.name, _guarded(plugin, hook, self._hooks[plugin.name][hook], table))
            for plugin in self.all
            if hook in self._hooks[plugin.name]
        )

    def verbs(self, table: Table) -> Mapping[str, str]:
        """verb -> variant."""
        owners: dict[str, Plugin] = {}
        for plugin, verbs in self.answers("rummy500_verbs", table=table):
            self.expect(plugin, "rummy500_verbs", verbs, Sequence)
            for verb in verbs:
                if not (isinstance(verb, str) and verb.isalpha() and verb.islower()) or verb in BASE_VERBS:
                    problem = f"answered {verb!r}, which is no lower-case word of its own"
                    raise self.broken(plugin, "rummy500_verbs", problem)
                if verb in owners:
                    raise _conflict(f"rummy500_verbs ({verb})", owners[verb], plugin)
                owners[verb] = plugin
        return {verb: plugin.name for verb, plugin in sorted(owners.items())}

    def expect(self, plugin: Plugin, hook: str, answer: object, kind: type) -> None:
        if not isinstance(answer, kind):
            raise self.broken(plugin, hook, f"answered {answer!r}, which is no {kind.__name__}")


def _conflict(hook: str, left: Plugin, right: Plugin) -> RulesRefused:
    names = " and ".join(sorted((left.name, right.name)))
    return RulesRefused(f"{names} contradict each other about {hook.removeprefix('rummy500_')}: play with one of them")


def _narrowed(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """An implementation may leave out arguments that it does not need."""

    def ask(**question: Any) -> Any:
        return function(**{name: question[name] for name in names})

    return ask


_TOGETHER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("rummy500_actions", ("rummy500_verbs", "rummy500_perform")),
    ("rummy500_poll", ("rummy500_poll_actions", "rummy500_poll_result")),
)
"""Who answers the first must answer the others too."""


def _guarded(plugin: Plugin, hook: str, function: Callable[..., Any], table: Table) -> Callable[..., Any]:
    def ask(**question: Any) -> Any:
        try:
            answer = function(table=table, **question)
        except VariantError:
            raise
        except Exception as error:
            raise PluginSet.broken(plugin, hook, f"raised {type(error).__name__}: {error}") from error
        problem = problem_of(hook, variant=plugin.name, table=table, answer=answer)
        if problem:
            raise PluginSet.broken(plugin, hook, f"answered {problem}")
        return answer

    return ask
