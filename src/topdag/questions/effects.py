"""What would follow if a variable were set, averaged over all networks [Pensar et al. 2020]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.brief import brief
from topdag._util.messages import plural
from topdag._util.run import OnProgress, Run, is_whole
from topdag.answers.averages import parent_set_shares, path_matrix
from topdag.answers.effects import CausalEffects, Effect
from topdag.answers.held import HeldNetworks
from topdag.answers.lists import BestList, ClassList
from topdag.answers.posteriors import ParentSetPosteriors
from topdag.data.groups import numbers_of
from topdag.data.table import Table
from topdag.effects.averaging import Adjustment, Averaging, FoundEffect, adjustment_of, heaviest
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import Prior
from topdag.networks.checks import require_known
from topdag.questions.decide import Question, decide
from topdag.questions.request import About, Request, run_stats
from topdag.questions.sums import Purpose, TimeIsUp, asked, posteriors_of, scored_for
from topdag.scoring.kinds.discrete import KindLike, ScoreKind
from topdag.scoring.scores import Scores

Names = str | Sequence[str] | None
WeighedMasks = tuple[Sequence[int], Floats]
MOST_DRAWS = 10**6
MOST_SEEDS = 2**64


@brief
def causal_effects(
    source: Any,
    cause: Names = None,
    outcome: Names = None,
    kind: KindLike = None,
    *,
    prior: Prior | None = None,
    share: float = 0.999,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    **about: Unpack[About],
) -> CausalEffects:
    """What setting a cause would change in an outcome, averaged over all networks: ``effects["smoke", "lung"]``.

    In each network the parents of the cause are adjusted for, and there is no effect on them; a parent set counts with
    its exact posterior probability. This is an effect only if whatever led both to the cause and to the outcome is a
    column of the table.

    ``source``: a table or scores, for all networks; or a list of networks or classes, or networks drawn, for just
    these. ``cause``, ``outcome``: a name or several; without them every variable. ``share``: parent sets are taken from
    the most probable on until they hold so much of the weight; 1 for all of them. ``draws``: for the intervals, which
    hold the share ``level`` of them.

    >>> import topdag as td
    >>> effect = causal_effects(td.example_table(), "smoke", "bronc")["smoke", "bronc"]
    >>> effect.meaning
    'probability of bronc = yes, if smoke = yes and not no'
    """
    _check(share, draws, level, seed)
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)

    def find() -> CausalEffects:
        if isinstance(source, HeldNetworks):
            _require_alone(kind, prior, about)
            weighed = _of_networks(source)
        else:
            weighed = _of_all(source, kind, about, prior, _listed(cause), run)
        return _effects(weighed, cause, outcome, share, draws, level, seed, run)

    return asked("causal_effects", run, find)


def _check(share: object, draws: object, level: object, seed: object) -> None:
    for name, value in (("share", share), ("level", level)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise ScoreError(f"{name}= is a share above 0 and at most 1, not {value!r}.")
    if not is_whole(draws, 0, MOST_DRAWS):
        raise ScoreError(f"draws= is a whole number from 0 to {MOST_DRAWS:,}, not {draws!r}.")
    if not is_whole(seed, 0, MOST_SEEDS - 1):
        raise ScoreError(f"seed= is a whole number from 0 on, below 2**64, not {seed!r}.")


def _require_alone(kind: KindLike, prior: Prior | None, about: About) -> None:
    given = [*(["kind"] if kind is not None else []), *(["prior"] if prior is not None else []), *about]
    if given:
        raise ScoreError(f"{given[0]}= goes with a table or scores; a list has its networks and weights already.")


@dataclass(frozen=True)
class _Weighed:
    """The parent sets of causes with their weights, as masks over the columns of the table."""

    scores: Scores
    adjustment: Adjustment
    estimated: str
    sets: dict[str, WeighedMasks]
    paths: Floats | None
    over: str
    engine: str
    notes: tuple[str, ...]


def _listed(names: Names) -> tuple[str, ...] | None:
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def _of_all(
    source: Any, kind: KindLike, about: About, prior: Prior | None, causes: tuple[str, ...] | None, run: Run
) -> _Weighed:
    """Exact sums; without paths where these are not summed for so many variables."""
    request = Request.about(source, kind, about, prior)
    adjustment = _adjustment(request.table, request.kind)
    wanted, notes = Purpose(paths=True, parent_sets_of=causes), tuple[str, ...]()
    try:
        scores = scored_for(request, wanted, run)
    except TooLarge as error:
        wanted = Purpose(parent_sets_of=causes)
        scores = scored_for(request, wanted, run)
        notes = (f"In which share of the networks there is no effect is not known: {error}",)
    found = posteriors_of(scores, prior, wanted, run)
    over = f"all networks, {found.prior}"
    if scores.constraints is not None:
        over += f", that satisfy: {scores.constraints.summary}"
    return _Weighed(
        scores,
        *adjustment,
        {name: _over_columns(of, scores.names) for name, of in found.by_parents.items()},
        None if found.paths is None else found.paths.matrix,
        over,
        decide(Request.from_scores(scores, prior=prior), Question.SUM).engine.value,
        (*scores.notes, *notes),
    )


def _over_columns(of: ParentSetPosteriors, names: Sequence[str]) -> WeighedMasks:
    """Only what has weight, as masks over the columns of the table."""
    places = np.flatnonzero(of.probabilities > 0)
    columns = [names.index(name) for name in of.candidates]
    masks = np.zeros(len(places), dtype=object)
    for i, column in enumerate(columns):
        masks |= (places >> i & 1).astype(object) << column
    return masks.tolist(), of.probabilities[places]


def _of_networks(held: HeldNetworks[Any]) -> _Weighed:
    """The networks of a list, by their weights; those drawn count alike."""
    adjustment = _adjustment(held.source.table, held.source.kind)
    if not len(held):
        raise ScoreError("There are no networks to average over: the list is empty.")
    shares = parent_set_shares(held)
    sets: dict[str, WeighedMasks] = {
        name: (list(of), np.array(list(of.values()))) for name, of in zip(held.names, shares, strict=True)
    }
    over = f"{plural(len(held), 'network')} drawn, which count alike"
    if isinstance(held, BestList):
        several = "classes" if isinstance(held, ClassList) else "networks"
        over = f"the {len(held):,} best {several}, by their weights; what is not in the list does not count"
    return _Weighed(held.source, *adjustment, sets, path_matrix(held), over, "averages over a list", held.notes)


def _adjustment(table: Table | None, kind: ScoreKind | None) -> tuple[Adjustment, str]:
    if table is None or kind is None:
        raise ScoreError(
            "Effects are estimated from the table, and these scores came from a file without one. Ask with the table."
        )
    return adjustment_of(table, kind)


def _effects(
    weighed: _Weighed,
    cause: Names,
    outcome: Names,
    share: float,
    draws: int,
    level: float,
    seed: int,
    run: Run,
) -> CausalEffects:
    scores, adjustment = weighed.scores, weighed.adjustment
    table = adjustment.table
    causes, outcomes = (_chosen(names, scores) for names in (cause, outcome))
    run.require_memory(adjustment.n_bytes, "Adjusting for parents", "Leave out columns, or cut into fewer states.")
    begin = run.seconds
    chosen = {name: heaviest(*weighed.sets[name], share) for name in causes}
    total = sum(len(of.masks) for of in chosen.values())
    averaging = Averaging(adjustment, run, total=total, draws=draws, seed=seed)
    by_pair: dict[tuple[str, str], Effect] = {}
    for name in causes:
        found = averaging.effects(table.index(name), [table.index(o) for o in outcomes if o != name], chosen[name])
        if found is None:
            raise TimeIsUp
        for y, effect in found.items():
            pair = name, table.names[y]
            by_pair[pair] = _effect(*pair, effect, adjustment, weighed.paths, level)
    run.timed("effects", begin)
    return CausalEffects(
        causes,
        outcomes,
        MappingProxyType(by_pair),
        weighed.over,
        weighed.estimated,
        MappingProxyType({name: of.covered for name, of in chosen.items()}),
        level,
        draws,
        seed,
        run_stats(scores, run, weighed.engine, {"parent sets": total}),
        weighed.notes,
    )


def _chosen(names: Names, scores: Scores) -> tuple[str, ...]:
    """In the order of the columns; without names all but the constant ones."""
    wanted = _listed(names)
    if wanted is None:
        return scores.scored_names
    require_known(wanted, scores.names)
    constant = [name for name in wanted if name not in scores.scored_names]
    if constant:
        raise ScoreError(f"{constant[0]!r} is constant in this table, so that nothing can be said of setting it.")
    return tuple(name for name in scores.names if name in wanted)


def _effect(
    cause: str, outcome: str, found: FoundEffect, adjustment: Adjustment, paths: Floats | None, level: float
) -> Effect:
    table = adjustment.table
    x, y = table.index(cause), table.index(outcome)
    lower, upper = np.nan, np.nan
    if len(found.draws):
        lower, upper = np.quantile(found.draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    without = None if paths is None else float(min(1.0, max(0.0, 1 - paths[x, y])))
    if found.contrast is None:
        return Effect(cause, outcome, found.value, lower, upper, without, scale=_scale(table, x, y))
    states, own = table.states[x], table.states[y]
    return Effect(
        cause,
        outcome,
        found.value,
        lower,
        upper,
        without,
        found.contrast.supported,
        less=states[found.contrast.less],
        more=states[found.contrast.more],
        raised=tuple(state for state, is_raised in zip(own, found.contrast.raised, strict=True) if is_raised),
        distributions=MappingProxyType(
            {
                state: MappingProxyType(dict(zip(own, row.tolist(), strict=True)))
                for state, row in zip(states, found.response, strict=True)
            }
        ),
    )


def _scale(table: Table, x: int, y: int) -> float:
    """A standard deviation of the cause by one of the outcome."""
    numbers = numbers_of(table, [x, y])
    means = np.average(numbers, axis=1, weights=table.weights)
    variances = np.average((numbers - means[:, None]) ** 2, axis=1, weights=table.weights)
    return float(np.sqrt(variances[0] / variances[1])) if variances[1] else 0.0
