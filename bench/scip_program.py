"""The integer program of topdag's branch and cut, given to SCIP: one family for each variable, clusters when broken.

A weight for each listed family and, for branching, one for each edge. Clusters and the rows of constraints are found by
topdag's own separation, inside a constraint handler; presolving, cuts of other kinds and branching are SCIP's. Its
heuristics are off: the first network is good, and without them it took half the time (alarm-5000). Its clock is that
of the processor, so that other work on the machine does not count against it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyscipopt import SCIP_PARAMSETTING, SCIP_RESULT, Conshdlr, Model, quicksum

from topdag.knowledge.compiled import CompiledConstraints, has_cycle
from topdag.search.costs import Families, Marks
from topdag.search.linear_program import LEAST_VIOLATION, Rows
from topdag.search.relaxation import CUTS_A_ROUND, MOST_K, SEARCH_STEPS

FIRST_TO_BRANCH = 10
CPU_CLOCK = 1
HALF = 0.5


@dataclass(frozen=True)
class Solved:
    """``masks``: None when no network was found. ``separating``: seconds of the processor in topdag's separation."""

    masks: tuple[int, ...] | None
    cost: float
    bound: float
    status: str
    nodes: int
    cuts: int
    seconds: float
    separating: float


class Networks(Conshdlr):  # type: ignore[misc]
    """That families make no cycle and satisfy the constraints; cuts where weights say otherwise."""

    def __init__(
        self, families: Families, variables: Sequence[Any], known: CompiledConstraints | None, rows: Rows | None
    ) -> None:
        self.families, self.variables, self.known, self.rows = families, variables, known, rows
        self.cuts, self.seconds = 0, 0.0

    def weights(self, solution: Any = None) -> np.ndarray:
        return np.array([self.model.getSolVal(solution, variable) for variable in self.variables])

    def is_network(self, weights: np.ndarray) -> bool:
        chosen = np.flatnonzero(weights > HALF)
        if len(chosen) != self.families.n:
            return False
        masks = self.families.parents[chosen].tolist()
        return not has_cycle(masks) and (self.known is None or self.known.allows(masks))

    def separate(self) -> dict[str, Any]:
        begin = time.process_time()
        weights = self.weights()
        members, ks = self.families.core.separate(weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, SEARCH_STEPS, 1)
        clusters = list(zip(members.tolist(), ks.tolist(), strict=True))
        marks = [self.cluster_marks(*cluster) for cluster in clusters]
        ends = [float(k) for _, k in clusters]
        if self.rows is not None:
            broken = self.rows.broken(self.families, weights, members.tolist())
            marks += [row.marks(self.families) for row in broken]
            ends += [1.0] * len(broken)
        is_infeasible = sum(self.cut(own, end) for own, end in zip(marks, ends, strict=True)) > 0
        self.seconds += time.process_time() - begin
        if is_infeasible:
            return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if marks else SCIP_RESULT.DIDNOTFIND}

    def cluster_marks(self, members: int, k: int) -> Marks:
        """Families of members with fewer than k parents among them."""
        inside = (np.uint64(members) >> self.families.owners.astype(np.uint64)) & np.uint64(1) == 1
        return np.asarray(inside & (np.bitwise_count(self.families.parents & np.uint64(members)) < k))

    def cut(self, marks: Marks, least: float) -> bool:
        """Whether it shows that nothing is left here."""
        row = self.model.createEmptyRowUnspec(f"cut{self.cuts}", lhs=least, rhs=None, local=False, removable=True)
        self.model.cacheRowExtensions(row)
        for place in np.flatnonzero(marks):
            self.model.addVarToRow(row, self.model.getTransformedVar(self.variables[place]), 1.0)
        self.model.flushRowExtensions(row)
        is_infeasible = self.model.addCut(row, forcecut=True)
        self.model.releaseRow(row)
        self.cuts += 1
        return bool(is_infeasible)

    def consenfolp(self, constraints: Any, n_useful: int, is_infeasible: bool) -> dict[str, Any]:
        if self.is_network(self.weights()):
            return {"result": SCIP_RESULT.FEASIBLE}
        found = self.separate()
        return {"result": SCIP_RESULT.INFEASIBLE} if found["result"] == SCIP_RESULT.DIDNOTFIND else found

    def consenfops(self, constraints: Any, n_useful: int, is_infeasible: bool, is_worse: bool) -> dict[str, Any]:
        is_right = self.is_network(self.weights())
        return {"result": SCIP_RESULT.FEASIBLE if is_right else SCIP_RESULT.INFEASIBLE}

    def conscheck(self, constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        is_right = self.is_network(self.weights(solution))
        return {"result": SCIP_RESULT.FEASIBLE if is_right else SCIP_RESULT.INFEASIBLE}

    def conssepalp(self, constraints: Any, n_useful: int) -> dict[str, Any]:
        return self.separate()

    def conslock(self, constraint: Any, lock_type: Any, n_positive: int, n_negative: int) -> None:
        """Neither more nor fewer edges are safe."""
        locks = n_positive + n_negative
        for variable in self.variables:
            self.model.addVarLocksType(variable, lock_type, locks, locks)


def solved_by_scip(
    families: Families,
    seconds: float,
    *,
    start: Sequence[int] | None = None,
    constraints: CompiledConstraints | None = None,
    rows: Rows | None = None,
    edges: bool = True,
) -> Solved:
    """The best network of these families; ``start``: one to begin with; ``edges``: SCIP branches on them first."""
    model = Model()
    model.hideOutput()
    variables = [model.addVar(vtype="B", obj=float(cost)) for cost in families.costs]
    for x in range(families.n):
        model.addCons(quicksum(variables[families.offsets[x] : families.offsets[x + 1]]) == 1)
    of_edges = _with_edges(model, families, variables) if edges else {}
    networks = Networks(families, variables, constraints, rows)
    model.includeConshdlr(
        networks, "networks", "no cycles", sepapriority=0, enfopriority=-1, chckpriority=-1, sepafreq=1, eagerfreq=-1,
        needscons=False,
    )  # fmt: skip
    model.setParam("timing/clocktype", CPU_CLOCK)
    model.setParam("limits/time", seconds)
    model.setParam("misc/usesymmetry", 0)
    model.setHeuristics(SCIP_PARAMSETTING.OFF)
    if start is not None:
        _offer(model, families, variables, of_edges, start)
    begin = time.perf_counter()
    model.optimize()
    seconds = time.perf_counter() - begin
    masks = None
    if model.getNSols():
        best = model.getBestSol()
        chosen = [model.getSolVal(best, variable) > HALF for variable in variables]
        masks = tuple(families.parents[chosen].tolist())
    cost = math.inf if masks is None else float(families.costs[families.places(masks)].sum())
    bound, status, nodes = model.getDualbound(), model.getStatus(), model.getNTotalNodes()
    return Solved(masks, cost, bound, status, nodes, networks.cuts, seconds, networks.seconds)


def _with_edges(model: Model, families: Families, variables: Sequence[Any]) -> dict[tuple[int, int], Any]:
    """A weight for each edge: that of the families which have it."""
    of_edges = {}
    owners = families.owners
    for child in range(families.n):
        own = np.flatnonzero(owners == child)
        for parent in range(families.n):
            having = [variables[i] for i in own if int(families.parents[i]) >> parent & 1]
            if having:
                edge = of_edges[parent, child] = model.addVar(vtype="B", obj=0.0)
                model.chgVarBranchPriority(edge, FIRST_TO_BRANCH)
                model.addCons(quicksum(having) == edge)
    return of_edges


def _offer(
    model: Model,
    families: Families,
    variables: Sequence[Any],
    of_edges: dict[tuple[int, int], Any],
    masks: Sequence[int],
) -> None:
    solution = model.createSol()
    for place in np.flatnonzero(families.places(masks)):
        model.setSolVal(solution, variables[place], 1.0)
    for (parent, child), edge in of_edges.items():
        model.setSolVal(solution, edge, float(masks[child] >> parent & 1))
    model.addSol(solution)
