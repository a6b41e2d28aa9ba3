"""``Constraints``: what is known about the structure before any data, by names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from topdag._util.brief import UnknownArgument
from topdag._util.options import option
from topdag.errors import ConstraintError
from topdag.knowledge.arguments import (
    Counts,
    CountsGiven,
    Groups,
    Names,
    Pairs,
    PairsGiven,
    ParentSets,
    Reader,
    RulesGiven,
    Tiers,
    TiersGiven,
)
from topdag.knowledge.compiled import CompiledConstraints, compiled, has_cycle, with_pairs
from topdag.knowledge.conflicts import settled
from topdag.knowledge.facts import Before, Cannot, Seen, Statement, statements_of
from topdag.knowledge.probabilities import ParameterConstraint
from topdag.knowledge.rules import WILD_NAMES, Rule
from topdag.networks.network import Network

FORMAT, VERSION = "topdag-constraints", 1
LONGEST_LINE = 80


@dataclass(frozen=True, init=False)
class Constraints:
    """What a network must satisfy. Nothing given: every network will do.

    ``required_edges``, ``forbidden_edges``: pairs (parent, child). ``required_adjacencies``,
    ``forbidden_adjacencies``: pairs between which some edge, or none, must be. ``roots``, ``leaves``: variables without
    parents, without children. ``max_parents``, ``min_parents``, ``exact_parents``: a number for all, or by variable.
    ``tiers``: lists of names, earlier first, "*" for those in no other; no edge leads from a later to an earlier one,
    nor within one when ``edges_within_tiers`` is False. ``precedence``: pairs (a, b); some one order of the network has
    every a before its b, so b is never an ancestor of a. ``allowed_parents``: by variable, the only ones that may be
    its parents. ``fixed_parents``: by variable, just its parents. ``allowed_parent_sets``: by variable, the sets to
    choose from. ``ancestors``, ``not_ancestors``: pairs (a, b); a directed path leads, or does not, from a to b.
    ``rules``: made by ``any_of``, ``rules.edge`` and similar, or as text. ``parameters``: about probabilities, made by
    ``probabilities.influence``, ``synergy`` and ``probability``, or as text; the parents that they name are required
    (docs/guides/probability_constraints.md). ``groups``: names for lists of variables.

    Wherever a name may stand, the name of a group or ``"*"``, every variable, may: it stands for each of its members
    (in rules see ``topdag.rules``). Statements that contradict each other raise ConstraintError, which names a smallest
    set of them; what shows only once the variables are known, when a table is scored.

    >>> known = Constraints(required_edges=[("smoke", "lung")], forbidden_edges=[("*", "asia")])
    >>> print(known)
    required edges: smoke->lung
    forbidden edges: *->asia
    >>> known.violations(Network(["asia", "smoke", "lung"], {"asia": ["smoke"]}))
    ['smoke->lung is required', 'smoke->asia is forbidden']
    """

    required_edges: Pairs
    forbidden_edges: Pairs
    required_adjacencies: Pairs
    forbidden_adjacencies: Pairs
    roots: Names
    leaves: Names
    max_parents: Counts
    min_parents: Counts
    exact_parents: Counts
    tiers: tuple[Tiers, ...]
    precedence: Pairs
    allowed_parents: tuple[tuple[str, Names], ...]
    fixed_parents: tuple[tuple[str, Names], ...]
    allowed_parent_sets: tuple[tuple[str, ParentSets], ...]
    ancestors: Pairs
    not_ancestors: Pairs
    rules: tuple[Rule, ...]
    parameters: tuple[ParameterConstraint, ...]
    groups: Groups = field(compare=False)

    def __init__(
        self,
        *,
        required_edges: PairsGiven = (),
        forbidden_edges: PairsGiven = (),
        required_adjacencies: PairsGiven = (),
        forbidden_adjacencies: PairsGiven = (),
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
        max_parents: CountsGiven = None,
        min_parents: CountsGiven = None,
        exact_parents: CountsGiven = None,
        tiers: TiersGiven = (),
        edges_within_tiers: bool = True,
        precedence: PairsGiven = (),
        allowed_parents: Mapping[str, Iterable[str]] | None = None,
        fixed_parents: Mapping[str, Iterable[str]] | None = None,
        allowed_parent_sets: Mapping[str, Iterable[Iterable[str]]] | None = None,
        ancestors: PairsGiven = (),
        not_ancestors: PairsGiven = (),
        rules: RulesGiven = (),
        parameters: Iterable[ParameterConstraint | str] = (),
        groups: Mapping[str, Iterable[str]] | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise UnknownArgument(name, [own.name for own in fields(self)], "Constraints(): ")
        read = Reader(groups)
        self._fill(
            required_edges=read.pairs("required_edges", required_edges),
            forbidden_edges=read.pairs("forbidden_edges", forbidden_edges),
            required_adjacencies=read.either_way("required_adjacencies", required_adjacencies),
            forbidden_adjacencies=read.either_way("forbidden_adjacencies", forbidden_adjacencies),
            roots=read.names("roots", roots),
            leaves=read.names("leaves", leaves),
            max_parents=read.counts("max_parents", max_parents),
            min_parents=read.counts("min_parents", min_parents),
            exact_parents=read.counts("exact_parents", exact_parents),
            tiers=read.tiers(tiers, edges_within=edges_within_tiers),
            precedence=read.pairs("precedence", precedence),
            allowed_parents=read.by_variable("allowed_parents", allowed_parents),
            fixed_parents=read.by_variable("fixed_parents", fixed_parents),
            allowed_parent_sets=read.sets_by_variable("allowed_parent_sets", allowed_parent_sets),
            ancestors=read.pairs("ancestors", ancestors),
            not_ancestors=read.pairs("not_ancestors", not_ancestors),
            rules=read.rules(rules),
            parameters=read.parameters(parameters),
            groups=read.groups,
        )

    def _fill(self, **values: Any) -> None:
        vars(self).update(values)
        self._require_no_conflict()

    def _require_no_conflict(self) -> None:
        """Among what is said of the variables that are named; there may be others."""
        about_named = self._without_open_rules()
        settled(self.named, statements_of(about_named, self.named), is_open=True)

    def _without_open_rules(self) -> Constraints:
        """Rules with * or ? say nothing of use before all variables are known."""
        kept = tuple(rule for rule in self.rules if not any(set(WILD_NAMES) & set(atom.names) for atom in rule.atoms))
        plain = object.__new__(Constraints)
        vars(plain).update({**vars(self), "rules": kept})
        return plain

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Every variable that is named, sorted."""
        found = {name for _, names in self.groups for name in names}
        for pairs in (self.required_edges, self.forbidden_edges, self.precedence, self.ancestors, self.not_ancestors):
            found.update(name for pair in pairs for name in pair)
        for pairs in (self.required_adjacencies, self.forbidden_adjacencies):
            found.update(name for pair in pairs for name in pair)
        for counts in (self.max_parents, self.min_parents, self.exact_parents):
            found.update(name for name, _ in counts)
        found.update(self.roots, self.leaves, *(level for tiers in self.tiers for level in tiers.levels))
        for name, names in (*self.allowed_parents, *self.fixed_parents):
            found.update([name, *names])
        for name, sets in self.allowed_parent_sets:
            found.update([name], *sets)
        found.update(name for rule in self.rules for atom in rule.atoms for name in atom.names)
        found.update(name for said in self.parameters for name in (said.child, *said.parents))
        return tuple(sorted(found - set(WILD_NAMES)))

    def statements(self, names: Sequence[str]) -> list[Statement]:
        """All that is said, about these variables: each in words, with what it means."""
        for group, _ in self.groups:
            if group in names:
                raise ConstraintError(f"{group!r} names both a group and a variable; call the group otherwise.")
        return statements_of(self, names)

    def compiled(
        self, names: Sequence[str], columns: Sequence[int], isolated: Sequence[int] = ()
    ) -> CompiledConstraints:
        """For scoring these columns; the other variables have no edges, but ``isolated`` ones are among those compiled.
        Contradictions raise ConstraintError."""
        statements = self.statements(names)
        for v in sorted(set(range(len(names))) - set(columns)):
            others = [u for u in range(len(names)) if u != v]
            facts = tuple(fact for u in others for fact in (Cannot(u, v), Cannot(v, u)))
            unless = f"unless the table is made with {option('keep_constant', True)}"
            words = f"{names[v]} is constant and stays without edges ({unless})"
            statements.append(Statement(words, facts))
        return compiled(settled(names, statements), sorted({*columns, *isolated}))

    def allows(self, network: Network) -> bool:
        """Whether the network satisfies all of it."""
        return not self.violations(network)

    def violations(self, network: Network) -> list[str]:
        """What the network breaks, in words; nothing when it is allowed."""
        statements = self.statements(network.names)
        seen = Seen.of(network)
        broken = [said.words for said in statements if not all(fact.holds(seen) for fact in said.facts)]
        orders = [fact for said in statements for fact in said.facts if isinstance(fact, Before)]
        pairs = [(fact.first, fact.then) for fact in orders]
        if all(fact.holds(seen) for fact in orders) and has_cycle(with_pairs(network.masks, pairs)):
            broken.append("no order of the variables agrees with the network and with all of precedence")
        return broken

    def __and__(self, other: object) -> Constraints:
        """Both together."""
        if not isinstance(other, Constraints):
            return NotImplemented
        both = object.__new__(Constraints)
        joined = {
            item.name: tuple(dict.fromkeys((*getattr(self, item.name), *getattr(other, item.name))))
            for item in fields(Constraints)
        }
        for name in joined.keys() - {"rules", "tiers", "parameters"}:
            joined[name] = tuple(sorted(joined[name]))
        both._fill(**joined)
        return both

    def __bool__(self) -> bool:
        """Whether anything is said at all."""
        return any(getattr(self, item.name) for item in fields(self) if item.name != "groups")

    @property
    def summary(self) -> str:
        """The first lines of what is said, as one line."""
        lines = str(self).splitlines()
        shown = "; ".join(line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..." for line in lines[:3])
        return shown + (f"; and {len(lines) - 3} more" if len(lines) > 3 else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and texts, ready for JSON; ``from_dict`` reads them back. Groups stand as their members."""
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        for item in fields(self):
            value = getattr(self, item.name)
            if value and item.name != "groups":
                content[item.name] = _plain(value)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Constraints:
        """The constraints that ``to_dict`` wrote, or a file stated; keys are those of ``Constraints``."""
        given = dict(content)
        if given.pop("format", FORMAT) != FORMAT or given.pop("version", VERSION) != VERSION:
            raise ConstraintError(f"These are no constraints in format {FORMAT!r}, version {VERSION}.")
        keys = [*(item.name for item in fields(cls)), "edges_within_tiers"]
        for key in given:
            if key not in keys:
                close = get_close_matches(str(key), keys, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(keys)}."
                raise ConstraintError(f"{key!r} is no kind of constraint; {hint}")
        return cls(**given)

    def __str__(self) -> str:
        from topdag.knowledge.arguments import lines_of

        lines = [line for item in fields(self) for line in lines_of(item.name, getattr(self, item.name))]
        return "\n".join(lines) if lines else "no constraints"

    def __repr__(self) -> str:
        return f"<Constraints: {'; '.join(str(self).splitlines())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraints.from_dict, (self.to_dict(),)


def _plain(value: Any) -> Any:
    if isinstance(value, (Rule, ParameterConstraint)):
        return str(value)
    if isinstance(value, Tiers):
        return {"levels": _plain(value.levels), "edges_within": value.edges_within}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
