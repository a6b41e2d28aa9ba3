"""The Scores object: the waist that every question passes through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from topdag import _core
from topdag._util.bitsets import bits, masks_in
from topdag._util.options import option, question
from topdag._util.run import Run
from topdag.data.table import Table
from topdag.errors import ConstraintError, NotAllowed, ScoreError
from topdag.knowledge.priors import Prior, in_words
from topdag.networks.checks import require_known
from topdag.networks.network import Network
from topdag.scoring.keep import MOST_IN_A_LIST, Behind, KBest, Keep, Within, how_to_keep_all, keep_epsilon, kept_as
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.rounding import HOPELESS_NATS, require_fine
from topdag.search.lattice import lattice_of
from topdag.search.stores import Store

if TYPE_CHECKING:
    from topdag.knowledge.compiled import CompiledConstraints, Rest
    from topdag.knowledge.constraints import Constraints
    from topdag.scoring.pruned import PrunedScores


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
    ``left_out``: so have some for their hopeless penalty; ``said_equivalent``: who read the file said that networks of
    a class score the same, which they do but for so much, None: nobody did.
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
    said_equivalent: float | None = None

    def __post_init__(self) -> None:
        require_fine(len(self.columns), self.grid)

    @property
    def rest(self) -> Rest | None:
        """What families do not tell by themselves; None where every network of scored families satisfies it."""
        return self.compiled.rest if self.compiled is not None and not self.compiled.is_local else None

    @property
    def before(self) -> tuple[int, ...]:
        """By scored variable those before it in some order of every allowed network, as masks; () when nothing is
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

    @cached_property
    def known_of_orders(self) -> CompiledConstraints | None:
        """What is known over all columns whose places in an order it tells: constant ones too, which have no edges."""
        if self.compiled is None or self.constraints is None or not self.compiled.isolated:
            return self.compiled
        return self.constraints.compiled(self.names, self.columns, self.compiled.isolated)

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
        is_known = self.said_equivalent is not None if self.kind is None else self.kind.score_equivalent
        return is_known and self.prior is None

    @cached_property
    def told_apart(self) -> tuple[tuple[str, ...], ...]:
        """Of every network of these scores: ``Network.told_apart``."""
        return () if self.table is None or self.kind is None else self.kind.tells_apart(self.table)

    @property
    def has_experiments(self) -> bool:
        """Whether variables were set in some rows, which tells networks of a class apart."""
        return self.table is not None and bool(self.table.targets)

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
    def lists_all(self) -> bool:
        """Whether all families that are allowed stand in lists; those made for the best network lack some."""
        return self.store.is_listed and not self.automatic

    @property
    def slack(self) -> float:
        """How far rounding can move a difference of two local scores of one variable: two grid steps."""
        return math.ldexp(2.0, -self.grid)

    @property
    def behind(self) -> float:
        """What is proved best is behind the true best by no more, in nats."""
        return math.ldexp(_core.STEPS_BEHIND * len(self.columns), -self.grid)

    @property
    def tolerance(self) -> float:
        """Sums of scores that were made in different ways differ by less, in nats: more on a coarse grid."""
        return max(1e-6, self.behind)

    @property
    def rounding(self) -> float:
        """How far the score of a network may lie above its value on the grid: a step for each variable."""
        return math.ldexp(len(self.columns), -self.grid)

    def breakdown(self, network: Network) -> MappingProxyType[str, float]:
        """The local score of each variable in a network."""
        self._require_same_variables(network)
        return MappingProxyType({name: self.local(name, network.parents[name]) for name in self.names})

    def of(self, network: Network) -> float:
        """The score of a network: the sum of its local scores."""
        return math.fsum(self.breakdown(network).values())

    def all_masks(self, masks: Sequence[int]) -> list[int]:
        """Parent masks over all variables from masks over the scored ones; the others have no parents."""
        if self.columns == tuple(range(len(self.names))):
            return list(masks)
        everywhere = [0] * len(self.names)
        for x, mask in zip(self.columns, masks, strict=True):
            everywhere[x] = sum(1 << self.columns[i] for i in bits(mask))
        return everywhere

    def network(self, masks: Sequence[int]) -> Network:
        """The network with these parents among the scored columns, with its local scores."""
        everywhere = self.all_masks(masks)
        bare = Network.from_masks(self.names, everywhere)
        return Network.from_masks(self.names, everywhere, dict(self.breakdown(bare)), self.told_apart)

    def _require_same_variables(self, network: object) -> None:
        if not isinstance(network, Network):
            raise ScoreError(f"Scores are those of a Network, not of {type(network).__name__}; see Network.from_edges.")
        if set(network.names) != set(self.names):
            raise ScoreError("The network must have the variables of the scores: " + ", ".join(self.names) + ".")

    def masks_of(self, network: Network) -> list[int]:
        """The parents of each scored variable in a network, as masks over the scored ones."""
        self._require_same_variables(network)
        place = {self.names[v]: i for i, v in enumerate(self.columns)}
        return [sum(1 << place[p] for p in network.parents[self.names[v]] if p in place) for v in self.columns]

    def family_bound(self, variable: str, parents: Sequence[str] = ()) -> float:
        """The score of the best network in which the variable has exactly these parents; minus infinity if none."""
        if not self.automatic:
            self.require_kept("family_bound")
        try:
            local = self.local(variable, parents)  # checks the names
        except NotAllowed:
            return -math.inf
        columns = [self.names.index(name) for name in (variable, *parents)]
        if any(v not in self.columns for v in columns):
            keep = option("keep_constant", True)
            raise ScoreError(f"Constant columns stay isolated; read the table with {keep} to give them edges.")
        x, *places = (self.columns.index(v) for v in columns)
        mask = sum(1 << place for place in places)
        by_search = self.store.is_listed and self.automatic
        self.require_local("family_bound", order=not by_search)
        if self.max_parents is not None and len(places) > self.max_parents:
            return -math.inf
        if self.compiled is not None and not self.compiled.families[x].admits(mask):
            return -math.inf
        if by_search:
            return self._bound_by_search(x, mask, local)
        lattice = lattice_of(self.store, Run(), self.before)
        assert lattice is not None  # no time limit
        return lattice.family_bound(x, mask)

    def _bound_by_search(self, x: int, mask: int, local: float) -> float:
        """The best network with just this family for x. What the others' lists lack, a smaller family beats."""
        from topdag.search.best import best_score_of

        rounded = math.ldexp(round(math.ldexp(local, self.grid)), -self.grid)
        return best_score_of(self.store.listed.with_only(x, mask, rounded))

    def is_kept(self, *, most: int = MOST_IN_A_LIST, factor: float = math.inf) -> bool:
        """Whether all families are there that the best so many, or those within this factor, can need."""
        if isinstance(self.keep, Within | Behind):
            return math.log(factor) <= keep_epsilon(self.keep)
        return most <= self.keep.k if isinstance(self.keep, KBest) else self.keep == "all"

    def is_kept_where_orders_weigh(self, *, most: int = MOST_IN_A_LIST, factor: float = math.inf) -> bool:
        """The same under a prior that counts orders.

        A family that loses to one of its subsets loses there too, since the subset leaves no fewer orders: that is how
        families go for the best network and within a factor. Those of the k best are chosen by whole networks, which
        need not be the best where orders weigh.
        """
        is_chosen_by_networks = isinstance(self.keep, KBest)
        return not is_chosen_by_networks and (most == 1 or self.is_kept(most=most, factor=factor))

    def require_kept_where_orders_weigh(self, *, most: int = MOST_IN_A_LIST, factor: float = math.inf) -> None:
        if not self.is_kept_where_orders_weigh(most=most, factor=factor):
            raise ScoreError(
                f"These scores were pruned ({kept_as(self.keep)}) for networks that need not be the best when orders "
                f"weigh. {how_to_keep_all()}"
            )

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
            f"{question(asked_by)} needs more families than these scores hold: they were pruned for {kept}. "
            f"{how_to_keep_all()}"
        )

    def require_local(self, asked_by: str, *, order: bool = False) -> None:
        """What speaks of several variables at once is not everywhere understood; ``order``: precedence is."""
        require_local(self.compiled, asked_by, order=order)

    def require_no_prior(self) -> None:
        """The source of a list may hold a prior in its local scores or beside them; what it would answer is neither."""
        if self.prior is not None:
            raise ScoreError(
                f"These scores are the source of a list under {in_words(self.prior)}. "
                f"Ask the scores that the list was made from, with {option('prior')}."
            )

    def families(self, variable: str) -> Iterator[tuple[tuple[str, ...], float]]:
        """The allowed parent sets of a variable with their scores on the grid."""
        require_known([variable], self.names)
        column = self.names.index(variable)
        if column not in self.columns:
            yield (), 0.0
            return
        masks, values = self.store.families_of(self.columns.index(column))
        for mask, value in zip(masks_in(masks), values.tolist(), strict=True):
            yield tuple(self.names[v] for i, v in enumerate(self.columns) if mask >> i & 1), value

    @cached_property
    def cutoff(self) -> float:
        """Networks scoring less than the best by more than this may be left out; infinite when all are there."""
        if self.left_out:
            return HOPELESS_NATS
        n = len(self.columns)
        return cutoff_of(self.store, n if self.max_parents is None else min(n, self.max_parents))

    @property
    def notes_on_weights(self) -> tuple[str, ...]:
        """The notes, and what is to be said where networks are weighed by exp(score)."""
        return self.notes if self.kind is None else (*self.notes, *self.kind.notes_on_weights())

    def describe_space(self) -> str:
        """The networks that compete, and how finely they are told apart."""
        n = len(self.columns)
        limit = "any number of parents" if self.max_parents is None else f"at most {self.max_parents} parents each"
        if self.store.is_listed and self.table is None:
            limit = f"parents from {self.n_families:,} listed families"
        isolated = len(self.names) - n
        constant = f", {isolated} constant column{'s' * (isolated != 1)} left isolated" if isolated else ""
        cut = "" if self.cutoff == math.inf else f", but for some that score {self.cutoff:g} nats less than the best"
        prior = "" if self.prior is None else f", by data and {in_words(self.prior)}"
        known = "" if self.constraints is None else f", that satisfy: {self.constraints.summary}"
        if self.kind is not None and self.kind.unconstrained is not self.kind:
            known += ", with probabilities that satisfy the parameter constraints (log likelihoods of parts to 1e-7)"
        return (
            f"all networks on {n} variable{'s' * (n != 1)} with {limit}{constant}{known}{cut}{prior}{self._claim}; "
            f"local scores rounded to 2^{-self.grid}, what is proved best at most {self.behind:.1e} behind"
        )

    @property
    def _claim(self) -> str:
        if self.said_equivalent is None:
            return ""
        return f", said to score the same within a class (where that can be seen, to {self.said_equivalent:.1e})"

    def __repr__(self) -> str:
        kind = "scores from a file" if self.kind is None else f"{self.kind} scores"
        return f"<{kind} of {len(self.names)} variables, {self.n_families:,} families, kept for {self.keep!r}>"

    def _stored(self, x: int, parents: list[int]) -> float:
        if x not in self.columns or any(v not in self.columns for v in parents):
            return 0.0 if not parents and x not in self.columns else -math.inf
        mask = sum(1 << self.columns.index(v) for v in parents)
        at = self.columns.index(x)
        return self.store.exact_value(at, mask)


def require_local(known: CompiledConstraints | None, asked_by: str, *, order: bool = False) -> None:
    """Raises ConstraintError where what is known speaks of several variables at once; ``order``: precedence may."""
    if known is None or known.is_local:
        return
    refused = known.rest.without_order if order else known.rest
    if refused:
        *those, last = map(question, ("best_network", "k_best_networks", "networks_within"))
        raise ConstraintError(
            f"{question(asked_by)} does not understand such constraints on several variables at once: "
            f"{'; '.join(refused.lines(known.names))}. {', '.join(those)} and {last} do, and so do averages over their "
            "lists."
        )


def cutoff_of(store: Store, max_parents: int) -> float:
    """Infinite unless sets with so many parents or fewer were left out for their penalty."""
    return HOPELESS_NATS if store.lacks_sets(max_parents) else math.inf


def _as_names(parents: Sequence[str]) -> tuple[str, ...]:
    if isinstance(parents, str):
        raise ScoreError(f"parents must be a list of names, such as [{parents!r}], not a text.")
    return tuple(parents)
