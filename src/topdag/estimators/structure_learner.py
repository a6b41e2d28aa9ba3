"""Structure learning the scikit-learn way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from topdag._util.brief import brief
from topdag._util.messages import place_in_frame
from topdag.data.build import Options
from topdag.data.columns import MISSING, Column
from topdag.data.discretize import Discretize
from topdag.data.table import is_frame, table_of_columns
from topdag.errors import ScoreError
from topdag.estimators.base import (
    FeatureCoding,
    Learner,
    columns_from,
    has_gap,
    learned_codings,
    log_likelihoods,
    only_rows,
)
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import Prior
from topdag.questions.lists import k_best_networks
from topdag.questions.sums import edge_posteriors
from topdag.scoring.for_table import scored_as
from topdag.scoring.kinds.discrete import ScoreKind

ESS = 1.0
"""Imaginary rows, for the probabilities of rows that were not there."""


class StructureLearner(Learner):
    """The best network of a frame or array, as a scikit-learn estimator.

    ``scoring_method`` is "bdeu", "bic", "aic", "k2", "fnml", "qnml", "bds", or for numbers "bge", "gaussian-bic",
    "gaussian-aic" or "mixed-bic", or a score such as ``BDeu(10)``;
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
        self.codings_ = None if self.table_.continuous else self._codings(own)
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

    def _codings(self, columns: list[Column]) -> list[FeatureCoding]:
        kept = only_rows(columns, ~has_gap(columns)) if self.missing == "drop" else columns
        weights = np.ones(len(kept[0].codes), np.int64)
        return learned_codings(kept, weights, self.discretize, gaps_stay=self.missing == "keep")[0]

    @brief
    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """The mean log probability of a row, more is better: for searches over parameters and cross-validation.

        Probabilities are those expected after the table with one imaginary row; a state that was not there in ``fit``
        counts as one without rows. Rows with missing cells are left out where ``missing`` is "drop", and missing cells
        are summed out where it is "keep".
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "network_")
        if self.codings_ is None:
            raise ScoreError("score() is for columns of states, and this score takes numbers.")
        columns = columns_from(self, X, reset=False, allow_gaps=self.missing != "error")
        if self.missing == "drop":
            columns = only_rows(columns, ~has_gap(columns))
        codes = {own.name: own.codes(column) for own, column in zip(self.codings_, columns, strict=True)}
        are_gaps = self.missing == "keep"
        gaps = {column.name: (column.codes == MISSING) & are_gaps for column in columns}
        return float(log_likelihoods(self.network_, self.table_, ESS, codes, gaps).mean())
