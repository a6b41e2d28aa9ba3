"""The best tree-augmented naive Bayes classifier, the scikit-learn way."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats
from topdag._util.brief import brief
from topdag._util.messages import place_in_frame
from topdag._util.options import option
from topdag.data.build import Options, weights_column, whole_weights
from topdag.data.columns import MISSING, Codes, Column, is_missing
from topdag.data.discretize import Discretize
from topdag.data.gaps import note_on_dropped
from topdag.data.table import table_of_columns
from topdag.errors import TableError
from topdag.estimators.base import Classifier, Learner, coded_classes, columns_from, has_gap, learned_codings, only_rows
from topdag.knowledge.classifiers import k_dependence
from topdag.networks.fit import fit_network
from topdag.networks.probability_tables import expected_probabilities, family_counts
from topdag.scoring.kinds.discrete import BDeu, ScoreKind, as_kind


class TANClassifier(Classifier, Learner):  # type: ignore[misc]
    """The best tree-augmented naive Bayes classifier of a table, with proof.

    Every feature has the class and at most ``k`` other features as parents, or no parents at all, so that features
    which tell nothing are left out; among all such networks this is one with the highest score (``scoring_method``, as
    for ``StructureLearner``). ``k=0`` is naive Bayes, ``k=1`` TAN. Probabilities are those expected after the table
    with ``ess`` imaginary rows.

    Numbers are cut as ``discretize`` says, by default into 5 states of about as many rows each; cuts are learned in
    ``fit`` and used again in ``predict``. Which columns are cut and which are states is as for ``Table``. A state that
    was not there in ``fit`` tells nothing about the class: its feature is left out, and a feature that has it as a
    parent is judged by the class alone. ``missing`` and ``leave_out`` are those of ``Table``; where missing is "drop",
    a missing cell of a row to be predicted tells nothing either.

    After ``fit``: ``classes_``, ``network_``, ``fitted_`` (its tables), ``answer_`` with its proof, ``class_name_``,
    ``n_features_in_`` and, of frames, ``feature_names_in_``.

    >>> TANClassifier().fit([[0, 1], [0, 0], [1, 1], [1, 0]] * 5, ["a", "a", "b", "b"] * 5).predict([[1, 1]]).tolist()
    ['b']
    """

    def __init__(
        self,
        scoring_method: str | ScoreKind = "bic",
        *,
        k: int = 1,
        ess: float = 1.0,
        discretize: Discretize = "quantile(5)",
        missing: str = "error",
        leave_out: Collection[str] = (),
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.scoring_method = scoring_method
        self.k = k
        self.ess = ess
        self.discretize = discretize
        self.missing = missing
        self.leave_out = leave_out
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.threads = threads

    @brief
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TANClassifier:  # noqa: N803
        """Learns the network of the features and the class ``y``; ``sample_weight``: how often each row counts, in
        whole numbers."""
        BDeu(self.ess)  # refuses what is not an equivalent sample size
        if Options(missing=self.missing).missing == "keep":
            raise TableError(f'TANClassifier takes {option("missing")} "error", "drop" or "state".')
        columns = columns_from(self, X, reset=True, allow_gaps=self.missing != "error")
        self.class_name_ = _free_name([column.name for column in columns])
        labels = _checked_labels(y, columns)
        weights = _checked_weights(sample_weight, len(labels))
        rows, notes = weights > 0, list[str]()
        if self.missing == "drop":
            notes += note_on_dropped(int((rows & has_gap(columns)).sum()), int(rows.sum()), "missing values")
            rows = rows & ~has_gap(columns)
        columns, labels, weights = only_rows(columns, rows), labels[rows], weights[rows]
        self.classes_, class_column = coded_classes(labels, self.class_name_)
        self.codings_, cut_notes = learned_codings(columns, weights, self.discretize)
        coded = [coding.column(column) for coding, column in zip(self.codings_, columns, strict=True)]
        options = Options(weights=weights, codes_are_states=True)
        table = table_of_columns([*coded, class_column], options, place_in_frame, [*notes, *cut_notes])
        kind = as_kind(self.scoring_method, "scoring_method")
        self._learn(table, kind, k_dependence(self.class_name_, self.k))
        self.fitted_ = fit_network(self.network_, table, self.ess)
        class_at = table.index(self.class_name_)
        counts = (family_counts(table, x, [class_at]) for x in range(class_at))
        self.by_class_alone_ = [expected_probabilities(own, self.ess) for own in counts]
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The probability of every class, in the order of ``classes_``, for each row."""
        logs = self.predict_log_proba(X)
        return np.asarray(np.exp(logs))

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The natural logs of ``predict_proba``."""
        joint = self._joint_logs(self._codes(X))
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each row; of equally probable ones the first."""
        codes = self._codes(X)
        return np.asarray(self.classes_[np.argmax(self._joint_logs(codes), axis=1)])

    def _codes(self, rows: Any) -> dict[str, Codes]:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "fitted_")
        columns = columns_from(self, rows, reset=False, allow_gaps=self.missing != "error")
        return {coding.name: coding.codes(column) for coding, column in zip(self.codings_, columns, strict=True)}

    def _joint_logs(self, codes: dict[str, Codes]) -> Floats:
        """For each row and class: the log probability of the class and of the features that depend on it."""
        n_rows = len(next(iter(codes.values())))
        logs = np.tile(np.log(self.fitted_.tables[self.class_name_]), (n_rows, 1))
        for x, name in enumerate(codes):
            if self.class_name_ in self.network_.parents[name]:
                logs += self._feature_logs(name, self.by_class_alone_[x], codes)
        return logs

    def _feature_logs(self, name: str, by_class_alone: Floats, codes: dict[str, Codes]) -> Floats:
        """For each row and class: the log probability of the feature's state, 0 where that tells nothing."""
        parents = self.network_.parents[name]
        members = [codes[parent] for parent in parents if parent != self.class_name_]
        own = codes[name]
        by_class_last = np.moveaxis(self.fitted_.tables[name], parents.index(self.class_name_), -1)
        found = by_class_last[(*members, own)]
        is_strange = np.any([member == MISSING for member in members], axis=0) if members else np.zeros(len(own), bool)
        found[is_strange] = by_class_alone.T[own[is_strange]]
        found[own == MISSING] = 1.0
        return np.asarray(np.log(found))


def _checked_labels(labels: Any, columns: list[Column]) -> NDArray[Any]:
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if labels is None:
        raise TableError("TANClassifier requires y to be passed, but the target y is None: the class of each row")
    checked = column_or_1d(labels, warn=True)
    if checked.dtype == object and (gaps := [row for row, label in enumerate(checked) if is_missing(label)]):
        where = place_in_frame(gaps[0])
        raise TableError(f"Input y contains NaN: the class is missing in {where}; leave such rows out")
    check_classification_targets(checked)
    if len(checked) != len(columns[0].codes):
        raise TableError(f"Found {len(columns[0].codes)} rows of features but {len(checked)} of classes")
    return np.asarray(checked)


def _checked_weights(weights: Any, n_rows: int) -> Codes:
    if weights is None:
        return np.ones(n_rows, np.int64)
    found = whole_weights(weights_column(np.asarray(weights), n_rows), place_in_frame)
    if not found.any():
        raise TableError("sample_weight: all weights are zero, so that no row counts")
    return found


def _free_name(names: list[str]) -> str:
    """What the class is called in the network: "class", unless a feature is."""
    name = "class"
    while name in names:
        name += "_"
    return name
