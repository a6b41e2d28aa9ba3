"""What follows from facts: edges that must or cannot be, which variables come before which, and contradictions.

Everything here is implied by the facts, but not all that is implied is found: that would take a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from topdag._util.bitsets import MOST_VARIABLES, bits
from topdag.knowledge.facts import Among, Before, Cannot, Fact, Least, Most, Must, NoPath, Path, Satisfies, transitive
from topdag.knowledge.normal_form import Formula, Literal, ParentCount, children_of, edges_of, folded

MOST_NAMED_PARENTS = 10
"""Up to so many parents named by rules about one variable, all subsets of them are tried."""


class Contradiction(Exception):
    """The facts cannot all hold."""


@dataclass
class Closure:
    """Facts about n variables with what follows. Masks are over all of them; ``before[x]``: those that come before x
    in every order that will do; ``must``, ``cannot``: parents of x; ``least``, ``most``: how many, and ``said_least``
    without what follows from paths. ``is_open``: there may be further variables, so that nothing follows from there
    being no others."""

    names: Sequence[str]
    is_open: bool = False
    must: list[int] = field(init=False)
    cannot: list[int] = field(init=False)
    before: list[int] = field(init=False)
    least: list[int] = field(init=False)
    said_least: list[int] = field(init=False)
    most: list[int] = field(init=False)
    among: dict[int, frozenset[int]] = field(default_factory=dict)
    paths: list[tuple[int, int]] = field(default_factory=list)
    no_paths: list[tuple[int, int]] = field(default_factory=list)
    precedence: list[tuple[int, int]] = field(default_factory=list)
    rules: list[Satisfies] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.names)
        self.must, self.before, self.least, self.said_least = ([0] * n for _ in range(4))
        self.cannot = [1 << x for x in range(n)]
        self.most = [10**9 if self.is_open else n] * n

    @classmethod
    def of(cls, names: Sequence[str], facts: Iterable[Fact], *, is_open: bool = False) -> Closure | None:
        """None when the facts contradict each other."""
        closure = cls(names, is_open)
        try:
            for fact in facts:
                closure._add(fact)
            closure._settle()
        except Contradiction:
            return None
        return closure

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def full(self) -> int:
        return (1 << self.n) - 1

    def may(self, x: int) -> int:
        return self.full & ~self.cannot[x]

    @property
    def ancestors(self) -> list[int]:
        """Those that are ancestors of x for certain."""
        certain = list(self.must)
        for begin, end in self.paths:
            certain[end] |= 1 << begin
        return transitive(certain)

    @property
    def ancestors_by_edges(self) -> list[int]:
        """The same, by edges that must be."""
        return transitive(self.must)

    def _add(self, fact: Fact) -> None:
        match fact:
            case Must(parent, child):
                self.must[child] |= 1 << parent
            case Cannot(parent, child):
                self.cannot[child] |= 1 << parent
            case Before(first, then):
                self.precedence.append((first, then))
            case Least(child, number):
                self.least[child] = max(self.least[child], number)
                self.said_least[child] = max(self.said_least[child], number)
            case Most(child, number):
                self.most[child] = min(self.most[child], number)
            case Among(child, masks):
                self.among[child] = masks & self.among.get(child, masks)
            case Path(begin, end):
                self.paths.append((begin, end))
            case NoPath(begin, end):
                self.no_paths.append((begin, end))
            case Satisfies():
                self.rules.append(fact)

    def _settle(self) -> None:
        """Draws conclusions until there are none left."""
        state: object = None
        while state != (state := (tuple(self.must), tuple(self.cannot), tuple(self.least), tuple(self.most))):
            self._order()
            self._forbid_paths()
            for x in range(self.n):
                self._count(x)
                self._pick_sets(x)
            for rule in self.rules:
                self._satisfy(rule.formula)
        for x in range(self.n):
            self._require_family(x)
        if not self.is_open:
            self._require_order()
            self._require_paths()

    # ---- Orders and paths

    def _order(self) -> None:
        direct = list(self.must)
        for first, then in (*self.precedence, *self.paths):
            direct[then] |= 1 << first
        self.before = transitive(direct)
        for x in range(self.n):
            if self.before[x] >> x & 1:
                raise Contradiction
            for earlier in bits(self.before[x]):
                self.cannot[earlier] |= 1 << x

    def _forbid_paths(self) -> None:
        for _, end in self.paths:
            self.least[end] = max(self.least[end], 1)
        ancestors = self.ancestors
        for begin, end in self.no_paths:
            from_begin = 1 << begin | sum(1 << v for v in range(self.n) if ancestors[v] >> begin & 1)
            to_end = 1 << end | ancestors[end]
            if from_begin & to_end:
                raise Contradiction
            for x in bits(to_end):
                self.cannot[x] |= from_begin

    def _require_paths(self) -> None:
        """A wanted path must be possible with edges that may be."""
        reached = transitive([self.may(x) for x in range(self.n)])
        if any(not reached[end] >> begin & 1 for begin, end in self.paths):
            raise Contradiction

    def _require_order(self) -> None:
        """Some order must do: variables are placed as soon as some family of theirs may be."""
        placed = 0
        while ready := [x for x in bits(self.full & ~placed) if self._can_follow(x, placed)]:
            placed |= sum(1 << x for x in ready)
        if placed != self.full:
            raise Contradiction

    def _can_follow(self, x: int, placed: int) -> bool:
        if (self.must[x] | self.before[x]) & ~placed or (self.may(x) & placed).bit_count() < self.least[x]:
            return False
        return x not in self.among or any(not mask & ~placed for mask in self.among[x])

    # ---- Numbers and sets of parents

    def _count(self, x: int) -> None:
        n_must = self.must[x].bit_count()
        self.least[x] = max(self.least[x], n_must)
        if self.must[x] & self.cannot[x] or self.least[x] > self.most[x]:
            raise Contradiction
        if n_must == self.most[x]:
            self.cannot[x] |= self.full & ~self.must[x]
        if self.is_open:
            return
        n_may = self.may(x).bit_count()
        if n_may < self.least[x]:
            raise Contradiction
        if n_may == self.least[x]:
            self.must[x] |= self.may(x)
        self.most[x] = min(self.most[x], n_may)

    def _pick_sets(self, x: int) -> None:
        if x not in self.among:
            return
        self.among[x] = frozenset(mask for mask in self.among[x] if self._fits(x, mask))
        if not self.among[x]:
            raise Contradiction
        some, every = 0, self.full
        for mask in self.among[x]:
            some, every = some | mask, every & mask
        self.must[x] |= every
        self.cannot[x] |= self.full & ~some

    def _fits(self, x: int, mask: int) -> bool:
        is_between = not self.must[x] & ~mask and not mask & self.cannot[x]
        return is_between and self.least[x] <= mask.bit_count() <= self.most[x]

    # ---- Rules

    def truth(self, formula: Formula) -> bool | None:
        """Whether it holds in all networks (True), in none (False), or is not settled."""
        return folded(formula, self._literal, _every, _some)

    def _literal(self, literal: Literal) -> bool | None:
        if isinstance(literal, ParentCount):
            return self._number(literal)
        truth = _some(self._edge(parent, literal.child) for parent in bits(literal.variables))
        return truth if truth is None else truth is not literal.negated

    def _number(self, literal: ParentCount) -> bool | None:
        x = literal.child
        counts = range(self.least[x], min(self.most[x], self.n + literal.number + 2) + 1)
        truths = {literal.admits(count) for count in counts}
        return truths.pop() if len(truths) == 1 else None

    def _edge(self, parent: int, child: int) -> bool | None:
        if self.must[child] >> parent & 1:
            return True
        return False if self.cannot[child] >> parent & 1 else None

    def _satisfy(self, formula: Formula) -> None:
        """An edge without which, or with which, it could not hold, must or cannot be."""
        truth = self.truth(formula)
        if truth is False:
            raise Contradiction
        if truth is True:
            return
        for parent, child in edges_of(formula):
            if self._edge(parent, child) is not None:
                continue
            if self._breaks(formula, parent, child, there=True):
                self.cannot[child] |= 1 << parent
            elif self._breaks(formula, parent, child, there=False):
                self.must[child] |= 1 << parent

    def _breaks(self, formula: Formula, parent: int, child: int, *, there: bool) -> bool:
        masks = self.must if there else self.cannot
        before, least = masks[child], self.least[child]
        masks[child] |= 1 << parent
        self.least[child] = max(least, self.must[child].bit_count())
        truth = self.truth(formula)
        masks[child], self.least[child] = before, least
        return truth is False

    def _require_family(self, x: int) -> None:
        """Some parents of x must satisfy all rules that speak of no other variable's parents."""
        own = [rule.formula for rule in self.rules if children_of(rule.formula) == {x}]
        named = sorted({parent for formula in own for parent, _ in edges_of(formula)})
        if not own or len(named) > MOST_NAMED_PARENTS:
            return
        others = self.must[x] & ~sum(1 << v for v in named)
        free = self.may(x) & ~self.must[x] & ~sum(1 << v for v in named)
        more = MOST_VARIABLES if self.is_open else free.bit_count()
        for chosen in product((0, 1), repeat=len(named)):
            mask = sum(bit << v for v, bit in zip(named, chosen, strict=True))
            if mask & self.cannot[x] or self.must[x] & ~mask & ~others:
                continue
            smallest = (mask | others).bit_count()
            for count in range(max(smallest, self.least[x]), min(smallest + more, self.most[x]) + 1):
                if all(_holds_locally(formula, mask, count) for formula in own):
                    return
        raise Contradiction


def _holds_locally(formula: Formula, parents: int, count: int) -> bool:
    """Of one that speaks of one variable's parents: these of the named ones, and so many in all."""
    return folded(formula, lambda literal: literal.holds(parents, count), all, any)


def _some(truths: Iterable[bool | None]) -> bool | None:
    seen = set(truths)
    return True if True in seen else None if None in seen else False


def _every(truths: Iterable[bool | None]) -> bool | None:
    seen = set(truths)
    return False if False in seen else None if None in seen else True
