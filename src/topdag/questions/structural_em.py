"""Networks from incomplete rows by structural EM [Friedman 1997]: gaps are filled by what a network says of them, the
best network of the filled table is found exactly, and so on until no other network scores more.

The score of a network is that of the observed cells: the log likelihood, missing cells summed over, at its greatest,
less the penalty of BIC or AIC. A round never lowers it: the network that is best for the expected counts has at least
the expected score of the one before, and what is gained there is gained in the likelihood of what was observed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack, cast

import numpy as np

from topdag import _core
from topdag._util.brief import brief
from topdag._util.options import option, question
from topdag._util.progress import shown_meanwhile
from topdag._util.run import Run
from topdag.answers.expectation import Climb, LocalOptimum
from topdag.answers.results import Answer, Status, limit_text
from topdag.data.build import MOST_ROWS
from topdag.data.convert import Reading, as_table, check_arguments
from topdag.data.table import Table, with_rows
from topdag.errors import ConstraintError, ScoreError
from topdag.knowledge.constraints import Constraints
from topdag.networks.fit import fit_network
from topdag.networks.fitted import FittedNetwork
from topdag.networks.missing_cells import IncompleteRows, MissingCells
from topdag.networks.network import Network
from topdag.networks.probability_tables import expected_probabilities, family_counts
from topdag.questions.best import best_of
from topdag.questions.request import Request, Said, Trail, checked_count, checked_seed, parted, run_stats
from topdag.scoring.kinds.discrete import AIC, BIC, KindLike, ScoreKind, as_kind
from topdag.scoring.kinds.in_parts import InParts
from topdag.scoring.kinds.node_average import NAL
from topdag.scoring.score import check_constraints, check_max_parents, score_within

N_FILLED, MOST_STARTS = 2, 1000
MOST_PARTS, MOST_COMPLETED = 2**12, 2**16
"""Of a row; of all incomplete rows together."""
FEW_PARENTS = 2
"""Of a network by node averages that is climbed from."""
SMALLEST_GAIN = 1e-4
"""Nats; when a step of EM raises the log likelihood by less, the probabilities are found."""
MOST_STEPS = 1000
"""Of EM for the probabilities of one network."""


@brief
def structural_em(
    source: Any,
    kind: KindLike = "bic",
    *,
    starts: Sequence[Network] = (),
    draws: int = N_FILLED,
    seed: int = 0,
    **options: Unpack[Said],
) -> LocalOptimum:
    """A network of high score for a table with missing cells, by structural EM; every step is exact, the end is not.

    ``source``: a table made with missing="keep", or a frame, array or path, of which missing cells are kept. ``kind``:
    BIC or AIC. The score is that of the observed cells; it never falls from round to round, and ends where no network
    is better for the expected counts: a local optimum. So it is climbed from several starts: no edges, the best network
    of the complete rows, that by the node-average likelihood, those of ``draws`` tables whose gaps are filled at
    random, and networks given as ``starts``.

    ``constraints`` and ``max_parents`` as for ``best_network``. When ``time_limit`` comes first, the answer is the best
    so far; Ctrl-C raises Interrupted, which carries it as ``.answer``.

    >>> import topdag as td
    >>> rows = {"rain": ["yes", "no", None, "no"] * 25, "wet": ["yes", "no", "yes", None] * 25}
    >>> td.structural_em(rows).edges
    (('rain', 'wet'),)
    """
    check_arguments(options, Said.__annotations__)
    limits, about = parted(options)
    run, said = Run(**limits), cast(dict[str, Any], about)
    known = {name: said.pop(name, None) for name in ("constraints", "max_parents")}
    is_read = isinstance(source, Table) and not said
    with shown_meanwhile("reading", run.line):
        reading = cast(Reading, {"missing": "keep", **said})
        table = source if is_read else as_table(source, reading, run.memory_limit)
    return structural_em_of(table, as_kind(kind), run, starts=starts, draws=draws, seed=seed, **known)


def structural_em_of(
    table: Table,
    kind: ScoreKind,
    run: Run,
    *,
    starts: Sequence[Network] = (),
    draws: int = N_FILLED,
    seed: int = 0,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
) -> LocalOptimum:
    """Climbs within the run's limits; on Ctrl-C raises Interrupted with the best so far."""
    task = _Task(table, kind, constraints, max_parents)
    task.check()
    _check_starts(starts, table.names)
    n_draws, first = checked_count("draws", draws, 0, MOST_STARTS), checked_seed(seed)
    return run.answer(lambda: _climbed_from_all(task, starts, n_draws, first, run), lambda found: found.said)


def _check_starts(starts: object, names: Sequence[str]) -> None:
    if not isinstance(starts, Sequence) or not all(isinstance(network, Network) for network in starts):
        raise ScoreError(f"starts must be a list of Networks, not {starts!r}.")
    for network in starts:
        if set(network.names) != set(names):
            raise ScoreError("starts must have the variables of the table: " + ", ".join(names) + ".")


@dataclass(frozen=True)
class _Task:
    table: Table
    kind: ScoreKind
    constraints: Constraints | None = None
    max_parents: int | None = None

    def check(self) -> None:
        check_constraints(self.constraints)
        check_max_parents(self.max_parents)
        if type(self.kind) not in (BIC, AIC):
            raise ScoreError(
                f"{question('structural_em')} takes BIC() or AIC(), not {self.kind!r}: expected counts are not whole, "
                "and only for likelihoods less a penalty is it known that the score never falls."
            )
        if self.constraints is not None and self.constraints.parameters:
            raise ConstraintError(f"{question('structural_em')} takes no constraints on probabilities; leave them out.")
        self.table.require_states(question("structural_em"))
        self.table.require_no_experiments(question("structural_em"))

    @property
    def rows(self) -> IncompleteRows:
        arities = tuple(int(arity) for arity in self.table.arities)
        return IncompleteRows(self.table.codes, self.table.weights.astype(np.float64), arities)

    @cached_property
    def parts(self) -> int:
        """So many parts of a row that completions are not too many, and that scores, which grow with them, can still be
        told apart to 1e-6."""
        n, n_rows = self.table.n_variables, self.table.n_rows
        largest = n_rows * max(math.log(MOST_ROWS) * 2, float(np.log(np.maximum(self.table.arities, 2)).sum()))
        incomplete = int(self.table.weights[self.table.is_missing.any(axis=0)].sum())
        most = min(
            math.ldexp(1.0, _core.EXACT_BITS - 1 - _core.coarsest_exponent(n)) / largest,
            MOST_ROWS / n_rows,
            MOST_COMPLETED / max(1, incomplete),
        )
        return min(MOST_PARTS, 1 << int(math.log2(max(1.0, most))))

    def best(self, table: Table, kind: ScoreKind, run: Run) -> Answer | None:
        """Of a table without gaps; None when the time is up before any is known."""
        try:
            scores = score_within(
                table, kind, run, max_parents=self.max_parents, constraints=self.constraints, listed=True
            )
            answer = None if scores is None else best_of(Trail(Request.from_scores(scores)), run)
        except BaseException:
            if run.stopped_by is None:
                raise
            return None  # what stopped it is raised when the best so far is known
        if answer is not None and answer.proof.status is Status.INFEASIBLE:
            raise ConstraintError(f"There is {answer.proof}.")
        return None if answer is None or answer.network is None else answer

    def penalty(self, network: Network) -> float:
        arity = {name: len(states) for name, states in zip(self.table.names, self.table.states, strict=True)}
        free = [(arity[x] - 1) * math.prod(arity[p] for p in own) for x, own in network.parents.items()]
        return self.kind.least_penalty(self.table.n_rows, 2) * sum(free)

    def fitted(self, network: Network) -> FittedNetwork:
        """By the rows in which a family is complete, no probability 0."""
        return fit_network(network, self.table)


@dataclass
class _Climbing:
    """How far a climb has come."""

    fitted: FittedNetwork
    scores: list[float]
    is_whole: bool = False
    are_proved: bool = True


def _climbed_from_all(task: _Task, given: Sequence[Network], draws: int, seed: int, run: Run) -> LocalOptimum:
    climbs: list[Climb] = []
    best: _Climbing | None = None
    for start, filling in _starts(task, given, draws, seed, run):
        found = _climb(task, filling, seed, run)
        if found is None:
            break
        climbs.append(Climb(start, found.fitted.network, tuple(found.scores), found.is_whole, found.are_proved))
        best = found if best is None or found.scores[-1] > best.scores[-1] else best
        run.best = best.scores[-1]
    if best is None:
        best = _without_edges(task, run)
        climbs.append(Climb("no edges", best.fitted.network, tuple(best.scores), is_whole=False, are_proved=False))
    notes = task.table.notes
    rounds = sum(len(climb.scores) for climb in climbs)
    return LocalOptimum(
        best.fitted,
        best.scores[-1],
        tuple(climbs),
        task.parts,
        limit_text(run.limit) if run.is_over else None,
        task.kind,
        run_stats(None, run, "structural EM", {"climbs": len(climbs), "rounds": rounds}),
        (*notes, *best.fitted.notes),
        task.table.reading,
    )


def _starts(
    task: _Task, given: Sequence[Network], draws: int, seed: int, run: Run
) -> Iterator[tuple[str, FittedNetwork]]:
    """What fills the gaps first; as long as there is time."""
    names = task.table.names
    empty = task.fitted(Network(names, {}))
    yield "no edges", empty
    for number, network in enumerate(given):
        yield f"network {number} given", task.fitted(Network(names, network.parents))  # in the order of the table
    for start, asked, kind in _to_start_from(task, empty, draws, seed, run.memory_limit):
        answer = None if run.is_over else asked.best(asked.table, kind, run)
        if answer is not None and answer.network is not None:
            yield start, task.fitted(answer.network)


def _to_start_from(
    task: _Task, empty: FittedNetwork, draws: int, seed: int, memory: int | None
) -> Iterator[tuple[str, _Task, ScoreKind]]:
    """Tables whose best network, by some score, is a start; none where no cell is missing."""
    complete = np.asarray(~task.table.is_missing.any(axis=0))
    if complete.all():
        return
    # What fills gaps needs to satisfy nothing. With a small penalty and few parents it has most edges that there are.
    few = min(FEW_PARENTS, FEW_PARENTS if task.max_parents is None else task.max_parents)
    yield "the node-average likelihood", replace(task, constraints=None, max_parents=few), NAL(penalty="bic")
    if complete.any():
        rows = with_rows(task.table, complete, task.table.weights[complete])
        yield "the complete rows", replace(task, table=rows), task.kind
    for draw in range(draws):
        filled = _filled(task, empty, 1, seed + 1 + draw, memory)
        yield f"gaps filled at random, draw {draw}", replace(task, table=filled), task.kind


def _climb(task: _Task, filling: FittedNetwork, seed: int, run: Run) -> _Climbing | None:
    """From what a fitted network says of the gaps, as long as the score rises; None when the time is up before any
    network is found."""
    found: _Climbing | None = None
    while not run.is_over:
        table = _filled(task, filling, task.parts, seed, run.memory_limit)
        answer = task.best(table, InParts(task.kind, task.parts), run)
        if answer is None or answer.network is None:
            return found
        network = Network.from_masks(task.table.names, answer.network.masks)
        if found is not None and network == found.fitted.network:
            found.is_whole = True
            return found
        filling, score = _with_probabilities(task, _fitted_to(network, table, task.parts), run)
        if found is None:
            found = _Climbing(filling, [score])
        elif score <= found.scores[-1] + SMALLEST_GAIN:  # as good, or better by what parts of rows tell apart
            found.is_whole = not run.is_over
            return found
        else:
            found.fitted = filling
            found.scores.append(score)
        found.are_proved &= answer.proved
    return found


def _filled(task: _Task, fitted: FittedNetwork, parts: int, seed: int, memory: int | None) -> Table:
    """The table without gaps in which ``parts`` rows stand for one."""
    codes, counts = MissingCells(fitted.network, task.rows, memory).completed(fitted, parts, seed)
    table = task.table
    return Table.from_codes(table.names, codes, weights=counts, states=table.states, keep_constant=table.keep_constant)


def _fitted_to(network: Network, table: Table, parts: int) -> FittedNetwork:
    tables = {}
    for name in network.names:
        counts = family_counts(table, table.index(name), [table.index(parent) for parent in network.parents[name]])
        tables[name] = expected_probabilities(counts / parts, ess=1.0)
    return FittedNetwork(network, dict(zip(table.names, table.states, strict=True)), tables)


def _with_probabilities(task: _Task, fitted: FittedNetwork, run: Run) -> tuple[FittedNetwork, float]:
    """The same network with the probabilities of the greatest likelihood that EM finds from these, and its score."""
    cells = MissingCells(fitted.network, task.rows, run.memory_limit)
    expected, before = cells.expected_counts(fitted), -math.inf
    for step in range(MOST_STEPS):
        if run.is_over or run.tick("expectation", step, 0) or expected.log_likelihood - before < SMALLEST_GAIN:
            break
        before = expected.log_likelihood
        tables = {name: expected_probabilities(counts, ess=0.0) for name, counts in expected.counts.items()}
        fitted = FittedNetwork(fitted.network, fitted.states, tables)
        expected = cells.expected_counts(fitted)
    return fitted, expected.log_likelihood - task.penalty(fitted.network)


def _without_edges(task: _Task, run: Run) -> _Climbing:
    """What can be said when there was time for nothing else."""
    empty = Network(task.table.names, {})
    if task.constraints is not None and not task.constraints.allows(empty):
        raise run.cut_short(
            "structural_em", f"no network was found yet. Allow more time, or give {option('max_parents')}"
        )
    fitted, score = _with_probabilities(task, task.fitted(empty), Run())
    return _Climbing(fitted, [score])
