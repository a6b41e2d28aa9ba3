"""Fitted networks: a network with a probability table for every variable, to sample from and to evaluate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from topdag._util.arrays import Floats
from topdag.data.columns import MISSING
from topdag.errors import NetworkError
from topdag.networks.checks import require_known
from topdag.networks.network import Network
from topdag.networks.probability_tables import MOST_CELLS, Codes, drawn_states, require_rows, seeded

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.networks.missing_cells import ExpectedCounts

FITTED_FORMAT, VERSION = "topdag-fitted-network", 1
MOST_STATES_FITTED = 2**16 - 1  # as in tables, where the code after the last state is for a missing cell
SUM_TOLERANCE = 1e-9

Value = TypeVar("Value")


MOST_TABLES, MOST_ROWS, MOST_COLUMNS, MOST_LOOKED_AT = 12, 16, 8, 10_000
"""Of what a notebook shows."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class FittedNetwork:
    """A network with the states of its variables and their probabilities given their parents.

    ``tables[name][i, ..., j]`` is P(name = state j | first parent = its state i, ...), parents in the order
    of ``network.parents[name]``. The arrays are copies and read-only.

    >>> network = Network(["rain", "wet"], {"wet": ["rain"]})
    >>> states = {"rain": ("yes", "no"), "wet": ("yes", "no")}
    >>> fitted = FittedNetwork(network, states, {"rain": [0.2, 0.8], "wet": [[0.9, 0.1], [0.0, 1.0]]})
    >>> fitted.joint()[0, 1].round(6).item()
    0.02
    """

    network: Network
    states: Mapping[str, tuple[Hashable, ...]]
    tables: Mapping[str, Floats]
    notes: tuple[str, ...]
    """What is to be said about the probabilities, in sentences; not compared."""

    def __init__(
        self,
        network: Network,
        states: Mapping[str, Iterable[Hashable]],
        tables: Mapping[str, npt.ArrayLike],
        notes: Iterable[str] = (),
    ) -> None:
        given_states = _one_per_variable(network, states, "states")
        checked = {name: _checked_states(name, given) for name, given in given_states.items()}
        given_tables = _one_per_variable(network, tables, "table")
        arrays = {name: _checked_table(name, given, network, checked) for name, given in given_tables.items()}
        vars(self).update(
            network=network, states=MappingProxyType(checked), tables=MappingProxyType(arrays), notes=tuple(notes)
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> FittedNetwork:
        """The fitted network that ``to_dict`` wrote."""
        from topdag.networks.state_words import plain_states

        if (content.get("format"), content.get("version")) != (FITTED_FORMAT, VERSION):
            raise NetworkError(f"This is not a fitted network in format {FITTED_FORMAT!r}, version {VERSION}.")
        for key in ("network", "states", "tables"):
            if not isinstance(content.get(key), dict):
                raise NetworkError(f"{key!r} is not of the kind to_dict writes: {content.get(key)!r}.")
        if not all(isinstance(states, list) for states in content["states"].values()):
            raise NetworkError("'states' should hold a list for each variable.")
        notes = content.get("notes") or []
        if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise NetworkError(f"'notes' should be a list of texts, not {notes!r}.")
        states = {name: plain_states(name, own) for name, own in content["states"].items()}
        return cls(Network.from_dict(content["network"]), states, content["tables"], notes)

    @property
    def names(self) -> tuple[str, ...]:
        return self.network.names

    @property
    def arities(self) -> tuple[int, ...]:
        """The number of states of each variable, in column order."""
        return tuple(len(states) for states in self.states.values())

    def sample(self, rows: int, seed: int = 0) -> Table:
        """A table of independent rows, the same for the same seed.

        All states are declared, so arities do not depend on which of them happen to occur.
        """
        from topdag.data.table import Table

        require_rows(rows, len(self.names))
        codes = self._sample_codes(int(rows), seeded(seed))
        return Table.from_codes(self.names, codes, states=list(self.states.values()))

    def _sample_codes(self, rows: int, generator: np.random.Generator) -> Codes:
        codes: dict[str, Codes] = {}
        for name in self.network.order:
            parent_codes = [codes[parent] for parent in self.network.parents[name]]
            codes[name] = drawn_states(self.tables[name], parent_codes, generator.random(rows))
        return np.array([codes[name] for name in self.names], dtype=np.uint16).reshape(-1, rows)

    def log_probability(self, row: Mapping[str, Hashable]) -> float:
        """The natural log of the probability of a row with a state for every variable, None where it is not known; may
        be -inf."""
        given = _one_per_variable(self.network, row, "state")
        codes = [_code_of(name, state, self.states[name]) for name, state in given.items()]
        return float(self._log_likelihoods(np.array([codes]).T)[0])

    def log_likelihood(self, rows: Any) -> float:
        """The natural log of the probability of all rows of a table, frame, array or list; may be -inf. What is missing
        is summed out exactly.

        >>> fitted = Network(["a", "b"], {}).fit({"a": [0, 1], "b": [0, 0]})
        >>> round(fitted.log_likelihood([{"a": 1, "b": 0}]), 6)
        -0.693147
        """
        from topdag.data.encode import coded_rows
        from topdag.data.table import Table

        codes = coded_rows(self.names, tuple(self.states.values()), rows)
        weights = rows.weights if isinstance(rows, Table) else np.ones(codes.shape[1])
        return math.fsum((weights * self._log_likelihoods(codes)).tolist())

    def probabilities_given(self, row: Mapping[str, Hashable]) -> dict[str, dict[Hashable, float]]:
        """Of every variable that the row does not name, or names as None, how probable each state is given the others;
        exactly.

        >>> network = Network(["rain", "wet"], {"wet": ["rain"]})
        >>> states = {"rain": ("yes", "no"), "wet": ("yes", "no")}
        >>> fitted = FittedNetwork(network, states, {"rain": [0.2, 0.8], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> round(fitted.probabilities_given({"wet": "yes"})["rain"]["yes"], 6)
        0.692308
        """
        require_known(row, self.names)
        given = {name: _code_of(name, state, self.states[name]) for name, state in row.items()}
        known = {name: code for name, code in given.items() if code != MISSING}
        codes = [known.get(name, len(self.states[name])) for name in self.names]
        expected = self._expected(np.array([codes]).T, np.ones(1))
        if expected.log_likelihood == -math.inf:
            raise NetworkError("This row has probability 0, so nothing follows from it.")
        found = {}
        for name in (name for name in self.names if name not in known):
            own = expected.counts[name].reshape(-1, len(self.states[name])).sum(axis=0)
            found[name] = dict(zip(self.states[name], own.tolist(), strict=True))
        return found

    def _expected(self, codes: npt.NDArray[Any], weights: npt.NDArray[Any]) -> ExpectedCounts:
        from topdag.networks.missing_cells import IncompleteRows, MissingCells

        rows = IncompleteRows(codes.astype(np.uint16), weights.astype(np.float64), self.arities)
        return MissingCells(self.network, rows).expected_counts(self)

    def _log_likelihoods(self, codes: npt.NDArray[np.int64]) -> Floats:
        """Of every row, what is missing summed out."""
        from topdag.networks.missing_cells import log_likelihoods_of_rows

        return log_likelihoods_of_rows(self.network, list(self.tables.values()), codes)

    def joint(self) -> Floats:
        """P of every combination of states: a new array with one axis per variable, in column order."""
        cells = math.prod(self.arities)
        if cells > MOST_CELLS:
            raise NetworkError(f"The joint table would have {cells} cells; at most {MOST_CELLS} are allowed.")
        joint: Floats = np.ones((1,) * len(self.names))
        for name in self.network.order:  # the table grows with each variable, so the last steps cost the most
            joint = joint * self._on_all_axes(name)
        return joint

    def _on_all_axes(self, name: str) -> Floats:
        """The table of a variable with an axis for every variable, of length 1 for those not in it."""
        family = [self.names.index(member) for member in (*self.network.parents[name], name)]
        shape = [arity if v in family else 1 for v, arity in enumerate(self.arities)]
        return self.tables[name].transpose(np.argsort(family)).reshape(shape)

    def table(self, name: str) -> dict[tuple[Hashable, ...], dict[Hashable, float]]:
        """The probabilities of a variable by the states of its parents, then by its own; ``to_frame`` shows them."""
        require_known([name], self.names)
        cases = itertools.product(*(self.states[parent] for parent in self.network.parents[name]))
        rows = self.tables[name].reshape(-1, len(self.states[name])).tolist()
        return {case: dict(zip(self.states[name], row, strict=True)) for case, row in zip(cases, rows, strict=True)}

    def to_frame(self, name: str) -> Any:
        """The table of a variable as a pandas or Polars frame: parents, then a column for each state, "lung=yes"."""
        from topdag._util.to_frame import frame_of

        table = self.table(name)
        given = {parent: [case[i] for case in table] for i, parent in enumerate(self.network.parents[name])}
        return frame_of(
            given | {f"{name}={state}": [row[state] for row in table.values()] for state in self.states[name]}
        )

    def plain_names(self) -> FittedNetwork:
        """The same under names and states that every program reads: letters, digits and underscores, a letter first."""
        from topdag.networks.plain_names import plain_words

        network = self.network.plain_names()
        states = [plain_words(map(str, own), "s") for own in self.states.values()]
        tables = dict(zip(network.names, self.tables.values(), strict=True))
        return FittedNetwork(network, dict(zip(network.names, states, strict=True)), tables, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, strings and numbers, ready for JSON; ``from_dict`` reads them back."""
        from topdag.networks.state_words import plain_states

        return {
            "format": FITTED_FORMAT,
            "version": VERSION,
            "network": self.network.to_dict(),
            "states": {name: plain_states(name, states) for name, states in self.states.items()},
            "tables": {name: table.tolist() for name, table in self.tables.items()},
            "notes": list(self.notes),
        }

    def to_pgmpy(self) -> Any:
        """A ``pgmpy.models.DiscreteBayesianNetwork``, to ask questions of."""
        from topdag.networks.export import to_pgmpy

        return to_pgmpy(self.network, self)

    def to_pyagrum(self) -> Any:
        """A ``pyagrum.BayesNet``, to ask questions of; states become labels, that is, texts."""
        from topdag.networks.export import to_pyagrum

        return to_pyagrum(self)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` whose nodes have ``states`` and ``table``."""
        from topdag.networks.export import to_networkx

        return to_networkx(self.network, self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FittedNetwork):
            return NotImplemented
        if self.network != other.network or self.states != other.states:
            return False
        return all(np.array_equal(self.tables[name], other.tables[name]) for name in self.names)

    def _repr_html_(self) -> str:
        """For notebooks: the table of each variable, as far as they are not large."""
        from topdag._util.html import html_table, more

        shown = []
        for name in self.names[:MOST_TABLES]:
            parents, states = self.network.parents[name], self.states[name][:MOST_COLUMNS]
            table = list(self.table(name).items()) if self.tables[name].size <= MOST_LOOKED_AT else []
            rows = [(*case, *(f"{row[state]:.4f}" for state in states)) for case, row in table[:MOST_ROWS]]
            notes = more(self.tables[name].size - len(rows) * len(states))
            shown.append(html_table((*parents, *(f"{name}={state}" for state in states)), rows, notes=notes))
        left = more(len(self.names) - len(shown))
        return html_table((), (), repr(self), [*left, *self.notes]) + "".join(shown)

    def __hash__(self) -> int:
        return hash((self.network, tuple(self.states.values())))

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedNetwork, (self.network, dict(self.states), dict(self.tables), self.notes)

    def __repr__(self) -> str:
        free = sum(table.size - table.size // table.shape[-1] for table in self.tables.values())
        size = f"{len(self.names)} variables, {self.network.n_edges} edges"
        return f"FittedNetwork({size}, {free} free parameters)"


def _one_per_variable(network: Network, given: Mapping[str, Value], what: str) -> dict[str, Value]:
    """What was given for each variable, in column order."""
    require_known(given, network.names)
    if missing := [name for name in network.names if name not in given]:
        raise NetworkError(f"No {what} given for {', '.join(missing)}.")
    return {name: given[name] for name in network.names}


def _checked_states(name: str, states: Iterable[Hashable]) -> tuple[Hashable, ...]:
    checked = tuple(states)
    if isinstance(states, str):
        raise NetworkError(f"The states of {name!r} should be a list, not {states!r}.")
    if not 1 <= len(checked) <= MOST_STATES_FITTED:
        raise NetworkError(f"{name!r} has {len(checked)} states; 1 to {MOST_STATES_FITTED} are allowed.")
    if not all(isinstance(state, Hashable) for state in checked):
        raise NetworkError(f"The states of {name!r} cannot be lists or dicts.")
    if len(set(checked)) < len(checked):
        raise NetworkError(f"{name!r} has a state twice: {', '.join(map(str, checked))}.")
    return checked


def _checked_table(
    name: str, given: npt.ArrayLike, network: Network, states: Mapping[str, tuple[Hashable, ...]]
) -> Floats:
    try:
        table = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as trouble:
        raise NetworkError(f"The table of {name!r} is not an array of numbers: {trouble}.") from trouble
    axes = (*network.parents[name], name)
    shape = tuple(len(states[axis]) for axis in axes)
    if table.shape != shape:
        raise NetworkError(
            f"The table of {name!r} has shape {table.shape}, but its axes ({', '.join(axes)}) need {shape}."
        )
    _check_rows(table, {axis: states[axis] for axis in axes})
    table.setflags(write=False)
    return table


def _check_rows(table: Floats, axes: Mapping[str, tuple[Hashable, ...]]) -> None:
    """Every row along the last axis holds probabilities, finite and not negative, that sum to 1."""
    *parents, name = axes
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table.sum(axis=-1)
    right = (np.abs(sums - 1) <= SUM_TOLERANCE) & (table >= 0).all(axis=-1)
    if right.all():
        return
    case = tuple(np.argwhere(~right)[0])
    at = ", ".join(f"{parent}={axes[parent][code]}" for parent, code in zip(parents, case, strict=True))
    given = f" given {at}" if at else ""
    raise NetworkError(
        f"The probabilities of {name!r}{given} are {table[case].tolist()} with sum {sums[case]}; "
        "they should be finite, not negative and sum to 1."
    )


def _code_of(name: str, state: Hashable, states: tuple[Hashable, ...]) -> int:
    if state is None and None not in states:
        return MISSING
    if state not in states:
        raise NetworkError(f"{name!r} has no state {state!r}; its states are {', '.join(map(str, states))}.")
    return states.index(state)
