"""The best networks under priors that speak of whole networks: best-first search over partial networks.

docs/explanation/method.md says why it finds them and what it asks of a prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, cast, runtime_checkable

from topdag import _core
from topdag._util.run import Run, available_memory
from topdag._util.stop import Stop
from topdag.answers.lists import NetworkList
from topdag.answers.results import proof_of
from topdag.errors import ConstraintError, ScoreError, TooLarge
from topdag.knowledge.priors import OrderModular
from topdag.questions.listing.sources import Wanted
from topdag.questions.lists import only_the_empty_network, out_of_time
from topdag.questions.request import run_stats
from topdag.scoring.keep import how_to_keep_all, kept_as
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.lattice import lattice_of

SHARE_FOR_ORDERS = 0.8
BOUND_ROUNDING = 1e-9
PUBLISHED_BLOCK, TREE_BLOCK = 10, 1


@dataclass(frozen=True, eq=False)
class PartialNetwork:
    """A network on some of the variables: every parent of a placed variable is placed.

    ``names``: the variables that are scored; constant columns, which stay isolated, are left out. ``placed_mask`` and
    ``parent_masks`` say the same as ``placed`` and ``parents``, as bits over ``names``.
    """

    names: tuple[str, ...]
    placed_mask: int
    parent_masks: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        return self.placed_mask == (1 << len(self.names)) - 1

    @cached_property
    def placed(self) -> tuple[str, ...]:
        return self._named(self.placed_mask)

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Of the placed variables."""
        return {
            name: self._named(self.parent_masks[x]) for x, name in enumerate(self.names) if self.placed_mask >> x & 1
        }

    def _named(self, mask: int) -> tuple[str, ...]:
        return tuple(name for x, name in enumerate(self.names) if mask >> x & 1)

    def __str__(self) -> str:
        families = (f"{name} <- {', '.join(its)}" if its else name for name, its in self.parents.items())
        return "; ".join(families) or "no variable placed"


@runtime_checkable
class NetworkPrior(Protocol):
    """A prior that need not factor over families.

    ``log_weight``: the natural log of what a partial network weighs, up to a constant that all share; minus infinity
    forbids it and all networks that begin with it. ``log_weight_bound``: no network that begins with one on the
    ``n_placed`` variables other than ``variables_left`` has a log weight that is more than this above its own.
    """

    def log_weight(self, network: PartialNetwork, /) -> float: ...
    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...], /) -> float: ...


def search_with_prior(
    scores: Scores, wanted: Wanted, prior: OrderModular | NetworkPrior, block: int | None, published: bool, run: Run
) -> NetworkList:
    """The k networks with the largest sums of score and log weight; of ties, those with the lower masks first."""
    scores.require_local("search_networks")
    if isinstance(prior, OrderModular) and scores.orders_are_limited:
        raise ConstraintError(
            "search_networks counts all orders of a network, not only those that agree with the precedence in the "
            "constraints; best_network and k_best_networks with the same prior do."
        )
    if not scores.columns:
        return _of_nothing(scores, prior, run)
    scores = _with_all_needed(scores, wanted, prior, run)
    lattice = lattice_of(scores.store, run)
    if lattice is None:
        raise out_of_time(wanted, run)
    search = _Search(
        replace(scores, prior=cast(Any, prior)), lattice, wanted.most, _memory_for(len(scores.columns), run), run
    )
    if not isinstance(prior, OrderModular):
        return search.with_python_prior(prior, block or TREE_BLOCK)
    if published:
        return search.as_published(block or PUBLISHED_BLOCK)
    return search.with_uniform_orders(block or TREE_BLOCK)


def _of_nothing(scores: Scores, prior: OrderModular | NetworkPrior, run: Run) -> NetworkList:
    """All columns are constant, and the network without edges is the only one."""
    if isinstance(prior, OrderModular):
        weight = math.lgamma(len(scores.names) + 1)
    else:
        weight = _Asked((), prior).log_weight(0, [])
    found = only_the_empty_network(NetworkList, replace(scores, prior=cast(Any, prior)), run)
    return replace(found, scores=found.scores + weight, proof=replace(found.proof, bound=weight))


def require_prior(prior: object, published: bool) -> None:
    """That it is one, and can be searched with."""
    if published and not isinstance(prior, OrderModular):
        raise ScoreError("published=True is the algorithm for OrderModular(); it takes no other prior.")
    if isinstance(prior, OrderModular) and not prior.is_uniform:
        raise ScoreError("search_networks takes OrderModular() without weights; k_best_networks takes both.")
    if not isinstance(prior, NetworkPrior | OrderModular):
        raise ScoreError(
            "A prior needs log_weight(partial_network) and log_weight_bound(n_placed, variables_left); "
            f"{type(prior).__name__} has not both. See docs/guides/priors.md."
        )


def _with_all_needed(scores: Scores, wanted: Wanted, prior: OrderModular | NetworkPrior, run: Run) -> Scores:
    """Orders do not bring back what a subset beats; other priors may want any family."""
    n = len(scores.columns)
    if n > _core.MOST_PRIOR_SEARCH_VARIABLES:
        raise TooLarge(
            f"Search over partial networks with a prior holds tables over all sets of variables, and takes "
            f"{_core.MOST_PRIOR_SEARCH_VARIABLES} of them; here are {n}. Leave some out."
        )
    by_orders = isinstance(prior, OrderModular)
    if scores.is_kept_where_orders_weigh(most=wanted.most) if by_orders else scores.is_kept():
        return scores
    if not scores.automatic:
        if by_orders:
            scores.require_kept_where_orders_weigh(most=wanted.most)
        raise ScoreError(
            f"With this prior all families count, but these scores were pruned ({kept_as(scores.keep)}). "
            f"{how_to_keep_all()}"
        )
    every = scored_again(scores, run, "all")
    if every is None:
        raise out_of_time(wanted, run)
    return every


def _memory_for(n: int, run: Run) -> int:
    """Bytes for the search itself, beside the lattice and the families."""
    tables = _core.prior_search_bytes(n)
    run.require_memory(
        run.memory + tables, f"Search over partial networks of {n} variables", "Use fewer variables.", held=run.memory
    )
    left = available_memory() - tables if run.memory_limit is None else run.memory_limit - run.memory
    return int(max(0.0, SHARE_FOR_ORDERS * left))


@dataclass(frozen=True)
class _Search:
    """One search, whichever way it goes."""

    scores: Scores
    lattice: _core.Lattice
    most: int
    memory: int
    run: Run

    def with_uniform_orders(self, block: int) -> NetworkList:
        drawn = _core.search_uniform_orders(self.lattice, self.most, block, self.memory, self.run.limits)
        return self._answer(drawn, "best-first search over partial networks, orders counted", **self._of_orders())

    def as_published(self, block: int) -> NetworkList:
        drawn = _core.count_paths(self.lattice, self.most, block, self.memory, self.run.limits)
        return self._answer(drawn, "best-first search over partial networks, paths counted", **self._of_orders())

    def with_python_prior(self, prior: NetworkPrior, block: int) -> NetworkList:
        asked = _Asked(self.scores.scored_names, prior)
        if self.lattice.best_score > -math.inf:
            asked.try_bounds(self.lattice.best_parents(self.scores.slack))
        drawn = _core.search_python_prior(
            self.lattice,
            asked.log_weight,
            asked.log_weight_bound,
            self.most,
            block,
            self.memory,
            self.run.limits,
        )
        if (own := drawn.broken) is not None:
            raise asked.bound_error(own.placed, own.parents, own.bound, own.achieved)
        return self._answer(drawn, "best-first search over partial networks, weighed by the prior")

    def _of_orders(self) -> dict[str, float]:
        """Constant columns can stand anywhere in an order; no network agrees with more than all orders."""
        n, named = len(self.scores.columns), len(self.scores.names)
        return {
            "offset": math.lgamma(named + 1) - math.lgamma(n + 1) if named > n else 0.0,
            "upper": self.lattice.best_score + math.lgamma(n + 1),
        }

    def _answer(
        self, drawn: _core.SearchedNetworks, engine: str, *, offset: float = 0.0, upper: float = math.inf
    ) -> NetworkList:
        self.run.phases |= {"bounding": drawn.bound_seconds, "searching": drawn.search_seconds}
        counts, values, floor = drawn.counts, drawn.scores, drawn.floor
        work = {"generated": counts.generated, "expanded": counts.expanded}
        work |= {"re-expanded": counts.re_expanded, "weighed": counts.weighed}
        limit = None if drawn.finished else Stop.MEMORY_LIMIT if drawn.memory_hit else self.run.limit
        if drawn.finished and len(values) == self.most:  # the queue may lack what cannot be the best
            floor = max(floor, float(values[-1]))
        values, floor = values + offset, min(floor, upper) + offset
        best = float(values[0]) if len(values) else -math.inf
        proof = proof_of(limit, best, floor, self.scores.describe_space())
        stats = run_stats(self.scores, self.run, engine, work)
        return NetworkList(self.scores, values, drawn.parents, floor, proof, stats)


@dataclass(frozen=True)
class _Asked:
    """A prior, asked by masks, its answers checked."""

    names: tuple[str, ...]
    prior: NetworkPrior

    def log_weight(self, placed: int, parents: list[int]) -> float:
        network = PartialNetwork(self.names, placed, tuple(parents))
        return _checked(self.prior.log_weight(network), "log_weight", network)

    def log_weight_bound(self, placed: int) -> float:
        left = tuple(name for x, name in enumerate(self.names) if not placed >> x & 1)
        return _checked(self.prior.log_weight_bound(len(self.names) - len(left), left), "log_weight_bound", left)

    def try_bounds(self, parents: list[int]) -> None:
        """A bound that is too low on the way to the data's best network is told before any search relies on it."""
        whole, placed = (1 << len(parents)) - 1, 0
        weight = self.log_weight(whole, parents)
        while placed != whole and weight > -math.inf:
            begun = [mask if placed >> x & 1 else 0 for x, mask in enumerate(parents)]
            bound, gained = self.log_weight_bound(placed), weight - self.log_weight(placed, begun)
            if gained > bound + BOUND_ROUNDING * (1 + abs(bound)):
                raise self.bound_error(placed, begun, bound, gained)
            ready = (x for x, mask in enumerate(parents) if not placed >> x & 1 and mask & ~placed == 0)
            placed |= 1 << next(ready)

    def bound_error(self, placed: int, parents: list[int], bound: float, achieved: float) -> ScoreError:
        network = PartialNetwork(self.names, placed, tuple(parents))
        left = len(self.names) - len(network.placed)
        return ScoreError(
            f"log_weight_bound is too low: from the partial network ({network}) with {left} variables left it allows "
            f"{bound:.9g}, but a network that begins so gained {achieved:.9g}. What the search found could be wrong."
        )


def _checked(value: object, what: str, about: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value) or value == math.inf:
        raise ScoreError(f"{what} must be a finite number, or minus infinity where forbidden, not {value!r}: {about}.")
    return float(value)
