"""What is given to ``Constraints`` turned into plain tuples, checked and with groups replaced; and back into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from topdag.errors import ConstraintError
from topdag.knowledge.probabilities import ParameterConstraint
from topdag.knowledge.probability_parser import parse_parameter
from topdag.knowledge.rule_parser import parse_rule
from topdag.knowledge.rules import ANY_NAME, WILD_NAMES, Adjacent, Edge, Rule, checked_count, quoted

Pair: TypeAlias = tuple[str, str]
Pairs: TypeAlias = tuple[Pair, ...]
Names: TypeAlias = tuple[str, ...]
ParentSets: TypeAlias = tuple[Names, ...]
Counts: TypeAlias = tuple[tuple[str, int], ...]
Groups: TypeAlias = tuple[tuple[str, Names], ...]
PairsGiven: TypeAlias = Iterable[Sequence[str] | str]
CountsGiven: TypeAlias = int | Mapping[str, int] | None
RulesGiven: TypeAlias = Iterable[Rule | str] | Rule | str


@dataclass(frozen=True)
class Tiers:
    """Lists of names, earlier first; ``edges_within``: whether variables of one tier may be joined."""

    levels: tuple[Names, ...]
    edges_within: bool = True


TiersGiven: TypeAlias = Iterable[Iterable[str]] | Iterable[Tiers]


class Reader:
    """Reads each kind of value; errors name the argument."""

    def __init__(self, groups: Mapping[str, Iterable[str]] | None) -> None:
        self.groups: Groups = ()
        given = _entries("groups", groups)
        for name, _ in given:
            if name in WILD_NAMES:
                raise ConstraintError(f"groups: {name!r} stands for variables already; call the group otherwise.")
        self.groups = tuple(sorted((name, _names("groups", names)) for name, names in given))
        self.members = dict(self.groups)
        for group, names in self.groups:
            inner = next((name for name in names if name in self.members), None)
            if inner is not None:
                raise ConstraintError(f"groups: {group!r} holds {inner!r}, which is a group; list variables.")

    def pairs(self, what: str, given: PairsGiven) -> Pairs:
        """Pairs (from, to), sorted, each once; also as text, "a->b"."""
        found: set[Pair] = set()
        for item in _listed(what, given, "pairs of names"):
            one, other = _pair(what, item)
            found |= {(a, b) for a in self._of(one) for b in self._of(other) if a != b or a == ANY_NAME}
        return tuple(sorted(found))

    def either_way(self, what: str, given: PairsGiven) -> Pairs:
        return tuple(sorted({(min(pair), max(pair)) for pair in self.pairs(what, given)}))

    def names(self, what: str, given: Iterable[str]) -> Names:
        return self._all(_names(what, given))

    def counts(self, what: str, given: CountsGiven) -> Counts:
        if given is None:
            return ()
        entries = [(ANY_NAME, given)] if isinstance(given, int) else _entries(what, given)
        return tuple(sorted({(name, checked_count(k, what)) for group, k in entries for name in self._of(group)}))

    def tiers(self, given: TiersGiven, *, edges_within: bool) -> tuple[Tiers, ...]:
        if not isinstance(edges_within, bool):
            raise ConstraintError(f"edges_within_tiers is True or False, not {edges_within!r}.")
        listed = _listed("tiers", given, "lists of names, earlier first")
        several = [item for item in listed if isinstance(item, (Tiers, Mapping))]
        if several and len(several) < len(listed):
            raise ConstraintError("tiers: give one list of lists of names.")
        if several:
            return tuple(self._tiers(*_tiers_given(item)) for item in several)
        return (self._tiers(listed, edges_within),) if listed else ()

    def by_variable(self, what: str, given: Any) -> tuple[tuple[str, Names], ...]:
        entries = [
            (child, self.names(what, names)) for name, names in _entries(what, given) for child in self._of(name)
        ]
        return tuple(sorted(set(entries)))

    def sets_by_variable(self, what: str, given: Any) -> tuple[tuple[str, ParentSets], ...]:
        entries = [
            (child, tuple(sorted({self.names(what, names) for names in _listed(what, sets, "lists of parents")})))
            for name, sets in _entries(what, given)
            for child in self._of(name)
        ]
        return tuple(sorted(set(entries)))

    def rules(self, given: RulesGiven) -> tuple[Rule, ...]:
        listed = [given] if isinstance(given, (str, Rule)) else _listed("rules", given, "rules")
        read = [parse_rule(rule) if isinstance(rule, str) else rule for rule in listed]
        for rule in read:
            if not isinstance(rule, Rule):
                raise ConstraintError(f"rules: {rule!r} is neither a rule nor the text of one.")
        return tuple(dict.fromkeys(_without_holes(rule, rule.expanded(self._of)) for rule in read))

    def parameters(self, given: Any) -> tuple[ParameterConstraint, ...]:
        listed = (
            [given] if isinstance(given, (str, ParameterConstraint)) else _listed("parameters", given, "constraints")
        )
        read = (said if isinstance(said, ParameterConstraint) else parse_parameter(said) for said in listed)
        return tuple({str(said): said for said in read}.values())

    def _of(self, name: str) -> Names:
        return self.members.get(name, (name,))

    def _all(self, names: Names) -> Names:
        return tuple(sorted({member for name in names for member in self._of(name)}))

    def _tiers(self, levels: Iterable[Any], edges_within: bool) -> Tiers:
        read = tuple(self.names("tiers", level) for level in levels)
        every = [name for level in read for name in level]
        twice = next((name for name in every if every.count(name) > 1), None)
        if twice is not None:
            raise ConstraintError(f"tiers: {twice!r} can be in one tier only.")
        return Tiers(read, edges_within)


def lines_of(kind: str, value: Any) -> list[str]:
    """A kind of constraint in words, as one line or one for each variable; none when nothing is said."""
    if not value or kind == "groups":
        return []
    label = kind.replace("_", " ")
    if kind in ("rules", "parameters"):
        return [f"{label.removesuffix('s')}: {said}" for said in value]
    if kind == "tiers":
        return [_tiers_line(tiers) for tiers in value]
    if kind in ("allowed_parents", "fixed_parents", "allowed_parent_sets"):
        return [f"{label} of {quoted(name)}: {_parents_text(own)}" for name, own in value]
    if kind in ("roots", "leaves"):
        return [f"{label}: {_joined(value)}"]
    return [f"{label}: " + ", ".join(_entry_text(kind, *entry) for entry in value)]


def _parents_text(own: Names | ParentSets) -> str:
    sets = [names for names in own if isinstance(names, tuple)]
    return " | ".join(f"({_joined(names)})" for names in sets) if sets else f"({_joined(map(str, own))})"


def _entry_text(kind: str, one: str, other: str | int) -> str:
    if isinstance(other, int):
        return f"{quoted(one)} {other}"
    marks = {"edges": "->", "adjacencies": "--", "ancestors": " of ", "precedence": " before "}
    return f"{quoted(one)}{marks[kind.rpartition('_')[2]]}{quoted(other)}"


def _tiers_line(tiers: Tiers) -> str:
    within = "" if tiers.edges_within else ", no edges within one"
    return "tiers: " + " < ".join(f"({_joined(level)})" for level in tiers.levels) + within


def _joined(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def _without_holes(given: Rule, rule: Rule) -> Rule:
    """A rule that groups leave with nothing to say somewhere, or that is too deep to be read back, is refused."""
    try:
        is_whole = parse_rule(str(rule)) == rule
    except (ConstraintError, RecursionError):
        is_whole = False
    if not is_whole:
        raise ConstraintError(f"rules: {str(given)!r} joins a group with itself alone, or is nested too deep.")
    return rule


def _pair(what: str, item: Any) -> Pair:
    if isinstance(item, str):
        has_mark = any(mark in item for mark in ("->", "<-", "--"))  # a pair in the place of a list of pairs has none
        rule = parse_rule(item, what) if has_mark else None
        if not isinstance(rule, (Edge, Adjacent)) or isinstance(rule, Adjacent) != what.endswith("adjacencies"):
            mark = "--" if what.endswith("adjacencies") else "->"
            raise ConstraintError(f"{what}: {item!r} is no pair; write 'a{mark}b', or give two names: [('a', 'b')].")
        return rule.names[0], rule.names[1]
    pair = tuple(item) if isinstance(item, Iterable) else ()
    if len(pair) != 2 or not all(isinstance(name, str) and name for name in pair):
        raise ConstraintError(f"{what}: {item!r} is no pair of names.")
    if pair[0] == pair[1] != ANY_NAME:
        raise ConstraintError(f"{what}: {pair[0]!r} is paired with itself.")
    return pair


def _names(what: str, given: Any) -> Names:
    names = _listed(what, given, "names")
    for name in names:
        if not isinstance(name, str) or not name:
            raise ConstraintError(f"{what}: a variable is given by its name, not by {name!r}.")
    return tuple(sorted(set(names)))


def _listed(what: str, given: Any, of: str) -> list[Any]:
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise ConstraintError(f"{what}: give a list of {of}, not {given!r}.")
    return list(given)


def _entries(what: str, given: Any) -> list[tuple[str, Any]]:
    """By variable: a mapping, or pairs of a name and what holds for it."""
    if given is None:
        return []
    entries = list(given.items()) if isinstance(given, Mapping) else _listed(what, given, "entries by variable")
    for entry in entries:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2 or not isinstance(entry[0], str) or not entry[0]:
            raise ConstraintError(f"{what}: give a mapping from names, such as {{'lung': ...}}, not {given!r}.")
    return [(name, value) for name, value in entries]


def _tiers_given(item: Tiers | Mapping[str, Any]) -> tuple[Any, bool]:
    if isinstance(item, Tiers):
        return item.levels, item.edges_within
    if set(item) - {"levels", "edges_within"} or "levels" not in item:
        raise ConstraintError("tiers: a table has the keys levels and edges_within.")
    return _listed("tiers", item["levels"], "lists of names"), bool(item.get("edges_within", True))
