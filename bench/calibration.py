"""Whether posteriors of edges are right as often as they say, by each score that could be averaged over all networks.

Networks of five columns are drawn uniformly from all 29,281, so that the prior of the averages is the true one and what
is wrong comes from the score; and sparse ones, as tables usually have. python -m bench calibration [--quick]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from bench.drawn_tables import Drawn, draw
from bench.measure import given, keep_results, machine

N, ROWS, NETWORKS = 5, (100, 300, 1000, 5000), 60
BOOTSTRAPPED, RESAMPLES = 20, 50
"""Networks of each kind that are bootstrapped, and resamples for each."""
WORLDS = {"uniform": None, "sparse": (0.5, 0.35, 0.15)}
"""Chances of no, one and two parents; None: all networks are equally likely."""
LEAST_EFFECT, CLIP = 0.1, 0.001
"""Effects are so large to 1; probabilities nearer to 0 or 1 than CLIP count as CLIP in log losses."""
TEMPERS = (0.75, 0.5, 0.35)
GROUPS = {
    "categories": (5, 0, ("categories",)),
    "mixed": (3, 2, ("conditional Gaussian", "latent, cut", "logistic", "other noise", "nonlinear", "distorted")),
    "numbers": (0, 5, ("logistic", "other noise", "nonlinear", "distorted", "counts")),
}
EDGES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1.0)
"""Of the bins of the reliability curve."""


@cache
def all_dags(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Parent masks of all networks, a row for each, and the same as edges [network, parent, child]."""
    pairs = list(itertools.combinations(range(n), 2))
    ways = np.array(list(itertools.product((0, 1, 2), repeat=len(pairs))), dtype=np.int8)
    edges = np.zeros((len(ways), n, n), dtype=bool)
    for at, (a, b) in enumerate(pairs):
        edges[:, a, b], edges[:, b, a] = ways[:, at] == 1, ways[:, at] == 2
    gone = np.zeros((len(ways), n), dtype=bool)
    for _ in range(n):
        gone |= ~(edges & ~gone[:, :, None]).any(axis=1)
    edges = edges[gone.all(axis=1)]
    return (edges * (1 << np.arange(n))[None, :, None]).sum(axis=1), edges


def network_scores(scores: Any) -> np.ndarray:
    """The score of every network, from topdag's scores of all families."""
    masks, _ = all_dags(N)
    total = np.zeros(len(masks))
    for x in range(N):
        sets, at = np.unique(masks[:, x], return_inverse=True)
        total += scores.store.values(x, sets.astype(np.uint64))[at]
    return total


def edge_probabilities(total: np.ndarray, power: float = 1.0) -> np.ndarray:
    """[parent, child], by weights exp(power x score)."""
    weights = np.exp(power * (total - total.max()))
    _, edges = all_dags(N)
    heavy = weights > 1e-12
    return np.tensordot(weights[heavy] / weights.sum(), edges[heavy].astype(float), 1)


def bootstrapped(table: Drawn, seed: int) -> np.ndarray:
    """How often each edge is in the network that is best for a resample; a class counts its networks evenly."""
    from bench.mixed_kinds import by_rank_bic

    rng = np.random.default_rng([7, seed])
    found = np.zeros((N, N))
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(table.columns[0]), len(table.columns[0]))
        total = network_scores(by_rank_bic([c[rows] for c in table.columns], table.states, None))
        found += edge_probabilities(np.where(total > total.max() - 1e-6, 0.0, -np.inf))
    return found / RESAMPLES


def candidates(group: str, table: Drawn, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Edge probabilities by each way to average."""
    import topdag as td
    from bench.mixed_kinds import MIXED, NUMBERS, table_of

    kinds = {name: NUMBERS[name] for name in NUMBERS} if group == "numbers" else {}
    if group == "mixed":
        kinds = {name: MIXED[name] for name in ("MixedBIC", "DG, as published", "DG, normal scores")}
    kinds |= {name: MIXED[name] for name in (("RankBIC", "three quantiles, BIC")[: 1 if group == "categories" else 2])}
    for name, score in kinds.items():
        total = network_scores(score(table.columns, table.states, None))
        yield name, edge_probabilities(total)
        if name == "RankBIC":
            for power in TEMPERS:
                yield f"RankBIC, power {power}", edge_probabilities(total, power)
            if seed < BOOTSTRAPPED:
                yield "RankBIC, where bootstrapped", edge_probabilities(total)
                yield "RankBIC, power 0.5, where bootstrapped", edge_probabilities(total, 0.5)
    if group == "numbers":
        scores = td.score(table_of(table.columns, table.states), td.BGe(), keep="all", threads=1)
        yield "BGe, standardized", edge_probabilities(network_scores(scores))
    if group == "categories":
        for name, kind in {"BDeu(1)": td.BDeu(), "K2, nearly the true prior": td.K2()}.items():
            scores = td.score(table_of(table.columns, table.states), kind, keep="all", threads=1)
            yield name, edge_probabilities(network_scores(scores))
    if seed < BOOTSTRAPPED:
        yield f"bootstrap of RankBIC, {RESAMPLES}", bootstrapped(table, seed)


def pairs_of(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
    """A row for each pair: whether it is an edge, its probability, and the probability of what is there, directed."""
    made = []
    for a, b in itertools.combinations(range(N), 2):
        none = 1 - found[a, b] - found[b, a]
        there = found[a, b] if truth[a, b] else found[b, a] if truth[b, a] else none
        made.append((truth[a, b] or truth[b, a], 1 - none, there))
    return np.array(made, dtype=float)


def measures(pairs: np.ndarray) -> dict[str, Any]:
    """Losses for each pair, and how the probabilities of edges compare with how often there is one.

    ``slope``: of the logit of the truth on that of the probability; below 1 it is too sure. ``sure``: of the pairs
    with a probability below 0.05 or above 0.95 so many are otherwise; at most 0.05 if it is calibrated.
    """
    is_edge, says, there = pairs.T
    inside = np.clip(says, CLIP, 1 - CLIP)
    loss = -np.where(is_edge, np.log(inside), np.log(1 - inside))
    sure = (says < 0.05) | (says > 0.95)
    bins = np.clip(np.digitize(says, EDGES) - 1, 0, len(EDGES) - 2)
    curve = [(says[bins == b].mean(), is_edge[bins == b].mean(), int((bins == b).sum())) for b in np.unique(bins)]
    off = sum(many * abs(said - often) for said, often, many in curve) / len(says)
    by_table = loss.reshape(-1, N * (N - 1) // 2).mean(axis=1)
    return {
        "log loss": round(float(loss.mean()), 3),
        "se": round(float(by_table.std(ddof=1) / np.sqrt(len(by_table))), 3),
        "directed": round(float(-np.log(np.clip(there, CLIP, 1)).mean()), 3),
        "Brier": round(float(((says - is_edge) ** 2).mean()), 3),
        "off by": round(float(off), 3),
        "slope": round(_slope(np.log(inside / (1 - inside)), is_edge), 2),
        "sure": round(float(((says > 0.5) != is_edge)[sure].mean()), 3) if sure.any() else None,
        "says an edge": round(float(says.mean()), 3),
        "is an edge": round(float(is_edge.mean()), 3),
        "curve": [(round(float(said), 3), round(float(often), 3), many) for said, often, many in curve],
    }


def _slope(logit: np.ndarray, is_edge: np.ndarray) -> float:
    """Of a logistic regression with an intercept, by Newton's method."""
    columns, beta = np.column_stack([np.ones_like(logit), logit]), np.zeros(2)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-columns @ beta))
        spread = columns.T * (chance * (1 - chance) + 1e-9)
        beta = beta + np.linalg.solve(spread @ columns, columns.T @ (is_edge - chance))
    return float(beta[1])


def runs_of(
    world: str, group: str, networks: int, rows: tuple[int, ...]
) -> dict[tuple[str, int, str], list[np.ndarray]]:
    """Pairs by kind, number of rows and candidate."""
    n_categories, n_numbers, kinds = GROUPS[group]
    made: dict[tuple[str, int, str], list[np.ndarray]] = {}
    drawn = partial(draw, least=LEAST_EFFECT, chances=WORLDS[world])
    for kind, n_rows, seed in itertools.product(kinds, rows, range(networks)):
        table = drawn(kind, n_categories, n_numbers, n_rows, seed)
        for name, found in candidates(group, table, seed):
            made.setdefault((kind, n_rows, name), []).append(pairs_of(table.edges, found))
    return made


def summary(world: str, group: str, runs: dict[tuple[str, int, str], list[np.ndarray]]) -> list[dict[str, Any]]:
    """All tables of a group, and those of each kind and each number of rows."""
    made = []
    names = list(dict.fromkeys(name for _, _, name in runs))
    kinds = list(dict.fromkeys(kind for kind, _, _ in runs))
    rows = list(dict.fromkeys(n_rows for _, n_rows, _ in runs))
    parts: list[tuple[str | None, int | None]] = [(None, None), *((k, None) for k in kinds), *((None, r) for r in rows)]
    for (kind, n_rows), name in itertools.product(parts, names):
        own = [
            np.concatenate(pairs)
            for (k, r, one), pairs in runs.items()
            if one == name and kind in (None, k) and n_rows in (None, r)
        ]
        found = measures(np.concatenate(own))
        if kind or n_rows:
            del found["curve"]
        made.append({"world": world, "group": group, "kind": kind, "rows": n_rows, "score": name, **found})
    return made


def main() -> None:
    quick = given("quick") is not None
    print(f"Posteriors of edges against the truth, {N} columns. {machine()}")
    made: list[dict[str, Any]] = []
    for world, group in itertools.product(WORLDS, GROUPS):
        runs = runs_of(world, group, 5, (100, 1000)) if quick else runs_of(world, group, NETWORKS, ROWS)
        own = summary(world, group, runs)
        print_group(own)
        made += own
    if not quick:
        keep_results("calibration", {"groups": made})
        from bench.mixed_pictures import draw_calibration

        draw_calibration()


def print_group(own: list[dict[str, Any]]) -> None:
    columns = ("log loss", "se", "directed", "Brier", "off by", "slope", "sure", "says an edge", "is an edge")
    print("\n{:38}".format(f"{own[0]['world']}, {own[0]['group']}"), *(f"{name:>12}" for name in columns))
    for r in own:
        if r["kind"] or r["rows"]:
            continue
        print(f"{r['score']:38}", *(f"{r[name] if r[name] is not None else '':>12}" for name in columns))
    names = list(dict.fromkeys(r["score"] for r in own))
    parts = list(dict.fromkeys((r["kind"], r["rows"]) for r in own if r["kind"] or r["rows"]))
    print(f"{'log loss / slope':38}", *(f"{kind or rows:>21}" for kind, rows in parts))
    for name in names:
        cells = [next(r for r in own if (r["kind"], r["rows"], r["score"]) == (*part, name)) for part in parts]
        texts = [f"{r['log loss']:.3f} / {r['slope']:.2f}" for r in cells]
        print(f"{name:38}", *(f"{text:>21}" for text in texts), flush=True)


if __name__ == "__main__":
    main()
