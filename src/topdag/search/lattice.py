"""The lattice of a store: best parents, forward and backward tables over all sets of variables."""

from __future__ import annotations

from collections.abc import Sequence

from topdag import _core
from topdag._util.run import Run
from topdag.search.engines import plan_lattice, set_bytes
from topdag.search.stores import Store


def lattice_of(store: Store, run: Run, before: Sequence[int] = ()) -> _core.Lattice | None:
    """With room beside it for the bounds of families; None when the time is up. ``before``: the variables that come
    before each in any case."""
    held = store.n_bytes
    plan_lattice(store.n, run, held=held, more=set_bytes(store.n) * (1 + run.threads))
    return _core.build_lattice(store.core(before), run.threads, run.seconds_left, run.tick)
