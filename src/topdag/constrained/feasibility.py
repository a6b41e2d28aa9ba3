"""Whether any network at all is allowed by what is known, whatever it scores.

Edges are required and forbidden one by one, with all that follows. The network of the edges that must be has no cycle,
agrees with every order and has no path that must not be, or the facts would contradict each other; what it lacks, some
further edge must bring: that splits the question, until a network is allowed or everything is a contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topdag._util.bitsets import bits
from topdag._util.run import Run
from topdag.constrained.found import ParentMasks
from topdag.constrained.literals import broken_clauses
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.facts import Cannot, Fact, Most, Must, Satisfies, transitive
from topdag.knowledge.narrow import narrowed
from topdag.knowledge.normal_form import Literal, ParentCount, children_of, edges_of
from topdag.scoring.scores import Scores

MOST_PARTS = 2_000
"""So many are looked at before the question is left open."""

Facts = tuple[Fact, ...]
PlacedEdge = tuple[int, int]


@dataclass(frozen=True)
class Feasibility:
    """``network`` is allowed; None and ``is_settled``: none is; None otherwise: not known."""

    network: ParentMasks | None
    is_settled: bool
    parts: int


def some_network(known: CompiledConstraints, run: Run, most_parts: int = MOST_PARTS) -> Feasibility:
    """An allowed network, or that there is none; not settled when there are too many parts or the time is up."""
    waiting: list[tuple[CompiledConstraints, Facts]] = [(known, ())]
    parts = 0
    while waiting:
        if parts == most_parts or run.is_over:
            return Feasibility(None, is_settled=False, parts=parts)
        parts += 1
        here = narrowed(*waiting.pop())
        if here is None:
            continue
        masks = tuple(own.must for own in here.families)
        ways = _ways_on(here, masks)
        if not ways:
            return Feasibility(masks, is_settled=True, parts=parts)
        waiting += [(here, facts) for facts in reversed(ways)]
    return Feasibility(None, is_settled=True, parts=parts)


def nothing_is_allowed(scores: Scores, run: Run) -> bool:
    """Whether it is settled that no network of these scores is allowed."""
    known = scores.compiled
    if known is not None and scores.max_parents is not None:
        known = narrowed(known, [Most(x, scores.max_parents) for x in range(len(known.names))])
        if known is None:
            return True
    if known is None:
        return False
    found = some_network(known, run)
    return found.is_settled and found.network is None


def _ways_on(known: CompiledConstraints, masks: ParentMasks) -> list[Facts]:
    """What may follow when these are the edges that must be: disjoint, the most promising first; nothing when the
    network of just these edges is allowed."""
    alike = _interchangeable(known)
    for x, own in enumerate(known.families):
        if not own.admits(masks[x]):
            return _by_edges([(parent, x) for parent in bits(own.may & ~own.must)], alike)
    missing = _missing_path(known, masks)
    if missing is not None:
        leaving, entering = (_by_edges(edges, alike) for edges in _edges_of_path(known, masks, *missing))
        # Parents are limited where children are not, so that what enters soon comes to an end.
        return entering if len(entering) <= 2 * len(leaving) else leaving
    broken = broken_clauses(known.rest, masks)
    return [facts for literal in min(broken, key=len) for facts in _ways_to(literal)] if broken else []


def _missing_path(known: CompiledConstraints, masks: ParentMasks) -> tuple[int, int] | None:
    ancestors = transitive(masks)
    return next(((a, b) for a, b in known.rest.paths if not ancestors[b] >> a & 1), None)


def _edges_of_path(
    known: CompiledConstraints, masks: ParentMasks, begin: int, end: int
) -> tuple[list[PlacedEdge], list[PlacedEdge]]:
    """A path has one of the edges that leave what ``begin`` leads to, and one of those that enter what leads to
    ``end``; straight to its end, best of all."""
    ancestors, everyone = transitive(masks), (1 << len(masks)) - 1
    below = 1 << begin | sum(1 << v for v in range(len(masks)) if ancestors[v] >> begin & 1)
    above = 1 << end | ancestors[end]
    may = [own.may for own in known.families]
    leaving = [(u, v) for v in bits(everyone & ~below) for u in bits(below & may[v])]
    entering = [(u, v) for v in bits(above) for u in bits(may[v] & ~above)]
    leaving.sort(key=lambda edge: edge[1] != end)
    entering.sort(key=lambda edge: edge[0] != begin)
    return leaving, entering


def _ways_to(literal: Literal) -> list[Facts]:
    """Each makes the literal true."""
    if isinstance(literal, ParentCount):
        return [(Satisfies(literal),)]
    if literal.negated:
        return [tuple(Cannot(parent, literal.child) for parent in bits(literal.variables))]
    return [(Must(parent, literal.child),) for parent in bits(literal.variables)]


def _by_edges(edges: Sequence[PlacedEdge], alike: Sequence[int]) -> list[Facts]:
    """One of these edges must be. Each way has none of those before it; of variables that are ``alike``, what holds of
    one holds of all, so only the first is tried."""
    found: list[Facts] = []
    without: list[Fact] = []
    seen: set[PlacedEdge] = set()
    for parent, child in edges:
        same = (alike[parent], alike[child])
        if same not in seen:
            seen.add(same)
            found.append((*without, Must(parent, child)))
            without += [Cannot(u, v) for u, v in edges if (alike[u], alike[v]) == same]
    return found


def _interchangeable(known: CompiledConstraints) -> list[int]:
    """By variable, a number that is the same for variables which may trade places in any network: nothing speaks of
    them, and the same parents and children may be theirs."""
    n, families, rest = len(known.names), known.families, known.rest
    named = {v for pair in (*rest.precedence, *rest.paths, *rest.no_paths) for v in pair}
    for rule in (*rest.rules, *(rule for own in families for rule in own.rules)):
        named |= children_of(rule.formula) | {parent for parent, _ in edges_of(rule.formula)}
    named |= {v for own in families for v in bits(own.must)}
    named |= {v for own in families if own.among is not None for mask in own.among for v in bits(mask)}
    plain = [v for v in range(n) if v not in named and not families[v].must and families[v].among is None]
    among = sum(1 << v for v in plain)
    plain = [v for v in plain if not (among & ~(1 << v)) & ~families[v].may]
    others = [v for v in range(n) if v not in set(plain)]
    kinds: dict[object, int] = {}
    alike = list(range(n))
    for v in plain:
        own = families[v]
        parents = tuple(own.may >> u & 1 for u in others)
        children = tuple(families[u].may >> v & 1 for u in others)
        alike[v] = kinds.setdefault((parents, children, own.least, own.most), v)
    return alike
