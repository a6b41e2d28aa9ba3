"""What is known of several variables at once, as branching on cycles reads it: trees of facts, paths, orders."""

from __future__ import annotations

from collections.abc import Sequence

from topdag import _core
from topdag.closure import bits
from topdag.compiled_constraints import CompiledConstraints
from topdag.rules import Adjacent, AllOf, AnyOf, Edge, IfThen, Not, NumberOfParents, Rule

MOST_VARIABLES = 64


def case_rules(n: int, known: CompiledConstraints | None = None) -> _core.CaseRules:
    """Of n variables; without knowledge every network obeys."""
    rules = _core.CaseRules(n)
    if known is None:
        return rules
    rules.put_before([(early, x) for x, mask in enumerate(known.before) for early in bits(mask)])
    rules.put_before(known.rest.precedence)
    rules.require_paths(known.rest.paths)
    rules.forbid_paths(sorted(known.rest.every_no_path))
    writer = _Writer(rules, known.names)
    for rule in known.rest.rules:
        rules.require(writer.number_of(rule, wanted=True))
    return rules


class _Writer:
    """Puts rules down without negations: these go to the facts."""

    def __init__(self, rules: _core.CaseRules, names: Sequence[str]) -> None:
        self.rules = rules
        self.place = {name: v for v, name in enumerate(names)}

    def number_of(self, rule: Rule, *, wanted: bool) -> int:
        """The number of the rule, or of its opposite unless it is ``wanted``."""
        match rule:
            case Edge(parent, child):
                return self._edge(parent, child, wanted)
            case Adjacent(one, other):
                return self._joined([self._edge(one, other, wanted), self._edge(other, one, wanted)], any_=wanted)
            case NumberOfParents(variable):
                counts = sum(1 << count for count in range(MOST_VARIABLES) if rule.admits(count) is wanted)
                return self.rules.count_in(self.place[variable], counts)
            case Not(part):
                return self.number_of(part, wanted=not wanted)
            case IfThen(condition, consequence):
                return self.number_of(AnyOf((Not(condition), consequence)), wanted=wanted)
            case AnyOf(parts) | AllOf(parts):
                own = [self.number_of(part, wanted=wanted) for part in parts]
                return self._joined(own, any_=isinstance(rule, AnyOf) is wanted)
        raise TypeError(f"{rule!r} is no rule")

    def _edge(self, parent: str, child: str, wanted: bool) -> int:
        put = self.rules.some_of if wanted else self.rules.none_of
        return put(self.place[child], 1 << self.place[parent])

    def _joined(self, parts: list[int], *, any_: bool) -> int:
        return self.rules.any_of(parts) if any_ else self.rules.all_of(parts)
