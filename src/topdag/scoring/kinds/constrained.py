"""BIC and AIC under parameter constraints: the likelihood is the greatest that the constraints allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from topdag._util.arrays import Floats, Integers
from topdag.errors import NetworkError, ScoreError
from topdag.knowledge.probabilities import ParameterConstraint
from topdag.networks.checks import require_known
from topdag.networks.fit import fit_network
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network
from topdag.scoring.kinds.constrained_likelihood import fitted_probabilities, total_loss
from topdag.scoring.kinds.discrete import AIC, BIC, ScoreKind, SetScore
from topdag.scoring.kinds.regions import Region, region_of

if TYPE_CHECKING:
    from topdag.data.table import Table


@dataclass(frozen=True, init=False, repr=False)
class Constrained(ScoreKind):
    """BIC or AIC with parameter constraints, for ``score`` and every question that takes a score.

    A family of a constrained variable needs all parents that its constraints name; the others are not allowed.
    ``base`` is the score without the constraints, which no family exceeds.

    >>> from topdag.knowledge.probabilities import influence
    >>> Constrained(BIC(), [influence("smoke", "lung", "+")])
    BIC() under 1 parameter constraint
    """

    base: SetScore
    constraints: tuple[ParameterConstraint, ...]
    score_equivalent = False

    def __init__(self, base: ScoreKind, constraints: Sequence[ParameterConstraint]) -> None:
        if not isinstance(base, (BIC, AIC)):
            raise ScoreError(
                f"Parameter constraints go with BIC() and AIC(), which take the likelihood at its greatest; {base!r} "
                "averages over all probabilities, or is normalised over all data, without regard to constraints."
            )
        vars(self).update(base=base, constraints=checked_constraints(constraints))

    @property
    def unconstrained(self) -> ScoreKind:
        return self.base

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        known = knowledge_of(self.constraints, table).get(x)
        if known is None:
            return self.base.local(table, x, parents)
        if not set(known.named) <= set(parents):
            return -math.inf
        return self.base.local(table, x, parents) - known.loss(table, parents)

    def least_penalty(self, n_rows: int, arity: int) -> float:
        return self.base.least_penalty(n_rows, arity)

    def __repr__(self) -> str:
        n = len(self.constraints)
        return f"{self.base!r} under {n} parameter constraint{'s' * (n != 1)}"


@dataclass(frozen=True, eq=False)
class ChildKnowledge:
    """All that is known about one variable: the columns ``named`` must be among its parents."""

    x: int
    named: tuple[int, ...]
    region: Region

    def loss(self, table: Table, parents: Sequence[int]) -> float:
        """What the constraints cost the log likelihood of a family that has the named parents."""
        further = [v for v in parents if v not in self.named]
        return total_loss(self.region, self._slices(table, further)[1])

    def fitted(self, table: Table, parents: Sequence[int]) -> Floats:
        """The most likely allowed probabilities, axes in the order of the parents, then the variable."""
        further = [v for v in parents if v not in self.named]
        arities = [int(table.arities[v]) for v in further]
        p = np.tile(self.region.inside, (math.prod(arities), 1, 1))
        keys, counts = self._slices(table, further)
        for key, own in zip(keys.tolist(), counts, strict=True):
            p[key] = fitted_probabilities(self.region, own)
        axes = [*further, *self.named]
        shaped = p.reshape([int(table.arities[v]) for v in (*axes, self.x)])
        return np.ascontiguousarray(shaped.transpose([*(axes.index(v) for v in parents), len(axes)]))

    def _slices(self, table: Table, further: Sequence[int]) -> tuple[Integers, Integers]:
        """The configurations of the further parents that occur, and counts[s, named configuration, own state]."""
        keys, place = self._further(table, further)
        cell = place * (self.region.q * self.region.r) + _mixed(table, (*self.named, self.x))
        size = len(keys) * self.region.q * self.region.r
        counts = np.bincount(cell, weights=table.weights, minlength=size).astype(np.int64)
        return keys, counts.reshape(len(keys), self.region.q, self.region.r)

    def _further(self, table: Table, further: Sequence[int]) -> tuple[Integers, Integers]:
        """Configurations, those that occur at least, and the place of each row among them."""
        mixed = _mixed(table, further)
        many = math.prod(len(table.states[v]) for v in further)
        if many <= table.n_distinct:  # sorting costs more than some slices without rows
            return np.arange(many), mixed
        keys, place = np.unique(mixed, return_inverse=True)
        return keys, place


def _mixed(table: Table, columns: Sequence[int]) -> Integers:
    """The configuration of these columns in each row, as one number."""
    arities = [len(table.states[v]) for v in columns]
    if math.prod(arities) >= 2**62:
        raise ScoreError(f"Parents with so many configurations cannot be told apart: {len(columns)} variables.")
    key = np.zeros(table.n_distinct, dtype=np.int64)
    for v, arity in zip(columns, arities, strict=True):
        key *= arity
        key += table.codes[v]
    return key


def checked_constraints(constraints: Sequence[ParameterConstraint]) -> tuple[ParameterConstraint, ...]:
    """Parameter constraints that some network could honour, as a tuple."""
    if isinstance(constraints, ParameterConstraint):
        raise ScoreError(f"Give parameter constraints as a list: [{constraints}].")
    checked = tuple(constraints)
    for constraint in checked:
        if not isinstance(constraint, ParameterConstraint):
            raise ScoreError(f"{constraint!r} is no parameter constraint; see influence, synergy and probability.")
    named: dict[str, set[str]] = {}
    for constraint in checked:
        named.setdefault(constraint.child, set()).update(constraint.parents)
    names = sorted({*named, *(parent for parents in named.values() for parent in parents)})
    try:
        Network(names, {child: sorted(parents) for child, parents in named.items()})
    except NetworkError as error:
        raise ScoreError(f"The parents that the constraints name can be in no network: {error}") from None
    return checked


@lru_cache(maxsize=8)
def knowledge_of(constraints: tuple[ParameterConstraint, ...], table: Table) -> Mapping[int, ChildKnowledge]:
    """By column, what the constraints say in terms of a table; refused when nothing can satisfy them."""
    for constraint in constraints:
        try:
            require_known((constraint.child, *constraint.parents), table.names)
        except NetworkError as error:
            raise ScoreError(f"{constraint}: {error}") from None
    states = dict(zip(table.names, table.states, strict=True))
    found = {}
    for x in sorted({table.names.index(constraint.child) for constraint in constraints}):
        said = [constraint for constraint in constraints if constraint.child == table.names[x]]
        named = sorted({table.names.index(parent) for constraint in said for parent in constraint.parents})
        region = region_of(table.names[x], [table.names[v] for v in named], said, states)
        found[x] = ChildKnowledge(x, tuple(named), region)
        if found[x].loss(table, named) == math.inf:
            raise ScoreError(
                f"The constraints on {table.names[x]!r} give probability 0 to rows that occur: "
                + " and ".join(map(str, said))
                + "."
            )
    return found


def constrained_fit(network: Network, table: Table, constraints: Sequence[ParameterConstraint] = ()) -> FittedNetwork:
    """The network with its most likely probabilities that satisfy the constraints, to 1e-8 and better.

    Parent states that do not occur get equal probabilities, or, where constraints speak of them, some that are well
    inside what these allow.

    >>> import topdag as td
    >>> table = td.Table({"dose": [0, 0, 1, 1, 2, 2], "cured": [0, 1, 0, 0, 1, 1]})
    >>> network = td.Network(["dose", "cured"], {"cured": ["dose"]})
    >>> known = [td.probabilities.influence("dose", "cured", "+")]
    >>> td.probabilities.constrained_fit(network, table, known).tables["cured"]
    array([[0.75, 0.25],
           [0.75, 0.25],
           [0.  , 1.  ]])
    """
    require_known(network.names, table.names)
    table.require_states("constrained_fit")
    table.require_complete("constrained_fit")
    known = knowledge_of(checked_constraints(constraints), table)
    for child in known.values():
        _require_parents(network, table, child)
    free = fit_network(network, table, ess=0)
    bound = {table.names[x]: child.fitted(table, _parent_columns(network, table, x)) for x, child in known.items()}
    notes = [note for note in free.notes if not note.startswith(tuple(f"{name!r}: " for name in bound))]
    return FittedNetwork(network, free.states, {**free.tables, **bound}, notes)


def _parent_columns(network: Network, table: Table, x: int) -> list[int]:
    return [table.names.index(parent) for parent in network.parents[table.names[x]]]


def _require_parents(network: Network, table: Table, child: ChildKnowledge) -> None:
    name = table.names[child.x]
    missing = [
        table.names[v] for v in child.named if name in network.names and table.names[v] not in network.parents[name]
    ]
    if name not in network.names or missing:
        raise NetworkError(
            f"The constraints on {name!r} name parents that it must have in the network: {', '.join(missing) or name}."
        )
