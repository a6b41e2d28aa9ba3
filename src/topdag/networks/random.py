"""Random networks with random probabilities, to try things out on a known truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.options import option
from topdag.errors import NetworkError, is_finite
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network
from topdag.networks.probability_tables import MOST_CELLS, seeded

ARCS_PER_VARIABLE = 1.5  # between alarm (1.24) and insurance (1.93)
MOST_RANDOM_VARIABLES = 5000  # arcs are drawn from a list of all pairs


def random_network(
    variables: int | Iterable[str],
    *,
    arcs: int | None = None,
    arities: int | Sequence[int] = 2,
    max_parents: int | None = None,
    concentration: float = 1.0,
    seed: int,
) -> FittedNetwork:
    """A network with ``arcs`` arcs and Dirichlet(``concentration``) tables, the same for the same seed.

    The order of the variables is drawn first, then each arc in turn, uniformly among the pairs that agree
    with the order and whose child has fewer than ``max_parents`` parents; by default 1.5 arcs per variable,
    or as many as fit. ``variables`` is a number (names V0, V1, ...) or the names. ``arities`` is one number
    for all, a tuple (low, high) to draw from, both included, or a list with one number per variable. States
    are s0, s1, ...

    >>> random_network(5, arcs=6, max_parents=2, seed=1).network
    Network(5 variables, 6 edges)
    """
    if not (concentration > 0 and is_finite(concentration)):
        raise NetworkError(f"concentration should be a positive number, not {concentration}.")
    names = _names_of(variables)
    generator = seeded(seed)
    network = _random_structure(names, arcs, max_parents, generator)
    arity_of = dict(zip(names, _drawn_arities(arities, len(names), generator), strict=True))
    shapes = {name: [arity_of[axis] for axis in (*network.parents[name], name)] for name in names}
    _check_cells(shapes)
    states = {name: tuple(f"s{code}" for code in range(arity)) for name, arity in arity_of.items()}
    tables = {name: _random_table(shape, concentration, generator) for name, shape in shapes.items()}
    return FittedNetwork(network, states, tables)


def _names_of(variables: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(variables, int | np.integer):
        variables = [f"V{v}" for v in range(min(variables, MOST_RANDOM_VARIABLES + 1))]
    names = Network(variables, {}).names
    if not names:
        raise NetworkError("A random network needs at least one variable.")
    if len(names) > MOST_RANDOM_VARIABLES:
        raise NetworkError(f"A random network has at most {MOST_RANDOM_VARIABLES:,} variables. Ask for fewer.")
    return names


def _random_structure(
    names: tuple[str, ...], arcs: int | None, max_parents: int | None, generator: np.random.Generator
) -> Network:
    limit = len(names) - 1 if max_parents is None else max_parents
    wanted = _checked_arcs(len(names), arcs, limit)
    order = generator.permutation(len(names)).tolist()
    pairs = [(parent, child) for place, child in enumerate(order) for parent in order[:place]]
    masks = [0] * len(names)
    for drawn in generator.permutation(len(pairs)).tolist():
        parent, child = pairs[drawn]
        if not wanted:
            break
        if masks[child].bit_count() < limit:
            masks[child] |= 1 << parent
            wanted -= 1
    return Network.from_masks(names, masks)


def _checked_arcs(n_variables: int, arcs: int | None, limit: int) -> int:
    if limit < 0:
        raise NetworkError(f"{option('max_parents')} should not be negative, but is {limit}.")
    most = sum(min(place, limit) for place in range(n_variables))
    if arcs is None:
        return min(most, round(ARCS_PER_VARIABLE * n_variables))
    if not 0 <= arcs <= most:
        room = f"{n_variables} variables with at most {limit} parents each have room for 0 to {most}"
        raise NetworkError(f"A network with {arcs} arcs is impossible: {room}.")
    return arcs


def _drawn_arities(arities: int | Sequence[int], n_variables: int, generator: np.random.Generator) -> list[int]:
    if isinstance(arities, int | np.integer):
        drawn = [int(arities)] * n_variables
    elif isinstance(arities, tuple) and len(arities) == 2:
        drawn = generator.integers(min(arities), max(arities), size=n_variables, endpoint=True).tolist()
    else:
        drawn = [int(arity) for arity in arities]
    if len(drawn) != n_variables or min(drawn) < 1:
        raise NetworkError(f"arities should be 1 or more for each of {n_variables} variables, not {arities}.")
    return drawn


def _check_cells(shapes: Mapping[str, Sequence[int]]) -> None:
    cells = {name: math.prod(shape) for name, shape in shapes.items()}
    if sum(cells.values()) > MOST_CELLS:
        largest = max(cells, key=cells.__getitem__)
        raise NetworkError(
            f"The tables would have {sum(cells.values())} cells, that of {largest!r} alone {cells[largest]}; "
            f"at most {MOST_CELLS} are allowed. Lower {option('max_parents')}, arcs or arities."
        )


def _random_table(shape: Sequence[int], concentration: float, generator: np.random.Generator) -> Floats:
    return generator.dirichlet([concentration] * shape[-1], size=tuple(shape[:-1]))
