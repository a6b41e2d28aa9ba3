"""Structure learning the scikit-learn way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from topdag._util.brief import brief
from topdag._util.messages import place_in_frame
from topdag.data.build import Options
from topdag.data.columns import MISSING, Codes, Column
from topdag.data.continuous import as_states
from topdag.data.discretize import Discretize, rules_by_column
from topdag.data.table import is_frame, table_of_columns
from topdag.errors import TableError
from topdag.estimators.base import (
    FeatureCoding,
    Learner,
    columns_from,
    has_gap,
    learned_codings,
    log_density,
    log_likelihoods,
    only_rows,
)
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import Prior
from topdag.questions.lists import k_best_networks
from topdag.questions.sums import edge_posteriors
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.kinds.for_table import scored_as

ESS = 1.0
"""Imaginary rows, for the probabilities of rows that were not there."""


class StructureLearner(Learner):
    """The best network of a frame or array, as a scikit-learn estimator.

    ``scoring_method`` is "bdeu", "bic", "aic", "k2", "fnml", "qnml", "bds", or for numbers "bge", "gaussian-bic",
    "gaussian-aic" or "mixed-bic", "rank-bic" for both, or a score such as ``BDeu(10)``;
    ``constraints``, ``prior``, ``max_parents`` and the limits are those of ``score`` and ``best_network``. ``k`` asks
    for the k best networks too, ``posteriors`` for the probability of every edge. ``discretize``, ``missing``
    and ``leave_out`` are those of ``Table``.

    After ``fit``: ``network_``, ``answer_`` with its proof, ``table_``, ``scores_`` (None where ``time_limit`` came
    first, or the limit was set beside a prior); ``networks_`` with ``k``,
    ``edge_posteriors_`` with ``posteriors=True``; ``n_features_in_`` and, of frames, ``feature_names_in_``.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rain": [0, 1, 0, 1, 0, 1], "wet": [0, 1, 0, 1, 0, 1]})
    >>> StructureLearner("bic").fit(frame).network_.n_edges
    1
    """

    def __init__(
        self,
        scoring_method: str | ScoreKind | None = None,
        *,
        constraints: Constraints | None = None,
        prior: Prior | None = None,
        max_parents: int | None = None,
        k: int | None = None,
        posteriors: bool = False,
        discretize: Discretize = None,
        types: Mapping[str, str] | None = None,
        missing: str = "auto",
        leave_out: Collection[str] = (),
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.scoring_method = scoring_method
        self.constraints = constraints
        self.prior = prior
        self.max_parents = max_parents
        self.k = k
        self.posteriors = posteriors
        self.discretize = discretize
        self.types = types
        self.missing = missing
        self.leave_out = leave_out
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.threads = threads

    @brief
    def fit(self, X: Any, y: Any = None) -> StructureLearner:  # noqa: N803
        """Learns from rows of discrete variables, or of floats that ``discretize`` cuts; ``y`` is not used."""
        allow_gaps = self.missing != "error" or is_frame(X)  # of a frame, the table says it better
        columns = columns_from(self, X, reset=True, fewest_features=2, allow_gaps=allow_gaps)
        options = Options(self.discretize, self.missing, types=self.types)
        table = table_of_columns(columns, options, place_in_frame)
        self.table_, kind = scored_as(table, self.scoring_method, argument="scoring_method")
        kind.require_columns(self.table_)
        self.scores_ = self._learn(self.table_, kind, self.constraints, max_parents=self.max_parents, prior=self.prior)
        own = [column for column in columns if column.name in self.table_.names]
        self.codings_ = self._codings(own)
        source: Any = self.scores_
        asked: dict[str, Any] = dict(self._limits, prior=self.prior, time_limit=self.time_limit)
        if source is None:
            source = self.table_
            asked |= dict(kind=kind, constraints=self.constraints, max_parents=self.max_parents)
        if self.k is not None:
            self.networks_ = k_best_networks(source, self.k, **asked)
        if self.posteriors:
            self.edge_posteriors_ = edge_posteriors(source, **asked)
        return self

    @property
    def _gaps(self) -> str:
        """What is done with rows that have missing cells."""
        if self.missing != "auto":
            return self.missing
        return "keep" if self.table_.incomplete else "drop"

    def _codings(self, columns: list[Column]) -> list[FeatureCoding]:
        """How to code the columns that have states."""
        rules = rules_by_column(self.discretize, columns)
        kept = only_rows(columns, ~has_gap(columns)) if self._gaps == "drop" else columns
        own = [column if column.name in rules else as_states(column) for column in kept if self._has_states(column)]
        weights = np.ones(len(kept[0].codes), np.int64)
        cut = {column.name: rules.get(column.name) for column in own}
        return learned_codings(own, weights, cut, gaps_stay=self._gaps == "keep")[0]

    def _has_states(self, column: Column) -> bool:
        return bool(self.table_.states[self.table_.index(column.name)])

    @brief
    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Return the mean log density of rows held out, for cross-validation and searches over parameters.

        More is better. Where all columns have states it is a log probability, otherwise the log density in the units
        of the numbers: compare it on the same columns only. The network is fitted as ``Network.fit`` does, with one
        imaginary row. A state that was not there in ``fit`` counts as one without rows.

        Parameters
        ----------
        X : frame or array
            Rows with the columns of ``fit``. Those with missing cells are left out where ``fit`` left such rows out;
            where it kept them, missing cells are summed out.
        y : None
            Not used.

        Returns
        -------
        float
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "network_")
        columns = columns_from(self, X, reset=False, allow_gaps=self.missing != "error")
        columns = [column for column in columns if column.name in self.table_.names]
        gaps = {column.name: column.codes == MISSING for column in columns}
        if self._gaps == "drop":
            columns = only_rows(columns, ~has_gap(columns))
        if not len(columns[0].codes):
            raise TableError("No row is complete, so none can be scored.")
        if self._gaps != "keep" or self.table_.continuous:
            gaps = {column.name: np.zeros(len(column.codes), dtype=bool) for column in columns}
        by_name = {column.name: column for column in columns}
        codes = {own.name: self._places(own, own.codes(by_name[own.name])) for own in self.codings_}
        if self.table_.continuous:
            return log_density(self.network_, self.table_, ESS, codes, by_name)
        return float(log_likelihoods(self.network_, self.table_, ESS, codes, gaps).mean())

    def _places(self, coding: FeatureCoding, codes: Codes) -> Codes:
        """Places among the states of the table, MISSING for those that it does not have."""
        place = {state: i for i, state in enumerate(self.table_.states[self.table_.index(coding.name)])}
        return np.array([*(place.get(state, MISSING) for state in coding.states), MISSING])[codes]
