"""``score`` and the Scores object: the waist that every question passes through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from topdag import _core
from topdag.compiled_constraints import CompiledConstraints, Rest
from topdag.constrained_scoring import allowed_only, score_allowed
from topdag.constraints import Constraints
from topdag.engines import Engine, scores_by_lists, set_bytes
from topdag.errors import ConstraintError, Interrupted, ScoreError
from topdag.family_lists import FamilyLists
from topdag.graphs import Network, require_known
from topdag.lattices import lattice_of
from topdag.priors import Prior, in_words
from topdag.pruned_scoring import PrunedScores, Pruning, score_pruned
from topdag.pruning import TIES_GO_TOO, listed_store, store_for_k_best
from topdag.runs import OnProgress, Run, is_whole
from topdag.score_kinds import AIC, BIC, ScoreKind
from topdag.scoring import fill_store, round_store, round_together
from topdag.stores import ListStore, SetStore, Store, families_of
from topdag.table import Table

MOST_IN_A_LIST = 10**9
HOPELESS_NATS = 1000.0
"""Families further below the family without parents than this are left out where BIC or AIC would spoil the grid."""


@dataclass(frozen=True)
class Within:
    """For ``keep=``: all that networks within this Bayes factor of the best can need."""

    factor: float

    def __post_init__(self) -> None:
        is_number = isinstance(self.factor, Real) and not isinstance(self.factor, bool)
        if not is_number or not 1 <= self.factor < math.inf:
            raise ScoreError(f"A Bayes factor is a number from 1 on, not {self.factor!r}.")


@dataclass(frozen=True)
class KBest:
    """For ``keep=``: all that the k best networks can need; for score-equivalent scores, the k best classes too."""

    k: int

    def __post_init__(self) -> None:
        if not is_whole(self.k, 1, MOST_IN_A_LIST - 1):
            raise ScoreError(f"KBest takes a whole number from 1 on, below {MOST_IN_A_LIST:,}, not {self.k!r}.")


Keep = str | Within | KBest


@dataclass(frozen=True, eq=False)
class Scores:
    """The local score of every family worth considering.

    ``names``: all variables, in column order; ``kind``: the score, None when read from a file that does not say;
    ``table``: the data, None likewise; ``max_parents``: the limit asked for, None without one; ``keep``: what was
    pruned for; ``automatic``: it was chosen for the table, so a question that needs more may score again; ``columns``:
    the variables that were scored, the others being constant; ``grid``: values in ``store`` are multiples of 2**-grid;
    ``report``: what pruned scoring counted and left out, None where every set was counted; ``prior``: what answers
    from these scores count beside the data, None when nothing; ``constraints``: what the user knows, None when nothing.
    Families that it forbids have no score in ``store``; ``compiled`` has what speaks of several variables besides;
    ``left_out``: so have some for their hopeless penalty.
    """

    names: tuple[str, ...]
    kind: ScoreKind | None
    table: Table | None
    max_parents: int | None
    keep: Keep
    columns: tuple[int, ...]
    store: Store
    grid: int
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    automatic: bool = False
    report: PrunedScores | None = None
    prior: Prior | None = None
    constraints: Constraints | None = None
    compiled: CompiledConstraints | None = None
    left_out: bool = False

    @property
    def rest(self) -> Rest | None:
        """What families do not tell by themselves; None where every network of scored families obeys."""
        return self.compiled.rest if self.compiled is not None and not self.compiled.is_local else None

    @property
    def beyond_order(self) -> Rest | None:
        """What neither families nor an order of the variables tell; tables over sets see to both."""
        return None if self.rest is None else self.rest.without_order or None

    @property
    def before(self) -> tuple[int, ...]:
        """By scored variable those before it in some order of every network that obeys, as masks; () when nothing is
        known of that."""
        return () if self.compiled is None else self.compiled.places

    @property
    def order(self) -> tuple[int, ...]:
        """By scored variable those that come before it by what is known, as masks: in all orders that count where
        orders weigh; () when nothing is known."""
        return () if self.compiled is None else self.compiled.before

    @property
    def orders_are_limited(self) -> bool:
        """Whether ``order`` tells more than the edges of every network do."""
        return self.compiled is not None and self.compiled.orders_are_limited

    @property
    def is_relaxed(self) -> bool:
        """Whether constraints on several variables at once were left away."""
        return self.compiled is not None and self.compiled.is_relaxed

    @property
    def relaxed(self) -> Scores:
        """The same without what speaks of several variables at once."""
        return self if self.compiled is None else replace(self, compiled=self.compiled.relaxed)

    @property
    def score_equivalent(self) -> bool:
        """Whether networks with the same independences score the same; False when not known."""
        return self.kind is not None and self.kind.score_equivalent and self.prior is None

    @property
    def scored_names(self) -> tuple[str, ...]:
        """The variables that masks speak of: all but the constant ones."""
        return tuple(self.names[v] for v in self.columns)

    @property
    def n_families(self) -> int:
        """How many families are allowed."""
        return self.store.n_families

    def local(self, variable: str, parents: Sequence[str] = ()) -> float:
        """The local score of one family, from the data in full precision; from a file, as it stands there."""
        family = (variable, *_as_names(parents))
        require_known(family, self.names)
        if len(set(family)) < len(family):
            raise ScoreError(f"A family names each variable once, not {', '.join(family)}.")
        x, *columns = (self.names.index(name) for name in family)
        if self.kind is not None and self.table is not None:
            return self.kind.local(self.table, x, sorted(columns))
        value = self._stored(x, columns)
        if value == -math.inf:
            raise ScoreError(f"The scores have no family {variable!r} with parents ({', '.join(family[1:])}).")
        return value

    @property
    def n_sets(self) -> int:
        """How many sets of variables were counted."""
        return 2 ** len(self.columns) if self.report is None else self.report.sets

    @property
    def slack(self) -> float:
        """How far rounding can move a difference of two local scores of one variable: two grid steps."""
        return math.ldexp(2.0, -self.grid)

    @property
    def rounding(self) -> float:
        """How far the score of a network may lie above its value on the grid: a step for each variable."""
        return math.ldexp(len(self.columns), -self.grid)

    def breakdown(self, network: Network) -> MappingProxyType[str, float]:
        """The local score of each variable in a network."""
        if set(network.names) != set(self.names):
            raise ScoreError("The network must have the variables of the scores: " + ", ".join(self.names) + ".")
        return MappingProxyType({name: self.local(name, network.parents[name]) for name in self.names})

    def of(self, network: Network) -> float:
        """The score of a network: the sum of its local scores."""
        return math.fsum(self.breakdown(network).values())

    def all_masks(self, masks: Sequence[int]) -> list[int]:
        """Parent masks over all variables from masks over the scored ones; the others have no parents."""
        everywhere = [0] * len(self.names)
        for x, mask in zip(self.columns, masks, strict=True):
            everywhere[x] = sum(1 << v for i, v in enumerate(self.columns) if mask >> i & 1)
        return everywhere

    def network(self, masks: Sequence[int]) -> Network:
        """The network with these parents among the scored columns, with its local scores."""
        everywhere = self.all_masks(masks)
        bare = Network.from_masks(self.names, everywhere)
        return Network.from_masks(self.names, everywhere, local_scores=dict(self.breakdown(bare)))

    def masks_of(self, network: Network) -> list[int]:
        """The parents of each scored variable in a network, as masks over the scored ones."""
        if set(network.names) != set(self.names):
            raise ScoreError("The network must have the variables of the scores: " + ", ".join(self.names) + ".")
        place = {self.names[v]: i for i, v in enumerate(self.columns)}
        return [sum(1 << place[p] for p in network.parents[self.names[v]] if p in place) for v in self.columns]

    def family_bound(self, variable: str, parents: Sequence[str] = ()) -> float:
        """The score of the best network in which the variable has exactly these parents; minus infinity if none."""
        if not self.automatic:
            self.require_kept("family_bound")
        local = self.local(variable, parents)  # checks the names
        columns = [self.names.index(name) for name in (variable, *parents)]
        if any(v not in self.columns for v in columns):
            raise ScoreError(
                "Constant columns stay isolated; read the table with keep_constant=True to give them edges."
            )
        x, *places = (self.columns.index(v) for v in columns)
        mask = sum(1 << place for place in places)
        by_search = isinstance(self.store, ListStore) and self.automatic
        self.require_local("family_bound", order=not by_search)
        if self.compiled is not None and not self.compiled.families[x].admits(mask):
            return -math.inf
        if by_search:
            return self._bound_by_search(x, mask, local)
        lattice = lattice_of(self.store, Run(), self.before)
        assert lattice is not None  # no time limit
        return lattice.family_bound(x, mask)

    def _bound_by_search(self, x: int, mask: int, local: float) -> float:
        """The best network with just this family for x. What the others' lists lack, a smaller family beats."""
        from topdag.searching import best_score_of

        assert isinstance(self.store, ListStore)
        rounded = math.ldexp(round(math.ldexp(local, self.grid)), -self.grid)
        return best_score_of(self.store.with_only(x, mask, rounded))

    def is_kept(self, *, most: int = MOST_IN_A_LIST, factor: float = math.inf) -> bool:
        """Whether all families are there that the best so many, or those within this factor, can need."""
        if isinstance(self.keep, Within):
            return factor <= self.keep.factor
        return most <= self.keep.k if isinstance(self.keep, KBest) else self.keep == "all"

    def require_kept(self, asked_by: str, *, most: int = MOST_IN_A_LIST, factor: float = math.inf) -> None:
        """Scores pruned for one question must not answer another that needs more."""
        if self.is_kept(most=most, factor=factor):
            return
        keep = self.keep
        kept = "the best network only"
        if isinstance(keep, Within):
            kept = f"networks within a factor of {keep.factor:g}"
        if isinstance(keep, KBest):
            kept = f"the {keep.k:,} best"
        raise ScoreError(
            f"{asked_by} needs more families than these scores hold: they were pruned for {kept}. "
            'Score again with keep="all"; for a score file that was never pruned, read_scores(path, keep="all").'
        )

    def require_local(self, asked_by: str, *, order: bool = False) -> None:
        """What speaks of several variables at once is not everywhere understood; ``order``: precedence is."""
        refused = self.beyond_order if order else self.rest
        if refused is not None:
            raise ConstraintError(
                f"{asked_by} does not understand such constraints on several variables at once: "
                f"{'; '.join(refused.lines(self.scored_names))}. best_network, k_best_networks and networks_within do, "
                "and so do averages over their lists."
            )

    def require_no_prior(self) -> None:
        """The source of a list may hold a prior in its local scores or beside them; what it would answer is neither."""
        if self.prior is not None:
            raise ScoreError(
                f"These scores are the source of a list under {in_words(self.prior)}. "
                "Ask the scores that the list was made from, with prior=."
            )

    def families(self, variable: str) -> Iterator[tuple[tuple[str, ...], float]]:
        """The allowed parent sets of a variable with their scores on the grid."""
        require_known([variable], self.names)
        column = self.names.index(variable)
        if column not in self.columns:
            yield (), 0.0
            return
        masks, values = families_of(self.store, self.columns.index(column))
        for mask, value in zip(masks.tolist(), values.tolist(), strict=True):
            yield tuple(self.names[v] for i, v in enumerate(self.columns) if mask >> i & 1), value

    @cached_property
    def cutoff(self) -> float:
        """Networks scoring less than the best by more than this may be left out; infinite when all are there."""
        if self.left_out:
            return HOPELESS_NATS
        n = len(self.columns)
        return _cutoff(self.store, n if self.max_parents is None else min(n, self.max_parents))

    def describe_space(self) -> str:
        """The networks that compete, and how finely they are told apart."""
        n = len(self.columns)
        limit = "any number of parents" if self.max_parents is None else f"at most {self.max_parents} parents each"
        if isinstance(self.store, ListStore) and self.table is None:
            limit = f"parents from {self.store.lists.n_families:,} listed families"
        isolated = len(self.names) - n
        constant = f", {isolated} constant column{'s' * (isolated != 1)} left isolated" if isolated else ""
        most = n * (math.ldexp(1.0, -self.grid) + self.slack)
        cut = "" if self.cutoff == math.inf else f", but for some that score {self.cutoff:g} nats less than the best"
        prior = "" if self.prior is None else f", by data and {in_words(self.prior)}"
        known = "" if self.constraints is None else f", that obey: {self.constraints.summary}"
        return (
            f"all networks on {n} variable{'s' * (n != 1)} with {limit}{constant}{known}{cut}{prior}; "
            f"local scores rounded to 2^{-self.grid}, at most {most:.1e} in a network's score"
        )

    def __repr__(self) -> str:
        kind = "scores from a file" if self.kind is None else f"{self.kind} scores"
        return f"<{kind} of {len(self.names)} variables, {self.n_families:,} families, kept for {self.keep!r}>"

    def _stored(self, x: int, parents: list[int]) -> float:
        if x not in self.columns or any(v not in self.columns for v in parents):
            return 0.0 if not parents and x not in self.columns else -math.inf
        mask = sum(1 << self.columns.index(v) for v in parents)
        at = self.columns.index(x)
        return self.store.exact_value(at, mask) if isinstance(self.store, ListStore) else self.store.value(at, mask)


def score(
    table: Any,
    kind: ScoreKind,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    keep: Keep | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Scores:
    """Scores every family of a table (or frame, array, path) that a question can need.

    ``keep="all"`` serves every question; ``"best"`` drops what one best network cannot need, ``Within(factor)``
    what no network within that Bayes factor of the best can need, ``KBest(k)`` what none of the k best networks (or
    classes, where the score is equivalent) can need, ties with the last of them included. Without ``keep``, all
    families are kept where tables over all sets pay; else those for the best network, and a question that needs
    more scores again by itself. ``constraints``: only networks that obey them count in any question about the scores;
    contradictions raise ConstraintError (docs/constraints.md).
    """
    run = Run(memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    try:
        scores = score_within(as_table(table), kind, run, max_parents=max_parents, keep=keep, constraints=constraints)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted while scoring, after {run.seconds:.1f} s; nothing is known yet") from None
    assert scores is not None  # without a time limit nothing stops it short of an exception
    return scores


def score_within(
    table: Table,
    kind: ScoreKind,
    run: Run,
    *,
    max_parents: int | None = None,
    keep: Keep | None = None,
    constraints: Constraints | None = None,
    relaxed: bool = False,
    listed: bool = False,
) -> Scores | None:
    """``score`` inside a longer run; None when its time is up. ``relaxed``: only what each family tells counts;
    ``listed``: lists are wanted, so where penalties rule out much not all sets are counted."""
    check_kind(kind)
    check_max_parents(max_parents)
    if keep is not None:
        keep_epsilon(keep)  # checks it
    begin = run.seconds
    columns = scored_columns(table)
    known = compiled_for(table, columns, constraints)
    if relaxed and known is not None:
        known = known.relaxed
    require_keepable(keep, known)
    limit = max_parents if known is None else known.limit_on_parents(max_parents)
    choice = scores_by_lists(len(columns), table.n_rows, kind, limit, everything=keep == "all")
    by_lists = choice.engine is Engine.SEARCH or (listed and isinstance(kind, (BIC, AIC)))
    score_them = _score_lists if by_lists else _score_all_sets
    purpose = keep or ("best" if by_lists else "all")
    found = score_them(table, columns, kind, max_parents, purpose, known, run)
    if found is None:
        return None
    return Scores(
        table.names,
        kind,
        table,
        max_parents,
        purpose,
        columns,
        found.store,
        found.grid,
        run.seconds - begin,
        table.notes,
        automatic=by_lists and keep is None,
        report=found.report,
        constraints=constraints if known is not None else None,
        compiled=known,
        left_out=found.left_out,
    )


def compiled_for(table: Table, columns: tuple[int, ...], constraints: Constraints | None) -> CompiledConstraints | None:
    """None when nothing is known."""
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ScoreError(f"constraints must be Constraints, not {type(constraints).__name__}.")
    return constraints.compiled(table.names, columns) if constraints else None


def require_keepable(keep: Keep | None, known: CompiledConstraints | None) -> None:
    """Families may be dropped for the sake of smaller ones only where those may stand for them."""
    if keep in (None, "all") or known is None or known.is_local:
        return
    if isinstance(keep, KBest) or not known.rest.is_closed_under_removal:
        raise ScoreError(
            f"keep={keep!r} drops families that these constraints on several variables at once may need "
            f'({"; ".join(known.rest.lines(known.names))}). Leave keep out, or use keep="all".'
        )


@dataclass(frozen=True)
class _Scored:
    store: Store
    grid: int
    report: PrunedScores | None = None
    left_out: bool = False


def _score_lists(
    table: Table,
    columns: tuple[int, ...],
    kind: ScoreKind,
    max_parents: int | None,
    keep: Keep,
    known: CompiledConstraints | None,
    run: Run,
) -> _Scored | None:
    if known is None:
        pruned = score_pruned(table, columns, kind, max_parents, pruning_for(keep), run)
    else:
        limit = known.limit_on_parents(max_parents)
        pruned = score_allowed(table, columns, kind, limit, pruning_for(keep), known.families, run)
    return None if pruned is None else _Scored(pruned.store, pruned.grid, pruned)


def _score_all_sets(
    table: Table,
    columns: tuple[int, ...],
    kind: ScoreKind,
    max_parents: int | None,
    keep: Keep,
    known: CompiledConstraints | None,
    run: Run,
) -> _Scored | None:
    if not columns:
        return _Scored(SetStore(0, np.zeros(1), ()), 40)
    limit = len(columns) if max_parents is None else min(max_parents, len(columns))
    if known is not None:
        limit = known.limit_on_parents(limit) or 0
    filled = fill_store(table, columns, kind, limit, run)
    if filled is None:
        return None
    grid = round_store(filled, run)
    left_out = known is not None and _cutoff(filled, limit) < math.inf
    allowed: Store = filled
    if known is not None:
        allowed, grid = allowed_only(filled, known.families, table, columns, kind, grid, run)
    store: Store | None = allowed
    if keep != "all":
        store = _pruned(allowed, tuple(table.names[v] for v in columns), kind, keep, grid, run)
    return None if store is None else _Scored(store, grid, left_out=left_out)


def _cutoff(store: Store, max_parents: int) -> float:
    if not isinstance(store, SetStore):
        return math.inf
    allowed = sum(math.comb(store.n, size) for size in range(min(store.n, max_parents + 1) + 1))
    return math.inf if store.n_allowed_sets == allowed else HOPELESS_NATS


def scored_again(
    scores: Scores, run: Run, keep: Keep, *, relaxed: bool | None = None, listed: bool = False
) -> Scores | None:
    """The same table scored with more families kept; None when the time is up."""
    assert scores.table is not None and scores.kind is not None
    return score_within(
        scores.table,
        scores.kind,
        run,
        max_parents=scores.max_parents,
        keep=keep,
        constraints=scores.constraints,
        relaxed=scores.is_relaxed if relaxed is None else relaxed,
        listed=listed,
    )


def scores_from_lists(lists: FamilyLists, **known: Any) -> Scores:
    """Scores with just these families allowed, as read from a score file."""
    n = len(lists.names)
    rounded = np.array(lists.scores)
    grid = round_together([rounded], n, 1)
    columns = tuple(range(n))
    options = {"kind": None, "table": None, "max_parents": None, "keep": "best", **known}
    return Scores(names=lists.names, columns=columns, store=ListStore(n, lists, rounded), grid=grid, **options)


def as_table(source: Any) -> Table:
    """A Table from anything that can become one: a table, frame, array or path."""
    import os

    if isinstance(source, Table):
        return source
    if isinstance(source, (str, os.PathLike)):
        from topdag.reading import read_table

        return read_table(source)
    return Table(source)


def scored_columns(table: Table) -> tuple[int, ...]:
    """Constant columns can neither gain nor give anything, so they are left isolated unless asked for."""
    return tuple(v for v in range(table.n_variables) if table.keep_constant or table.arities[v] > 1)


def pruning_for(keep: Keep) -> Pruning:
    """The rule of pruned scoring that leaves what is asked for."""
    if isinstance(keep, KBest):
        return Pruning(epsilon=math.inf, k=keep.k)
    return Pruning(epsilon=keep_epsilon(keep), k=None)


def check_kind(kind: object) -> None:
    if not isinstance(kind, ScoreKind):
        hint = " (write BIC() with brackets)" if isinstance(kind, type) and issubclass(kind, ScoreKind) else ""
        raise ScoreError(f"kind must be a score such as BDeu() or BIC(), not {kind!r}{hint}.")


def check_max_parents(max_parents: int | None) -> None:
    if max_parents is not None and not is_whole(max_parents, 0, MOST_IN_A_LIST):
        raise ScoreError(f"max_parents must be a whole number from 0 on, or None, not {max_parents!r}.")


def keep_epsilon(keep: Keep) -> float:
    """How much worse than a subset of its parents a family may be and stay; infinite: any stays; -1: ties go too."""
    if keep == "all" or isinstance(keep, KBest):
        return math.inf
    if keep == "best":
        return TIES_GO_TOO
    if isinstance(keep, Within):
        return math.log(keep.factor)
    raise ScoreError(f'keep must be "all", "best" or Within(factor) or KBest(k), not {keep!r}.')


def _pruned(store: Store, names: tuple[str, ...], kind: ScoreKind, keep: Keep, grid: int, run: Run) -> Store | None:
    """What the question needs; None when the time is up."""
    if isinstance(keep, KBest):
        slack = math.ldexp(2.0, -grid)  # families that tie but for rounding stay too; best_network looks for them
        equivalent = kind.score_equivalent
        return store_for_k_best(store, names, keep.k, run, of_classes=equivalent, slack=slack, furthest=HOPELESS_NATS)
    held = sum(array.nbytes for array in store.arrays)
    needed = held + set_bytes(store.n)  # two tables over the parent sets of one variable
    run.require_memory(needed, f"Pruning the families of {store.n} variables", 'Use keep="all".', held=held)
    core, epsilon = store.core(), keep_epsilon(keep)
    return listed_store(names, [_core.families_worth_keeping(core, x, epsilon) for x in range(store.n)])


def _as_names(parents: Sequence[str]) -> tuple[str, ...]:
    if isinstance(parents, str):
        raise ScoreError(f"parents must be a list of names, such as [{parents!r}], not a text.")
    return tuple(parents)
