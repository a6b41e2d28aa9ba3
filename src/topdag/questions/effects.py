"""What would follow if a variable were set, averaged over all networks [Pensar et al. 2020]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.brief import brief
from topdag._util.messages import first_ones, plural
from topdag._util.options import option, worded
from topdag._util.run import Run
from topdag._util.stop import TimeIsUp
from topdag.answers.averages import names_of, parent_set_shares, path_matrix
from topdag.answers.bootstrap import BootstrapFrequencies
from topdag.answers.effects import CausalEffects, Effect
from topdag.answers.held import HeldNetworks
from topdag.answers.lists import BestList, ClassList
from topdag.answers.posteriors import NetworkPosteriors, ParentSetPosteriors
from topdag.answers.results import Status
from topdag.data.groups import numbers_of
from topdag.data.table import Table
from topdag.effects.averaging import Adjustment, Averaging, FoundEffect, adjustment_of, heaviest
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import Prior
from topdag.networks.checks import require_known
from topdag.networks.network import Network
from topdag.questions.request import Request, Said, asked_about, checked_count, checked_seed, parted, run_stats
from topdag.questions.sum_sizes import Purpose
from topdag.questions.sums import asked, posteriors_of, scored_for
from topdag.scoring.kinds.discrete import KindLike, ScoreKind
from topdag.scoring.kinds.interventions import without_interventions
from topdag.scoring.scores import Scores

Names = str | Sequence[str] | None
WeighedMasks = tuple[Sequence[int], Floats]
MOST_DRAWS = 10**6
NO_PATH = 1e-12
"""A path less probable than this is in no network; sums of many are rounded to about as much."""
PAIRS_NAMED = 5


@brief
def causal_effects(
    source: Any,
    cause: Names = None,
    outcome: Names = None,
    kind: KindLike = None,
    *,
    prior: Prior | None = None,
    share: float = 0.9999,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Unpack[Said],
) -> CausalEffects:
    """What setting a cause would change in an outcome, averaged over all networks: ``effects["smoke", "lung"]``.

    In each network the parents of the cause are adjusted for, and there is no effect on them; a parent set counts with
    its exact posterior probability. This is an effect only if whatever led both to the cause and to the outcome is a
    column of the table.

    ``source``: a table or scores, for all networks; or a list of networks or classes, networks drawn, or a bootstrap,
    for just these. ``cause``, ``outcome``: a name or several; without them every variable. ``share``: parent sets are
    taken from the most probable on until they hold so much of the weight; 1 for all of them. ``draws``: for the
    intervals, which hold the share ``level`` of them.

    >>> import topdag as td
    >>> effect = causal_effects(td.example_table(), "smoke", "bronc")["smoke", "bronc"]
    >>> effect.meaning
    'probability of bronc = yes, if smoke = yes and not no'
    """
    wanted = WantedEffects(_names("cause", cause), _names("outcome", outcome), share, draws, level, seed)
    if isinstance(source, HeldNetworks):
        run = _run_alone(kind, prior, options)
        return asked("causal_effects", run, lambda: effects_of_list(source, wanted, run))
    if isinstance(source, BootstrapFrequencies):
        run = _run_alone(kind, prior, options)
        return asked("causal_effects", run, lambda: effects_of_bootstrap(source, wanted, run))
    request, run = asked_about(source, kind, options, prior, weighs=True)
    return asked("causal_effects", run, lambda: effects_of(request, wanted, run))


def _names(argument: str, given: Names) -> tuple[str, ...] | None:
    if given is None or isinstance(given, str):
        return None if given is None else (given,)
    if not isinstance(given, Iterable):
        raise ScoreError(f"{option(argument)} is the name of a variable or several, not {given!r}.")
    return tuple(given)


@dataclass(frozen=True)
class WantedEffects:
    """Which effects, and how well; without names those of all variables."""

    causes: tuple[str, ...] | None = None
    outcomes: tuple[str, ...] | None = None
    share: float = 0.9999
    draws: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("share", self.share), ("level", self.level)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
                raise ScoreError(f"{option(name)} is a share above 0 and at most 1, not {value!r}.")
        checked_count("draws", self.draws, 0, MOST_DRAWS)
        checked_seed(self.seed)
        for name, names in (("cause", self.causes), ("outcome", self.outcomes)):
            if names is not None and not names:
                raise ScoreError(f"{option(name)} names no variable. Leave it away for all of them.")
        if self.causes and self.outcomes and len({*self.causes, *self.outcomes}) == 1:
            raise ScoreError(f"{self.causes[0]!r} is both cause and outcome; ask for its effect on another variable.")


def _run_alone(kind: KindLike, prior: Prior | None, options: Said) -> Run:
    """Of a list only limits are said."""
    limits, about = parted(options)
    given = [*(["kind"] if kind is not None else []), *(["prior"] if prior is not None else []), *about]
    if given:
        raise ScoreError(f"{given[0]}= goes with a table or scores; a list has its networks and weights already.")
    return Run(**limits)


@dataclass(frozen=True)
class _Weighed:
    """The parent sets of causes with their weights, as masks over the columns of the table. ``over``: of which
    networks, in words; ``paths``: how probable each is, None where that is not known."""

    sets: Mapping[str, WeighedMasks]
    paths: Floats | None
    over: str
    engine: str
    notes: tuple[str, ...]


def effects_of(request: Request, wanted: WantedEffects, run: Run) -> CausalEffects:
    """By sums over all networks; without paths where these are not summed for so many variables."""
    require_effects(request, wanted)
    purpose, notes = Purpose(paths=True, parent_sets_of=wanted.causes), tuple[str, ...]()
    try:
        scores = scored_for(request, purpose, run)
    except TooLarge as error:
        purpose = Purpose(parent_sets_of=wanted.causes)
        scores = scored_for(request, purpose, run)
        notes = (f"In which share of the networks there is no effect is not known: {error}",)
    return effects_of_sums(scores, posteriors_of(scores, request.prior, purpose, run), wanted, run, notes)


def require_effects(request: Request, wanted: WantedEffects, *, weighs: bool = True) -> None:
    """Refuses what has no effects, and names that are not there, before anything is scored; ``weighs``: whether
    networks count by exp(score)."""
    if weighs and request.kind is not None and not request.kind.is_likelihood:
        raise ScoreError(
            f"{request.kind!r} is no likelihood, so that exp(score) weighs no networks, and effects are not averaged "
            f"over all of them. {worded('causal_effects(bootstrap(...))', '--bootstrap 200')} averages over the best "
            f"networks of tables drawn from the rows; {worded('causal_effects(k_best_networks(..., 1))', '-k 1')} "
            "takes the best network alone."
        )
    _adjustment(request.table, request.kind)
    for names in (wanted.causes, wanted.outcomes):
        _chosen(names, request.known_names, request.scored_names)


def effects_of_sums(
    scores: Scores, sums: NetworkPosteriors, wanted: WantedEffects, run: Run, notes: tuple[str, ...] = ()
) -> CausalEffects:
    """From sums that hold the parent sets of all causes."""
    over = f"all networks, {sums.prior}"
    if scores.constraints is not None:
        over += f", that satisfy: {scores.constraints.summary}"
    sets = {name: _over_columns(of, scores.names) for name, of in sums.by_parents.items()}
    paths = None if sums.paths is None else sums.paths.matrix
    engine = "sums" if sums.stats is None else sums.stats.engine
    weighed = _Weighed(sets, paths, over, engine, (*scores.notes_on_weights, *notes))
    return _effects(Request.from_scores(scores), weighed, wanted, run)


def _over_columns(of: ParentSetPosteriors, names: Sequence[str]) -> WeighedMasks:
    """Only what has weight, as masks over the columns of the table."""
    places = np.flatnonzero(of.probabilities > 0)
    columns = [names.index(name) for name in of.candidates]
    masks = np.zeros(len(places), dtype=object)
    for i, column in enumerate(columns):
        masks |= (places >> i & 1).astype(object) << column
    return masks.tolist(), of.probabilities[places]


def effects_of_list(held: HeldNetworks[Any], wanted: WantedEffects, run: Run) -> CausalEffects:
    """The networks of a list count by their weights; those drawn count alike."""
    if not len(held):
        raise ScoreError("There are no networks to average over: the list is empty.")
    over = f"{plural(len(held), 'network')} drawn, which count alike"
    if isinstance(held, BestList):
        several = "classes" if isinstance(held, ClassList) else "networks"
        best = "" if held.proof.status is Status.PROVED else f" found before {held.proof.limit_in_words} came"
        over = f"the {len(held):,} best {several}{best}, by their weights; what is not in the list does not count"
        if len(held) == 1 and held.proof.status is Status.PROVED:
            over = f"the best {'class' if isinstance(held, ClassList) else 'network'} alone"
    weighed = _Weighed(_parent_sets(held), path_matrix(held), over, "averages over a list", held.notes)
    return _effects(Request.from_scores(held.source), weighed, wanted, run)


def effects_of_bootstrap(drawn: BootstrapFrequencies, wanted: WantedEffects, run: Run) -> CausalEffects:
    """The best networks of tables drawn from the rows count alike; probabilities are those of the table itself."""
    request = Request(drawn.table, drawn.kind)
    require_effects(request, wanted, weighs=False)
    networks = drawn.networks()
    best = "a network of the best class" if drawn.by_class else "the best network"
    over = (
        f"{best} of each of {plural(len(networks), 'table')} drawn from the rows, which count alike; these are no "
        "probabilities of networks given the data"
    )
    weighed = _Weighed(_parent_sets(networks), path_matrix(networks), over, "averages over draws", drawn.notes)
    return _effects(request, weighed, wanted, run)


def _parent_sets(averaged: HeldNetworks[Any] | Sequence[Network]) -> dict[str, WeighedMasks]:
    shares = zip(names_of(averaged), parent_set_shares(averaged), strict=True)
    return {name: (list(of), np.array(list(of.values()))) for name, of in shares}


def _adjustment(
    table: Table | None, kind: ScoreKind | None, outcomes: Sequence[str] | None = None
) -> tuple[Adjustment, str]:
    if table is None or kind is None:
        raise ScoreError(
            "Effects are estimated from the table, and what was given came from a file without one. Ask with the table."
        )
    return adjustment_of(table, without_interventions(kind) or kind, outcomes)


def _effects(request: Request, weighed: _Weighed, wanted: WantedEffects, run: Run) -> CausalEffects:
    known, scored = request.known_names, request.scored_names
    causes, outcomes = (_chosen(names, known, scored) for names in (wanted.causes, wanted.outcomes))
    adjustment, estimated = _adjustment(request.table, request.kind, outcomes)
    table = adjustment.table
    if table.targets:
        estimated += ", for each cause from the rows in which nothing else was set"
    run.require_memory(adjustment.n_bytes, "Adjusting for parents", "Leave out columns, or cut into fewer states.")
    begin = run.seconds
    sets = {name: heaviest(*weighed.sets[name], wanted.share) for name in causes}
    total = sum(len(own.masks) for own in sets.values())
    averaging = Averaging(run, total=total, draws=wanted.draws, seed=wanted.seed)
    by_pair: dict[tuple[str, str], Effect] = {}
    for cause in causes:
        x, others = table.index(cause), [table.index(outcome) for outcome in outcomes if outcome != cause]
        own = adjustment if not table.targets else _adjustment(_rows_for(table, x), request.kind, outcomes)[0]
        before = [y for y in others if weighed.paths is not None and weighed.paths[x, y] < NO_PATH]
        found = averaging.effects(own, x, [y for y in others if y not in before], sets[cause])
        if found is None:
            raise TimeIsUp
        for y, effect in sorted((found | averaging.no_effects(own, x, before)).items()):
            by_pair[cause, table.names[y]] = _effect(own, cause, y, effect, weighed.paths, wanted.level)
    run.timed("effects", begin)
    return CausalEffects(
        causes,
        outcomes,
        MappingProxyType(by_pair),
        weighed.over,
        estimated,
        MappingProxyType({name: own.covered for name, own in sets.items()}),
        wanted.level,
        wanted.draws,
        wanted.seed,
        run_stats(request.scores, run, weighed.engine, {"parent sets": total}),
        (*weighed.notes, *_disagreeing(by_pair)),
    )


def _disagreeing(by_pair: Mapping[tuple[str, str], Effect]) -> tuple[str, ...]:
    """A note on effects that rows show and networks do not."""
    odd = [
        f"{effect.cause} -> {effect.outcome}"
        for effect in sorted(by_pair.values(), key=lambda effect: -effect.size)
        if effect.no_effect is not None and effect.no_effect > 0.5 and (effect.lower > 0 or effect.upper < 0)
    ]
    if not odd:
        return ()
    return (
        f"In most networks no path leads from cause to outcome, and yet the rows differ more than by chance: "
        f"{first_ones(odd, PAIRS_NAMED)}. "
        'There "no effect" counts more than the number, which is what rows show beside the parents of the cause.',
    )


def _rows_for(table: Table, x: int) -> Table:
    """Where something else was set, what follows from x need not follow as usual."""
    rows = table.rows_setting_only(x)
    if not rows.n_rows:
        raise ScoreError(
            f"In every row something other than {table.names[x]!r} was set, so that its effects cannot be estimated."
        )
    return rows


def _chosen(wanted: tuple[str, ...] | None, names: Sequence[str], scored: tuple[str, ...]) -> tuple[str, ...]:
    """In the order of the columns; without names all but the constant ones."""
    if wanted is None:
        return scored
    require_known(wanted, names)
    constant = [name for name in wanted if name not in scored]
    if constant:
        raise ScoreError(f"{constant[0]!r} is constant in this table, which tells nothing of its causes or effects.")
    return tuple(name for name in names if name in wanted)


def _effect(
    adjustment: Adjustment, cause: str, y: int, found: FoundEffect, paths: Floats | None, level: float
) -> Effect:
    table = adjustment.table
    x, outcome, contrast = table.index(cause), table.names[y], found.contrast
    lower, upper = np.nan, np.nan
    if len(found.draws):
        lower, upper = np.quantile(found.draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    without = None if paths is None else float(min(1.0, max(0.0, 1 - paths[x, y])))
    among_numbers = not table.states[x] and not table.states[y]
    if contrast is None or among_numbers:
        return Effect(cause, outcome, found.value, lower, upper, without, scale=_scale(table, x, y))
    levels, own = adjustment.levels(x), table.states[y]
    effect = Effect(
        cause,
        outcome,
        found.value,
        lower,
        upper,
        without,
        contrast.supported,
        less=levels[contrast.less],
        more=levels[contrast.more],
    )
    if not own:
        means = dict(zip(levels, found.response[:, 0].tolist(), strict=True))
        return replace(effect, scale=1 / (_deviation(table, y) or np.inf), means=MappingProxyType(means))
    rows = zip(levels, found.response.tolist(), strict=True)
    return replace(
        effect,
        raised=tuple(state for state, is_raised in zip(own, contrast.raised, strict=True) if is_raised),
        distributions=MappingProxyType(
            {state: MappingProxyType(dict(zip(own, row, strict=True))) for state, row in rows}
        ),
    )


def _scale(table: Table, x: int, y: int) -> float:
    """A standard deviation of the cause by one of the outcome."""
    return _deviation(table, x) / (_deviation(table, y) or np.inf)


def _deviation(table: Table, v: int) -> float:
    numbers = numbers_of(table, [v])[0]
    mean = np.average(numbers, weights=table.weights)
    return float(np.sqrt(np.average((numbers - mean) ** 2, weights=table.weights)))
