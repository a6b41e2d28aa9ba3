"""Where the boxes of a network stand: in rows, parents above children, few edges crossing, boxes never overlapping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

SWEEPS = 12
"""Passes over the rows, down and up, that pull boxes towards their neighbours."""
GAP, GAP_BESIDE_AN_EDGE, ROOM_OF_AN_EDGE = 22.0, 10.0, 10.0
"""Pixels between two boxes of a row, beside an edge that passes through it, and for the edge itself."""
LEAST_DROP, MOST_DROP, DROP_PER_PIXEL = 46.0, 110.0, 0.11
"""Pixels between two rows: more where edges go far to the side."""
GAP_OF_LONERS = 32.0
WIDE = 900.0
"""Rows of boxes without edges are no wider than this, or than the rest."""

Arrow = tuple[int, int]
Size = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle around (x, y), in pixels; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """``boxes``: one for each variable; ``rows``: the variables of each row, from left to right, from the top down;
    ``row_of``: the row of each variable; ``bends``: for an edge that passes rows, where it best does so, by row."""

    boxes: tuple[Box, ...]
    rows: tuple[tuple[int, ...], ...]
    row_of: tuple[int, ...]
    bends: dict[Arrow, dict[int, float]]
    width: float
    height: float


def layered(sizes: Sequence[Size], edges: Iterable[Arrow]) -> Layout:
    """A layout for boxes of these sizes at least, joined by edges (parent, child) that make no circle.

    The boxes of a row are as high as the highest; those without edges stand in rows of their own at the bottom.
    """
    edges = list(dict.fromkeys(edges))
    joined = sorted({v for edge in edges for v in edge})
    grid = _Grid.of(len(sizes), edges, _rows_of(joined, edges))
    grid.order()
    grid.place(sizes)
    return grid.layout(sizes, [v for v in range(len(sizes)) if v not in set(joined)])


def _rows_of(joined: Sequence[int], edges: Sequence[Arrow]) -> dict[int, int]:
    """Below all parents; who has more children than parents moves down towards them."""
    parents: dict[int, list[int]] = {v: [] for v in joined}
    children: dict[int, list[int]] = {v: [] for v in joined}
    for a, b in edges:
        parents[b].append(a)
        children[a].append(b)
    row: dict[int, int] = {}
    waiting = list(joined)
    while waiting:
        ready = [v for v in waiting if all(p in row for p in parents[v])]
        if not ready:
            raise ValueError("the edges make a circle")
        row |= {v: 1 + max((row[p] for p in parents[v]), default=-1) for v in ready}
        waiting = [v for v in waiting if v not in row]
    for v in sorted(joined, key=lambda v: -row[v]):
        if len(children[v]) > len(parents[v]):
            row[v] = min(row[c] for c in children[v]) - 1
    return row


class _Grid:
    """Slots in rows, joined between neighbouring rows only. A slot is a box, or where a longer edge passes a row."""

    def __init__(self, n: int, rows: list[list[int]], links: list[Arrow], passed: dict[Arrow, list[int]]) -> None:
        self.n, self.rows, self.passed = n, rows, passed
        self.row_of = {slot: r for r, row in enumerate(rows) for slot in row}
        self.above: dict[int, list[int]] = {slot: [] for slot in self.row_of}
        self.below: dict[int, list[int]] = {slot: [] for slot in self.row_of}
        for a, b in links:
            self.below[a].append(b)
            self.above[b].append(a)
        self.x: dict[int, float] = {}
        self.y: list[float] = []

    @classmethod
    def of(cls, n: int, edges: Sequence[Arrow], row: dict[int, int]) -> _Grid:
        rows: list[list[int]] = [[] for _ in range(1 + max(row.values(), default=-1))]
        for v, r in row.items():
            rows[r].append(v)
        links, passed, fresh = [], {}, n
        for a, b in edges:
            chain = [a]
            for r in range(row[a] + 1, row[b]):
                rows[r].append(fresh)
                chain.append(fresh)
                fresh += 1
            links += list(pairwise([*chain, b]))
            passed[a, b] = chain[1:]
        return cls(n, rows, links, passed)

    def order(self) -> None:
        """Sorts the slots of each row by the mean place of their neighbours, so that few edges cross."""
        for turn in range(SWEEPS):
            down = turn % 2 == 0
            near = self.above if down else self.below
            for r in range(len(self.rows)) if down else reversed(range(len(self.rows))):
                self._sort_row(r, near)

    def _sort_row(self, r: int, near: dict[int, list[int]]) -> None:
        place = {slot: float(i) for row in self.rows for i, slot in enumerate(row)}
        centre = {
            slot: sum(place[other] for other in near[slot]) / len(near[slot]) if near[slot] else place[slot]
            for slot in self.rows[r]
        }
        self.rows[r].sort(key=lambda slot: (centre[slot], place[slot]))

    def place(self, sizes: Sequence[Size]) -> None:
        """Gives each slot its x: near its neighbours, in order, without overlap."""
        apart = [self._distances(row, sizes) for row in self.rows]
        for row, distances in zip(self.rows, apart, strict=True):
            self.x |= dict(zip(row, distances, strict=True))
        for turn in range(SWEEPS):
            sides = [(self.above,), (self.below,), (self.above, self.below)][turn % 3]
            for r in range(len(self.rows)) if turn % 2 == 0 else reversed(range(len(self.rows))):
                row = self.rows[r]
                wanted = [self._wanted(slot, sides) for slot in row]
                self.x |= dict(zip(row, _apart(wanted, apart[r]), strict=True))

    def _distances(self, row: Sequence[int], sizes: Sequence[Size]) -> list[float]:
        """The least distance of each slot from the first."""
        widths = {slot: sizes[slot][0] if slot < self.n else ROOM_OF_AN_EDGE for slot in row}
        steps = [
            (widths[one] + widths[other]) / 2 + (GAP if max(one, other) < self.n else GAP_BESIDE_AN_EDGE)
            for one, other in pairwise(row)
        ]
        return list(accumulate(steps, initial=0.0))

    def _wanted(self, slot: int, sides: Sequence[dict[int, list[int]]]) -> tuple[float, float]:
        """Where a slot would like to be, and how much: amid its neighbours."""
        near = [other for side in sides for other in side[slot]]
        if not near:
            return self.x[slot], 0.05
        return sum(self.x[other] for other in near) / len(near), float(len(near))

    def layout(self, sizes: Sequence[Size], alone: Sequence[int]) -> Layout:
        lefts = [self.x[v] - sizes[v][0] / 2 for v in self.x if v < self.n]
        lefts += [x - ROOM_OF_AN_EDGE / 2 for v, x in self.x.items() if v >= self.n]
        start = min(lefts, default=0.0)
        x = {slot: value - start for slot, value in self.x.items()}
        boxes: dict[int, Box] = {}
        y = 0.0
        for r, row in enumerate(self.rows):
            height = max(sizes[v][1] for v in row if v < self.n)
            boxes |= {v: Box(x[v], y + height / 2, sizes[v][0], height) for v in row if v < self.n}
            y += height + (self._drop(r) if r + 1 < len(self.rows) else 0.0)
        width = max((x[v] + (sizes[v][0] if v < self.n else ROOM_OF_AN_EDGE) / 2 for v in x), default=0.0)
        rows = [tuple(v for v in row if v < self.n) for row in self.rows]
        if alone:
            more, width, y = _rows_of_loners(alone, sizes, width, y + (LEAST_DROP if rows else 0.0))
            boxes |= more
            rows += _grouped(more)
        row_of = {v: r for r, row in enumerate(rows) for v in row}
        n = len(sizes)
        bends = {edge: {self.row_of[slot]: x[slot] for slot in slots} for edge, slots in self.passed.items()}
        return Layout(
            tuple(boxes[v] for v in range(n)), tuple(rows), tuple(row_of[v] for v in range(n)), bends, width, y
        )

    def _drop(self, r: int) -> float:
        far = max((abs(self.x[a] - self.x[b]) for a in self.rows[r] for b in self.below[a]), default=0.0)
        return min(MOST_DROP, LEAST_DROP + DROP_PER_PIXEL * far)


def _apart(wanted: Sequence[tuple[float, float]], distances: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, in the sense of least squares, that keep their order and distances.

    With the distances taken off, what is left must not fall: neighbours that would are pooled at their mean.
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for (place, weight), distance in zip(wanted, distances, strict=True):
        pools.append((place - distance, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, w1, n1), (two, w2, n2) = pools[-2:]
            pools[-2:] = [((one * w1 + two * w2) / (w1 + w2), w1 + w2, n1 + n2)]
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + distance for mean, distance in zip(means, distances, strict=True)]


def _rows_of_loners(
    alone: Sequence[int], sizes: Sequence[Size], width: float, top: float
) -> tuple[dict[int, Box], float, float]:
    """Boxes without edges from left to right, in as many rows as they need; the width and height after them."""
    room = max(width, min(WIDE, sum(sizes[v][0] + GAP for v in alone)))
    boxes: dict[int, Box] = {}
    height = max(sizes[v][1] for v in alone)
    left, widest = 0.0, width
    for v in alone:
        if left and left + sizes[v][0] > room:
            left, top = 0.0, top + height + GAP_OF_LONERS
        boxes[v] = Box(left + sizes[v][0] / 2, top + height / 2, sizes[v][0], height)
        left += sizes[v][0] + GAP
        widest = max(widest, left - GAP)
    return boxes, widest, top + height


def _grouped(boxes: dict[int, Box]) -> list[tuple[int, ...]]:
    """The variables of each row, by the height of their boxes."""
    rows: dict[float, list[int]] = {}
    for v, box in boxes.items():
        rows.setdefault(box.y, []).append(v)
    return [tuple(row) for row in rows.values()]
