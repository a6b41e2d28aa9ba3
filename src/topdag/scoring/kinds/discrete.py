"""The scores topdag knows, as small frozen dataclasses. Natural logs, larger is better.

Formulas: docs/reference/scores.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from topdag._core import CellKind, Penalty, SetFormula, score_set
from topdag._util.arrays import Floats, Integers
from topdag._util.messages import closest
from topdag.errors import ScoreError
from topdag.networks.checks import check_ess
from topdag.scoring.kinds.base import ScoreKind, coded
from topdag.scoring.kinds.blocks import DegenerateGaussian, RankBIC
from topdag.scoring.kinds.gaussian import BGe, GaussianAIC, GaussianBIC, MixedBIC
from topdag.scoring.kinds.node_average import NAL

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.networks.fitted import FittedNetwork

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "KINDS_BY_NAME",
    "NAL",
    "BDe",
    "BDeu",
    "BDs",
    "CustomScore",
    "Family",
    "ScoreKind",
    "SetScore",
    "coded",
    "fNML",
    "family_of",
    "kind_from_dict",
    "kind_to_dict",
    "qNML",
]


class SetScore(ScoreKind):
    """A score that is a difference of functions of sets: local(x | U) = joint(U + x) - below(U)."""

    def joint(self, n_rows: int) -> SetFormula:
        raise NotImplementedError

    def below(self, n_rows: int, arity: int) -> SetFormula | None:
        """The function of the parents for a child of this arity; None: the same as ``joint``."""
        return None

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        view = coded(table, [*parents, x])
        n = len(parents)
        joint = self.joint(table.n_rows)
        below = self.below(table.n_rows, int(table.arities[x])) or joint
        return score_set(view, joint, list(range(n + 1))) - score_set(view, below, list(range(n)))


@dataclass(frozen=True)
class BDeu(SetScore):
    """Bayesian Dirichlet score with an equivalent uniform prior of ``ess`` imaginary rows [Heckerman et al. 1995]."""

    ess: float = 1.0
    score_equivalent = True

    def __post_init__(self) -> None:
        check_ess(self.ess, type(self).__name__)

    def joint(self, n_rows: int) -> SetFormula:
        return SetFormula(CellKind.LOG_RISING, parameter=self.ess, spread=True)


@dataclass(frozen=True)
class BIC(SetScore):
    """Log likelihood less (ln N)/2 for each free parameter [Schwarz 1978]. In bits and negated: MDL."""

    score_equivalent = True

    def joint(self, n_rows: int) -> SetFormula:
        return penalised(math.log(n_rows) / 2)

    def least_penalty(self, n_rows: int, arity: int) -> float:
        return math.log(n_rows) / 2 * (arity - 1)


@dataclass(frozen=True)
class AIC(SetScore):
    """Log likelihood less 1 for each free parameter [Akaike 1974]."""

    score_equivalent = True

    def joint(self, n_rows: int) -> SetFormula:
        return penalised(1.0)

    def least_penalty(self, n_rows: int, arity: int) -> float:
        return float(arity - 1)


@dataclass(frozen=True)
class K2(SetScore):
    """Bayesian Dirichlet score with one imaginary row for each cell [Cooper & Herskovits 1992]."""

    score_equivalent = False

    def joint(self, n_rows: int) -> SetFormula:
        return SetFormula(CellKind.LOG_RISING, parameter=1.0)

    def below(self, n_rows: int, arity: int) -> SetFormula:
        return SetFormula(CellKind.LOG_RISING, parameter=float(arity))


@dataclass(frozen=True)
class fNML(SetScore):
    """Factorised normalised maximum likelihood [Silander et al. 2008]."""

    score_equivalent = False

    def joint(self, n_rows: int) -> SetFormula:
        return SetFormula(CellKind.N_LOG_N)

    def below(self, n_rows: int, arity: int) -> SetFormula:
        return SetFormula(CellKind.N_LOG_N_REGRET, parameter=float(arity))


@dataclass(frozen=True)
class qNML(SetScore):
    """Quotient normalised maximum likelihood [Silander et al. 2018]."""

    score_equivalent = True

    def joint(self, n_rows: int) -> SetFormula:
        return SetFormula(CellKind.N_LOG_N, penalty=Penalty.REGRET)


@dataclass(frozen=True)
class BDs(ScoreKind):
    """BDeu with the prior spread over the parent states that occur [Scutari 2016]."""

    ess: float = 1.0
    score_equivalent = False

    def __post_init__(self) -> None:
        check_ess(self.ess, type(self).__name__)

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        view = coded(table, [*parents, x])
        above, below = list(range(len(parents) + 1)), list(range(len(parents)))
        occurring = score_set(view, SetFormula(CellKind.ONE), below)
        share = self.ess / occurring
        cell_share = share / int(table.arities[x])
        return score_set(view, SetFormula(CellKind.LOG_RISING, parameter=cell_share), above) - score_set(
            view, SetFormula(CellKind.LOG_RISING, parameter=share), below
        )


@dataclass(frozen=True)
class BDe(ScoreKind):
    """Bayesian Dirichlet score whose imaginary rows follow a prior network [Heckerman et al. 1995]."""

    ess: float
    prior: FittedNetwork
    score_equivalent = True

    def __post_init__(self) -> None:
        from topdag.networks.fitted import FittedNetwork  # no other score needs it

        check_ess(self.ess, type(self).__name__)
        if not isinstance(self.prior, FittedNetwork):
            raise ScoreError(f"BDe needs a prior, a FittedNetwork, not {type(self.prior).__name__}.")

    def joint_prior(self, table: Table) -> Floats:
        """The prior probability of every cell of the table, axes in column order; checked against its rows."""
        for name, states in zip(table.names, table.states, strict=True):
            if name not in self.prior.names or set(self.prior.states[name]) != set(states):
                raise ScoreError(
                    f"The prior network of BDe must have the table's variables and states; {name!r} differs. "
                    "Declare the states with states= when reading the table."
                )
        if len(self.prior.names) != len(table.names):
            raise ScoreError("The prior network of BDe has variables that the table has not.")
        joint = self.prior.joint().transpose([self.prior.names.index(name) for name in table.names])
        for axis, (name, states) in enumerate(zip(table.names, table.states, strict=True)):
            joint = joint.take([self.prior.states[name].index(state) for state in states], axis=axis)
        self._require_positive(joint, table)
        return np.ascontiguousarray(joint)

    def _require_positive(self, joint: Floats, table: Table) -> None:
        impossible = np.flatnonzero(joint[tuple(table.codes)] <= 0)
        if impossible.size:
            codes = table.codes[:, impossible[0]]
            row = ", ".join(
                f"{name}={states[c]}" for name, states, c in zip(table.names, table.states, codes, strict=True)
            )
            raise ScoreError(f"The prior network of BDe gives probability 0 to a row that occurs ({row}).")

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        prior = self.joint_prior(table)
        return self._set_score(table, prior, [*parents, x]) - self._set_score(table, prior, list(parents))

    def _set_score(self, table: Table, prior: Floats, columns: list[int]) -> float:
        others = tuple(v for v in range(len(table.names)) if v not in columns)
        kept = sorted(columns)
        share = prior.sum(axis=others)
        cell = np.zeros(table.n_distinct, dtype=np.int64)
        for v in kept:
            cell = cell * int(table.arities[v]) + table.codes[v]
        counts = np.bincount(cell, weights=table.weights, minlength=share.size)
        pairs = zip(share.ravel().tolist(), counts.tolist(), strict=True)
        return math.fsum(math.lgamma(self.ess * p + c) - math.lgamma(self.ess * p) for p, c in pairs if c > 0)


@dataclass(frozen=True)
class Family:
    """What a CustomScore sees of one family. Rows of ``counts``: parent states that occur; columns: own states."""

    variable: str
    parents: tuple[str, ...]
    counts: Integers
    n_parent_states: int
    n_rows: int


@dataclass(frozen=True)
class CustomScore(ScoreKind):
    """Any decomposable score: ``function(family)`` returns the local score of a Family."""

    function: Callable[[Family], float]
    score_equivalent: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ScoreError("CustomScore needs a function of one family that returns its local score.")

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        table.require_complete("CustomScore")
        family = family_of(table, x, parents)
        try:
            value = float(self.function(family))
        except (TypeError, ValueError, OverflowError) as error:
            raise ScoreError(f"The custom score did not give a number for {_shown(family)}: {error}") from error
        if not math.isfinite(value):
            raise ScoreError(f"The custom score gave {value} for {_shown(family)}; it must be finite.")
        return value

    def least_penalty(self, n_rows: int, arity: int) -> float:
        return -math.inf


def family_of(table: Table, x: int, parents: Sequence[int]) -> Family:
    """The counts of one family over the rows that are complete in it, parent states in a fixed order."""
    if not table.arities[[x, *parents]].all():
        table.require_states("Counting")
    own = table.of_columns([*parents, x])
    known = ~own.is_missing.any(axis=0)
    *above, codes = own.codes[:, known]
    key = np.zeros(len(codes), dtype=np.int64)
    for v, of_parent in zip(parents, above, strict=True):
        _, key = np.unique(key * int(table.arities[v]) + of_parent, return_inverse=True)
    _, key = np.unique(key, return_inverse=True)
    counts = np.zeros((int(key.max(initial=-1)) + 1, int(table.arities[x])), dtype=np.int64)
    np.add.at(counts, (key, codes), own.weights[known])
    parent_states = math.prod(int(table.arities[v]) for v in parents)
    return Family(table.names[x], tuple(table.names[v] for v in parents), counts, parent_states, table.n_rows)


def penalised(weight: float) -> SetFormula:
    return SetFormula(CellKind.N_LOG_N, penalty=Penalty.PER_CELL, penalty_weight=weight)


def _shown(family: Family) -> str:
    return f"{family.variable!r} with parents ({', '.join(family.parents)})"


KINDS_BY_NAME: dict[str, type[ScoreKind]] = {
    **{kind.__name__.lower(): kind for kind in (BDeu, BIC, AIC, K2, fNML, qNML, BDs, NAL, BGe)},
    "gaussian-bic": GaussianBIC,
    "gaussian-aic": GaussianAIC,
    "mixed-bic": MixedBIC,
    "rank-bic": RankBIC,
    "degenerate-gaussian": DegenerateGaussian,
}
"""The kinds that need no more than numbers, by the name the command line uses."""

_KINDS_BY_CLASS_NAME = {kind.__name__.lower(): kind for kind in KINDS_BY_NAME.values()}
"""The same, as files call them."""


KindLike: TypeAlias = ScoreKind | str | None
NAMES_ELSEWHERE = {"bic-d": "bic", "aic-d": "aic", "mdl": "bic"}
"""As pgmpy and others call the same scores."""


def as_kind(given: KindLike, argument: str = "kind") -> ScoreKind:
    """Return the score that is meant: one, the name of one, or without any BIC. ``argument``: what it was given as."""
    if given is None:
        return BIC()
    if isinstance(given, ScoreKind):
        return given
    if isinstance(given, str):
        name = given.lower()
        if (known := NAMES_ELSEWHERE.get(name, name)) in KINDS_BY_NAME:
            return KINDS_BY_NAME[known]()
        raise ScoreError(f"{argument}={given!r} is not known; {closest(given, list(KINDS_BY_NAME))}.")
    is_class = isinstance(given, type) and issubclass(given, ScoreKind)
    hint = f"; write {given.__name__}()" if is_class else ""
    raise ScoreError(
        f'{argument} must be a score such as BDeu() or BIC(), or its name, such as "bic", not {given!r}{hint}.'
    )


def of_columns(kind: ScoreKind, table: Table, columns: Sequence[int]) -> ScoreKind:
    """The same score by its plainer name, where these columns of the table are all categories."""
    return BIC() if isinstance(kind, RankBIC) and not any(map(table.is_number, columns)) else kind


def kind_to_dict(kind: ScoreKind | None) -> dict[str, Any] | None:
    """The name and settings of a score, where they are plain numbers."""
    name = type(kind).__name__
    if kind is None or name.lower() not in _KINDS_BY_CLASS_NAME:
        return None
    return {"name": name, **{spec.name: getattr(kind, spec.name) for spec in fields(kind)}}  # type: ignore[arg-type]


def kind_from_dict(content: Mapping[str, Any] | None) -> ScoreKind | None:
    """The score that ``kind_to_dict`` described."""
    if content is None:
        return None
    settings = dict(content)
    name = str(settings.pop("name", "")).lower()
    kinds = _KINDS_BY_CLASS_NAME | KINDS_BY_NAME
    if name not in kinds:
        raise ScoreError(f"no score is called {name!r}; there are {', '.join(sorted(KINDS_BY_NAME))}")
    try:
        return kinds[name](**settings)
    except TypeError as error:
        raise ScoreError(f"{name} takes other settings: {error}") from error
