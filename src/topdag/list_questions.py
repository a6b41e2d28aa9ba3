"""Questions whose answer is a list: the k best, all within a Bayes factor, of networks or of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from topdag import _core
from topdag.engines import plan_lattice, set_bytes
from topdag.errors import Interrupted, ScoreError
from topdag.graphs import Network
from topdag.lists import BestList, ClassList, NetworkList, grid_epsilon
from topdag.questions import Asked, upper_bound
from topdag.results import Proof, Stats, Status
from topdag.runs import OnProgress, Run, peak_memory
from topdag.score_kinds import BDeu
from topdag.scores import Scores, Within, as_table, score

MOST_IN_A_LIST = 10**9
STREAM_BATCH = 1000
LISTING = "lattice and depth-first listing"
AnyList = TypeVar("AnyList", bound=BestList[Any])


def k_best_networks(
    source: Any,
    k: int,
    *,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> NetworkList:
    """The k networks with the highest scores, best first; fewer only when there are not so many.

    Complete when ``proof.status`` is PROVED; when stopped early, still complete above ``floor``.
    """
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    return _listed(NetworkList, source, Wanted("k_best_networks", most=checked_k(k)), run)


def networks_within(
    source: Any,
    factor: float,
    *,
    at_most: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> NetworkList:
    """All networks at least 1/factor as probable as the best one, by the data; with ``at_most``, the best of them."""
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    wanted = Wanted("networks_within", most=checked_k(at_most), factor=_checked_factor(factor))
    return _listed(NetworkList, source, wanted, run)


def k_best_classes(
    source: Any,
    k: int,
    *,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> ClassList:
    """The k Markov equivalence classes with the highest scores, best first. For score-equivalent scores only."""
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    return _listed(ClassList, source, Wanted("k_best_classes", most=checked_k(k)), run)


def classes_within(
    source: Any,
    factor: float,
    *,
    at_most: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> ClassList:
    """All classes at least 1/factor as probable as the best one, network for network; with ``at_most``, the best."""
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    wanted = Wanted("classes_within", most=checked_k(at_most), factor=_checked_factor(factor))
    return _listed(ClassList, source, wanted, run)


def count_networks_within(
    source: Any, factor: float, *, threads: int | None = None, on_progress: OnProgress | None = None
) -> int:
    """How many networks are within this Bayes factor of the best; none of them is stored."""
    return _counted(_core.Listed.NETWORKS, "count_networks_within", source, factor, threads, on_progress)


def count_classes_within(
    source: Any, factor: float, *, threads: int | None = None, on_progress: OnProgress | None = None
) -> int:
    """How many classes are within this Bayes factor of the best; none of them is stored."""
    return _counted(_core.Listed.CLASSES, "count_classes_within", source, factor, threads, on_progress)


def iter_networks_within(
    source: Any, factor: float, *, threads: int | None = None, on_progress: OnProgress | None = None
) -> Iterator[Network]:
    """The networks within this Bayes factor of the best, one by one, in no particular order.

    Memory does not grow with their number.
    """
    run = Run(threads=threads, on_progress=on_progress)
    wanted = Wanted("iter_networks_within", factor=_checked_factor(factor))
    scores = scores_for(source, wanted, run)
    return _streamed(scores, wanted, run)


@dataclass(frozen=True)
class Wanted:
    """What a list should hold: at most so many, none further behind the best than this factor."""

    asked_by: str
    most: int = MOST_IN_A_LIST
    factor: float = math.inf

    def lowest(self, best: float, grid: int) -> float:
        return -math.inf if self.factor == math.inf else best - grid_epsilon(self.factor, grid)


def _listed(make: Callable[..., AnyList], source: Any, wanted: Wanted, run: Run) -> AnyList:
    scores = scores_for(source, wanted, run)
    if make is ClassList:
        require_score_equivalent(scores, wanted.asked_by)
    what = _core.Listed.CLASSES if make is ClassList else _core.Listed.NETWORKS
    if not scores.columns:
        return _only_the_empty_network(make, scores, run)
    try:
        lattice = lattice_for(scores, run)
        if lattice is None:
            return _empty(make, scores, run, "time_limit")
        lowest = wanted.lowest(lattice.best_score, scores.grid)
        begin = run.seconds
        finished, interrupted, floor, values, parents, counts = _core.list_best(
            lattice, what, wanted.most, lowest, run.threads, run.seconds_left, run.on_tick
        )
        run.timed("listing", begin)
    except KeyboardInterrupt:
        raise _interrupted(_empty(make, scores, run, "Ctrl-C"), run) from None
    status = Status.PROVED if finished else Status.STOPPED
    best = lattice.best_score if lattice is not None else -math.inf
    limit = None if finished else "Ctrl-C" if interrupted else "time_limit"
    proof = Proof(status, best, 0.0, limit, scores.describe_space())
    work = {"found": counts.found, "expanded": counts.expanded, "dead ends": counts.dead_ends}
    found = make(scores, values, parents, floor, proof, list_stats(scores, run, LISTING, work))
    if interrupted:
        raise _interrupted(found, run)
    return found


def _only_the_empty_network(make: Callable[..., AnyList], scores: Scores, run: Run) -> AnyList:
    proof = Proof(Status.PROVED, 0.0, 0.0, None, scores.describe_space())
    return make(
        scores, np.zeros(1), np.empty((1, 0), np.uint32), -math.inf, proof, list_stats(scores, run, LISTING, {})
    )


def _interrupted(found: BestList[Any], run: Run) -> Interrupted:
    return Interrupted(
        f"Interrupted after {run.seconds:.1f} s with {len(found)} found; complete above {found.floor}", found
    )


def _empty(make: Callable[..., AnyList], scores: Scores, run: Run, limit: str) -> AnyList:
    """Nothing is known yet but a bound that no network exceeds: complete above that."""
    bound = upper_bound(Asked.from_scores(scores))
    proof = Proof(Status.STOPPED, bound, math.inf, limit, scores.describe_space())
    none = np.empty((0, len(scores.columns)), dtype=np.uint32)
    return make(scores, np.empty(0), none, bound, proof, list_stats(scores, run, LISTING, {}))


def scores_for(source: Any, wanted: Wanted, run: Run) -> Scores:
    if not isinstance(source, Scores):
        return score(as_table(source), BDeu(), threads=run.threads, on_progress=run.on_progress)
    require_kept(source, wanted)
    return source


def require_kept(scores: Scores, wanted: Wanted) -> None:
    """Scores pruned for one question must not answer another that needs more."""
    keep = scores.keep
    if keep == "all" or (isinstance(keep, Within) and wanted.factor <= keep.factor):
        return
    kept = "the best network only" if keep == "best" else f"networks within a factor of {keep.factor:g}"  # type: ignore[union-attr]
    raise ScoreError(
        f"{wanted.asked_by} needs more families than these scores hold: they were pruned for {kept}. "
        'Score again with keep="all"; for a score file that was never pruned, read_scores(path, keep="all").'
    )


def require_score_equivalent(scores: Scores, asked_by: str) -> None:
    if not scores.score_equivalent:
        name = "scores from a file that does not say what they are" if scores.kind is None else f"{scores.kind}"
        raise ScoreError(
            f"{asked_by} needs a score-equivalent score, one that gives all networks of a class the same value, "
            f"such as BDeu, BIC, AIC, qNML or BDe; {name} are not known to be. Ask for networks instead."
        )


def lattice_for(scores: Scores, run: Run) -> _core.Lattice | None:
    """Best parents, forward and backward tables; None when the time is up."""
    n = len(scores.columns)
    held = sum(array.nbytes for array in scores.store.arrays)
    plan_lattice(n, run, held=held, more=set_bytes(n) + run.threads * set_bytes(n))
    begin = run.seconds
    lattice = _core.build_lattice(scores.store.core(), run.threads, run.seconds_left, run.on_tick)
    run.timed("lattice", begin)
    return lattice


def _counted(
    what: _core.Listed, asked_by: str, source: Any, factor: float, threads: int | None, on_progress: OnProgress | None
) -> int:
    run = Run(threads=threads, on_progress=on_progress)
    wanted = Wanted(asked_by, factor=_checked_factor(factor))
    scores = scores_for(source, wanted, run)
    if what is _core.Listed.CLASSES:
        require_score_equivalent(scores, asked_by)
    lattice = lattice_for(scores, run)
    assert lattice is not None
    lowest = wanted.lowest(lattice.best_score, scores.grid)
    _, counts = _core.count_above(lattice, what, lowest, run.threads, None, run.on_tick)
    return counts.found


def _streamed(scores: Scores, wanted: Wanted, run: Run) -> Iterator[Network]:
    lattice = lattice_for(scores, run)
    assert lattice is not None
    lowest = wanted.lowest(lattice.best_score, scores.grid)
    stream = _core.open_stream(lattice, lowest, run.threads, None, run.on_tick)
    maker = _empty(NetworkList, scores, run, "not asked to list")
    while True:
        values, parents = stream.next(STREAM_BATCH)
        for masks in parents.tolist():
            yield maker.network_of(masks)
        if len(values) < STREAM_BATCH:
            return


def list_stats(scores: Scores, run: Run, engine: str, work: Mapping[str, int]) -> Stats:
    phases = {"counting": scores.seconds, **run.phases}
    return Stats(
        seconds=run.seconds,
        phases=MappingProxyType(phases),
        threads=run.threads,
        memory=run.memory,
        peak_memory=peak_memory(),
        sets=2 ** len(scores.columns),
        families=scores.n_families,
        engine=engine,
        work=MappingProxyType(dict(work)),
    )


def checked_k(k: int | None) -> int:
    if k is None:
        return MOST_IN_A_LIST
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_IN_A_LIST:
        raise ValueError(f"How many to list must be a whole number from 1 to {MOST_IN_A_LIST:,}, not {k!r}.")
    return k


def _checked_factor(factor: float) -> float:
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 1 <= factor < math.inf:
        raise ValueError(f"A Bayes factor is a number from 1 on, not {factor!r}.")
    return float(factor)
