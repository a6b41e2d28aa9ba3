"""The probabilities that parameter constraints allow a variable, given the parents they name, split into parts.

A region is over q configurations of the named parents with r states each, as vectors of q * r cells. Configurations
that no row joins are independent, so each part of a region is settled by itself, by the simplest way that is exact.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks
from topdag.errors import ScoreError

if TYPE_CHECKING:
    from topdag.knowledge.probabilities import ParameterConstraint, States
    from topdag.scoring.kinds.isotonic import Arc


MOST_NAMED_CELLS = 4096
"""Of one variable given its named parents; linear algebra on more would take minutes for each family."""
LEAST_TO_SPARE = 1e-9
"""Rows that can never have more to spare count as equalities."""
LP_TOLERANCE = 1e-10
RARE = 1e-2
MOST_SCALED = 256
"""Cells whose largest probabilities are looked for, one by one."""


class Way(enum.Enum):
    """How a part is settled. All but CONVEX are closed forms."""

    FREE = "frequencies"
    POOLED = "pooled frequencies"
    BOX = "frequencies cut to bounds"
    CHAIN = "isotonic regression along a chain"
    ORDER = "isotonic regression on a partial order"
    CONVEX = "convex optimisation"


@dataclass(frozen=True, eq=False)
class Restrictions:
    """upper @ p <= limit and equal @ p == value, beside p >= 0 and the sum 1 of each configuration."""

    upper: Floats
    limit: Floats
    equal: Floats
    value: Floats

    def on(self, cells: Integers) -> Restrictions:
        """The rows that have a coefficient at these cells, over just them."""
        upper, equal = (matrix[:, cells] for matrix in (self.upper, self.equal))
        some_upper, some_equal = upper.any(axis=1), equal.any(axis=1)
        return Restrictions(upper[some_upper], self.limit[some_upper], equal[some_equal], self.value[some_equal])

    def excess(self, p: Floats) -> float:
        """How far the rows are from holding; 0 when all hold."""
        over = (self.upper @ p - self.limit).max(initial=0.0)
        return float(max(over, np.abs(self.equal @ p - self.value).max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Scaled:
    """A part in shares of the most that each live cell can be, p = size * u: rare states are as sharp as others.

    ``upper @ u <= limit``: what can hold strictly, but u >= 0; ``basis @ u == basis @ inside``, rows orthonormal: all
    that always holds with equality, sums included.
    """

    size: Floats
    upper: Floats
    limit: Floats
    basis: Floats
    inside: Floats


@dataclass(frozen=True, eq=False)
class JoinedPart:
    """Configurations joined by rows. ``inside``: probabilities that all rows allow, with as much to spare as can be.

    ``arcs``: for CHAIN and ORDER, rate[a] <= rate[b] of the second state, places counted in the part; ``bounds``: of
    that rate at every place, for BOX too. ``live``: cells that are not forced to 0. ``scaled``: the part for a solver.
    """

    configurations: Integers
    rows: Restrictions
    way: Way
    inside: Floats
    live: Marks
    scaled: Scaled
    arcs: tuple[Arc, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Region:
    """What is allowed: ``q`` configurations of the named parents, ``r`` states, rows, and independent parts."""

    q: int
    r: int
    rows: Restrictions
    parts: tuple[JoinedPart, ...]
    solved: dict[bytes, float] = field(default_factory=dict, repr=False)

    @property
    def inside(self) -> Floats:
        p = np.full((self.q, self.r), 1.0 / self.r)
        for part in self.parts:
            p[part.configurations] = part.inside.reshape(-1, self.r)
        return p


def region_of(child: str, named: Sequence[str], said: Sequence[ParameterConstraint], states: States) -> Region:
    """The region of a child; ScoreError naming constraints that contradict each other."""
    shape = tuple(len(states[name]) for name in (*named, child))
    if math.prod(shape) > MOST_NAMED_CELLS:
        raise ScoreError(
            f"The constraints on {child!r} name parents with {math.prod(shape):,} cells; at most {MOST_NAMED_CELLS:,}."
        )
    rows = rows_of(named, said, states, shape)
    q, r = math.prod(shape[:-1]), shape[-1]
    parts = [_part(rows, places, r) for places in _joined(rows, q, r)]
    if any(part is None for part in parts) or _says_nonsense(rows):
        raise ScoreError(f"No probabilities of {child!r} satisfy " + _conflict(named, said, states, shape) + ".")
    return Region(q, r, rows, tuple(part for part in parts if part is not None))


def rows_of(
    named: Sequence[str], said: Sequence[ParameterConstraint], states: States, shape: tuple[int, ...]
) -> Restrictions:
    """All rows over the cells of the child given all named parents, for each configuration of those not in a row."""
    matrices: dict[bool, list[Floats]] = {False: [], True: []}
    bounds: dict[bool, list[float]] = {False: [], True: []}
    for constraint in said:
        others = [name for name in named if name not in constraint.parents]
        own_rows = constraint.rows(states)
        for rest in itertools.product(*(range(len(states[name])) for name in others)):
            at = dict(zip(others, rest, strict=True))
            for row in own_rows:
                coefficients = np.zeros(shape)
                for cell, weight in row.terms:
                    codes = {**at, **dict(zip(constraint.parents, cell[:-1], strict=True))}
                    coefficients[(*(codes[name] for name in named), cell[-1])] += weight
                matrices[row.is_equal].append(coefficients.ravel())
                bounds[row.is_equal].append(row.bound)
    size = math.prod(shape)
    upper, equal = (np.array(matrices[is_equal]).reshape(-1, size) for is_equal in (False, True))
    return Restrictions(upper, np.array(bounds[False]), equal, np.array(bounds[True]))


def _conflict(named: Sequence[str], said: Sequence[ParameterConstraint], states: States, shape: tuple[int, ...]) -> str:
    """Constraints that contradict each other, no one of which can be left out for that."""
    needed = list(said)
    for constraint in said:
        fewer = [other for other in needed if other is not constraint]
        if _strictly_inside(rows_of(named, fewer, states, shape), shape[-1]) is None:
            needed = fewer
    return " and ".join(map(str, needed)) + (" together" if len(needed) > 1 else "")


def _says_nonsense(rows: Restrictions) -> bool:
    """Whether a row whose terms cancel asks a number to be what it is not; such a row is in no part."""
    wrong_upper = ~rows.upper.any(axis=1) & (rows.limit < 0)
    return bool(wrong_upper.any() or (~rows.equal.any(axis=1) & (rows.value != 0)).any())


def _joined(rows: Restrictions, q: int, r: int) -> list[Integers]:
    """The configurations in groups that rows join; those in no row are left out."""
    group = list(range(q))
    touched = np.zeros(q, dtype=bool)
    for row in (*rows.upper, *rows.equal):
        places = np.flatnonzero(row.reshape(q, r).any(axis=1)).tolist()
        touched[places] = True
        joined = {group[place] for place in places}
        group = [min(joined) if own in joined else own for own in group]
    heads = sorted({group[place] for place in np.flatnonzero(touched)})
    return [np.array([place for place in range(q) if group[place] == head]) for head in heads]


def _part(rows: Restrictions, places: Integers, r: int) -> JoinedPart | None:
    """One part with all that is known about it beforehand; None when it is empty."""
    cells = (places[:, np.newaxis] * r + np.arange(r)).ravel()
    own = rows.on(cells)
    found = _strictly_inside(own, r)
    if found is None:
        return None
    inside, live, strict = found
    way, arcs, bounds = _simplest_way(own, len(places), r)
    return JoinedPart(places, own, way, inside, live, _scaled(own, inside, live, strict, r), arcs, bounds)


def _simplest_way(rows: Restrictions, q: int, r: int) -> tuple[Way, tuple[Arc, ...], tuple[float, float]]:
    if _is_pooling(rows, q, r):
        return Way.POOLED, (), (0.0, 1.0)
    if r != 2:
        return Way.CONVEX, (), (0.0, 1.0)
    upper, limit = _rates(rows.upper, rows.limit)
    equal, value = _rates(rows.equal, rows.value)
    if q == 1:
        return Way.BOX, (), _interval(upper[:, 0], limit, equal[:, 0], value)
    is_bound, is_bound_equal = ((matrix != 0).sum(axis=1) == 1 for matrix in (upper, equal))
    bounds = {
        _interval(upper[is_bound, i], limit[is_bound], equal[is_bound_equal, i], value[is_bound_equal])
        for i in range(q)
    }
    arcs = _arcs(upper[~is_bound], limit[~is_bound])
    both = _arcs(equal[~is_bound_equal], value[~is_bound_equal])
    if arcs is None or both is None or len(bounds) > 1:
        return Way.CONVEX, (), (0.0, 1.0)
    unique = tuple(sorted({*arcs, *both, *((b, a) for a, b in both)}))
    return (Way.CHAIN if _is_chain(unique, q) else Way.ORDER), unique, bounds.pop()


def _arcs(matrix: Floats, bound: Floats) -> list[Arc] | None:
    """Rows that say rate[a] <= rate[b]; None when some say something else."""
    arcs = []
    for row, most_of_it in zip(matrix, bound, strict=True):
        low, high = np.flatnonzero(row > 0), np.flatnonzero(row < 0)
        if most_of_it != 0 or len(low) != 1 or len(high) != 1 or row.sum() != 0:
            return None
        arcs.append((int(low[0]), int(high[0])))
    return arcs


def _rates(matrix: Floats, bound: Floats) -> tuple[Floats, Floats]:
    """Rows over two states as rows over the probability of the second."""
    pairs = matrix.reshape(len(matrix), matrix.shape[1] // 2, 2)
    return pairs[:, :, 1] - pairs[:, :, 0], bound - pairs[:, :, 0].sum(axis=1)


def _interval(upper: Floats, limit: Floats, equal: Floats, value: Floats) -> tuple[float, float]:
    """Where one probability can be; not empty, as that has been looked at before."""
    low, high = [0.0], [1.0]
    for weight, bound in zip(upper, limit, strict=True):
        if weight:
            (high if weight > 0 else low).append(float(bound / weight))
    for weight, bound in zip(equal, value, strict=True):
        if weight:
            low.append(float(bound / weight))
            high.append(float(bound / weight))
    least = max(low)
    return least, max(least, min(high))


def _is_pooling(rows: Restrictions, q: int, r: int) -> bool:
    """Whether all that is said is that whole distributions are the same."""
    if len(rows.upper) or rows.value.any():
        return False
    said: set[tuple[int, int, int]] = set()
    for row in rows.equal.reshape(len(rows.equal), q, r):
        places, codes = np.nonzero(row)
        if len(places) != 2 or codes[0] != codes[1] or row.sum() != 0:
            return False
        said.add((int(places[0]), int(places[1]), int(codes[0])))
    return all((a, b, k) in said for a, b, _ in said for k in range(r))


def _is_chain(arcs: tuple[Arc, ...], q: int) -> bool:
    """Whether the arcs are a single path over all places; they join all of them, so counting is enough."""
    starts, ends = {a for a, _ in arcs}, {b for _, b in arcs}
    return len(arcs) == q - 1 and len(starts) == len(ends) == q - 1


def _strictly_inside(rows: Restrictions, r: int) -> tuple[Floats, Marks, Marks] | None:
    """Probabilities as far from the edge as can be, cells that need not be 0, rows that can be strict. None: empty."""
    m, size = rows.upper.shape
    demands = Restrictions(
        np.vstack([rows.upper, -np.eye(size)]),  # cells last
        np.concatenate([rows.limit, np.zeros(size)]),
        np.vstack([_sum_rows(size, r), rows.equal]),
        np.concatenate([np.ones(size // r), rows.value]),
    )
    every = np.ones(m + size, dtype=np.bool_)
    inside = _most_to_spare(demands, every)
    if inside is None:
        return None
    strict = _spare(demands, inside) > LEAST_TO_SPARE
    if not strict.all():
        strict = _can_be_strict(demands, strict)
        inside = _most_to_spare(demands, strict)
        if inside is None:
            return None
    return np.where(strict[m:], inside, 0.0), strict[m:], strict[:m]


def _can_be_strict(demands: Restrictions, known: Marks) -> Marks:
    """Rows that hold strictly at some point, ``known`` among them: each that is not known yet gets all there is."""
    strict = known.copy()
    for row in np.flatnonzero(~known):
        if not strict[row]:
            alone = np.arange(len(strict)) == row
            point = _most_to_spare(demands, alone)
            if point is not None:
                strict |= _spare(demands, point) > LEAST_TO_SPARE
    return strict


def _spare(demands: Restrictions, p: Floats) -> Floats:
    spare: Floats = demands.limit - demands.upper @ p
    return spare


def _most_to_spare(demands: Restrictions, among: Marks) -> Floats | None:
    """The point at which the least that these rows have to spare is most; None when no point is allowed."""
    size, many = demands.upper.shape[1], len(demands.upper)
    matrix = np.block(
        [[demands.upper, among[:, np.newaxis].astype(float)], [demands.equal, np.zeros((len(demands.equal), 1))]]
    )
    found = most(
        np.concatenate([np.zeros(size), [1.0]]),
        matrix,
        np.concatenate([np.full(many, -math.inf), demands.value]),
        np.concatenate([demands.limit, demands.value]),
        [(0.0, 1.0)] * (size + 1),
    )
    return None if found is None else found[:-1]


def _sum_rows(size: int, r: int) -> Floats:
    """The sum of each configuration."""
    return np.kron(np.eye(size // r), np.ones(r)).astype(np.float64)


def _scaled(rows: Restrictions, inside: Floats, live: Marks, strict: Marks, r: int) -> Scaled:
    size = _most_of_each(rows, inside, live, r)
    everywhere = np.zeros(len(live))
    everywhere[live] = size
    light, limit = _lightened(rows.upper, rows.limit, everywhere, r)
    upper, limit = light[strict][:, live] * size, limit[strict]
    largest = np.abs(upper).max(axis=1, initial=0.0)
    says = largest > 1e-12  # rows that hold whatever the probabilities say nothing
    upper, limit, largest = upper[says], limit[says], largest[says]
    light_equal, _ = _lightened(rows.equal, rows.value, everywhere, r)
    every = np.vstack([_sum_rows(len(live), r), light_equal, light[~strict]])[:, live] * size
    every = every / np.maximum(np.abs(every).max(axis=1, keepdims=True, initial=0.0), 1e-12)
    _, sizes, directions = np.linalg.svd(every, full_matrices=False)
    basis: Floats = directions[sizes > 1e-10 * sizes.max(initial=1.0)].astype(np.float64)
    return Scaled(size, upper / largest[:, np.newaxis], limit / largest, basis, inside[live] / size)


def _lightened(matrix: Floats, bound: Floats, size: Floats, r: int) -> tuple[Floats, Floats]:
    """The same rows, with a number taken from all coefficients of a configuration where that makes them smaller.

    Probabilities of a configuration sum to 1, so its bound falls by that number. Differences of sums near 1 become
    differences of what is missing to 1, which are sharp when that is tiny.
    """
    blocks = matrix.reshape(len(matrix), len(size) // r, r)
    weights = [(np.abs(blocks - blocks[..., k : k + 1]) * size.reshape(-1, r)).sum(axis=2) for k in range(r)]
    as_it_is = (np.abs(blocks) * size.reshape(-1, r)).sum(axis=2)
    choices = np.stack([as_it_is, *weights]).argmin(axis=0)
    taken = np.take_along_axis(np.pad(blocks, ((0, 0), (0, 0), (1, 0))), choices[..., np.newaxis], axis=2)
    return (blocks - taken).reshape(matrix.shape), bound - taken.sum(axis=(1, 2))


def _most_of_each(rows: Restrictions, inside: Floats, live: Marks, r: int) -> Floats:
    """The most that each live cell can be; 1 for all where none is rare."""
    if inside[live].min(initial=1.0) >= RARE or live.sum() > MOST_SCALED:
        return np.ones(int(live.sum()))
    matrix = np.vstack([rows.upper, rows.equal, _sum_rows(len(live), r)])
    low = np.concatenate([np.full(len(rows.upper), -math.inf), rows.value, np.ones(len(live) // r)])
    high = np.concatenate([rows.limit, rows.value, np.ones(len(live) // r)])
    bounds = [(0.0, float(alive)) for alive in live]
    sizes = []
    for cell in np.flatnonzero(live):
        found = most(np.eye(len(live))[cell], matrix, low, high, bounds)
        sizes.append(1.0 if found is None else max(float(found[cell]), float(inside[cell])))
    return np.array(sizes)


def most(
    reward: Floats, matrix: Floats, low: Floats, high: Floats, bounds: Sequence[tuple[float, float]]
) -> Floats | None:
    """The point of the greatest reward with low <= matrix @ x <= high, inside its bounds; None when there is none."""
    import highspy

    program: Any = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = -reward
    program.col_lower_ = np.array([own for own, _ in bounds])
    program.col_upper_ = np.array([own for _, own in bounds])
    program.row_lower_, program.row_upper_ = low, high
    columns, rows = np.nonzero(matrix.T)
    program.a_matrix_.start_ = np.searchsorted(columns, np.arange(matrix.shape[1] + 1)).astype(np.int32)
    program.a_matrix_.index_ = rows.astype(np.int32)
    program.a_matrix_.value_ = matrix.T[columns, rows]
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options: Mapping[str, Any] = {
        "output_flag": False,
        "threads": 1,
        "primal_feasibility_tolerance": LP_TOLERANCE,
        "dual_feasibility_tolerance": LP_TOLERANCE,
    }
    for option, setting in options.items():
        solver.setOptionValue(option, setting)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)
