"""Constraints drawn at random, and what they are compiled to."""

from __future__ import annotations

import random

import topdag as td
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.rule_builders import adjacent, edge, n_parents
from topdag.search.stores import ListStore


def some_constraints(names: tuple[str, ...], seed: int) -> td.Constraints:
    """Things that hold in some network, found by chance, of most kinds at once."""
    draw = random.Random(seed)
    order = list(names)
    draw.shuffle(order)

    def pair() -> tuple[str, str]:
        a, b = sorted(draw.sample(range(len(order)), 2))
        return order[a], order[b]

    def turned() -> tuple[str, str]:
        return pair()[::-1]

    kinds = [
        lambda: {"required_edges": [pair()]},
        lambda: {"forbidden_edges": [pair(), turned()]},
        lambda: {"required_adjacencies": [pair()]},
        lambda: {"precedence": [pair(), pair(), pair()]},
        lambda: {"ancestors": [pair(), pair()]},
        lambda: {"not_ancestors": [turned(), turned()]},
        lambda: {"max_parents": 3},
        lambda: {"rules": [td.any_of([edge(*pair()), edge(*pair())])]},
        lambda: {"rules": [td.if_then(adjacent(*pair()), n_parents(order[-1]) >= 1)]},
    ]
    while True:
        try:
            known = td.Constraints()
            for make in draw.sample(kinds, 3):
                known &= td.Constraints(**make())
            known.compiled(names, range(len(names)))
        except td.ConstraintError:
            continue
        return known


def drawn_constraints(names: tuple[str, ...], seed: int) -> td.Constraints:
    """Of all kinds that speak of several variables; not always satisfiable, but not at odds at first sight."""
    draw = random.Random(seed)

    def pair() -> tuple[str, str]:
        a, b = draw.sample(names, 2)
        return a, b

    kinds = [
        lambda: {"ancestors": [pair()]},
        lambda: {"not_ancestors": [pair(), pair()]},
        lambda: {"precedence": [pair(), pair()]},
        lambda: {"ancestors": [pair()], "forbidden_edges": [pair(), pair()]},
        lambda: {"max_parents": {draw.choice(names): draw.randrange(2)}},
        lambda: {"rules": [td.any_of([edge(*pair()), ~edge(*pair()), n_parents(draw.choice(names)) >= 2])]},
        lambda: {"rules": [td.if_then(adjacent(*pair()), edge(*pair()) & adjacent(*pair()))]},
        lambda: {"rules": [edge(*pair()) | (adjacent(*pair()) & (n_parents(draw.choice(names)) == 1))]},
    ]
    while True:
        known = td.Constraints()
        for make in (draw.choice(kinds) for _ in range(draw.randrange(2, 6))):
            try:
                more = known & td.Constraints(**make())
                more.compiled(names, range(len(names)))
            except td.ConstraintError:
                continue
            known = more
        if known.compiled(names, range(len(names))).rest:
            return known


def listed(scores: td.types.Scores) -> ListStore:
    return ListStore.of(scores.names, [scores.store.families_of(x) for x in range(scores.store.n)])


def compiled(known: td.Constraints, names: tuple[str, ...]) -> CompiledConstraints:
    return known.compiled(names, range(len(names)))
