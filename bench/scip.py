"""topdag's branch and cut beside SCIP on the same families, with the same clusters, rows and first network.

``python -m bench scip`` (needs ``pip install pyscipopt``), or ``python -m bench.scip NAME ...`` for some. Search alone,
not scoring. SCIP twice: on all listed families, and on those that topdag's root relaxation leaves.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from dataclasses import dataclass
from datetime import date
from typing import Any

from bench.ancestral import Sampled, true_constraints
from bench.measure import DATA, in_fresh_process, machine

SECONDS = 120.0
TABLES = [
    "parkinsons",
    "autos",
    "insurance1000",
    "horse",
    "flag",
    "water1000",
    "alarm1000",
    "mushroom1868",
    "lung",
    "hailfinder100",
    "hailfinder500",
    "carpo100",
    "carpo500",
    "wdbc",
]
FILES = ["alarm-5000", "barley-5000", "hailfinder-5000", "insurance-5000", "mildew-5000", "water-5000"]
# network, ancestors, not ancestors, rules across variables
CONSTRAINED = [("insurance", 10, 0, 0), ("insurance", 5, 5, 5), ("insurance", 0, 10, 10), ("alarm", 5, 5, 5)]
ROWS = 1_000
WAYS = ("topdag", "scip", "scip after the root")


@dataclass(frozen=True)
class Question:
    """Families, and what networks must satisfy besides; ``scores`` where nothing."""

    store: Any
    compiled: Any = None
    scores: Any = None


class Clock:
    """Seconds and seconds of the processor since it was made: other work on the machine counts in the first only."""

    def __init__(self) -> None:
        self._begin = time.perf_counter(), time.process_time()

    @property
    def times(self) -> dict[str, float]:
        now = time.perf_counter(), time.process_time()
        return {"seconds": now[0] - self._begin[0], "cpu": now[1] - self._begin[1]}


def measure(what: str, way: str, seconds: float, **asked: Any) -> dict[str, Any]:
    question = {"free": free, "constrained": constrained}[what](**asked)
    size = {"n": question.store.n, "families": len(question.store.rounded)}
    found = by_topdag(question, seconds) if way == "topdag" else by_scip(question, way, seconds)
    return {**size, **found, "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def free(name: str) -> Question:
    import topdag as td

    path = DATA / "scores" / f"{name}.bic.blip.jkl"
    scores = td.io.read_scores(path) if path.exists() else td.score(DATA / f"{name}.csv", td.BIC(), keep="best")
    return Question(scores.store, scores=scores)


def constrained(network: str, wanted: int, unwanted: int, rules: int) -> Question:
    """On lists that reach as far behind the best network as the best that satisfies the constraints."""
    import topdag as td
    from topdag._util.run import Run
    from topdag.constrained.needed_families import widened

    truth = Sampled(network)
    names, drawn = list(truth.states), truth.draw(ROWS, 1)
    table = td.Table({x: [row[x] for row in drawn] for x in names})
    constraints = true_constraints(truth, names, wanted, unwanted, 0) & true_rules(truth, rules)
    scores = td.score(table, td.BIC(), constraints=constraints)
    reach = td.best_network(scores.relaxed).score - td.best_network(scores, time_limit=10 * SECONDS).score
    wide = widened(scores, reach + 1e-6, Run())
    assert wide is not None
    return Question(wide.store, wide.compiled)


def by_topdag(question: Question, seconds: float) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import Run
    from topdag.constrained.clause_branch_and_cut import search_by_clauses

    clock = Clock()
    if question.compiled is None:
        answer = td.best_network(question.scores, engine="branch and cut", time_limit=seconds, threads=1)
        proof, nodes = answer.proof, answer.stats.work.get("parts", 0)
        return {"score": answer.score, "gap": proof.gap, "status": proof.status.name, "nodes": nodes, **clock.times}
    found = search_by_clauses(question.store, question.compiled, Run(time_limit=seconds, threads=1))
    score = max(found.networks.values(), default=-math.inf)
    status = "PROVED" if found.limit is None else "STOPPED"
    return {"score": score, "gap": found.bound - score, "status": status, "nodes": found.parts, **clock.times}


def by_scip(question: Question, way: str, seconds: float) -> dict[str, Any]:
    """Gaps count from the best network that is known at the end; what comes before SCIP begins counts too."""
    from bench.scip_program import solved_by_scip
    from topdag._util.run import Run
    from topdag.constrained.clauses import Clauses
    from topdag.constrained.repair import SatisfyingKnown
    from topdag.search.costs import Families
    from topdag.search.relaxation import Known, solve_root

    clock, run = Clock(), Run(time_limit=seconds)
    store, compiled = question.store, question.compiled
    known = Known(store, run) if compiled is None else SatisfyingKnown(store, run, compiled)
    rows = None if compiled is None else Clauses(compiled)
    families = Families.of_store(store)
    if way == "scip after the root":
        root = solve_root(store, run, known=known, rows=rows)
        families = families.only(root.kept_families(known.cost))
    else:
        known.climb()
    start = None if known.incumbent is None else known.incumbent.masks
    left = seconds - clock.times["seconds"]
    found = solved_by_scip(families, left, start=start, constraints=compiled, rows=rows)
    cost = found.cost if start is None else min(found.cost, known.cost)
    is_done = found.status in ("optimal", "infeasible")
    gap = 0.0 if is_done else cost - max(found.bound, 0.0)
    status = "PROVED" if is_done else "STOPPED"
    own = {"score": known.best_score - cost, "gap": gap, "status": status, "nodes": found.nodes}
    return {**own, "separating": found.separating, **clock.times}


def true_rules(network: Sampled, count: int) -> Any:
    """If one true edge is there then another is."""
    import random

    import topdag as td
    from topdag.knowledge.rule_builders import edge

    draw = random.Random(1)
    pairs = [draw.sample(network.edges, 2) for _ in range(count)]
    return td.Constraints(rules=[td.if_then(edge(*one), edge(*other)) for one, other in pairs])


def shown(way: str, r: dict[str, Any]) -> str:
    separating = f" ({r['separating']:.2f} in topdag's separation)" if "separating" in r else ""
    return (
        f"    {way:19} {r['score']:.6f} {r['status']} gap {r['gap']:.3f} {r['seconds']:7.2f} s, CPU {r['cpu']:.2f} s"
        f"{separating}, {r['nodes']:,} nodes, {r['peak'] / 1e6:.0f} MB"
    )


def compared(question: str, seconds: float, **asked: Any) -> None:
    print(f"  {question}", flush=True)
    for way in WAYS:
        r = in_fresh_process("bench.scip", way=way, seconds=seconds, **asked)
        if way == WAYS[0]:
            print(f"    {r['n']} variables, {r['families']:,} families")
        print(shown(way, r), flush=True)


def main(names: list[str] | None = None, seconds: float = SECONDS) -> None:
    try:
        import pyscipopt
    except ImportError:
        print("skipped: pyscipopt is not installed")
        return
    version = pyscipopt.Model().version()
    print(f"\nBranch and cut beside SCIP {version}, one thread, {seconds:.0f} s each. {date.today()}. {machine()}")
    for name in [*TABLES, *FILES]:
        is_there = any(path.exists() for path in (DATA / f"{name}.csv", DATA / "scores" / f"{name}.bic.blip.jkl"))
        if is_there and (not names or name in names):
            compared(name, seconds, what="free", name=name)
    for network, wanted, unwanted, rules in CONSTRAINED:
        if not names or f"{network}+" in names:
            question = f"{network}, {wanted} ancestors, {unwanted} not, {rules} rules, {ROWS:,} rows of data"
            asked = {"network": network, "wanted": wanted, "unwanted": unwanted, "rules": rules}
            compared(question, seconds, what="constrained", **asked)


if __name__ == "__main__":
    main(sys.argv[1:])
