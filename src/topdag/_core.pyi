"""
The compiled core of topdag: arrays in, arrays out. Not a public interface.
"""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class CellKind(enum.Enum):
    ONE = 0

    N_LOG_N = 1

    N_LOG_N_REGRET = 2

    LOG_RISING = 3

class Penalty(enum.Enum):
    NONE = 0

    PER_CELL = 1

    REGRET = 2

class SetFormula:
    """What a set of variables scores: a sum over its cells minus a penalty."""

    def __init__(self, kind: CellKind, parameter: float = 0.0, spread: bool = False, penalty: Penalty = Penalty.NONE, penalty_weight: float = 0.0) -> None: ...

    @property
    def parameter(self) -> float: ...

class CodedTable:
    """Coded columns of distinct rows with weights."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], arities: Sequence[int], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_variables(self) -> int: ...

def score_set(table: CodedTable, formula: SetFormula, variables: Sequence[int]) -> float: ...

def most_cells_with_hope(table: CodedTable, formula: SetFormula) -> float: ...

def scoring_bytes(table: CodedTable, formula: SetFormula, threads: int) -> float: ...

def lattice_bytes(n_variables: int) -> float: ...

def score_all_sets(table: CodedTable, formula: SetFormula, max_size: int, threads: int, seconds: float | None, on_tick: object | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
    """Scores of all sets, indexed by their bits; None when stopped."""

def score_all_sets_bde(table: CodedTable, ess: float, prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_size: int, threads: int, seconds: float | None, on_tick: object | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None: ...

def score_families_bds(table: CodedTable, ess: float, max_parents: int, threads: int, seconds: float | None, on_tick: object | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None: ...

def round_together(arrays: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], n_variables: int, threads: int) -> tuple[float, int]:
    """
    Rounds all arrays in place to one grid; returns the largest magnitude and the grid's exponent.
    """

class LocalScores:
    """The local score of any family, however it is stored."""

def difference_scores(n_variables: int, joint: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> LocalScores: ...

def family_scores(n_variables: int, families: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> LocalScores: ...

def listed_scores(n_variables: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> LocalScores: ...

class LatticeResult:
    @property
    def finished(self) -> bool: ...

    @property
    def score(self) -> float: ...

    @property
    def parents(self) -> list[int]: ...

    @property
    def best_alone(self) -> list[float]: ...

    @property
    def sweep_seconds(self) -> float: ...

    @property
    def order_seconds(self) -> float: ...

def best_network(scores: LocalScores, threads: int, seconds: float | None, on_tick: object | None) -> LatticeResult: ...

def families_worth_keeping(scores: LocalScores, x: int, epsilon: float) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...
