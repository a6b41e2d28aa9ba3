"""Every engine stopped at counted places, on few variables: what it says there must hold for the true optimum.

A kind of case makes plain inputs from a random generator and checks them, so that inputs can be written down and
tried again. Engines are forced where few variables would not choose them, and good luck is taken away where it would
hide a wrong bound: an early optimal network makes every bound that is capped by it right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from random_inputs import Inputs

from stop_cases import best, constrained, lists

Kind = tuple[Callable[[np.random.Generator], Inputs], Callable[..., None]]
STOP_KINDS: dict[str, Kind] = {
    **{f"stops: {engine}": (partial(best.make_best, engine), best.check_best) for engine in best.BEST_ENGINES},
    "stops: components": (best.make_components, best.check_best),
    "stops: branch and cut inside": (best.make_branch_and_cut, best.check_branch_and_cut),
    "stops: orders with each bound": (best.make_orders, best.check_orders),
    "stops: rounding": (best.make_rounding, best.check_rounding),
    "stops: rounding under constraints": (
        constrained.make_rounding_constrained,
        constrained.check_rounding_constrained,
    ),
    "stops: from a table on": (best.make_table, best.check_table),
    **{
        f"stops: constrained, {route}": (partial(constrained.make_constrained, route), constrained.check_constrained)
        for route in constrained.ROUTES
    },
    **{
        f"stops: lists, {lattice}": (partial(lists.make_lists, lattice), lists.check_lists)
        for lattice in lists.LATTICES
    },
    **{
        f"stops: classes, {lattice}": (partial(lists.make_classes, lattice), lists.check_classes)
        for lattice in ("dense", "sparse", "partition")
    },
    **{
        f"stops: constrained lists, {route}": (
            partial(constrained.make_constrained_lists, route),
            constrained.check_constrained_lists,
        )
        for route in constrained.ROUTES[:3]
    },
    **{f"stops: {prior}": (partial(lists.make_priors, prior), lists.check_priors) for prior in lists.PRIORS},
    "stops: partial networks": (lists.make_search, lists.check_search),
    "stops: sums and samples": (lists.make_sums, lists.check_sums),
    "stops: ideals": (constrained.make_ideals, constrained.check_ideals),
}
