"""Averages over lists: how probable is an edge, a path, anything, and how much of the posterior does a list cover?

The formulas are those of Chen & Tian 2014 (AAAI), equations 3 to 6. A list's ``scores`` are its log weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Masks
from topdag._util.bitsets import bits, network_rows
from topdag._util.class_graph import components
from topdag._util.options import option
from topdag.answers.class_edges import EdgeCounts
from topdag.answers.features import Feature
from topdag.answers.features import feature as as_feature
from topdag.answers.held import HeldNetworks
from topdag.answers.lists import BestList, ClassList
from topdag.errors import NetworkError, ScoreError, TooLarge, is_finite
from topdag.networks.network import Network

ToAverage = BestList[Any] | Sequence[Network]
"""A list of networks or classes, or networks drawn from the posterior, which count alike."""
MOST_MEMBERS = 2_000_000


@dataclass(frozen=True)
class ListPosterior:
    """How probable a feature is, by a list.

    ``value``: its share of the list's weight. ``coverage``: the share of the whole posterior that the list holds, None
    when the evidence is not known. ``lower``, ``upper``: where the exact posterior must lie, whatever the networks
    outside the list are like; None without a coverage. ``last_factor``: how many times less probable the last network
    of the list is than the first. ``standard_error``: of networks drawn at random, by chance; None for lists.
    """

    feature: str
    value: float
    coverage: float | None
    lower: float | None
    upper: float | None
    last_factor: float | None
    standard_error: float | None = None

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" +- {self.standard_error:.2g}"
        if self.coverage is None:
            return f"{self.feature}: {self.value:.6g}{error}"
        interval = f"exactly from {self.lower:.6g} to {self.upper:.6g}"
        return f"{self.feature}: {self.value:.6g} by the list, {interval}, as it covers {self.coverage:.6g}"


def posterior(
    averaged: ToAverage,
    feature: Feature | Callable[[Network], float],
    *,
    evidence: float | None = None,
    weights: str = "networks",
) -> ListPosterior:
    """How probable a feature is, averaged over a list of networks or classes, or over networks drawn at random.

    ``evidence``: the log of the sum of all networks' weights; with it the answer has a ``coverage`` and an interval
    that holds the exact posterior. ``weights``, for lists of classes: "networks" lets a class count for each of its
    members (under constraints, each that satisfies them), "classes" once.

    >>> import topdag as td
    >>> classes = td.k_best_classes(td.score(td.example_table(), td.BDeu()), 100)
    >>> round(posterior(classes, td.features.path("smoke", "xray")).value, 2)
    0.5
    """
    asked = feature if isinstance(feature, Feature) else as_feature(feature)
    if not isinstance(averaged, BestList):
        _require_no_evidence(evidence)
        _require_networks_alike(weights)
        return _of_sample(averaged, asked)
    shares = _shares(averaged, weights)
    value = _within(float(shares @ _values(averaged, asked)), asked.between)
    covered = None if evidence is None else coverage(averaged, evidence, weights=weights)
    lower, upper = _interval(value, covered, asked.between)
    return ListPosterior(str(asked), value, covered, lower, upper, _last_factor(averaged))


def coverage(averaged: BestList[Any], evidence: float, *, weights: str = "networks") -> float:
    """The share of the whole posterior that a list holds; ``evidence`` is the log of the sum of all weights."""
    if not isinstance(evidence, (int, float)) or not is_finite(evidence):
        raise ScoreError(f"The evidence is a natural log, a finite number, not {evidence!r}.")
    if not isinstance(averaged, BestList):
        raise ScoreError("Only a list of networks or classes, best first, covers a share of the posterior.")
    logs = _log_weights(averaged, weights)
    behind = float(np.logaddexp.reduce(logs)) - evidence
    if behind > averaged.source.tolerance:
        raise ScoreError(
            f"The list alone weighs {behind + evidence:.6f} (a log), more than the evidence {evidence:.6f}. "
            "Are both of the same table, score and prior?"
        )
    return min(1.0, math.exp(behind))


def edge_matrix(averaged: ToAverage, *, weights: str = "networks") -> Floats:
    """How probable each edge is, by a list: at [i, j] the edge from ``names[i]`` to ``names[j]``."""
    if not isinstance(averaged, BestList):
        _require_networks_alike(weights)
        masks = _sampled(averaged)[1]
        return _directed_matrix(masks, np.full(len(masks), 1 / len(masks)))
    shares = _shares(averaged, weights)
    if isinstance(averaged, ClassList) and averaged.source.compiled is not None and averaged.parents.shape[1]:
        found = np.sum([_directed_matrix(masks, own) for own, masks in _weighted_members(averaged, shares)], axis=0)
    elif isinstance(averaged, ClassList):
        directed, undirected = averaged.edge_masks
        found = _directed_matrix(directed, shares) + _undirected_matrix(undirected, shares)
    else:
        found = _directed_matrix(averaged.parents, shares)
    everywhere = np.zeros((len(averaged.names),) * 2)
    everywhere[np.ix_(averaged.source.columns, averaged.source.columns)] = found
    return np.minimum(everywhere, 1.0)


def path_matrix(averaged: ToAverage) -> Floats:
    """How probable each path is, by a list or by networks drawn: at [i, j] that ``names[i]`` is an ancestor of
    ``names[j]``."""
    found = np.zeros((len(names_of(averaged)),) * 2)
    for weights, columns in _weighted_columns(averaged):
        close_under_paths(columns)
        for child, ancestors in enumerate(columns):
            for ancestor in range(len(columns)):
                found[ancestor, child] += weights[(ancestors >> ancestor & 1) == 1].sum()
    return np.minimum(found, 1.0)


def parent_set_shares(averaged: ToAverage) -> list[dict[int, float]]:
    """Of each variable the parent sets that occur, as bits over all variables, with their share of the weight."""
    found: list[dict[int, float]] = [{} for _ in names_of(averaged)]
    for weights, columns in _weighted_columns(averaged):
        for shares, column in zip(found, columns, strict=True):
            masks, which = np.unique(column, return_inverse=True)
            for mask, weight in zip(masks.tolist(), np.bincount(which.ravel(), weights).tolist(), strict=True):
                shares[mask] = shares.get(mask, 0.0) + weight
    return found


def names_of(averaged: ToAverage) -> tuple[str, ...]:
    return averaged.names if isinstance(averaged, HeldNetworks) else _sampled(averaged)[0]


def _weighted_columns(averaged: ToAverage) -> Iterator[tuple[Floats, list[NDArray[Any]]]]:
    """Networks, many at a time: the share of each, and per variable its parents in each, as bits over all variables.
    Those drawn count alike."""
    if isinstance(averaged, BestList):
        for weights, masks in _weighted_members(averaged, _shares(averaged, "networks")):
            yield weights, _all_columns(averaged, masks)
    else:
        masks = _sampled(averaged)[1]
        yield np.full(len(masks), 1 / len(masks)), list(masks.T)


def _weighted_members(averaged: BestList[Any], shares: Floats) -> Iterator[tuple[Floats, Masks]]:
    """The networks of a list, many at a time, with the share of each; of classes, all members that satisfy the
    constraints count alike."""
    if not isinstance(averaged, ClassList) or not averaged.parents.shape[1]:
        yield shares, averaged.parents
        return
    _require_few(averaged.n_networks, "paths")
    sizes = np.array([float(size) for size in averaged.satisfying])
    for places, masks in averaged.members(range(len(averaged))):
        yield shares[places] / sizes[places], masks


def close_under_paths(columns: list[NDArray[Any]]) -> None:
    """Turns parents into ancestors: who has someone as an ancestor has theirs too [Warshall 1962]."""
    for between, its_own in enumerate(columns):
        for child in range(len(columns)):
            reached = (columns[child] >> between & 1) == 1
            columns[child] = np.where(reached, columns[child] | its_own, columns[child])


def _directed_matrix(parents: NDArray[Any], shares: Floats) -> Floats:
    """By the distinct parent sets of each variable, which are few."""
    n = parents.shape[1]
    found = np.zeros((n, n))
    for child, column in enumerate(parents.T):
        masks, which = np.unique(column, return_inverse=True)
        weights = np.bincount(which.ravel(), shares)
        for mask, weight in zip(masks.tolist(), weights.tolist(), strict=True):
            found[bits(mask), child] += weight
    return found


def weighted_networks(averaged: ToAverage, weights: str) -> tuple[tuple[str, ...], NDArray[Any], Floats]:
    """Names, a row of parent masks over them for each network, and its share; of each class one member."""
    if isinstance(averaged, BestList):
        columns = _all_columns(averaged, averaged.parents)
        return averaged.names, np.array(columns).T, _shares(averaged, weights)
    _require_networks_alike(weights)
    names, masks = _sampled(averaged)
    return names, masks, np.full(len(masks), 1 / len(masks))


def _undirected_matrix(undirected: Masks, shares: Floats) -> Floats:
    """What the undirected edges of classes add, each way by the share of members; few classes differ in them."""
    n = undirected.shape[1]
    found, counts = np.zeros((n, n)), EdgeCounts()
    if not n:
        return found
    patterns: dict[tuple[int, ...], float] = {}
    for own, share in zip(map(tuple, undirected.tolist()), shares.tolist(), strict=True):
        patterns[own] = patterns.get(own, 0.0) + share
    for neighbours, weight in patterns.items():
        for component in components(neighbours):
            for (a, b), share in counts.shares(neighbours, component.bit_length() - 1).items():
                found[a, b] += weight * share
    return found


def _interval(value: float, covered: float | None, between: tuple[float, float]) -> tuple[float | None, float | None]:
    """The exact posterior is value on the part that is covered, and anything ``between`` on the rest."""
    if covered is None:
        return None, None
    ends = (covered * value + (1 - covered) * end for end in between)
    return _within(next(ends), between), _within(next(ends), between)


def _within(value: float, between: tuple[float, float]) -> float:
    """Sums of shares may pass a bound by rounding."""
    return min(max(value, between[0]), between[1])


def _last_factor(averaged: BestList[Any]) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(averaged.scores[0] - averaged.scores[-1]))


def _shares(averaged: BestList[Any], weights: str) -> Floats:
    logs = _log_weights(averaged, weights)
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def _log_weights(averaged: BestList[Any], weights: str) -> Floats:
    if weights not in ("networks", "classes"):
        raise ScoreError(f'{option("weights")} is "networks" or "classes", not {weights!r}.')
    if not len(averaged):
        raise ScoreError("The list is empty: there is nothing to average over.")
    if averaged.source.kind is not None and len(averaged) > 1:
        averaged.source.kind.require_likelihood("An average over a list")
    if not isinstance(averaged, ClassList):
        if weights == "classes":
            raise ScoreError(f"{option('weights', 'classes')} is for lists of classes; this is a list of networks.")
        return averaged.scores
    if weights == "classes":
        return averaged.scores
    return np.asarray(averaged.scores + np.log([float(size) for size in averaged.satisfying]))


def _values(averaged: BestList[Any], feature: Feature) -> Floats:
    """Of each item: the feature's value; for a class, the mean over its members."""
    has_edges = averaged.parents.shape[1] > 0  # without a scored variable there is one network, and its class
    if isinstance(averaged, ClassList) and not feature.class_invariant and has_edges:
        return _class_means(averaged, feature)
    return _column_values(feature, averaged.names, _all_columns(averaged, averaged.parents))


def _column_values(feature: Feature, names: Sequence[str], columns: list[NDArray[Any]]) -> Floats:
    values = np.asarray(feature.values(names, columns), dtype=np.float64)
    return np.broadcast_to(values, columns[0].shape)


def _all_columns(averaged: HeldNetworks[Any], scored: Masks) -> list[NDArray[Any]]:
    """Per variable its parents in each network, as bits over all variables; the constant ones have none."""
    names, places = averaged.names, averaged.source.columns
    if len(places) == len(names):
        return list(scored.T)
    dtype: Any = network_rows([], len(names)).dtype
    everywhere = np.zeros((len(names), len(scored)), dtype=dtype)
    for x, place in enumerate(places):
        for i, bit in enumerate(places):
            everywhere[place] |= (scored[:, x] >> i & 1).astype(dtype) << bit
    return list(everywhere)


def _class_means(classes: ClassList, feature: Feature) -> Floats:
    """The mean over the members of each class; members are listed only where nothing else tells."""
    values = _known_shares(classes, feature)
    unknown = np.flatnonzero(np.isnan(values)).tolist()
    _require_few(sum(classes.sizes[place] for place in unknown), feature)
    values[unknown] = 0.0
    sizes = np.array([float(size) for size in classes.satisfying])
    for places, masks in classes.members(unknown):
        found = _column_values(feature, classes.names, _all_columns(classes, masks))
        values += np.bincount(places, found / sizes[places], minlength=len(values))
    return values


def _known_shares(classes: ClassList, feature: Feature) -> Floats:
    """Of each class, what its edges tell; NaN where they do not, as where constraints allow some members only."""
    found = np.full(len(classes), np.nan)
    if feature.shares_in_classes is not None and classes.source.compiled is None:
        directed, undirected = (_all_columns(classes, masks) for masks in classes.edge_masks)
        found[:] = feature.shares_in_classes(classes.names, directed, undirected)
    return found


def _require_few(members: int, feature: Feature | str) -> None:
    if members > MOST_MEMBERS:
        raise TooLarge(
            f"{feature}: {members:,} members of classes would have to be listed; at most {MOST_MEMBERS:,} are. Shorten "
            "the list, or if all members of a class agree, say so with feature(..., class_invariant=True)."
        )


def _of_sample(drawn: Sequence[Network], feature: Feature) -> ListPosterior:
    names, masks = _sampled(drawn)
    values = _column_values(feature, names, list(masks.T))
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return ListPosterior(str(feature), float(values.mean()), None, None, None, None, error)


def _sampled(drawn: Sequence[Network]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """The names of networks drawn, and a row of parent masks for each."""
    if isinstance(drawn, HeldNetworks) and len(drawn):
        return drawn.names, np.array(_all_columns(drawn, drawn.parents)).T
    if not isinstance(drawn, Sequence) or not len(drawn) or not all(isinstance(network, Network) for network in drawn):
        raise NetworkError("Averages are over a list of networks or classes, or over one or more networks drawn.")
    names = drawn[0].names
    if any(network.names != names for network in drawn):
        raise NetworkError("The networks to average over must have the same variables in the same order.")
    return names, network_rows([network.masks for network in drawn], len(names))


def _require_networks_alike(weights: str) -> None:
    if weights != "networks":
        raise ScoreError(f"{option('weights', weights)} is for lists of classes; networks drawn at random count alike.")


def _require_no_evidence(evidence: float | None) -> None:
    if evidence is not None:
        raise ScoreError("The evidence says how much a list covers; networks drawn at random stand for all of them.")
