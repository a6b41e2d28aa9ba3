"""What is thought of a structure before the data are seen. Every weight is a natural log, and need not be normalised.

Without a prior, all networks are equally likely. ``EdgePrior`` and ``FairPrior`` factor over families, so they only
shift local scores. ``OrderModular`` does not: it counts a network once for every order that agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topdag._util.arrays import Floats, Masks
from topdag.errors import ScoreError, is_finite
from topdag.networks.checks import require_known

if TYPE_CHECKING:
    from topdag.networks.network import Network

SetWeight = Callable[[str, frozenset[str]], float]
"""The log weight of a variable with a set of others."""


@dataclass(frozen=True)
class EdgePrior:
    """Edges appear independently: ``log_odds[parent, child]`` for each, ``default`` for those not named.

    A network weighs as much as the sum of the log odds of its edges, before acyclicity is asked for.

    >>> import topdag as td
    >>> network = td.Network(["smoke", "lung", "xray"], {"lung": ["smoke"], "xray": ["lung"]})
    >>> EdgePrior({("smoke", "lung"): 2.0}, default=-1.0).log_weight(network)
    1.0
    """

    log_odds: Mapping[tuple[str, str], float] = field(default_factory=dict)
    default: float = 0.0

    favours_fewer_parents: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.log_odds, Mapping):
            raise ScoreError(f"log_odds must be a dictionary by (parent, child), not {self.log_odds!r}.")
        for edge in self.log_odds:
            if not isinstance(edge, tuple) or len(edge) != 2 or edge[0] == edge[1]:
                raise ScoreError(f"log_odds are those of edges, (parent, child), not of {edge!r}.")
        for what, value in [*((f"of {edge!r}", v) for edge, v in self.log_odds.items()), ("by default", self.default)]:
            _require_number(f"The log odds {what}", value)

    def family_log_weights(self, names: Sequence[str], x: int) -> Floats:
        """By the slots of ``names[x]``: parents as bits with its own bit left out."""
        others = [name for name in names if name != names[x]]
        weights = np.zeros(1)
        for parent in others:
            weights = np.concatenate([weights, weights + self.log_odds.get((parent, names[x]), self.default)])
        return weights

    def listed_log_weights(self, names: Sequence[str], x: int, masks: Masks) -> Floats:
        """Of families of ``names[x]`` with these parents, as rows of words."""
        weights = np.zeros(len(masks))
        for v, parent in enumerate(names):
            is_parent = masks[:, v // 64] >> np.uint64(v % 64) & np.uint64(1)
            weights += self.log_odds.get((parent, names[x]), self.default) * is_parent
        return weights

    def require_names(self, names: Sequence[str]) -> None:
        """Refuses odds of edges between other variables."""
        require_known((name for edge in self.log_odds for name in edge), names)

    def most_log_weight(self, names: Sequence[str]) -> float:
        """No network on these variables weighs more."""
        pairs = combinations(names, 2)
        odds = ((self.log_odds.get(edge, self.default) for edge in (pair, pair[::-1])) for pair in pairs)
        return math.fsum(max(0.0, *both) for both in odds)

    def log_weight(self, network: Network) -> float:
        return math.fsum(self.log_odds.get(edge, self.default) for edge in network.edges)

    def __str__(self) -> str:
        return f"edge prior ({len(self.log_odds)} log odds, others {self.default:g})"


@dataclass(frozen=True)
class FairPrior:
    """Every number of parents equally likely, and so every parent set of a size: 1 / (n - 1 choose size).

    Counted over the variables that are scored: constant columns, which stay isolated, do not count.
    """

    favours_fewer_parents: ClassVar[bool] = False

    def family_log_weights(self, names: Sequence[str], x: int) -> Floats:
        return self.listed_log_weights(names, x, np.arange(1 << len(names) - 1, dtype=np.uint64)[:, None])

    def listed_log_weights(self, names: Sequence[str], x: int, masks: Masks) -> Floats:
        others = len(names) - 1
        by_size = -np.log([float(math.comb(others, size)) for size in range(others + 1)])
        return np.asarray(by_size[np.bitwise_count(masks).sum(axis=1)])

    def most_log_weight(self, names: Sequence[str]) -> float:
        """No network weighs more: one without edges, or with all of them, weighs 1."""
        return 0.0

    def log_weight(self, network: Network) -> float:
        others = len(network.names) - 1
        return -math.fsum(math.log(math.comb(others, len(its))) for its in network.parents.values())

    def __str__(self) -> str:
        return "fair prior"


@dataclass(frozen=True)
class OrderModular:
    """Orders come first: a network weighs as much as the orders that agree with it weigh together.

    Without arguments every order weighs the same, and the weight of a network is the number of its linear extensions.
    ``order_weight(variable, earlier)`` gives the log weight of a variable that comes right after just these (in any
    order), ``parent_weight(variable, parents)`` that of its parents. The weight of a network is the sum, over the
    orders that agree with it, of the product of all these. Of scores made with a precedence among their constraints,
    only orders that agree with that too count. Orders are those of all variables, constant columns too; where weights
    are given, of the variables that are scored.
    """

    order_weight: SetWeight | None = None
    parent_weight: SetWeight | None = None

    def __post_init__(self) -> None:
        for what, weight in (("order_weight", self.order_weight), ("parent_weight", self.parent_weight)):
            if weight is not None and not callable(weight):
                raise ScoreError(f"{what} must be a function of a variable and a set of others, not {weight!r}.")

    @property
    def is_uniform(self) -> bool:
        return self.order_weight is None and self.parent_weight is None

    @property
    def favours_fewer_parents(self) -> bool:
        """Whether a network never weighs more when edges are added, so that rules which drop parents stay valid."""
        return self.parent_weight is None

    def family_log_weights(self, names: Sequence[str], x: int) -> Floats:
        """By the slots of ``names[x]``; zero without a ``parent_weight``."""
        return _by_slots(self.parent_weight, names, x, "parent_weight")

    def listed_log_weights(self, names: Sequence[str], x: int, masks: Masks) -> Floats:
        weight = self.parent_weight
        if weight is None:
            return np.zeros(len(masks))
        sets = (sum(word << 64 * w for w, word in enumerate(words)) for words in masks.tolist())
        chosen = (frozenset(name for v, name in enumerate(names) if mask >> v & 1) for mask in sets)
        return np.array([_checked(weight(names[x], parents), "parent_weight", names[x]) for parents in chosen])

    def order_log_weights(self, names: Sequence[str], x: int) -> Floats:
        """By the slots of ``names[x]``: the earlier variables as bits; zero without an ``order_weight``."""
        return _by_slots(self.order_weight, names, x, "order_weight")

    def most_log_weight(self, names: Sequence[str]) -> float:
        """No network on these variables weighs more; infinite when that is not known."""
        return math.lgamma(len(names) + 1) if self.is_uniform else math.inf

    def log_weight(self, network: Network, earlier: Mapping[str, Iterable[str]] | None = None) -> float:
        """``earlier``: by variable others that come before it in all orders that count."""
        ordered = _with_earlier(network, earlier or {})
        if self.is_uniform:
            return ordered.log_linear_extensions
        parents = [] if self.parent_weight is None else [self._of_parents(name, network) for name in network.names]
        return math.fsum(parents) + self._log_sum_over_orders(ordered)

    def log_probability(self, network: Network) -> float:
        """The log of its prior probability among all networks: their weights add up to n! 2^(n choose 2).

        For each order there are as many networks as sets of pairs of variables [Chen, Choi & Darwiche 2015].
        """
        if not self.is_uniform:
            raise ScoreError("The sum of all weights is known only for the uniform order-modular prior.")
        n = len(network.names)
        return network.log_linear_extensions - math.lgamma(n + 1) - math.comb(n, 2) * math.log(2)

    def _of_parents(self, name: str, network: Network) -> float:
        assert self.parent_weight is not None
        return _checked(self.parent_weight(name, frozenset(network.parents[name])), "parent_weight", name)

    def _log_sum_over_orders(self, network: Network) -> float:
        """Layer by layer over the sets that can come first."""
        if self.order_weight is None:
            return network.log_linear_extensions
        sums = {frozenset[str](): 0.0}
        for _ in network.names:
            terms: dict[frozenset[str], list[float]] = {}
            for placed, value in sums.items():
                for name in _ready(network, placed):
                    weight = _checked(self.order_weight(name, placed), "order_weight", name)
                    terms.setdefault(placed | {name}, []).append(value + weight)
            sums = {placed: float(np.logaddexp.reduce(values)) for placed, values in terms.items()}
        return next(iter(sums.values()))

    def __str__(self) -> str:
        return "order-modular prior" if self.is_uniform else "weighted order-modular prior"


Prior = EdgePrior | FairPrior | OrderModular


def check_prior(prior: object) -> None:
    if prior is None or isinstance(prior, Prior):
        return
    if isinstance(prior, type) and issubclass(prior, Prior):
        raise ScoreError(f"prior must be an object: write {prior.__name__}() with brackets.")
    hint = " search_networks takes such an object." if hasattr(prior, "log_weight_bound") else ""
    raise ScoreError(f"prior must be OrderModular(), EdgePrior(...), FairPrior() or None, not {prior!r}.{hint}")


def in_words(prior: object) -> str:
    """A prior of these, or one of a user's own, in the middle of a sentence."""
    return f"the {prior}" if isinstance(prior, Prior) else f"the prior {type(prior).__name__}"


def _with_earlier(network: Network, earlier: Mapping[str, Iterable[str]]) -> Network:
    """With those that come before a variable among its parents."""
    if not any(earlier.values()):
        return network
    return type(network)(
        network.names, {name: {*network.parents[name], *earlier.get(name, ())} for name in network.names}
    )


def log_weight_of(
    prior: Prior, network: Network, scored_names: Sequence[str], earlier: Mapping[str, Iterable[str]] | None = None
) -> float:
    """The log weight of a network among those on these variables; ``earlier`` for priors on orders.

    Constant columns stay isolated and are not scored; only for the number of linear extensions do they count, so that
    it is the one of the network.
    """
    is_whole = (isinstance(prior, OrderModular) and prior.is_uniform) or len(scored_names) == len(network.names)
    if not is_whole:
        network = type(network)(scored_names, {name: network.parents[name] for name in scored_names})
    return prior.log_weight(network, earlier) if isinstance(prior, OrderModular) else prior.log_weight(network)


def prior_to_dict(prior: Prior | None) -> dict[str, Any] | None:
    """Plain values for a file, from which ``prior_from_dict`` makes the same prior."""
    if isinstance(prior, EdgePrior):
        odds = [[parent, child, float(value)] for (parent, child), value in prior.log_odds.items()]
        return {"name": "edge", "default": float(prior.default), "log_odds": odds}
    if isinstance(prior, OrderModular) and not prior.is_uniform:
        raise ScoreError("A prior whose weights are functions of your own cannot be written to a file.")
    if prior is not None and not isinstance(prior, FairPrior | OrderModular):
        raise ScoreError(f"{in_words(prior)[0].upper()}{in_words(prior)[1:]} cannot be written to a file.")
    return None if prior is None else {"name": "fair" if isinstance(prior, FairPrior) else "order-modular"}


def prior_from_dict(content: Any) -> Prior | None:
    if content is None:
        return None
    for simple in (FairPrior(), OrderModular()):
        if content == prior_to_dict(simple):
            return simple
    try:
        if content.keys() == {"name", "default", "log_odds"} and content["name"] == "edge":
            return EdgePrior({(str(a), str(b)): value for a, b, value in content["log_odds"]}, content["default"])
    except (AttributeError, TypeError, ValueError):
        pass
    raise ScoreError(f"This is no prior: {content!r}.")


def _ready(network: Network, placed: frozenset[str]) -> Iterator[str]:
    return (name for name in network.names if name not in placed and placed.issuperset(network.parents[name]))


def _by_slots(weight: SetWeight | None, names: Sequence[str], x: int, what: str) -> Floats:
    others = [name for name in names if name != names[x]]
    weights = np.zeros(1 << len(others))
    if weight is None:
        return weights
    for slot in range(len(weights)):
        chosen = frozenset(name for place, name in enumerate(others) if slot >> place & 1)
        weights[slot] = _checked(weight(names[x], chosen), what, names[x])
    return weights


def _checked(value: float, what: str, name: str) -> float:
    _require_number(f"{what} of {name!r}", value)
    return float(value)


def _require_number(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise ScoreError(f"{what} must be a finite number, a natural log, not {value!r}.")
