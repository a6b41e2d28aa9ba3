"""Lists by partition: of more variables than lattices take, on lists of families that reach as far as is asked for.

For scores that give all networks of a class the same value, classes are listed first, and networks are their members:
there are few classes, and often very many members.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from topdag._util.arrays import Floats, Masks
from topdag._util.bitsets import network_rows
from topdag._util.class_graph import class_members
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.lists import grid_epsilon
from topdag.questions.listing.sources import Wanted, spread_of, wide_enough
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.discrete import SetScore
from topdag.scoring.score import scored_whole
from topdag.scoring.scores import Scores
from topdag.search.best import begin, listed_network, search_best
from topdag.search.checkpoints import Checkpoint, ListState
from topdag.search.costs import Families
from topdag.search.partition.listed import Key, Kind, Listed, Network, size_of
from topdag.search.partition.listing import PartitionSearch, list_by_partition
from topdag.search.partition.nearby import offer_nearby
from topdag.search.reach import LARGEST_REACH, first_slack, further_slack
from topdag.search.relaxation import Incumbent
from topdag.search.stores import ListStore

ROWS_AT_ONCE = 1000
MOST_MEMBERS_TRIED = 100
"""Members of a class, for the first that is allowed."""


@dataclass(frozen=True)
class Partitioned:
    """What a partition found: scores of networks or of classes, best first, all that score more than ``floor`` and
    perhaps some that score less; no network scores more than ``most``. ``limit``: what stopped it."""

    scores: Scores
    kind: Kind
    found: tuple[tuple[float, Key], ...]
    networks: dict[Key, Network]
    floor: float
    most: float
    limit: Stop | None
    work: dict[str, int] = field(default_factory=dict)

    @property
    def is_infeasible(self) -> bool:
        return not self.found and self.limit is None

    @property
    def count(self) -> int:
        """How many networks or classes score at least the floor."""
        counted = [key for value, key in self.found if value >= self.floor]
        return sum(map(size_of, counted)) if self.kind is Kind.MEMBERS else len(counted)

    def rows(self) -> Iterator[tuple[float, Network]]:
        """The networks, or one of each class, with their scores; those below the floor but for the first left out."""
        for place, (value, key) in enumerate(self.found):
            if place and value < self.floor:
                return
            if self.kind is Kind.MEMBERS and value >= self.floor:
                for masks in class_members(key):  # type: ignore[arg-type]
                    yield value, masks
            else:
                yield value, self._network_of(key)

    def rows_in_time(self, most: int, run: Run) -> tuple[Floats, Masks, bool]:
        """Scores and networks, and whether the run was over before the last. What is held is there at once; members of
        classes, which may be very many, are made one by one: a first batch always."""
        rows, n = islice(self.rows(), most), len(self.scores.columns)
        values, parents, is_cut = [np.empty(0)], [network_rows([], n)], False
        while not is_cut and (batch := list(islice(rows, ROWS_AT_ONCE))):
            is_cut = self.kind is Kind.MEMBERS and len(values) > 1 and run.is_over
            if not is_cut:
                values.append(np.array([value for value, _ in batch]))
                parents.append(network_rows([masks for _, masks in batch], n))
        return np.concatenate(values), np.concatenate(parents), is_cut

    def _network_of(self, key: Key) -> Network:
        """Of a class the first that is allowed, as far as it is looked for, so that it is always the same."""
        if self.kind is Kind.NETWORKS:
            return self.networks[key]
        walk, known = class_members(key), self.scores.compiled  # type: ignore[arg-type]
        if known is None:
            return next(walk)
        members = list(islice(walk, MOST_MEMBERS_TRIED))
        allowed = np.flatnonzero(known.admit(network_rows(members, len(members[0]))))
        return members[allowed[0]] if len(allowed) else self.networks[key]


def kind_for(scores: Scores, *, of_classes: bool) -> Kind:
    """Constraints that some members of a class satisfy and others do not make networks the ones to list."""
    if of_classes:
        return Kind.CLASSES
    ties_exactly = scores.kind is not None and isinstance(scores.kind.unconstrained, SetScore | MatrixScore)
    return Kind.MEMBERS if scores.score_equivalent and ties_exactly and scores.compiled is None else Kind.NETWORKS


class PartitionLists:
    """A list while it is made. ``standing``: of the search for the best network; ``checkpoint``: a file in which both
    searches leave how they stand."""

    def __init__(self, scores: Scores, wanted: Wanted, run: Run, kind: Kind, checkpoint: Path | None = None) -> None:
        self.scores, self.wanted, self.run, self.kind = scores, wanted, run, kind
        # All within a factor are as many as there are, and those of a class are not held one by one.
        is_all = wanted.factor < math.inf and wanted.most == MOST_IN_A_LIST
        self.most: float = math.inf if is_all else wanted.most
        self.standing = begin(scores.store.listed, run)
        self._best: list[int] = []
        self._work: dict[str, int] = {}
        self._checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            question = f"{kind.name} {wanted.most} {wanted.factor!r}"
            self._checkpoint = Checkpoint(checkpoint, self.standing.store, question)

    def go(self) -> Partitioned:
        """The list, or when the run is over what is known of it."""
        resumed = self._resumed()
        if self._checkpoint is not None and self.run.is_over:
            return self._only_the_best(self.run.limit)
        is_proved = resumed is not None or search_best(self.standing, self.run, checkpoint=self._checkpoint)
        masks = self.standing.masks
        if masks is None or not is_proved:
            return self._only_the_best(None if is_proved else self.standing.limit or self.run.limit)
        self._best = masks
        self._work |= self.standing.work
        known, reach = None, self._first_reach() if resumed is None else resumed.reach
        while True:
            found = self._within(reach, resumed)
            resumed = None
            if found is None or found.limit is not None:
                return self._stopped(found, known)
            if found.count >= self.most or reach == self._furthest:
                return self._whole(found, reach)
            known, reach = found, self._further(reach, found.count, 0 if known is None else known.count)

    def _resumed(self) -> ListState | None:
        """Where an earlier list stood; its best network is proved."""
        state = None if self._checkpoint is None else self._checkpoint.read(self._store_within)
        if not isinstance(state, ListState):
            return None
        best = listed_network(self.standing.store, state.incumbent.masks)
        assert best is not None
        self.standing.offer(best.cost, list(best.masks))
        self.standing.raise_bound(best.cost)
        self.standing.counted(resumed=1)
        return state

    def _stopped(self, found: Partitioned | None, before: Partitioned | None) -> Partitioned:
        """What tells more: what was found when it was stopped, or what had been found less far behind."""
        limit = self.run.limit if found is None else found.limit
        before = replace(before, limit=limit) if before is not None else self._only_the_best(limit)
        return before if found is None or before.floor < found.floor else found

    def _only_the_best(self, limit: Stop | None) -> Partitioned:
        """Before anything is listed: the best network found, if there is one, and up to where none is better, however
        scores were rounded."""
        standing, masks = self.standing, self.standing.masks
        most = standing.score_bound + self.scores.rounding if limit is not None else -math.inf
        if masks is None:
            return Partitioned(self.scores, self.kind, (), {}, most, most, limit, dict(standing.work))
        value = standing.best_score - standing.cost
        listed = Listed(standing.store, self.run, self.kind, 1, math.inf)
        listed.offer(standing.cost, masks)
        (key,) = listed.costs
        found = ((value, key),)
        return Partitioned(self.scores, self.kind, found, listed.networks, most, most, limit, dict(standing.work))

    @cached_property
    def _furthest(self) -> float:
        """Infinite: up to the last network there is."""
        asked = min(math.log(self.wanted.factor), self.scores.cutoff)
        if self._spread < math.inf or (asked == math.inf and self._every is not None):
            return asked
        return min(asked, LARGEST_REACH)

    @cached_property
    def _every(self) -> Scores | None:
        """With all families that are allowed, where that can be."""
        return scored_whole(self.scores, self.run)

    @cached_property
    def _spread(self) -> float:
        return spread_of(self.scores)

    def _within_furthest(self, reach: float) -> float:
        if reach >= min(self._spread, LARGEST_REACH):
            return self._furthest
        return min(reach, math.log(self.wanted.factor), self.scores.cutoff)

    def _further(self, reach: float, found: int, before: int) -> float:
        """When so many were found, and so many the time before. Where there were no more, all there are may be known:
        the next look is the last, if it can be."""
        if found == before and self._furthest == math.inf:
            return math.inf
        return self._within_furthest(further_slack(reach, found, before))

    def _first_reach(self) -> float:
        """As far as as many as wanted are known, unless that is far: then what is as far as they may be."""
        if self.wanted.factor < math.inf:
            return self._furthest
        store = self.standing.store
        listed = Listed(store, self.run, self.kind, self.most, math.inf)
        cost = self.standing.cost
        listed.offer(cost, self._best)
        offer_nearby(listed, Families.of_store(store), tuple(self._best), self.most)
        slack = first_slack(self.wanted.most)
        return self._within_furthest(listed.most - cost if listed.most - cost <= 2 * slack else slack)

    def _wide(self, reach: float) -> Scores | None:
        """With all families that networks so far behind the best may have; None when the time is up."""
        if self._spread < math.inf:
            return self.scores
        if reach == math.inf:
            return self._every
        factor = self.wanted.factor if self.wanted.factor < math.inf else math.exp(min(reach, LARGEST_REACH))
        return wide_enough(self.scores, factor, self.run)

    def _store_within(self, reach: float) -> ListStore | None:
        wide = self._wide(reach)
        return None if wide is None else wide.store.listed

    def _within(self, reach: float, resumed: ListState | None) -> Partitioned | None:
        """All so far behind the best that are wanted; None when the run is over before that begins."""
        wide = self._wide(reach)
        if wide is None or self.run.is_over:
            return None
        best = listed_network(wide.store.listed, self._best) if resumed is None else resumed.incumbent
        assert best is not None
        asked = math.inf if self.wanted.factor == math.inf else grid_epsilon(self.wanted.factor, wide.grid)
        epsilon = min(asked, reach)
        return self._listed(
            wide, best, wide.store.listed.largest_shortfall if epsilon == math.inf else epsilon, reach, resumed
        )

    def _listed(
        self, wide: Scores, best: Incumbent, epsilon: float, reach: float, resumed: ListState | None
    ) -> Partitioned:
        store = wide.store.listed
        listed = Listed(store, self.run, self.kind, self.most, best.cost + epsilon)
        listed.clusters = self.standing.clusters
        began = self.run.seconds
        listed.offer(best.cost, best.masks)
        if resumed is None:
            offer_nearby(listed, Families.of_store(store), best.masks, self.most)

        def save(search: PartitionSearch) -> None:
            checkpoint = self._checkpoint
            if checkpoint is not None and checkpoint.is_due(self.run.seconds):
                networks = [Incumbent(listed.networks[key], cost) for key, cost in listed.costs.items()]
                standing = search.root, best, listed.bound, search.standing()
                checkpoint.write(ListState(*standing, reach, store, networks), self.run.seconds)

        search = list_by_partition(store, self.run, listed, best, resumed=resumed, on_part=save)
        self.run.timed("listing", began)
        for what, number in {"parts": search.parts, "rounds": search.rounds, "cuts": search.cuts}.items():
            self._work[what] = self._work.get(what, 0) + number
        found = tuple((listed.best_score - cost, key) for cost, key in listed.in_order())
        # None that was taken costs more; scores of very many variables may be rounded, costs are not.
        lowest = min(found[0][0] - epsilon, found[-1][0])
        floor = lowest if search.limit is None else max(lowest, listed.best_score - listed.bound)
        return Partitioned(wide, self.kind, found, listed.networks, floor, found[0][0], search.limit, dict(self._work))

    def _whole(self, found: Partitioned, reach: float) -> Partitioned:
        """As it is told: where it ends before as many as wanted are there, what it was that ended it."""
        if found.count >= self.most:
            return found
        if reach == math.inf:
            return replace(found, floor=-math.inf)
        if math.log(self.wanted.factor) <= reach:
            return found
        return replace(found, limit=Stop.CUT_OFF if reach == self.scores.cutoff else Stop.FAR_BEHIND_BEST)
