"""What the scikit-learn classes share: their base, how rows come in, and how what was learned of columns is used again.

Without scikit-learn the classes can be looked at, and say what they need when one is made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Marks
from topdag._util.messages import listing, place_in_frame
from topdag._util.options import option
from topdag.answers.results import Status
from topdag.data.adapt import with_more_states
from topdag.data.build import observed, with_missing_state
from topdag.data.columns import MISSING, Codes, Column, Used, array_columns, left_in
from topdag.data.discretize import (
    Discretize,
    check_finite,
    cut_columns,
    interval_codes,
    learned_points,
    require_cut,
    rules_by_column,
    whole_as_integers,
)
from topdag.data.gaps import ways_with_gaps
from topdag.data.table import Table, is_frame
from topdag.errors import ConstraintError, OutOfTime, TableError
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import Prior
from topdag.networks.fitted_regressions import fit_regressions, numbers_in
from topdag.networks.missing_cells import log_likelihoods_of_rows
from topdag.networks.network import Network
from topdag.networks.probability_tables import expected_probabilities, family_counts
from topdag.questions.best import best_network, best_of
from topdag.questions.request import Trail, asked_about
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.score import score
from topdag.scoring.scores import Scores


class _NeedsScikitLearn:
    def __new__(cls, *_: object, **__: object) -> Any:
        raise ImportError(f"{cls.__name__} needs scikit-learn: pip install 'topdag[sklearn]'")


class _NoMixin:
    pass


def _bases() -> tuple[Any, Any]:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin
    except ImportError:
        return _NeedsScikitLearn, _NoMixin
    return BaseEstimator, ClassifierMixin


Estimator: Any
Classifier: Any
Estimator, Classifier = _bases()


class Learner(Estimator):  # type: ignore[misc]
    """What looks for the best network of a table, within its limits."""

    missing: str
    time_limit: float | None
    memory_limit: int | str | None
    threads: int | None

    @property
    def _limits(self) -> dict[str, Any]:
        return dict(memory_limit=self.memory_limit, threads=self.threads)

    def _learn(
        self,
        table: Table,
        kind: ScoreKind,
        constraints: Constraints | None,
        *,
        max_parents: int | None = None,
        prior: Prior | None = None,
    ) -> Scores | None:
        """Scores the table and keeps the best network, as ``answer_`` and ``network_``; without one, an error. None
        where the time limit, which holds while the table is scored too, came before the scores were complete."""
        known: dict[str, Any] = dict(constraints=constraints, max_parents=max_parents)
        scores: Scores | None
        if self.time_limit is None:
            scores = score(table, kind, **known, **self._limits)
            self.answer_ = best_network(scores, prior=prior, **self._limits)
        else:
            said: Any = dict(known, time_limit=self.time_limit, **self._limits)
            request, run = asked_about(table, kind, said, prior)
            trail = Trail(request)
            self.answer_ = best_of(trail, run)
            scores = None if trail.scores is None or trail.scores.prior is not None else trail.scores
        if self.answer_.network is None and self.answer_.proof.status is Status.INFEASIBLE:
            raise ConstraintError(f"No network is allowed, among {self.answer_.proof.space}.")
        if self.answer_.network is None:
            raise OutOfTime(f"{option('time_limit', self.time_limit)} came before any network was found")
        self.network_ = self.answer_.network
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def columns_from(
    estimator: Any, rows: Any, *, reset: bool, fewest_features: int = 1, allow_gaps: bool = False
) -> list[Column]:
    """The columns of what ``fit`` or ``predict`` was given, checked as scikit-learn does and by their own types."""
    from sklearn.utils.validation import validate_data

    if is_frame(rows):
        columns = _frame_columns(rows)  # first: what a frame lacks is said in the same words everywhere
        validate_data(estimator, rows, reset=reset, skip_check_array=True)
    else:
        finite = "allow-nan" if allow_gaps else True
        checked = validate_data(
            estimator, rows, reset=reset, dtype=None, ensure_min_features=fewest_features, ensure_all_finite=finite
        )
        columns = array_columns(checked, None)
    kept = left_in([column.name for column in columns], Used(estimator.leave_out))
    columns = [columns[place] for place, _ in kept]
    gaps = [column.name for column in columns if (column.codes == MISSING).any()]
    if gaps and not allow_gaps:
        raise TableError(f"Input X contains missing values (NaN) in {listing(gaps)}; {ways_with_gaps()}")
    return columns


def _frame_columns(frame: Any) -> list[Column]:
    from topdag.data.frames import columns_of_frame

    columns = [replace(column, name=str(column.name)) for column in columns_of_frame(frame)]
    if not columns or not len(columns[0].codes):
        raise TableError(f"Found 0 sample(s) or 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return columns


def has_gap(columns: Sequence[Column]) -> NDArray[np.bool_]:
    """Of every row, whether a cell is missing."""
    return np.asarray(np.any([column.codes == MISSING for column in columns], axis=0))


def only_rows(columns: Sequence[Column], rows: NDArray[np.bool_]) -> list[Column]:
    """The columns without the other rows, and without the values that only these had."""
    if rows.all():
        return list(columns)
    return [observed(replace(column, codes=column.codes[rows])) for column in columns]


@dataclass(frozen=True)
class FeatureCoding:
    """How the cells of a feature become codes: by the intervals between ``points``, or as states. ``gap``: the code of
    a missing cell; MISSING where it tells nothing."""

    name: str
    states: tuple[Any, ...]
    points: tuple[float, ...] | None = None
    gap: int = MISSING

    def codes(self, column: Column) -> Codes:
        """MISSING for a state that was not there when this was learned."""
        codes = self._codes_of_values(column)
        return codes if self.gap == MISSING else np.where(column.codes == MISSING, self.gap, codes)

    def _codes_of_values(self, column: Column) -> Codes:
        if self.points is not None:
            check_finite(column, place_in_frame)
            return interval_codes(column, self.points)
        code_of = {state: code for code, state in enumerate(self.states) if code != self.gap}
        return np.array([*(code_of.get(value, MISSING) for value in column.values), MISSING])[column.codes]

    def column(self, column: Column) -> Column:
        return Column(self.name, self.states, self.codes(column), declared=True)


def learned_codings(
    columns: Sequence[Column], weights: Codes, discretize: Discretize, *, gaps_stay: bool = False
) -> tuple[list[FeatureCoding], list[str]]:
    """How to code these columns and later ones like them, with notes on what is done to them. Where cells are missing,
    that is a state, unless ``gaps_stay``."""
    whole = whole_as_integers(columns, place_in_frame)
    rules = rules_by_column(discretize, whole)
    require_cut([column.name for column in whole if column.is_float and column.name not in rules])
    made, notes = cut_columns(whole, weights, discretize, rules)
    pairs = zip(made, columns, strict=True)
    return [_learned(column, given, weights, rules, gaps_stay=gaps_stay) for column, given in pairs], notes


def _learned(
    made: Column, given: Column, weights: Codes, rules: Mapping[str, Any], *, gaps_stay: bool
) -> FeatureCoding:
    points = learned_points(given, weights, rules[given.name]) if given.name in rules else None
    states = tuple(made.values if gaps_stay else with_missing_state(made).values)
    return FeatureCoding(made.name, states, points, len(made.values) if len(states) > len(made.values) else MISSING)


def log_likelihoods(
    network: Network, table: Table, ess: float, codes: Mapping[str, Codes], gaps: Mapping[str, Marks]
) -> Floats:
    """Of every row, as expected after the table with ``ess`` imaginary rows; cells marked in ``gaps`` are summed out. A
    state that the table does not have counts as one without rows; given such a state of a parent, all are alike."""
    arities = table.arities[[table.index(name) for name in network.names], None]
    is_gap = np.array([gaps[name] for name in network.names])
    coded = np.array([codes[name] for name in network.names])
    is_new = (coded == MISSING) & ~is_gap
    coded = np.where(is_gap, MISSING, np.where(is_new, arities, coded))
    found = np.empty(coded.shape[1])
    patterns, which = np.unique(is_new, axis=1, return_inverse=True)
    for pattern, own in enumerate(patterns.T):
        rows = which.ravel() == pattern
        has_new = {name for name, new in zip(network.names, own, strict=True) if new}
        tables = [_with_new_states(network, table, ess, name, has_new) for name in network.names]
        found[rows] = log_likelihoods_of_rows(network, tables, coded[:, rows])
    return found


def log_density(
    network: Network, table: Table, ess: float, codes: Mapping[str, Codes], columns: Mapping[str, Column]
) -> float:
    """Return the mean log density of rows, by the network fitted to the table; codes are MISSING for states that the
    table does not have, which count as one without rows."""
    new = [name for name, own in codes.items() if (own == MISSING).any()]
    fitted = fit_regressions(network, with_more_states(table, new), ess)
    n_rows = len(columns[network.names[0]].codes)
    cells, numbers, states = list[Codes](), list[Floats](), list[tuple[Any, ...]]()
    for name in network.names:
        states.append(fitted.states.get(name, ()))
        cells.append(np.zeros(n_rows, dtype=np.int64))
        if name in fitted.states:
            cells[-1] = np.where(codes[name] == MISSING, len(states[-1]) - 1, codes[name])
        else:
            numbers.append(numbers_in(columns[name]))
    rows = Table.from_codes(network.names, cells, states=states, numbers=np.array(numbers))
    return fitted.log_likelihood(rows) / rows.n_rows


def _with_new_states(network: Network, table: Table, ess: float, name: str, has_new: Collection[str]) -> Floats:
    """The probabilities of a family, with a last state for those of its variables that have one the table has not."""
    parents = network.parents[name]
    counts = family_counts(table, table.index(name), [table.index(parent) for parent in parents])
    found = expected_probabilities(counts, ess)
    if name in has_new:
        new = ess / counts.size / (counts.sum(axis=-1, keepdims=True) + ess * counts.shape[-1] / counts.size)
        found = np.append(found, new, axis=-1)
    for axis, parent in enumerate(parents):
        if parent in has_new:
            alike = np.full((*found.shape[:axis], 1, *found.shape[axis + 1 :]), 1 / counts.shape[-1])
            found = np.append(found, alike, axis=axis)
    return found


def coded_classes(labels: NDArray[Any], name: str) -> tuple[NDArray[Any], Column]:
    """The classes, increasing, and the labels as a column of their places."""
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, Column(name, tuple(range(len(classes))), codes.astype(np.int64), declared=True)
