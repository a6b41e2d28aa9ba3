"""Checks an answer against the data, by formulas written a second time straight from their definitions.

Shares no arithmetic with the core: counts come from numpy, scores from the textbook forms in docs/reference/scores.md;
of continuous variables, least squares and determinants by orthogonal factors of the data instead of products of
deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Integers
from topdag._util.messages import listing
from topdag.answers.results import Status
from topdag.data.table import Table
from topdag.errors import FileError, ScoreError
from topdag.networks.network import Network
from topdag.scoring.kinds.blocks import BlockKind
from topdag.scoring.kinds.constrained import Constrained
from topdag.scoring.kinds.discrete import (
    AIC,
    BIC,
    K2,
    NAL,
    BDe,
    BDeu,
    BDs,
    CustomScore,
    Family,
    ScoreKind,
    family_of,
    fNML,
    qNML,
)
from topdag.scoring.kinds.gaussian import BGe, MixedBIC, PenalisedGaussian
from topdag.scoring.kinds.interventions import without_interventions

TOLERANCE = 1e-6
"""Absolute, with 1e-9 of the score beside it."""


@dataclass(frozen=True)
class Check:
    """What was found: ``score`` from the data, ``claimed`` by the answer, and every disagreement in words."""

    score: float
    claimed: float | None
    problems: tuple[str, ...]

    @property
    def is_fine(self) -> bool:
        return not self.problems


def check_network(network: Network, table: Table, kind: ScoreKind) -> Check:
    """Scores the network anew and compares. That it is acyclic was checked when it was made."""
    if set(network.names) != set(table.names):
        raise FileError(_other_variables(network.names, table.names))
    values = {name: local_by_definition(table, kind, name, network.parents[name]) for name in network.names}
    problems = []
    for name, value in values.items():
        claimed = None if network.local_scores is None else network.local_scores[name]
        if claimed is not None and not _agree(claimed, value):
            problems.append(f"{name}: the answer says {claimed:.9f}, the data give {value:.9f}")
    total = math.fsum(values.values())
    if network.score is not None and not _agree(network.score, total):
        problems.append(f"total: the answer says {network.score:.9f}, the data give {total:.9f}")
    return Check(total, network.score, tuple(problems))


def _other_variables(of_network: Sequence[str], of_table: Sequence[str]) -> str:
    only = {
        "network": [name for name in of_network if name not in of_table],
        "table": [name for name in of_table if name not in of_network],
    }
    said = " and ".join(f"only the {where} has {listing(names)}" for where, names in only.items() if names)
    return f"The network and the table have different variables: {said}. Read the table as it was for the answer."


def check_claims(content: Mapping[str, Any], score: float) -> tuple[str, ...]:
    """Whether the score, bound and gap of an answer are numbers, fit the data's score and fit each other."""
    proof = content.get("proof")
    if not isinstance(proof, dict) or str(proof.get("status")) not in Status.__members__:
        return ("the answer has no proof with a status",)
    claims = {"score": content.get("score"), "bound": proof.get("bound"), "gap": proof.get("gap")}
    is_stopped = proof["status"] == Status.STOPPED.name  # then what is infinite is not written
    odd = [name for name, value in claims.items() if not _is_number(value) and not (value is None and is_stopped)]
    if odd:
        return tuple(f"the {name} is {claims[name]!r}, not a number" for name in odd)
    claimed, bound, gap = claims["score"], claims["bound"], claims["gap"]
    problems = []
    if claimed is not None and not _agree(claimed, score):
        problems.append(f"score: the answer says {claimed:.9f}, the data give {score:.9f}")
    if claimed is not None and bound is not None:
        if bound < claimed - TOLERANCE:
            problems.append(f"the bound {bound} is below the score {claimed}")
        if gap is None or abs(bound - claimed - gap) > TOLERANCE:
            problems.append(f"the gap {gap} is not the bound less the score")
    if proof["status"] == Status.PROVED.name and gap:
        problems.append(f"PROVED with a gap of {gap}")
    return tuple(problems)


def _is_number(value: object) -> bool:
    """A number that a double can hold; JSON knows larger ones."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def local_by_definition(table: Table, kind: ScoreKind, variable: str, parents: tuple[str, ...]) -> float:
    """The local score of a family from its counts, by the score's definition."""
    x, columns = table.index(variable), [table.index(name) for name in parents]
    table, kind = table.rows_telling_of(x), without_interventions(kind) or kind
    if isinstance(kind, (BDe, CustomScore, Constrained)):
        return kind.local(table, x, columns)  # defined by the user's own network, function or constraints
    kind.require_columns(table)
    if isinstance(kind, MixedBIC) and table.states[x]:
        kind = BIC()  # a discrete variable has discrete parents only
    if isinstance(kind, BGe | PenalisedGaussian | MixedBIC):
        return _local_of_continuous(table, kind, x, columns)
    if isinstance(kind, BlockKind):
        return _local_of_blocks(table, kind, x, columns)
    formula = _FORMULAS.get(type(kind))
    if formula is None:
        raise ScoreError(f"no second formula for {kind!r}")
    return formula(kind, family_of(table, x, columns))


def _dirichlet(family: Family, row_weight: float) -> float:
    """The log marginal likelihood when each parent state has ``row_weight`` imaginary rows, spread evenly."""
    cell_weight = row_weight / family.counts.shape[1]
    return math.fsum(
        math.fsum(_log_gamma_ratio(cell_weight, count) for count in row) - _log_gamma_ratio(row_weight, sum(row))
        for row in family.counts.tolist()
    )


def _log_gamma_ratio(a: float, count: int) -> float:
    """ln Gamma(a + count) - ln Gamma(a). Where both are huge their difference is taken term by term of their series."""
    if a < 1000:
        return math.lgamma(a + count) - math.lgamma(a)
    return (a - 0.5) * math.log1p(count / a) + count * (math.log(a + count) - 1) + (1 / (a + count) - 1 / a) / 12


def _log_likelihood(family: Family) -> float:
    return math.fsum(count * math.log(count / sum(row)) for row in family.counts.tolist() for count in row if count)


def _free_parameters(family: Family) -> int:
    return family.n_parent_states * (int(family.counts.shape[1]) - 1)


def _bic(_: Any, family: Family) -> float:
    return _log_likelihood(family) - math.log(family.n_rows) / 2 * _free_parameters(family)


def _nal(kind: NAL, family: Family) -> float:
    """N times the average over the rows in which the family is known; each state alike where there is none."""
    n, n_known, own = family.n_rows, int(family.counts.sum()), family.counts.shape[1]
    average = _log_likelihood(family) / n_known if n_known else -math.log(own)
    cost = n ** (1 - kind.alpha) if kind.penalty is None else kind.penalty
    cost = math.log(n) / 2 if cost == "bic" else float(cost)
    return n * average - cost * _free_parameters(family)


def _fnml(_: Any, family: Family) -> float:
    own = family.counts.shape[1]
    return _log_likelihood(family) - math.fsum(regret(sum(row), own) for row in family.counts.tolist())


def _qnml(_: Any, family: Family) -> float:
    n, above, below = family.n_rows, family.n_parent_states * family.counts.shape[1], family.n_parent_states
    return _log_likelihood(family) - regret(n, above) + regret(n, below)


@lru_cache(maxsize=10_000)
def regret(n: int, k: int) -> float:
    """ln C(n, k), the normalising sum of the multinomial, as a sum of logs of its falling-factorial terms."""
    term, terms = 0.0, [0.0]
    for j in range(1, n + 1):
        if k == 1:
            break
        step = math.log((n - j + 1) / n) + math.log((k - 2 + j) / j)
        term += step
        terms.append(term)
        if step < 0 and term < -50:  # the first term is 1, so the rest adds nothing; steps only fall
            break
    largest = max(terms)
    return largest + math.log(math.fsum(math.exp(t - largest) for t in terms))


def _agree(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=TOLERANCE)


_FORMULAS: dict[type, Callable[[Any, Family], float]] = {
    BDeu: lambda kind, family: _dirichlet(family, kind.ess / family.n_parent_states),
    BDs: lambda kind, family: _dirichlet(family, kind.ess / family.counts.shape[0]),
    K2: lambda _, family: _dirichlet(family, float(family.counts.shape[1])),
    BIC: _bic,
    AIC: lambda _, family: _log_likelihood(family) - _free_parameters(family),
    NAL: _nal,
    fNML: _fnml,
    qNML: _qnml,
}


def _local_of_continuous(
    table: Table, kind: BGe | PenalisedGaussian | MixedBIC, x: int, parents: Sequence[int]
) -> float:
    """The local score of a continuous variable, by the definition of the score."""
    if isinstance(kind, BGe):
        return _bge(table, kind, [*parents, x])
    discrete = [v for v in parents if table.states[v]]
    continuous = [v for v in parents if not table.states[v]]
    states = math.prod(len(table.states[v]) for v in discrete)
    log_likelihood = math.fsum(
        _regression(_column(table, x)[rows], [_column(table, v)[rows] for v in continuous], table.weights[rows])
        for rows in _rows_of_states(table, discrete)
    )
    return log_likelihood - kind.penalty(table.n_rows) * states * (len(continuous) + 2)


def _local_of_blocks(table: Table, kind: BlockKind, x: int, parents: Sequence[int]) -> float:
    """What its block gains by those of the parents, by determinants of their correlations; of a category that counts
    states, what it gains by numbers beside categories, and its BIC given these."""
    categories = [v for v in parents if not table.is_number(v)]
    if not kind.counts_states or table.is_number(x):
        return _gain(table, kind, x, parents)
    by_states = _bic(kind, family_of(table, x, categories))
    return by_states + _gain(table, kind, x, parents) - _gain(table, kind, x, categories)


def _gain(table: Table, kind: BlockKind, x: int, parents: Sequence[int]) -> float:
    columns, n_rows = [*parents, x], table.n_rows
    blocks = kind.blocks_of(table, columns)
    at = [blocks.places.index(place) for place in range(len(columns))]
    rows = [list(range(blocks.begins[v], blocks.begins[v + 1])) for v in at]
    above = [row for own in rows[:-1] for row in own]
    whole = _log_determinant(blocks.correlations, above + rows[-1]) - _log_determinant(blocks.correlations, above)
    gain = -n_rows / 2 * whole - math.log(n_rows) / 2 * len(rows[-1]) * len(above)
    if not kind.has_squares or not table.is_number(x):
        return gain
    of_numbers = [v for v in at if v < blocks.n_numbers]  # x stands last
    squares = blocks.squared()
    return gain + n_rows / 2 * (_log_determinant(squares, of_numbers) - _log_determinant(squares, of_numbers[:-1]))


def _log_determinant(matrix: Floats, rows: Sequence[int]) -> float:
    return float(np.linalg.slogdet(matrix[np.ix_(rows, rows)])[1]) if rows else 0.0


def _regression(own: Floats, parents: Sequence[Floats], weights: NDArray[np.uint32]) -> float:
    """The largest log likelihood of a linear regression with normal errors."""
    root = np.sqrt(weights.astype(np.float64))
    count = float(weights.sum(dtype=np.int64))
    centred = [(cells - float(np.average(cells, weights=weights))) * root for cells in (own, *parents)]
    target, causes = centred[0], centred[1:]
    scale = [float(np.abs(cells).max()) or 1.0 for cells in causes]
    design = np.array([cells / size for cells, size in zip(causes, scale, strict=True)]).T.reshape(
        len(own), len(causes)
    )
    orthogonal = np.linalg.qr(design)[0]
    residual = target - orthogonal @ (orthogonal.T @ target)
    residual = residual - orthogonal @ (orthogonal.T @ residual)  # once more, for what rounding left
    variance = math.fsum((residual * residual).tolist()) / count
    if variance <= 0:
        raise ScoreError("A regression leaves no residual variance, so its likelihood has no maximum.")
    return -count / 2 * (math.log(2 * math.pi * variance) + 1)


def _bge(table: Table, kind: BGe, columns: Sequence[int]) -> float:
    """Of the last of these columns given the others [Kuipers, Moffa & Heckerman 2014]."""
    n, p, n_rows = table.n_variables, len(columns) - 1, table.n_rows
    a = kind.degrees_of_freedom(n) - n + p + 1
    before = _log_pivots(_prior_root(kind, n, columns))
    after = _log_pivots(_square_root(table, kind, columns))
    return math.fsum(
        [
            -n_rows / 2 * math.log(math.pi) + math.log(kind.alpha_mu / (kind.alpha_mu + n_rows)) / 2,
            math.lgamma((a + n_rows) / 2) - math.lgamma(a / 2),
            a / 2 * before.sum() - (a - 1) / 2 * before[:-1].sum(),
            (a + n_rows - 1) / 2 * after[:-1].sum() - (a + n_rows) / 2 * after.sum(),
        ]
    )


def _square_root(table: Table, kind: BGe, columns: Sequence[int]) -> Floats:
    """A matrix whose square is the posterior's: rows for the prior, the data, and the mean's way from its prior."""
    n, n_rows = table.n_variables, table.n_rows
    cells = np.array([_column(table, v) for v in columns])
    mean = np.average(cells, axis=1, weights=table.weights)
    pull = math.sqrt(kind.alpha_mu * n_rows / (kind.alpha_mu + n_rows))
    away = pull * (mean - kind.prior_mean(n)[list(columns)])
    deviations = ((cells - mean[:, np.newaxis]) * np.sqrt(table.weights)).T
    return np.vstack([_prior_root(kind, n, columns), deviations, away[np.newaxis]])


def _prior_root(kind: BGe, n: int, columns: Sequence[int]) -> Floats:
    return np.asarray(np.linalg.cholesky(kind.prior_precision(n)[np.ix_(columns, columns)]).T, dtype=np.float64)


def _log_pivots(root: Floats) -> Floats:
    """ln of what is left of each variable's share of root'root once those before it are accounted for."""
    pivots: Floats = 2 * np.log(np.abs(np.diagonal(np.linalg.qr(root, mode="r"))))
    return pivots


def _column(table: Table, v: int) -> Floats:
    cells: Floats = table.numbers[table.continuous.index(table.names[v])]
    return cells


def _rows_of_states(table: Table, discrete: Sequence[int]) -> list[Integers]:
    rows: dict[tuple[int, ...], list[int]] = {}
    for row, state in enumerate(zip(*(table.codes[v].tolist() for v in discrete), strict=True) if discrete else ()):
        rows.setdefault(state, []).append(row)
    return [np.array(own) for own in rows.values()] if discrete else [np.arange(table.n_distinct)]
