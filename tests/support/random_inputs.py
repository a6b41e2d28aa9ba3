"""Random inputs as plain numbers and words, which can be written down and read back: tables, listed families,
constraints. Made with numpy alone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import constraint_truth
import numpy as np
import reference

import topdag as td
from topdag.scoring.kinds.discrete import ScoreKind

Inputs = dict[str, Any]
Families = list[tuple[int, tuple[int, ...], float]]

# ---- Listed families


def families_with_ties(rng: np.random.Generator, n: int, *, empty: bool = False) -> Families:
    """Small whole scores, or quarters; some are missing, so that at times there is no network at all."""
    spread, missing = int(rng.choice([1, 3, 9])), float(rng.choice([0.0, 0.3, 0.7]))
    unit = float(rng.choice([1.0, 0.25]))
    listed = [
        (x, reference.members(mask), -unit * float(rng.integers(0, spread + 1)))
        for x in range(n)
        for mask in range(2**n)
        if not mask >> x & 1 and (rng.random() >= missing or (mask == 0 and empty))
    ]
    return listed + [(x, (), -unit * spread) for x in range(n) if not any(family[0] == x for family in listed)]


def families_with_cycles(rng: np.random.Generator, n: int, *, parts: int, levels: int = 20, many: int = 12) -> Families:
    """More parents cost less, so that what each variable wants makes cycles; in several ``parts``, of which later ones
    may have parents in earlier ones."""
    part_of = sorted(int(rng.integers(parts)) for _ in range(n)) if parts > 1 else [0] * n
    listed = []
    for x in range(n):
        others = [v for v in range(n) if v != x and part_of[v] <= part_of[x]]
        sets = {()}
        for _ in range(many if others else 0):
            size = int(rng.integers(1, min(3, len(others)) + 1))
            sets.add(tuple(sorted(rng.choice(others, size, False).tolist())))
        listed += [(x, own, -float(rng.integers(0, levels) + levels * (3 - len(own))) / 4) for own in sorted(sets)]
    return listed


def near_or_far(rng: np.random.Generator, families: Families) -> Families:
    """As they are, or all so near each other that a bound which is off by a nat, or a part of one, is wrong."""
    unit = float(rng.choice([1.0, 1 / 64]))
    return [(x, own, unit * value) for x, own, value in families]


def rounded_families(rng: np.random.Generator, n: int) -> Families:
    """Large scores with many digits, which the grid cannot hold; the best families of all make a network, so that a
    bound without slack for the rounding is wrong in about half of the cases."""
    order = rng.permutation(n).tolist()
    listed = []
    for place, x in enumerate(order):
        best = tuple(sorted(order[max(0, place - 2) : place]))
        least = -float(rng.uniform(1e5, 1e6))
        for own in sorted({(), best, *((v,) for v in order if v != x)}):
            more = (50.0, 60.0) if own == best else (0.0, 1.0) if own == () else (10.0, 40.0)
            listed.append((x, own, least + float(rng.uniform(*more))))
    return listed


# ---- Tables


def random_table(
    rng: np.random.Generator,
    *,
    variables: tuple[int, int],
    most_states: int = 3,
    rows: tuple[int, ...] = (1, 2, 5, 40, 120),
    constants: bool = True,
) -> Inputs:
    """Independent columns, columns that follow the one before, or columns that equal each other."""
    n, n_rows = int(rng.integers(variables[0], variables[1] + 1)), int(rng.choice(rows))
    arities = rng.integers(2, most_states + 1, n)
    if constants:
        arities[rng.random(n) < 0.1] = 1
    codes = np.array([rng.integers(0, arity, n_rows) for arity in arities])
    way = rng.choice(["uniform", "noisy", "doubled"])
    for v in range(1, n):
        if way == "noisy":
            copied = rng.random(n_rows) < 0.8
            codes[v, copied] = codes[v - 1, copied] % arities[v]
        elif way == "doubled" and arities[v] == arities[v - 1] and rng.random() < 0.6:
            codes[v] = codes[v - 1]
    weights = rng.choice([(1,) * 5, (1,) * 5, (1, 1, 1, 2, 17), (1, 17, 4096, 5000, 100_000)])
    weights = rng.choice(weights, n_rows)
    return {
        "codes": codes.tolist(),
        "arities": arities.tolist(),
        "weights": weights.tolist(),
        "keep_constant": bool(rng.random() < 0.3),
    }


def table_of(codes: list[list[int]], arities: list[int], weights: list[int], keep_constant: bool) -> td.Table:
    names = [f"V{v}" for v in range(len(arities))]
    states = [list(range(arity)) for arity in arities]
    return td.Table.from_codes(names, np.array(codes), weights=weights, states=states, keep_constant=keep_constant)


def rows_of(table: td.Table) -> tuple[list[tuple[int, ...]], list[int], list[int]]:
    """Rows, weights and arities as reference.py takes them."""
    return [tuple(row) for row in table.codes.T.tolist()], table.weights.tolist(), table.arities.tolist()


# ---- Scores

FORMULAS: dict[str, Callable[..., float]] = {
    "BDeu": reference.bdeu,
    "BIC": reference.bic,
    "AIC": reference.aic,
    "K2": reference.k2,
    "BDs": reference.bds,
    "fNML": reference.fnml,
    "qNML": reference.qnml,
}
KINDS = ("BDeu(1.0)", "BDeu(0.01)", "BDeu(20.0)", "BIC()", "AIC()", "K2()", "BDs(1.0)", "fNML()", "qNML()")


def random_kind(rng: np.random.Generator) -> str:
    return str(rng.choice(KINDS))


def settings_of(kind: str) -> tuple[str, tuple[float, ...]]:
    name, given = kind.rstrip(")").split("(")
    return name, (ast.literal_eval(given),) if given else ()


def kind_of(kind: str) -> ScoreKind:
    name, given = settings_of(kind)
    made: ScoreKind = getattr(td, name)(*given)
    return made


def reference_local(kind: str, table: td.Table) -> Callable[[int, int], float]:
    name, given = settings_of(kind)
    return reference.local_of(FORMULAS[name], *rows_of(table), *given)


# ---- Constraints: the arguments of Constraints, with rules as lists of clauses
#
# A literal is (what, holds, a, b): an edge, an adjacency, or at least b parents of a.


def random_constraints(rng: np.random.Generator, n: int) -> Inputs:
    """Two or three things, most of which hold in some network that agrees with one order."""
    names = [f"V{v}" for v in rng.permutation(n).tolist()]

    def pair() -> tuple[str, str]:
        a, b = sorted(rng.choice(n, 2, False).tolist())
        return (names[a], names[b]) if rng.random() < 0.9 else (names[b], names[a])

    def turned() -> tuple[str, str]:
        return pair()[::-1]

    def literal() -> tuple[str, bool, str, Any]:
        what = str(rng.choice(["edge", "edge", "adjacent", "parents"]))
        a, b = pair()
        return what, bool(rng.random() < 0.7), a, int(rng.integers(1, 3)) if what == "parents" else b

    def tiers() -> list[list[str]]:
        cut = int(rng.integers(1, n))
        return [names[:cut], names[cut:]]

    makers: dict[str, Callable[[], Any]] = {
        "required_edges": lambda: [pair() for _ in range(rng.integers(1, 3))],
        "forbidden_edges": lambda: [pair(), turned()],
        "required_adjacencies": lambda: [pair()],
        "forbidden_adjacencies": lambda: [pair()],
        "roots": lambda: [names[0]],
        "leaves": lambda: [names[-1]],
        "max_parents": lambda: int(rng.integers(1, 3)),
        "min_parents": lambda: {names[-1]: int(rng.integers(1, 3))},
        "exact_parents": lambda: {names[-1]: int(rng.integers(0, 3))},
        "tiers": tiers,
        "precedence": lambda: [pair() for _ in range(rng.integers(1, 4))],
        "allowed_parents": lambda: {names[-1]: names[:2]},
        "fixed_parents": lambda: {names[-1]: names[:1]},
        "allowed_parent_sets": lambda: {names[-1]: [[], [names[0]], names[: n - 1]]},
        "ancestors": lambda: [pair() for _ in range(rng.integers(1, 3))],
        "not_ancestors": lambda: [turned(), pair()],
        "clauses": lambda: [[literal() for _ in range(rng.integers(1, 4))] for _ in range(rng.integers(1, 3))],
    }
    chosen = rng.choice(list(makers), int(rng.integers(1, 4)), replace=False).tolist()
    if not set(chosen) & {"clauses", "ancestors", "not_ancestors", "required_adjacencies", "precedence"}:
        chosen.append(str(rng.choice(["clauses", "ancestors", "not_ancestors"])))
    return {what: makers[what]() for what in chosen}


def demanding_constraints(rng: np.random.Generator, n: int) -> Inputs:
    """Paths, missing paths and rules that hold in one random network, whatever the data say: much has to be tried, and
    there is always a network that obeys."""
    order = rng.permutation(n).tolist()
    edges = {
        (f"V{order[a]}", f"V{order[b]}")
        for b in range(n)
        for a in range(b)
        if rng.random() < float(rng.choice([0.3, 0.6]))
    }
    names = [f"V{v}" for v in range(n)]
    pairs = [(a, b) for a in names for b in names if a != b]
    paths = [pair for pair in pairs if constraint_truth.reaches(edges, *pair)]
    missing = [pair for pair in pairs if pair not in paths]

    def some(among: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
        return [among[i] for i in rng.permutation(len(among))[:most].tolist()]

    def clause() -> list[tuple[str, bool, str, Any]]:
        literals: list[tuple[str, bool, str, Any]] = []
        while not any(_is_true(literal, edges) for literal in literals):
            (a, b), what = pairs[int(rng.integers(len(pairs)))], str(rng.choice(["edge", "adjacent", "parents"]))
            literals.append((what, bool(rng.random() < 0.6), a, int(rng.integers(1, 3)) if what == "parents" else b))
        return literals

    given: Inputs = {"clauses": [clause() for _ in range(int(rng.integers(0, 4)))]}
    given |= {"ancestors": some(paths, int(rng.integers(0, 4)))}
    given |= {"not_ancestors": some(missing, int(rng.integers(0, 4)))}
    if rng.random() < 0.5:
        places = sorted(rng.choice(n, 2, False).tolist())
        given |= {"precedence": [(f"V{order[places[0]]}", f"V{order[places[1]]}"), (f"V{order[0]}", f"V{order[-1]}")]}
    if not any(given.values()):
        given["clauses"] = [clause()]
    return {what: value for what, value in given.items() if value}


def _text(literal: tuple[str, bool, str, Any]) -> str:
    what, holds, a, b = literal
    stated = {"edge": f"{a}->{b}", "adjacent": f"{a}--{b}", "parents": f"parents({a}) >= {b}"}[what]
    return stated if holds else f"not {stated}"


def _is_true(literal: tuple[str, bool, str, Any], edges: set[tuple[str, str]]) -> bool:
    what, holds, a, b = literal
    if what == "edge":
        return ((a, b) in edges) == holds
    if what == "adjacent":
        return ((a, b) in edges or (b, a) in edges) == holds
    return (sum(child == a for _, child in edges) >= b) == holds


def constraints_of(given: Inputs, names: tuple[str, ...]) -> td.Constraints:
    """Raises ConstraintError where they contradict each other."""
    plain = {what: value for what, value in given.items() if what != "clauses"}
    rules = [" or ".join(map(_text, clause)) for clause in given.get("clauses", ())]
    known = td.Constraints(**plain, rules=rules)
    known.compiled(names, tuple(range(len(names))))
    return known


def obeys_of(given: Inputs, names: tuple[str, ...]) -> Callable[[tuple[int, ...]], bool]:
    """What they mean, from the arguments alone."""
    plain = {what: value for what, value in given.items() if what != "clauses"}
    clauses = given.get("clauses", ())

    def obeys(masks: tuple[int, ...]) -> bool:
        edges = {(names[p], names[x]) for x, mask in enumerate(masks) for p in reference.members(mask)}
        holds = all(any(_is_true(tuple(literal), edges) for literal in clause) for clause in clauses)
        return holds and constraint_truth.obeys(edges, names, **plain)

    return obeys
