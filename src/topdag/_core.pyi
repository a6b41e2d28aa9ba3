"""
The compiled core of topdag: arrays in, arrays out. Not a public interface.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Limits:
    """How many threads may work, how long, and who watches and stops them."""

    def __init__(self, threads: int = 1, seconds: float | None = None, on_tick: object | None = None) -> None:
        """
        on_tick(phase, done, total, best, bound) is called now and then and says whether to stop.
        """

    @property
    def threads(self) -> int: ...

    @property
    def seconds(self) -> float | None:
        """None: no limit."""

def count_readings(wanted: bool) -> None:
    """
    For tests: whether the clock of all limits counts its readings, a second each, in place of real seconds.
    """

def clock_seconds() -> float:
    """A reading of the clock of all limits."""

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

def scoring_bytes(table: CodedTable, formula: SetFormula, max_size: int, threads: int) -> float: ...

def margin_tables(table: CodedTable, max_size: int, sets: float) -> float | None:
    """
    In how many tables the rows are counted at once, for so many sets; None where sets are counted one by one.
    """

def score_all_sets(table: CodedTable, formula: SetFormula, max_size: int, limits: Limits, masked: int = 32) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
    """
    Scores of all sets, indexed by their bits; None when stopped. masked: how many variables a mask holds.
    """

def score_all_sets_bde(table: CodedTable, ess: float, prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_size: int, limits: Limits) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None: ...

def score_families_bds(table: CodedTable, ess: float, max_parents: int, limits: Limits) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None: ...

EXACT_BITS: int = 52

def coarsest_exponent(n_variables: int, size: float = 0.0) -> int:
    """
    The exponent of the coarsest grid on which an answer may be called proved; size: what networks score at least, in size.
    """

STEPS_BEHIND: float = 5.0

def finest_exponent(n_variables: int, magnitude: float) -> int:
    """
    The exponent of the finest grid that sums over cells are good enough for which add up to so much.
    """

def grid_exponent(n_variables: int, magnitude: float, total: float = 0.0) -> int:
    """
    The exponent of the grid for values of this size; total: sums of them that must be exact, where known.
    """

def largest_magnitude(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> float:
    """The largest absolute value among the finite ones."""

def first_not_finite(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> int:
    """
    Where the first value stands that is not below infinity; as many as there are, when all are.
    """

def round_together(arrays: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], exponent: int, threads: int) -> None:
    """Rounds all arrays in place to one grid."""

class LocalScores:
    """The local score of any family, however it is stored."""

def difference_scores(n_variables: int, joint: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], before: Sequence[int] = [], limits: Sequence[tuple[int, int, int, int]] = []) -> LocalScores:
    """limits: by variable must, may, least, most; or none."""

def family_scores(n_variables: int, families: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: Sequence[int] = []) -> LocalScores: ...

def listed_scores(n_variables: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: Sequence[int] = []) -> LocalScores: ...

class Candidates:
    """
    The families that may be used, as costs against the best of each variable.
    """

    def __init__(self, n_variables: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_variables(self) -> int: ...

    @property
    def size(self) -> int: ...

class Listed(enum.Enum):
    NETWORKS = 0

    CLASSES = 1

class WalkCounts:
    @property
    def found(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def dead_ends(self) -> int: ...

class FoundNetworks:
    """Networks, and what is known of all others."""

    @property
    def finished(self) -> bool: ...

    @property
    def memory_hit(self) -> bool: ...

    @property
    def floor(self) -> float:
        """Whatever scores more is among them."""

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def parents(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]:
        """By network, then by variable."""

class BestList(FoundNetworks):
    """The best first."""

    @property
    def counts(self) -> WalkCounts: ...

class NetworkStream:
    """All networks above a threshold, in no particular order."""

    def next(self, most: int, limits: Limits) -> FoundNetworks:
        """
        The next ones: fewer than asked when time is up, or at the end, where it is finished.
        """

def lattice_bytes(n_variables: int) -> float: ...

def count_families(scores: LocalScores) -> int:
    """How many families are allowed."""

def families_worth_keeping(scores: LocalScores, x: int, epsilon: float) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

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

def best_network(scores: LocalScores, slack: float, limits: Limits) -> LatticeResult: ...

class Lattice:
    """Best parents, forward and backward tables over all sets."""

    @property
    def best_score(self) -> float: ...

    @property
    def best_alone(self) -> list[float]:
        """By variable, its best local score."""

    def best_parents(self, slack: float) -> list[int]:
        """
        The parents of each variable in the best network; parents that add no more are left out.
        """

    def family_bound(self, x: int, parents: int) -> float:
        """The score of the best network that has this family."""

def build_lattice(scores: LocalScores, limits: Limits) -> Lattice:
    """None when stopped."""

def edge_bounds(lattice: Lattice, limits: Limits) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
    """
    The best score with and without each edge parent -> child, at parent * n + child; None when stopped.
    """

@overload
def families_reaching(lattice: Lattice, threshold: float, limits: Limits) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None: ...

@overload
def families_reaching(lattice: BlockLattice, threshold: float, limits: Limits) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None: ...

@overload
def families_reaching(lattice: IdealLattice, threshold: float, limits: Limits) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None: ...

@overload
def families_reaching(lattice: SparseLattice, threshold: float, limits: Limits) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None:
    """
    By variable the families that some network scoring so much has: parents, local scores, and the scores of the best networks with them; None when stopped.
    """

@overload
def list_best(lattice: Lattice, what: Listed, most: int, lowest: float, limits: Limits) -> BestList: ...

@overload
def list_best(lattice: BlockLattice, what: Listed, most: int, lowest: float, limits: Limits) -> BestList: ...

@overload
def list_best(lattice: IdealLattice, what: Listed, most: int, lowest: float, limits: Limits) -> BestList: ...

@overload
def list_best(lattice: SparseLattice, what: Listed, most: int, lowest: float, limits: Limits) -> BestList: ...

@overload
def count_above(lattice: Lattice, what: Listed, lowest: float, limits: Limits) -> tuple[bool, WalkCounts]: ...

@overload
def count_above(lattice: BlockLattice, what: Listed, lowest: float, limits: Limits) -> tuple[bool, WalkCounts]: ...

@overload
def count_above(lattice: IdealLattice, what: Listed, lowest: float, limits: Limits) -> tuple[bool, WalkCounts]: ...

@overload
def count_above(lattice: SparseLattice, what: Listed, lowest: float, limits: Limits) -> tuple[bool, WalkCounts]:
    """finished, counts: when not finished, of what was found so far."""

@overload
def open_stream(lattice: Lattice, lowest: float, limits: Limits) -> NetworkStream: ...

@overload
def open_stream(lattice: BlockLattice, lowest: float, limits: Limits) -> NetworkStream: ...

@overload
def open_stream(lattice: IdealLattice, lowest: float, limits: Limits) -> NetworkStream: ...

@overload
def open_stream(lattice: SparseLattice, lowest: float, limits: Limits) -> NetworkStream:
    """None when stopped."""

class BlockLattice:
    """Forward and backward tables over all sets; best parents as lists."""

    @property
    def best_score(self) -> float: ...

    @property
    def best_alone(self) -> list[float]:
        """By variable, its best local score."""

    def best_parents(self, slack: float) -> list[int]:
        """
        The parents of each variable in the best network; parents that add no more are left out.
        """

    @property
    def kept_sets(self) -> list[int]:
        """By variable, how many parent sets score more than all their subsets."""

    @property
    def room_for_families(self) -> int:
        """How many families lists may read; more raise MemoryError."""

    @room_for_families.setter
    def room_for_families(self, arg: int, /) -> None: ...

    def best(self, x: int, within: int) -> float:
        """The best local score of x with parents among these."""

    def forward(self, placed: int) -> float: ...

    def order_backward(self, limits: Limits) -> bool:
        """Fills the backward table, which lists need; False when stopped."""

def block_lattice_bytes(n_variables: int, with_backward: bool, threads: int) -> float:
    """Bytes beside the scores and the lists of parent sets."""

def build_block_lattice(scores: LocalScores, backward: bool, limits: Limits, block_bits: int | None = None, narrow_bits: int = 32) -> BlockLattice:
    """None when stopped. Lists need the backward table."""

def block_families_for_k_best(lattice: BlockLattice, k: int, of_classes: bool, limits: Limits) -> tuple[float, list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None]:
    """A floor, and the families that reach it; None when stopped."""

class IdealLattice:
    """Best parents, forward and backward tables over ideals of an order."""

    @property
    def best_score(self) -> float: ...

    @property
    def best_alone(self) -> list[float]:
        """By variable, its best local score."""

    def best_parents(self, slack: float) -> list[int]:
        """
        The parents of each variable in the best network; parents that add no more are left out.
        """

    @property
    def n_sets(self) -> int: ...

def ideal_lattice_bytes(n_variables: int, n_ideals: float, with_backward: bool) -> float:
    """Bytes beside the scores."""

def count_ideals(scores: LocalScores, most: int) -> int:
    """
    How many sets of variables can come first, or `most` when there are more.
    """

def build_ideal_lattice(scores: LocalScores, backward: bool, limits: Limits) -> IdealLattice:
    """None when stopped. Lists need the backward table."""

class SparseLattice:
    """Forward and backward values on the sets that matter above a threshold."""

    @property
    def best_score(self) -> float: ...

    @property
    def lowest(self) -> float: ...

    @property
    def n_sets(self) -> int: ...

def build_sparse_lattice(candidates: Candidates, sets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: float, limits: Limits, before: Sequence[int] = []) -> SparseLattice:
    """
    None when stopped. Sets in an order of growing size, with the least cost of each.
    """

class MixedGraph:
    """
    The edges of a class: compelled ones by parents, the others by neighbours.
    """

    def __init__(self, parents: Sequence[int], neighbours: Sequence[int]) -> None: ...

    @property
    def parents(self) -> list[int]: ...

    @property
    def neighbours(self) -> list[int]: ...

def class_of(parents: Sequence[int]) -> MixedGraph: ...

def class_size(graph: MixedGraph) -> int:
    """How many networks the class has."""

def linear_extensions(parents: Sequence[int], most_sets: int) -> int | None:
    """
    How many orders agree with an acyclic network; None when it takes too many sets.
    """

class Members:
    """The networks of a class, one by one."""

    def __init__(self, graph: MixedGraph) -> None: ...

    def next(self) -> list[int] | None: ...

class PruningQuestion:
    """Which families are asked for, and what may cut them off."""

    def __init__(self, joint: SetFormula, below: Sequence[SetFormula], below_of: Sequence[int], max_parents: int, epsilon: float, k: int, rules: int, memory: float, total: float = 0.0, elsewhere: object | None = None, least_elsewhere: float = 0.0) -> None:
        """
        elsewhere(kind, parameter, spread, bits, sets): the sums over the cells of sets of places, or None to stop; for lists of at least so many sets times rows.
        """

class RowsElsewhere:
    """
    A table whose rows are elsewhere: its arities and how many rows it has.
    """

    def __init__(self, arities: Sequence[int], n_rows: int) -> None: ...

class SetCounter:
    """Sums over the cells of sets of places, for whoever asks elsewhere."""

    def __init__(self, table: CodedTable) -> None: ...

    def sums(self, kind: int, parameter: float, spread: bool, bits: int, sets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: Limits) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))] | None:
        """None when stopped."""

class KeptLists:
    """The families kept, and what was done for them."""

    @property
    def memory_needed(self) -> float: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def parents(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def grid(self) -> int: ...

    @property
    def limit(self) -> int: ...

    @property
    def n_scored(self) -> int: ...

class PrunedFamilies(KeptLists):
    @property
    def is_dense(self) -> bool: ...

    @property
    def n_sets(self) -> int: ...

    @property
    def n_cut(self) -> list[int]: ...

class GaussianFamilies(KeptLists):
    @property
    def degenerate(self) -> int: ...

    @property
    def n_cut(self) -> int: ...

@overload
def score_pruned(table: CodedTable, question: PruningQuestion, stop_when_dense: bool, limits: Limits) -> PrunedFamilies | None: ...

@overload
def score_pruned(table: RowsElsewhere, question: PruningQuestion, limits: Limits) -> PrunedFamilies | None:
    """None when stopped."""

def score_drawn(table: CodedTable, draws: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], question: PruningQuestion, limits: Limits) -> list[PrunedFamilies] | None:
    """
    By draw, weights of the table's distinct rows: the families of each. None when stopped, and where draws must be scored one by one.
    """

DRAWS_AT_ONCE: int = 32

def score_layers(table: CodedTable, question: PruningQuestion, must: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], limits: Limits) -> PrunedFamilies | None:
    """None when stopped."""

@overload
def grid_scores(table: CodedTable, question: PruningQuestion, formula: SetFormula, sets: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)]) -> tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The grid's exponent, and the scores of sets on the grid that score_pruned uses for this question.
    """

@overload
def grid_scores(table: RowsElsewhere, question: PruningQuestion, formula: SetFormula, sets: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)]) -> tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

class ClusterFamilies:
    """Families of each variable, for cluster cuts."""

    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)]) -> None: ...

    def separate(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_k: int, most_cuts: int, least_violation: float, most_steps: int, threads: int) -> tuple[NDArray[numpy.uint64], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Clusters (members, k) that these weights violate: grown, and searched for when none was grown.
        """

    def costs_under(self, members: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], ks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The bound of these multipliers of clusters on networks of allowed families, and each family's excess.
        """

    def ascend(self, members: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], ks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], excess: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], looked_at: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, sweeps: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Better multipliers of clusters, and weights of the families looked at."""

    def propagate(self, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Forbids, in place, families at odds with orders that all others force; False: no network.
        """

class CutList:
    """
    Cuts of a linear program, to have them back later or in another process.
    """

    def __len__(self) -> int: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def bytes_of_cuts() -> int:
    """What all cuts that there are take."""

class Cuts:
    """Cuts of a linear program over families."""

    def __init__(self, families: object, keeps_rows: bool) -> None: ...

    def __len__(self) -> int: ...

    def limits(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        What the coefficients of a network's families add up to at least, for each cut.
        """

    def __getitem__(self, cut: int) -> tuple[list[tuple[int, int]], int]:
        """Its clusters (members, k), and the variables counted once more."""

    def add_clusters(self, members: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], ks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def add_clause(self, marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Every network that is asked for has one of the marked families."""

    def add_halves(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_cuts: int, least_violation: float) -> int:
        """
        Adds halved sums of tight clusters that these weights violate; how many.
        """

    def add_local(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_members: int, most_cuts: int, least_violation: float) -> int:
        """
        Adds cuts from networks of few variables that these weights violate; how many.
        """

    def keep(self, kept: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def listed(self) -> CutList: ...

    def replace(self, listed: CutList) -> None:
        """Has these instead of all it had."""

    def entries(self, first: int, marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Cut, family and coefficient, for marked families."""

    def bound(self, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The bound of these multipliers on networks of allowed families, and each family's excess over it.
        """

def undominated(candidates: Candidates) -> Candidates:
    """
    Without families that cost as much as another with some of their parents.
    """

def climb_orders(candidates: Candidates, climbs: int, seed: int, limits: Limits) -> tuple[float, list[int]]:
    """
    Cost and parents of the best network found by local search over orders; infinite cost: none.
    """

def climb_from_weights(candidates: Candidates, families: ClusterFamilies, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, list[int]]:
    """The local optimum from an order that fits these weights."""

def path_flow(n: int, children: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, between: int, enough: float) -> tuple[float, int, list[float]]:
    """
    How much of a path families make; the set with the narrowest way out, when not enough; and by variable how much enters it.
    """

def shortest_walks(n: int, lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[int]]:
    """Lengths of the shortest walks, row by row, and their first steps."""

class Bound:
    """The least that placing the other variables must still cost."""

    def at(self, placed: int) -> float: ...

    def after_each(self, placed: int) -> list[float]:
        """at(placed + x) for each x not placed; zero for the others."""

    @property
    def is_consistent(self) -> bool: ...

    @property
    def size(self) -> int: ...

def simple_bound(candidates: Candidates) -> Bound: ...

def cluster_bound(candidates: Candidates, members: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], ks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Bound: ...

def group_bound(candidates: Candidates, groups: Sequence[int]) -> Bound:
    """Static patterns: all subsets of each group."""

def groups_by_strongest_parents(candidates: Candidates, most: int) -> list[int]: ...

def cycle_bound(candidates: Candidates, k: int, optimal: bool) -> Bound:
    """Dynamic patterns: k-cycle conflicts."""

def components(candidates: Candidates) -> list[tuple[int, int]]:
    """
    Groups of variables to be placed one after another: their variables, all that come before.
    """

def component_families(candidates: Candidates, variables: int, before: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], NDArray[numpy.uint64], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """offsets, parents within the component, scores."""

def network_in_order(candidates: Candidates, order: Sequence[int]) -> tuple[float, list[int]]:
    """The cost of the best network in an order, and its parents by variable."""

class OrderResult:
    @property
    def finished(self) -> bool: ...

    @property
    def memory_hit(self) -> bool: ...

    @property
    def cost(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def order(self) -> list[int]: ...

    @property
    def parents(self) -> list[int]: ...

    @property
    def expanded(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def layers(self) -> list[tuple[int, int]]:
        """By size: sets expanded, sets found and not expanded."""

def search_orders(candidates: Candidates, bound: Bound, upper: float, extend_paths: bool, memory: int | None, limits: Limits) -> OrderResult:
    """Best first."""

def search_in_layers(candidates: Candidates, bound: Bound, upper: float, extend_paths: bool, memory: int | None, limits: Limits) -> OrderResult:
    """Breadth first, two layers at a time."""

def sets_within(candidates: Candidates, bound: Bound, threshold: float, most_sets: int, limits: Limits) -> tuple[bool, Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """complete, sets by size, F of each."""

class PriorResult(FoundNetworks):
    """The best first, scores with the log weights of orders."""

    @property
    def bound(self) -> float:
        """No network scores more."""

    @property
    def parts(self) -> int: ...

    @property
    def sweeps(self) -> int: ...

    @property
    def sparse_sweeps(self) -> int: ...

    @property
    def root_families(self) -> int: ...

    @property
    def counted(self) -> int: ...

def search_order_prior(scores: LocalScores, order_weights: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], most: int, log_factor: float, most_bytes: float, limits: Limits) -> PriorResult:
    """The best networks when orders weigh too."""

def order_prior_bytes(n: int, threads: int) -> float:
    """Bytes of the tables beside the scores."""

class SearchCounts:
    @property
    def generated(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def re_expanded(self) -> int: ...

    @property
    def oracle_calls(self) -> int: ...

    @property
    def weighed(self) -> int: ...

class BrokenBound:
    """A partial network from which more was gained than its bound allows."""

    @property
    def placed(self) -> int: ...

    @property
    def parents(self) -> list[int]: ...

    @property
    def bound(self) -> float: ...

    @property
    def achieved(self) -> float: ...

class SearchedNetworks(FoundNetworks):
    """
    The best first; when not finished, what scores at most floor is not proved.
    """

    @property
    def counts(self) -> SearchCounts: ...

    @property
    def bound_seconds(self) -> float: ...

    @property
    def search_seconds(self) -> float: ...

    @property
    def broken(self) -> BrokenBound | None:
        """None but for a prior whose bound was too low."""

def search_networks(lattice: Lattice, most: int, block: int, limits: Limits) -> SearchedNetworks: ...

def search_listed_networks(candidates: Candidates, bound: Bound, most: int, epsilon: float, block: int, memory: int, limits: Limits) -> SearchedNetworks:
    """
    None is further than epsilon behind the best; what is left scores at most floor.
    """

def completion_values(candidates: Candidates, bound: Bound, epsilon: float, sets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], int]:
    """
    By set, what the others must cost when these come first, negated, or minus infinity where this leads to no network within epsilon of the best; and how many sets had to be searched for.
    """

MOST_PRIOR_SEARCH_VARIABLES: int = 26

def prior_search_bytes(n: int) -> float:
    """
    Bytes for the families and bounds, beside the lattice and the search itself.
    """

def order_bounds(lattice: Lattice, limits: Limits) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    By set: how much score and log count of orders together can grow, at most, once these are placed.
    """

def search_uniform_orders(lattice: Lattice, most: int, block: int, memory: int, limits: Limits) -> SearchedNetworks: ...

def count_paths(lattice: Lattice, most: int, block: int, memory: int, limits: Limits) -> SearchedNetworks: ...

def count_paths_takings(lattice: Lattice, block: int, most: int) -> list[tuple[int, list[int], int, float, bool]]:
    """
    What Algorithm 1 takes from its queue: placed, parents, count, place in the queue, whether it is expanded for the first time.
    """

def search_python_prior(lattice: Lattice, log_weight: object, bound: object, most: int, block: int, memory: int, limits: Limits) -> SearchedNetworks: ...

class Posteriors:
    """What sums over all networks say, as arrays."""

    @property
    def finished(self) -> bool:
        """False when a limit came first."""

    @property
    def log_total(self) -> float: ...

    @property
    def cancellation(self) -> float: ...

    @property
    def defect(self) -> float: ...

    def edges(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    def paths(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    def take_parent_sets(self, variable: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """By slots; may be asked for once."""

def network_sums_bytes(n_variables: int, posteriors: bool, parent_sets: int, extended: bool, threads: int) -> float: ...

def sum_networks(scores: LocalScores, posteriors: bool, parent_sets: int, extended: bool, limits: Limits) -> Posteriors:
    """
    Every network weighs the product of its families; parent_sets: of which variables they are kept.
    """

def require_summable(local: float) -> None:
    """Raises ValueError where sums cannot hold such a local score."""

def ordered_paths_bytes(n_variables: int, threads: int) -> float: ...

def ordered_paths(scores: LocalScores, limits: Limits) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], float] | None:
    """
    Paths of networks that agree with the order, and how far sums are from one; None when stopped.
    """

def order_sums_bytes(n_variables: int, posteriors: bool, paths: bool, parent_sets: int, threads: int) -> float: ...

def sum_orders(scores: LocalScores, order_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, posteriors: bool, paths: bool, parent_sets: int, limits: Limits) -> Posteriors:
    """
    Every network weighs the product of its families once for each order that agrees with it.
    """

class NetworkSamples:
    @property
    def finished(self) -> bool: ...

    @property
    def is_possible(self) -> bool: ...

    @property
    def pasts(self) -> int: ...

    @property
    def places(self) -> int: ...

    @property
    def redone(self) -> int: ...

    @property
    def cancellation(self) -> float: ...

    @property
    def error(self) -> float: ...

    @property
    def table_seconds(self) -> float: ...

    @property
    def draw_seconds(self) -> float: ...

def sample_networks(scores: LocalScores, n_samples: int, seed: int, tolerance: float, limits: Limits) -> tuple[NetworkSamples, Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]]:
    """
    What is known of the draws, and the parents by network; none when stopped or no network is allowed.
    """

def sample_ordered_networks(scores: LocalScores, order_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_samples: int, seed: int, limits: Limits) -> tuple[NetworkSamples, Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]]:
    """
    The same, orders first; weights of variables after others by variable and slot.
    """

def next_layers(scores: LocalScores, past: int, last: int, tolerance: float) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, bool]:
    """
    By set the probability that it is the next layer; how much of it may be wrong; whether in long doubles.
    """

def sampling_bytes(n: int, by_orders: bool) -> float:
    """What the tables take."""

class CaseRules:
    """What networks must satisfy: trees of facts, paths, orders."""

    def __init__(self, n: int) -> None: ...

    def some_of(self, child: int, parents: int) -> int:
        """That the child has one of these parents; the number of this rule."""

    def none_of(self, child: int, parents: int) -> int:
        """That it has none of them."""

    def count_in(self, child: int, counts: int) -> int:
        """That the number of its parents is one of these bits."""

    def any_of(self, parts: Sequence[int]) -> int: ...

    def all_of(self, parts: Sequence[int]) -> int: ...

    def require(self, rule: int) -> None: ...

    def require_paths(self, pairs: Sequence[tuple[int, int]]) -> None: ...

    def forbid_paths(self, pairs: Sequence[tuple[int, int]]) -> None: ...

    def put_before(self, pairs: Sequence[tuple[int, int]]) -> None: ...

    def allow(self, parents: Sequence[int]) -> bool:
        """
        Whether a network with these parents breaks no rule and no path; orders are not looked at.
        """

class BranchingResult:
    @property
    def finished(self) -> bool: ...

    @property
    def cost(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def parents(self) -> list[int]: ...

    @property
    def steps(self) -> int: ...

    @property
    def made(self) -> int: ...

    @property
    def networks(self) -> int: ...

    @property
    def bytes(self) -> int: ...

def branch_on_cycles(candidates: Candidates, rules: CaseRules, upper: float, steps: int | None, memory: int | None, limits: Limits) -> BranchingResult:
    """Breaks cycles, one at a time."""

def sample_orders(candidates: Candidates, orders: int, seed: int, climbs: bool, limits: Limits) -> tuple[float, list[int]]:
    """
    Cost and parents of the best network of random orders, climbed from if wanted; infinite cost: none.
    """

def sample_satisfying(candidates: Candidates, rules: CaseRules, orders: int, climbs: int, seed: int, limits: Limits) -> tuple[float, list[int]]:
    """
    Cost and parents of the best network of random orders, repaired to satisfy the rules; infinite cost: none found.
    """

def finished_cases(candidates: Candidates, rules: CaseRules) -> list[tuple[list[tuple[int, int]], list[tuple[int, str, int]]]]:
    """
    For each case in which nothing is left to break: by variable parents that must be, and not; other facts.
    """

class MinorFormula:
    """Of a set: constants[size] + factors[size] * ln det of its matrix."""

    def __init__(self, constants: Sequence[float], factors: Sequence[float]) -> None: ...

    @property
    def constants(self) -> list[float]: ...

    @property
    def factors(self) -> list[float]: ...

class Scatter:
    """How columns of numbers vary together, to 32 digits."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @staticmethod
    def of_rows(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Sequence[int]) -> Scatter:
        """Of these rows only, with means of their own."""

    @staticmethod
    def posterior(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], precision: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: float) -> Scatter: ...

    @staticmethod
    def plain(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Scatter: ...

    def log_determinant(self, variables: Sequence[int]) -> float:
        """
        Of the matrix of these variables; not a number where one depends on others.
        """

def score_gaussian_families(scatter: Scatter, formula: MinorFormula, is_penalised: bool, max_parents: int, epsilon: float, k: int, slack: float, memory: float, limits: Limits) -> GaussianFamilies | None:
    """None when stopped."""

def score_mixed_families(discrete: CodedTable, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], continuous_places: Sequence[int], penalty: float, max_parents: int, limits: Limits) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None, int, int]:
    """
    Scores of all families, None when stopped; how many are degenerate, and hopeless.
    """

def score_minors(scatter: Scatter, formula: MinorFormula, most: int, limits: Limits) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None, int]:
    """
    Scores of all sets, by their bits, None when stopped; the first set with a dependent variable, or 0.
    """

class BlockScore:
    """What sets of variables score that are blocks of rows of a matrix."""

    def __init__(self, matrix: Scatter, begins: Sequence[int], places: Sequence[int], given: int, factor: float, per_pair: float, squares: Scatter | None, half_rows: float, floor: float) -> None: ...

    def of(self, variables: Sequence[int]) -> float:
        """The score of a set, without what is added for conditions."""

def score_block_sets(score: BlockScore, added: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int, limits: Limits) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
    """
    Scores of all sets, by their bits, None when stopped. added: nothing, or what each set of conditions adds.
    """

def score_block_families(score: BlockScore, conditions: CodedTable | None, formula: SetFormula | None, max_parents: int, epsilon: float, k: int, slack: float, memory: float, limits: Limits) -> GaussianFamilies | None:
    """None when stopped."""

def average_log_likelihoods(table: CodedTable, x: int, sets: Annotated[NDArray[numpy.uint64], dict(order='C', device='cpu', writable=False)], limits: Limits) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None:
    """
    For each parent set of x, the average log likelihood over the rows in which the last state, for a missing cell, is neither that of x nor of a parent; None when stopped.
    """

class Margins:
    """
    Counts of the cells of all small sets of variables, added up over parts of the rows.
    """

    def __init__(self, arities: Sequence[int], most_variables: int, bytes: float) -> None: ...

    @property
    def most_variables(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_tables(self) -> float: ...

    @property
    def most_cells(self) -> float: ...

    @property
    def bytes(self) -> float: ...

    def add(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, limits: Limits) -> bool:
        """Counts further rows. False when stopped."""

    def counts(self, variables: Sequence[int]) -> tuple[list[int], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """The variables in an order of their own, and the counts of their cells."""

    def sums(self, kind: int, parameter: float, spread: bool, bits: int, sets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: Limits) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))] | None:
        """As those of SetCounter. None when stopped."""

def cut_into_cells(text: bytes, begin: int, separator: str, wanted: Sequence[bool], threads: int) -> tuple[list[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]], Annotated[NDArray[numpy.int64], dict(shape=(None,))]] | None:
    """
    For each column the code of every row, and where each distinct text begins and ends; the lines of the rows.
    """

class ParentRules:
    """
    What parents one variable may have; among: one of these, if there are any.
    """

    def __init__(self, must: int, may: int, least: int, most: int, among: Sequence[int]) -> None: ...

class DataClimb:
    """A good network from the data, better the longer it goes on."""

    @overload
    def __init__(self, table: object, question: PruningQuestion, rules: Sequence[ParentRules], before: Sequence[int], seed: int) -> None: ...

    @overload
    def __init__(self, local: Callable[[int, int], float], work: float, rules: Sequence[ParentRules], before: Sequence[int], seed: int) -> None: ...

    def go_on(self, work: float) -> None: ...

    @property
    def score(self) -> float:
        """Minus infinity: none yet."""

    @property
    def parents(self) -> list[int]: ...

def climb_bytes(table: CodedTable) -> float: ...
