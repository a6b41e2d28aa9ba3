"""Counting that is not done from rows at hand: by other processes, or chunk by chunk.

The walk over parent sets stays here. To other processes long lists of sets go in parts: a task is a part of the sets of
one size, which a worker counts on the table that it got once. Sums of parts stand one after the other, so that what is
scored is the same to the last bit. Rows that are read chunk by chunk were counted before the walk begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topdag import _core
from topdag._util.arrays import Integers, Masks
from topdag._util.run import Run
from topdag._util.workers import Crew, crew
from topdag.data.table import Table
from topdag.scoring.kinds.discrete import coded
from topdag.scoring.task import scored_columns

LEAST_WORK = 2e8
"""Sets times rows: about a tenth of a second. Less is not worth the way."""
PARTS_EACH = 4
"""For each worker, so that none waits long for the last."""

Function = tuple[int, float, bool, int]
"""Of a cell's count, as the core has it."""


@dataclass(frozen=True)
class _Counted:
    """What every worker needs: the table, made ready for counting once."""

    table: Table

    def __reduce__(self) -> Any:
        return _Counted, (self.table,)  # a worker may have to send it on: what was made ready stays there

    @cached_property
    def counter(self) -> _core.SetCounter:
        return _core.SetCounter(coded(self.table, scored_columns(self.table)))


def _sums(counted: _Counted, task: tuple[Function, Masks], run: Run) -> Integers | None:
    """In a worker; None when its time is up."""
    function, sets = task
    return counted.counter.sums(*function, sets, run.limits)


def _watched_already(done: int) -> None:
    """The core, which waits for this, tells who watches."""


class Elsewhere(ABC):
    """Counts for the core, which asks from a thread of its own: nothing is raised there. ``least_work``: sets times
    rows; it counts shorter lists itself."""

    def __init__(self, least_work: float, run: Run) -> None:
        self.least_work, self._run = least_work, run
        self._error: BaseException | None = None

    def __call__(self, kind: int, parameter: float, spread: bool, bits: int, sets: Masks) -> Integers | None:
        try:
            return self._sums((kind, parameter, spread, bits), sets)
        except BaseException as error:
            self._error = error
            return None

    def raise_error(self) -> None:
        """What should have been raised, if anything."""
        error, self._error = self._error, None  # it holds on to all that was at work
        if error is not None:
            raise error

    @abstractmethod
    def _sums(self, function: Function, sets: Masks) -> Integers | None:
        """Over the cells of sets of places; None when the time is up."""


class CountedInChunks(Elsewhere):
    """By the counts of rows that were read. ``places``: of the scored columns among those that were counted, None for
    one that is constant and adds nothing."""

    def __init__(self, margins: _core.Margins, places: Sequence[int | None], run: Run) -> None:
        super().__init__(0.0, run)
        self._margins, self._places = margins, places

    def _sums(self, function: Function, sets: Masks) -> Integers | None:
        counted = np.zeros_like(sets)
        for bit, place in enumerate(self._places):
            if place is not None:
                counted |= (sets >> np.uint64(bit) & np.uint64(1)) << np.uint64(place)
        return self._margins.sums(*function, counted, self._run.limits)


def counted_in_chunks(
    table: Table, columns: Sequence[int], max_parents: int | None, run: Run
) -> CountedInChunks | None:
    """With the rows read and counted, unless they were already; None when the time was up before."""
    assert table.chunks is not None
    varying = table.chunks.varying
    margins = table.chunks.margins(len(columns) if max_parents is None else max_parents + 1, run)
    places = [varying.index(v) if v in varying else None for v in columns]
    return None if margins is None else CountedInChunks(margins, places, run)


class CountedElsewhere(Elsewhere):
    """By who works, who is called with the first list that is long enough."""

    def __init__(self, table: Table, run: Run) -> None:
        super().__init__(LEAST_WORK, run)
        self.table = table
        self._open = ExitStack()
        self._crew: Crew | None = None

    def __enter__(self) -> CountedElsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _sums(self, function: Function, sets: Masks) -> Integers | None:
        if self._crew is None:
            self._crew = self._open.enter_context(crew(_Counted(self.table), self._run, self._run.executor))
        parts = np.array_split(sets, max(1, min(len(sets), PARTS_EACH * self._crew.n_workers)))
        found = dict(self._crew.work_on(_sums, [(function, part) for part in parts], _watched_already))
        sums = [found.get(place) for place in range(len(parts))]
        known = [part for part in sums if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None
