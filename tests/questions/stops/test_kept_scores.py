"""Scores kept for one question: every other one refuses them, or answers as from all families."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from strategies import doubled_rows, table_of

import topdag as td
from topdag.questions.prior_search import PartialNetwork
from topdag.scoring.scores import Scores

REFUSED = (td.ScoreError, td.ConstraintError)
KEEPS = ("best", td.KBest(3), td.KBest(40), td.Within(4), td.Within(1e6))
KS, FACTORS = (1, 3, 40), (1.0, 4.0, 1e6)
N = 4


def favour_late(name: str, earlier: frozenset[str]) -> float:
    return 0.9 * len(earlier) * (name == "V0")


def favour_parents(name: str, parents: frozenset[str]) -> float:
    return 1.5 * len(parents)


class ManyEdges:
    """A prior of a user's own that favours what pruning leaves out."""

    def log_weight(self, network: PartialNetwork) -> float:
        return 2.0 * sum(mask.bit_count() for mask in network.parent_masks)

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return 2.0 * sum(range(n_placed, N))


PRIORS = (
    None,
    td.EdgePrior({("V0", "V1"): 3.0, ("V2", "V3"): -2.0}, 1.0),
    td.FairPrior(),
    td.OrderModular(),
    td.OrderModular(order_weight=favour_late),
    td.OrderModular(parent_weight=favour_parents),
)
SEARCHED = (*PRIORS[:4], ManyEdges())

KNOWN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no edges": {"forbidden_edges": [("V0", "V1"), ("V3", "V2")]},
    "edges": {"required_edges": [("V1", "V0"), ("V2", "V0")]},
    "numbers": {"max_parents": 2, "min_parents": {"V3": 1}},
    "sets": {"allowed_parent_sets": {"V1": [[], ["V0"], ["V2", "V3"]]}, "roots": ["V2"]},
    "tiers": {"tiers": [["V2", "V3"], ["V0", "V1"]]},
    "an order": {"precedence": [("V3", "V0"), ("V0", "V2")]},
    "a path": {"ancestors": [("V0", "V3")]},
    "no path": {"not_ancestors": [("V0", "V3"), ("V1", "V2")]},
    "a rule of one": {"rules": ["V1->V0 or V2->V0"]},
    "a rule of two": {"rules": ["if V1->V0 then not V2->V3"]},
    "an edge either way": {"required_adjacencies": [("V0", "V1")]},
}


def number(value: float) -> float:
    return round(value, 7) + 0.0


def best(answer: td.types.Answer) -> Any:
    return answer.proof.status, number(answer.score)


def listed(found: td.types.NetworkList | td.types.ClassList, most: float = math.inf) -> Any:
    """The scores, and what stands above the last of a full list; which of those that tie with it are in is free."""
    last = found.scores[-1] if len(found) == most else -math.inf
    items = [item for item, value in zip(found, found.scores, strict=True) if value > last + 1e-7]
    shown = {
        (item.directed, item.undirected) if isinstance(found, td.types.ClassList) else item.edges for item in items
    }
    return found.proof.status, [number(value) for value in found.scores], len(items), shown


def matrix(values: Any) -> Any:
    return np.round(np.asarray(values, float), 7).tolist()


def streamed(found: Iterator[td.Network]) -> Any:
    networks = [network.edges for network in found]
    return len(networks), set(networks)


def family_bounds(scores: Scores) -> Any:
    others = {x: [v for v in scores.names if v != x] for x in scores.names}
    return [
        number(scores.family_bound(x, parents))
        for x in scores.names
        for size in range(N)
        for parents in itertools.combinations(others[x], size)
    ]


def with_priors(ask: Callable[..., Any], priors: Any = PRIORS) -> list[Callable[[Scores], Any]]:
    return [lambda scores, prior=prior: ask(scores, prior=prior) for prior in priors]


def every(values: Any, ask: Callable[..., Any], priors: Any = (None,)) -> list[Callable[[Scores], Any]]:
    """Asked with each value, and with each prior where it takes one."""
    ways = [{} if prior is None else {"prior": prior} for prior in priors]
    return [lambda scores, v=value, way=way: ask(scores, v, **way) for value in values for way in ways]


def by_engine(scores: Scores, engine: str) -> Any:
    """Most engines work on listed families only, so all families are asked without naming one."""
    return best(td.best_network(scores, engine=None if scores.keep == "all" else engine))


ENGINES = ("dense lattice", "block lattice", "search", "order search", "branch and cut", "branching")

QUESTIONS: dict[str, list[Callable[[Scores], Any]]] = {
    "best_network": [
        *with_priors(lambda scores, **way: best(td.best_network(scores, **way))),
        *every(ENGINES, by_engine),
    ],
    "k_best_networks": every(KS, lambda scores, k, **way: listed(td.k_best_networks(scores, k, **way), k), PRIORS),
    "networks_within": [
        *every(FACTORS, lambda scores, factor, **way: listed(td.networks_within(scores, factor, **way)), PRIORS),
        *every(KS, lambda scores, k, **way: listed(td.networks_within(scores, 4, at_most=k, **way), k), PRIORS),
    ],
    "k_best_classes": every(KS, lambda scores, k: listed(td.k_best_classes(scores, k), k)),
    "classes_within": [
        *every(FACTORS, lambda scores, factor: listed(td.classes_within(scores, factor))),
        *every(KS, lambda scores, k: listed(td.classes_within(scores, 4, at_most=k), k)),
    ],
    "count_networks_within": every(FACTORS, td.count_networks_within),
    "count_classes_within": every(FACTORS, td.count_classes_within),
    "iter_networks_within": every(FACTORS, lambda scores, factor: streamed(td.iter_networks_within(scores, factor))),
    "search_networks": [
        *every(KS, lambda scores, k, **way: listed(td.search_networks(scores, k, **way), k), SEARCHED),
        *every(KS, lambda s, k: listed(td.search_networks(s, k, prior=td.OrderModular(), published=True), k)),
    ],
    "edge_posteriors": with_priors(lambda scores, **way: matrix(td.edge_posteriors(scores, **way).matrix)),
    "path_posteriors": with_priors(lambda scores, **way: matrix(td.path_posteriors(scores, **way).matrix)),
    "parent_set_posteriors": with_priors(
        lambda scores, **way: dict(td.parent_set_posteriors(scores, "V0", **way).most_probable(8))
    ),
    "network_posteriors": with_priors(lambda scores, **way: matrix(td.network_posteriors(scores, **way).paths.matrix)),
    "causal_effects": with_priors(lambda scores, **way: matrix(td.causal_effects(scores, draws=0, **way).matrix)),
    "log_evidence": with_priors(lambda scores, **way: number(td.log_evidence(scores, **way))),
    "log_prior_total": with_priors(lambda scores, **way: number(td.log_prior_total(scores, **way))),
    "sample_networks": with_priors(lambda scores, **way: td.sample_networks(scores, 20, **way).parents.tolist()),
    "edge_alternatives": [lambda scores: matrix(td.edge_alternatives(scores).with_edge)],
    "Scores.family_bound": [family_bounds],
}
NO_QUESTIONS = {"look", "plan", "bootstrap", "structural_em", "time_slices"}
"""What takes scores and answers from no families of theirs."""
NO_QUESTIONS_OF_SCORES = """
    all_masks breakdown describe_space families is_kept is_kept_where_orders_weigh local masks_of network of
    require_kept require_kept_where_orders_weigh require_local require_no_prior
"""


def test_every_public_question_is_asked_here() -> None:
    functions = {name: getattr(td, name) for name in td.__all__ if inspect.isfunction(getattr(td, name))}
    first = {name: next(iter(inspect.signature(own).parameters), "") for name, own in functions.items()}
    public = {name for name, parameter in first.items() if parameter in ("source", "scores")}
    methods = {name for name, own in inspect.getmembers(Scores, inspect.isfunction) if not name.startswith("_")}
    own = {f"Scores.{name}" for name in methods - set(NO_QUESTIONS_OF_SCORES.split())}
    assert public | own == set(QUESTIONS) | NO_QUESTIONS


def answer(ask: Callable[[Scores], Any], scores: Scores) -> Any:
    try:
        return ask(scores)
    except REFUSED:
        return "refused"


def some_table(seed: int) -> td.Table:
    """Few rows and columns alike, so that much ties."""
    rng = np.random.default_rng(seed)
    arities = (2, 2, 3, 2)
    return table_of(doubled_rows(rng, (N, 7 + 9 * (seed % 3)), arities), arities)


def kept(table: td.Table, kind: Any, keep: Any, known: str) -> Scores | None:
    """None where no such scores are made."""
    try:
        return td.score(table, kind, keep=keep, constraints=td.Constraints(**KNOWN[known]))
    except REFUSED:
        return None


@pytest.mark.parametrize(
    ("known", "kind"),
    [*((known, td.BDeu()) for known in KNOWN), *((known, td.K2()) for known in ("nothing", "edges", "an order"))],
    ids=str,
)
def test_kept_scores_answer_as_all_families_or_not_at_all(known: str, kind: Any) -> None:
    table = some_table(list(KNOWN).index(known))
    everything = kept(table, kind, "all", known)
    assert everything is not None
    pruned = {str(keep): scores for keep in KEEPS if (scores := kept(table, kind, keep, known)) is not None}
    for question, asks in QUESTIONS.items():
        for place, ask in enumerate(asks):
            expected = answer(ask, everything)
            for keep, scores in pruned.items():
                found = answer(ask, scores)
                assert found in (expected, "refused"), (question, place, keep, known)


@pytest.mark.parametrize("known", KNOWN)
def test_kept_scores_answer_what_they_were_kept_for(known: str) -> None:
    """Also classes, of which some member satisfies the constraints."""
    for seed in (list(KNOWN).index(known), 20):
        table = some_table(seed)
        everything = kept(table, td.BDeu(), "all", known)
        assert everything is not None
        for keep in KEEPS:
            scores = kept(table, td.BDeu(), keep, known)
            if scores is None:
                continue
            for ask in what_is_kept_for(keep):
                assert ask(scores) == ask(everything), (keep, seed)


def what_is_kept_for(keep: Any) -> Iterator[Callable[[Scores], Any]]:
    yield lambda scores: best(td.best_network(scores))
    if isinstance(keep, td.KBest):
        yield from every({1, keep.k // 2 + 1, keep.k}, lambda scores, k: listed(td.k_best_networks(scores, k), k))
        yield from every({1, keep.k // 2 + 1, keep.k}, lambda scores, k: listed(td.k_best_classes(scores, k), k))
        yield lambda scores: listed(td.classes_within(scores, 4, at_most=keep.k), keep.k)
    if isinstance(keep, td.Within):
        yield lambda scores: listed(td.networks_within(scores, keep.factor))
        yield lambda scores: listed(td.classes_within(scores, keep.factor))
