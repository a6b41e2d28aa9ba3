"""How an edge runs from box to box: a smooth curve that goes round the boxes in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from topdag.networks.drawing.layout import Box, Layout

CLEARANCE = 7.0
"""Pixels between an edge and the boxes it passes."""
HEAD_LENGTH, HEAD_WIDTH = 9.0, 7.0
STEEPEST = 0.7
"""Edges leave and reach a box within this much sideways for each pixel down."""
LEAN = 0.25
"""How much of the way to the other end the foot of an edge moves along the side of its box."""
ROOM_FOR_A_LINE = 4 * HEAD_LENGTH

Point = tuple[float, float]


@dataclass(frozen=True)
class Route:
    """``points``: the start, then two control points and an end for each cubic piece; ``head``: the three corners of
    the arrow head, empty for a line; ``middle``: a point on the curve about half-way."""

    points: tuple[Point, ...]
    head: tuple[Point, ...]
    middle: Point


def route(layout: Layout, a: int, b: int, *, arrow: bool = True, shift: float = 0.0) -> Route:
    """From the box of ``a`` to that of ``b``, with an arrow head there; ``shift``: pixels to the side, for an edge that
    shares its boxes with another."""
    if layout.row_of[a] == layout.row_of[b]:
        return _along_a_row(layout, a, b, arrow, shift)
    upper, lower = sorted((a, b), key=layout.row_of.__getitem__)
    curve, tip = _clear_curve(layout, upper, lower, b if arrow else None, shift)
    points = _bezier(curve)
    if b == lower:
        return Route(points, _head(curve[-1], tip) if arrow else (), _half_way(curve))
    return Route(tuple(reversed(points)), _head(curve[0], tip) if arrow else (), _half_way(curve))


def _short_of(point: Point, sideways: float, down: float) -> Point:
    """Where the arrow head at this point begins, on a line that goes so much sideways for each pixel up or down."""
    step = HEAD_LENGTH / math.hypot(1.0, sideways)
    return point[0] + sideways * step, point[1] + down * step


def _foot(box: Box, towards: float) -> float:
    most = 0.38 * box.width
    return box.x + max(-most, min(most, LEAN * (towards - box.x)))


def _slope(start: Point, end: Point) -> float:
    return (end[0] - start[0]) / max(1.0, end[1] - start[1])


def _clear_curve(layout: Layout, upper: int, lower: int, head: int | None, shift: float) -> tuple[list[Point], Point]:
    """Points for a smooth curve that meets no box; each row that it would meet one in is passed at a free place.

    At the box of ``head`` it ends where the arrow head begins; with the curve comes the tip of that.
    """
    knots: dict[float, float] = {}
    bends = layout.bends.get((upper, lower), {})
    rows = range(layout.row_of[upper] + 1, layout.row_of[lower])
    passed: set[int] = set()
    while True:
        inner = [(x, y) for y, x in sorted(knots.items())]
        curve = _with_ends(layout.boxes[upper], layout.boxes[lower], inner, shift)
        tip = curve[0] if head == upper else curve[-1]
        if head == upper:
            curve[0] = _short_of(tip, _tangents(curve)[0], 1.0)
        elif head == lower:
            curve[-1] = _short_of(tip, -_tangents(curve)[-1], -1.0)
        met = next((r for r in rows if r not in passed and _meets(layout, r, curve)), None)
        if met is None:
            return curve, tip
        passed.add(met)
        top, bottom = _band(layout, met)
        wished = bends[met] + shift if met in bends else _at(curve, (top + bottom) / 2)
        knots[top] = knots[bottom] = _free_place(layout, met, wished)


def _with_ends(upper: Box, lower: Box, inner: Sequence[Point], shift: float) -> list[Point]:
    """A curve leaves and reaches its boxes on the side where it passes the rows between."""
    first, last = (inner[0][0], inner[-1][0]) if inner else (lower.x, upper.x)
    return [(_foot(upper, first) + shift, upper.bottom), *inner, (_foot(lower, last) + shift, lower.top)]


def _band(layout: Layout, row: int) -> tuple[float, float]:
    boxes = [layout.boxes[v] for v in layout.rows[row]]
    return min(box.top for box in boxes), max(box.bottom for box in boxes)


def _meets(layout: Layout, row: int, curve: Sequence[Point]) -> bool:
    top, bottom = _band(layout, row)
    places = [_at(curve, y) for y in (top, (top + bottom) / 2, bottom)]
    near = CLEARANCE - 1
    boxes = [layout.boxes[v] for v in layout.rows[row]]
    return any(min(places) < box.right + near and max(places) > box.left - near for box in boxes)


def _free_place(layout: Layout, row: int, wished: float) -> float:
    """The nearest place to this one between the boxes of a row, or beside them."""
    boxes = sorted((layout.boxes[v] for v in layout.rows[row]), key=lambda box: box.x)
    ends = [(-math.inf, boxes[0].left), *((one.right, other.left) for one, other in pairwise(boxes))]
    gaps = [(left + CLEARANCE, right - CLEARANCE) for left, right in [*ends, (boxes[-1].right, math.inf)]]
    nearest = (max(left, min(right, wished)) for left, right in gaps if left <= right)
    return min(nearest, key=lambda x: abs(x - wished))


def _tangents(curve: Sequence[Point]) -> list[float]:
    """Sideways per pixel down at each point, so that the curve does not overshoot [Fritsch & Carlson 1980]."""
    secants = [_slope(one, other) for one, other in pairwise(curve)]
    inner = [0.0 if one * two <= 0 else 2 * one * two / (one + two) for one, two in pairwise(secants)]
    return [_end(secants[0]), *inner, _end(secants[-1])]


def _end(secant: float) -> float:
    return max(-STEEPEST, min(STEEPEST, 0.6 * secant))


def _bezier(curve: Sequence[Point]) -> tuple[Point, ...]:
    tangents = _tangents(curve)
    points = [curve[0]]
    for ((x0, y0), t0), ((x1, y1), t1) in pairwise(zip(curve, tangents, strict=True)):
        third = (y1 - y0) / 3
        points += [(x0 + t0 * third, y0 + third), (x1 - t1 * third, y1 - third), (x1, y1)]
    return tuple(points)


def _at(curve: Sequence[Point], y: float) -> float:
    """The x of the curve at this height; heights are even along each piece."""
    tangents = _tangents(curve)
    for ((x0, y0), t0), ((x1, y1), t1) in pairwise(zip(curve, tangents, strict=True)):
        if y <= y1:
            t, third = (y - y0) / max(1e-9, y1 - y0), (y1 - y0) / 3
            return _cubic(x0, x0 + t0 * third, x1 - t1 * third, x1, t)
    return curve[-1][0]


def _cubic(p0: float, p1: float, p2: float, p3: float, t: float) -> float:
    s = 1 - t
    return s * s * s * p0 + 3 * s * s * t * p1 + 3 * s * t * t * p2 + t * t * t * p3


def _half_way(curve: Sequence[Point]) -> Point:
    """Not inside a row that is passed, where there is little room."""
    (_, y0), (_, y1) = max(pairwise(curve), key=lambda piece: piece[1][1] - piece[0][1])
    middle = (y0 + y1) / 2
    return _at(curve, middle), middle


def _head(base: Point, tip: Point) -> tuple[Point, ...]:
    dx, dy = tip[0] - base[0], tip[1] - base[1]
    length = max(1e-9, math.hypot(dx, dy))
    across = (-dy / length * HEAD_WIDTH / 2, dx / length * HEAD_WIDTH / 2)
    return (base[0] + across[0], base[1] + across[1]), tip, (base[0] - across[0], base[1] - across[1])


def _along_a_row(layout: Layout, a: int, b: int, arrow: bool, shift: float) -> Route:
    """Between neighbours a line; past others an arc in the free space below the row."""
    one, other = layout.boxes[a], layout.boxes[b]
    between = [
        v for v in layout.rows[layout.row_of[a]] if min(one.x, other.x) < layout.boxes[v].x < max(one.x, other.x)
    ]
    side = 1.0 if other.x > one.x else -1.0
    start = (one.x + side * one.width / 2, one.y + shift)
    end = (other.x - side * other.width / 2, other.y + shift)
    if not between and side * (end[0] - start[0]) >= ROOM_FOR_A_LINE:
        last = (end[0] - side * HEAD_LENGTH, end[1]) if arrow else end
        middle = ((start[0] + last[0]) / 2, start[1])
        return Route((start, start, last, last), _head(last, end) if arrow else (), middle)
    start, end = (_foot(one, other.x) + shift, one.bottom), (_foot(other, one.x) + shift, other.bottom)
    depth = max(start[1], end[1]) + min(34.0, 22.0 + 0.03 * abs(end[0] - start[0]))  # the curve goes 3/4 as deep
    last = (end[0], end[1] + HEAD_LENGTH) if arrow else end
    lean = min(30.0, 0.25 * abs(end[0] - start[0])) * side
    points = (start, (start[0] + lean, depth), (last[0] - lean, depth), last)
    half_way = (points[0][0] + points[-1][0]) / 2, (start[1] + last[1]) / 8 + 3 * depth / 4
    return Route(points, _head(last, end) if arrow else (), half_way)
