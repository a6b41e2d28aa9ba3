"""``score`` and the Scores object: the waist that every question passes through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from topdag import _core
from topdag.constrained_scores import Constrained
from topdag.parameter_scoring import fill_constrained, score_pruned_constrained
from topdag.engines import Engine, scores_by_lists, set_bytes
from topdag.errors import Interrupted, ScoreError
from topdag.family_lists import FamilyLists
from topdag.graphs import Network, require_known
from topdag.lattices import lattice_of
from topdag.priors import Prior, in_words
from topdag.pruned_scoring import PrunedScores, Pruning, score_pruned
from topdag.pruning import TIES_GO_TOO, listed_store, store_for_k_best
from topdag.runs import OnProgress, Run, is_whole
from topdag.score_kinds import ScoreKind
from topdag.scoring import fill_store, round_store, round_together
from topdag.stores import FamilyStore, ListStore, SetStore, Store, families_of
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
    from these scores count beside the data, None when nothing.
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

    @property
    def score_equivalent(self) -> bool:
        """Whether networks with the same independences score the same; False when not known."""
        return self.kind is not None and self.kind.score_equivalent and self.prior is None

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
        if local == -math.inf:
            return local
        columns = [self.names.index(name) for name in (variable, *parents)]
        if any(v not in self.columns for v in columns):
            raise ScoreError(
                "Constant columns stay isolated; read the table with keep_constant=True to give them edges."
            )
        x, *places = (self.columns.index(v) for v in columns)
        mask = sum(1 << place for place in places)
        if isinstance(self.store, ListStore) and self.automatic:
            return self._bound_by_search(x, mask, local)
        lattice = lattice_of(self.store, Run())
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
        if not isinstance(self.store, SetStore):
            return math.inf
        n = len(self.columns)
        largest = n if self.max_parents is None else min(n, self.max_parents + 1)
        allowed = sum(math.comb(n, size) for size in range(largest + 1))
        return math.inf if self.store.n_allowed_sets == allowed else HOPELESS_NATS

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
        if self.kind is not None and self.kind.unconstrained is not self.kind:
            limit += " that satisfy the parameter constraints"
        return (
            f"all networks on {n} variable{'s' * (n != 1)} with {limit}{constant}{cut}{prior}; "
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
    more scores again by itself.
    """
    run = Run(memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    try:
        scores = score_within(as_table(table), kind, run, max_parents=max_parents, keep=keep)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted while scoring, after {run.seconds:.1f} s; nothing is known yet") from None
    assert scores is not None  # without a time limit nothing stops it short of an exception
    return scores


def score_within(
    table: Table, kind: ScoreKind, run: Run, *, max_parents: int | None = None, keep: Keep | None = None
) -> Scores | None:
    """``score`` inside a longer run; None when its time is up."""
    check_kind(kind)
    check_max_parents(max_parents)
    if keep is not None:
        keep_epsilon(keep)  # checks it
    begin = run.seconds
    columns = scored_columns(table)
    choice = scores_by_lists(len(columns), table.n_rows, kind, max_parents, everything=keep == "all")
    if choice.engine is Engine.SEARCH:
        pruned = _score_lists(table, columns, kind, max_parents, pruning_for(keep or "best"), run)
        return (
            None
            if pruned is None
            else Scores(
                table.names,
                kind,
                table,
                max_parents,
                keep or "best",
                columns,
                pruned.store,
                pruned.grid,
                run.seconds - begin,
                table.notes,
                automatic=keep is None,
                report=pruned,
            )
        )
    keep = keep or "all"
    limit = len(columns) if max_parents is None else min(max_parents, len(columns))
    store: Store | None = SetStore(0, np.zeros(1), ())
    grid = 40
    if columns:
        store = filled = _fill(table, columns, kind, limit, run)
        if filled is None:
            return None
        grid = round_store(filled, run)
        if keep != "all":
            store = _pruned(filled, tuple(table.names[v] for v in columns), kind, keep, grid, run)
    if store is None:
        return None
    return Scores(table.names, kind, table, max_parents, keep, columns, store, grid, run.seconds - begin, table.notes)


def _score_lists(
    table: Table, columns: tuple[int, ...], kind: ScoreKind, max_parents: int | None, keep: Pruning, run: Run
) -> PrunedScores | None:
    if isinstance(kind, Constrained):
        return score_pruned_constrained(table, columns, kind, max_parents, keep, run)
    return score_pruned(table, columns, kind, max_parents, keep, run)


def _fill(
    table: Table, columns: tuple[int, ...], kind: ScoreKind, limit: int, run: Run
) -> SetStore | FamilyStore | None:
    if isinstance(kind, Constrained):
        return fill_constrained(table, columns, kind, limit, run)
    return fill_store(table, columns, kind, limit, run)


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
