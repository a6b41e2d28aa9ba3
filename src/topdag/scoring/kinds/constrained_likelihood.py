"""The greatest likelihood of counts under parameter constraints: how much it loses, and at which probabilities.

A loss is the log likelihood of the frequencies less that of the probabilities found, which satisfy the constraints. It
is exact for the closed forms; where a convex solver is needed, no other allowed probabilities lose less by more than
``CERTIFIED`` of the log likelihood, as a dual bound computed here shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from topdag._util.arrays import Floats, Integers
from topdag.errors import ScoreError
from topdag.scoring.kinds.isotonic import chain_rates, monotone_rates
from topdag.scoring.kinds.regions import JoinedPart, Region, Way, most

CERTIFIED = 1e-7
"""The largest share of a part's log likelihood that its dual bound may leave open."""
HOLDS = 1e-12
"""Frequencies that break a row by less satisfy it, but for rounding."""
SETTLED_TOGETHER = (Way.POOLED, Way.BOX, Way.CHAIN)
"""Settled for all slices together."""
LEAST_SPACE = 1e-12
"""By so much the convex solver must stay clear of the edge."""
MOST_STEPS = 20
MOST_REMEMBERED = 1 << 16
TOLERANCES = (1e-11, 1e-9, 1e-8)
"""What the convex solver is asked for, one after the other until its answer is certified; 1e-11 nearly always is."""


def total_loss(region: Region, counts: Integers) -> float:
    """The loss of all slices, counts[s, configuration of the named parents, state]; infinite when rows are excluded."""
    losses: list[float] = []
    for part in region.parts:
        own = counts[:, part.configurations]
        own = own[~_surely_allowed(part, own)]
        if not len(own):
            continue
        if part.way in SETTLED_TOGETHER:
            losses.append(losses_of(own, _settled_at_once(part, own)))
        else:
            losses += [_remembered_loss(region, part, slice_) for slice_ in own]
    return math.fsum(losses)


def fitted_probabilities(region: Region, counts: Integers) -> Floats:
    """The most likely probabilities of one slice, counts[configuration, state]; unseen ones well inside the region."""
    totals = counts.sum(axis=1, keepdims=True)
    p = np.where(totals > 0, counts / np.maximum(totals, 1), region.inside)
    for part in region.parts:
        p[part.configurations] = settled(part, counts[part.configurations])
    return p


def settled(part: JoinedPart, counts: Integers) -> Floats:
    """The most likely allowed probabilities of one part."""
    r = counts.shape[1]
    if not counts.any():
        return part.inside.reshape(-1, r)
    if part.way in SETTLED_TOGETHER:
        alone: Floats = _settled_at_once(part, counts[np.newaxis])[0]
        return alone
    if part.way is Way.CONVEX:
        completed = _completed(part, counts)
        return _convex(part, counts) if completed is None else completed
    rates = monotone_rates(counts[:, 1].tolist(), counts.sum(axis=1).tolist(), part.arcs)
    found = [(float(1 - rate), float(rate)) for rate in rates if rate is not None]
    return _cut(part, np.array(found))


def _settled_at_once(part: JoinedPart, counts: Integers) -> Floats:
    """Of many slices, each with some counts, where the closed form is a formula."""
    if part.way is Way.POOLED:
        together = counts.sum(axis=1, keepdims=True)
        return np.broadcast_to(together / together.sum(axis=2, keepdims=True), counts.shape)
    order = _path(part) if part.way is Way.CHAIN else [0]
    hits, trials = counts[:, order, 1], counts[:, order].sum(axis=2)
    p = np.empty(counts.shape)
    p[:, order, 1], p[:, order, 0] = chain_rates(hits, trials)
    return _cut(part, p)


def _cut(part: JoinedPart, p: Floats) -> Floats:
    """Bounds that hold everywhere only cut isotonic rates off."""
    low, high = part.bounds
    rate = p[..., 1:]
    return np.where(rate < low, [1.0 - low, low], np.where(rate > high, [1.0 - high, high], p))


def losses_of(counts: Integers, p: Floats) -> float:
    """What the log likelihood loses from the frequencies to ``p``; never negative, infinite when p excludes a row."""
    totals = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)
    seen = counts > 0
    if (p[seen] <= 0).any():
        return math.inf
    shares = counts[seen] / totals[seen]
    return max(0.0, math.fsum((counts[seen] * np.log(shares / p[seen])).tolist()))


def _surely_allowed(part: JoinedPart, counts: Integers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Slices whose frequencies satisfy all rows, or that have no counts at all; others may do so too."""
    totals = counts.sum(axis=2, keepdims=True)
    shares = (counts / np.maximum(totals, 1)).reshape(len(counts), -1)
    holds = (shares @ part.rows.upper.T <= part.rows.limit + HOLDS).all(axis=1)
    holds &= (np.abs(shares @ part.rows.equal.T - part.rows.value) <= HOLDS).all(axis=1)
    return np.asarray(holds & (totals > 0).all(axis=(1, 2)) | (totals == 0).all(axis=(1, 2)))


def _remembered_loss(region: Region, part: JoinedPart, counts: Integers) -> float:
    """Slices of different families are often the same."""
    key = part.configurations.tobytes() + counts.tobytes()
    if key not in region.solved:
        if len(region.solved) >= MOST_REMEMBERED:
            region.solved.clear()
        region.solved[key] = losses_of(counts, settled(part, counts)) if _is_possible(part, counts) else math.inf
    return region.solved[key]


def _is_possible(part: JoinedPart, counts: Integers) -> bool:
    """Whether no cell with rows is forced to probability 0."""
    return not counts.ravel()[~part.live].any()


def _path(part: JoinedPart) -> list[int]:
    """The places of a chain, lowest first."""
    after = dict(part.arcs)
    order = [next(place for place in after if place not in after.values())]
    while order[-1] in after:
        order.append(after[order[-1]])
    return order


def _completed(part: JoinedPart, counts: Integers) -> Floats | None:
    """The frequencies, when they are allowed for some probabilities of the configurations without counts."""
    totals = counts.sum(axis=1)
    shares: Floats = counts / np.maximum(totals, 1)[:, np.newaxis]
    if totals.all():
        return shares if part.rows.excess(shares.ravel()) <= HOLDS else None
    seen = np.repeat(totals > 0, counts.shape[1])
    known, rows = shares.ravel(), part.rows
    left, left_equal = rows.limit - rows.upper @ known, rows.value - rows.equal @ known
    upper, equal = rows.upper[:, ~seen], rows.equal[:, ~seen]
    some, some_equal = upper.any(axis=1), equal.any(axis=1)
    if (left[~some] < -HOLDS).any() or (np.abs(left_equal[~some_equal]) > HOLDS).any():
        return None
    sums = np.kron(np.eye(int((totals == 0).sum())), np.ones(counts.shape[1]))
    fixed = np.vstack([equal[some_equal], sums])
    value = np.concatenate([left_equal[some_equal], np.ones(len(sums))])
    # The last column is what every row with an unseen cell has to spare.
    found = most(
        np.concatenate([np.zeros(upper.shape[1]), [1.0]]),
        np.block([[upper[some], np.ones((int(some.sum()), 1))], [fixed, np.zeros((len(fixed), 1))]]),
        np.concatenate([np.full(int(some.sum()), -math.inf), value]),
        np.concatenate([left[some], value]),
        [(0.0, 1.0)] * (upper.shape[1] + 1),
    )
    if found is None:
        return None
    known[~seen] = found[:-1]
    return known.reshape(counts.shape)


def _convex(part: JoinedPart, counts: Integers) -> Floats:
    """By the convex solver, made sharper and moved inside the region; a dual bound shows how good it is."""
    open_share = math.inf
    for tolerance in TOLERANCES:
        found = _ask_solver(part, counts, tolerance)
        for point in (_sharpened(part, counts, found), found):
            p = moved_inside(part, counts, point.u)
            open_share = dual_gap(part, counts, p, point)
            if open_share <= CERTIFIED:
                return p.reshape(counts.shape)
    raise ScoreError(
        f"The convex solver left {open_share:.1e} of a log likelihood open, more than {CERTIFIED:g}; bounds "
        "near 0 that the data break by far make this hard. Counts: " + str(counts.tolist())
    )


@dataclass(frozen=True, eq=False)
class PricedCells:
    """Live cells in the part's scaled units, with the prices of equalities, upper rows and (unseen) cells at 0."""

    u: Floats
    equal: Floats
    upper: Floats
    cells: Floats


def _ask_solver(part: JoinedPart, counts: Integers, tolerance: float) -> PricedCells:
    """What the convex solver says, with weights for counts.

    Variables: the live cells u, then a log t for each cell with counts; (t, 1, u) in the exponential cone.
    """
    clarabel, sparse = _solver()
    scaled = part.scaled
    weights = counts.ravel()[part.live] / counts.sum()
    size, seen = len(weights), np.flatnonzero(weights)
    unseen = np.flatnonzero(weights == 0)
    cones = np.zeros((3 * len(seen), size + len(seen)))
    cones[np.arange(0, 3 * len(seen), 3), size + np.arange(len(seen))] = -1.0
    cones[np.arange(2, 3 * len(seen), 3), seen] = -1.0
    linear = np.vstack([scaled.basis, scaled.upper, -np.eye(size)[unseen]])
    matrix = np.vstack([np.hstack([linear, np.zeros((len(linear), len(seen)))]), cones])
    limit = np.concatenate([scaled.limit, np.zeros(len(unseen))])
    spare = limit - linear[len(scaled.basis) :] @ scaled.inside
    limit = limit - np.minimum(LEAST_SPACE, spare / 100)  # so that what it finds is inside, for all its rounding
    right = np.concatenate([scaled.basis @ scaled.inside, limit, np.tile([0.0, 1.0, 0.0], len(seen))])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    kinds = [
        clarabel.ZeroConeT(len(scaled.basis)),
        clarabel.NonnegativeConeT(len(limit)),
        *(clarabel.ExponentialConeT() for _ in seen),
    ]
    reward = np.concatenate([np.zeros(size), -weights[seen]])
    nothing = sparse.csc_matrix((len(reward), len(reward)))
    solver = clarabel.DefaultSolver(nothing, reward, sparse.csc_matrix(matrix), right, kinds, settings)
    found = solver.solve()
    x, z = np.array(found.x), np.array(found.z)
    equal, prices = z[: len(scaled.basis)], np.maximum(z[len(scaled.basis) : len(linear)], 0.0)
    cells = np.zeros(size)
    cells[unseen] = prices[len(scaled.upper) :]
    return PricedCells(x[:size], equal, prices[: len(scaled.upper)], cells)


def _sharpened(part: JoinedPart, counts: Integers, found: PricedCells) -> PricedCells:
    """Newton's steps on the rows that are tight at the solution, those whose price exceeds what they have to spare.

    In units of u where there are counts, so that small probabilities are as sharp as large ones.
    """
    scaled = part.scaled
    weights = counts.ravel()[part.live] / counts.sum()
    tight, at_zero = found.upper > scaled.limit - scaled.upper @ found.u, found.cells > found.u
    fixed = np.vstack([scaled.basis, scaled.upper[tight], np.eye(len(weights))[at_zero]])
    value = np.concatenate([scaled.basis @ scaled.inside, scaled.limit[tight], np.zeros(int(at_zero.sum()))])
    seen = weights > 0
    u, prices = np.where(seen, np.maximum(found.u, 1e-300), found.u), np.zeros(len(fixed))
    for _ in range(MOST_STEPS):
        unit = np.where(seen, u, 1.0)
        rows = fixed * unit
        system = np.block([[np.diag(weights), rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        solved = np.linalg.lstsq(system, np.concatenate([weights, value - fixed @ u]), rcond=1e-14)[0]
        step, prices = solved[: len(u)], solved[len(u) :]
        u = u + min(1.0, 0.9 / max(float(-step[seen].min()), 0.9)) * unit * step
        if np.abs(step).max() < 1e-14:
            break
    n_equal, every = len(scaled.basis), np.zeros(len(scaled.limit))
    every[tight] = np.maximum(prices[n_equal : n_equal + int(tight.sum())], 0.0)
    return PricedCells(u, prices[:n_equal], every, found.cells)


def moved_inside(part: JoinedPart, counts: Integers, raw: Floats) -> Floats:
    """Probabilities: the nearest point of all equalities, then as little as needed towards the inside point."""
    scaled = part.scaled
    u = np.where(np.isfinite(raw), raw, scaled.inside)
    u = u - scaled.basis.T @ (scaled.basis @ (u - scaled.inside))
    upper = np.vstack([scaled.upper, -np.eye(len(u))])
    limit = np.concatenate([scaled.limit, np.zeros(len(u))])
    over, spare = upper @ u - limit, limit - upper @ scaled.inside
    broken = over > 0
    step = float((over[broken] / (over[broken] + np.maximum(spare[broken], 0.0))).max(initial=0.0))
    if (u[counts.ravel()[part.live] > 0] <= 0).any():
        step = max(step, 1e-12)
    p = np.zeros(len(part.live))
    p[part.live] = scaled.size * np.maximum((1 - step) * u + step * scaled.inside, 0.0)
    return p


def dual_gap(part: JoinedPart, counts: Integers, p: Floats, priced: PricedCells) -> float:
    """How much more, as a share of the log likelihood or of 1 if that is less, any allowed probabilities could reach.

    Any prices give a bound: of all distributions, without the rows but with their cost, none scores more. Per
    configuration that is n * ln(n / (cost + price)) summed, with the price at which the shares n / (cost + price) sum
    to 1; cells without counts must not cost less than nothing.
    """
    scaled = part.scaled
    total = float(counts.sum())
    weights = counts.ravel() / total
    cost = np.full(len(weights), math.inf)
    cost[part.live] = (scaled.basis.T @ priced.equal + scaled.upper.T @ priced.upper) / scaled.size
    bound = float(priced.upper @ scaled.limit + priced.equal @ (scaled.basis @ scaled.inside))
    for own, costs in zip(weights.reshape(counts.shape), cost.reshape(counts.shape), strict=True):
        bound += _most_of_one(own, costs)
    seen = weights > 0
    reached = float(weights[seen] @ np.log(p[seen]))
    return (bound - reached) / max(abs(reached), 1.0 / total)


def _most_of_one(weights: Floats, costs: Floats) -> float:
    """The largest sum of weight * ln p - cost * p over distributions p, from above."""
    seen = weights > 0
    if not seen.any():
        return float(-costs.min())
    own, own_costs = weights[seen], costs[seen]
    price = float((own - own_costs).max())  # the shares sum to 1 or more here; Newton's steps stay on this side
    for _ in range(100):
        parts = own / (own_costs + price)
        step = (parts.sum() - 1) / (parts / (own_costs + price)).sum()
        price += step
        if step <= 1e-16 * abs(price):
            break
    price = max(price, float(np.max(-costs[~seen], initial=-math.inf)))
    return float(own @ np.log(own / (own_costs + price)) - own.sum() + price)


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
        from scipy import sparse
    except ImportError as error:
        raise ImportError(
            "These parameter constraints have no closed form and need a convex solver: pip install "
            "'topdag[parameters]' (clarabel). Closed forms: docs/guides/probability_constraints.md."
        ) from error
    return clarabel, sparse
