"""Pictures with matplotlib (pip install topdag[plot]): networks, classes, probabilities, the scores of a list."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from topdag.networks.drawing.layout import Arrow
from topdag.networks.drawing.svg import LINE_HEIGHT, Drawing, GraphToDraw, shown

PIXELS_PER_INCH = 100.0
INK, LINE, FILL, ACCENT = "#1d2430", "#5b6472", "#f6f8fb", "#1f4e8c"
INCHES_PER_LETTER = 0.14
"""Of wide ones, so that labels leave the map room; in a figure too small for them matplotlib would warn."""
MOST_NUMBERS = 20
"""Up to so many variables a heat map has its numbers written in."""


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot
    except ImportError as missing:
        raise ImportError('Pictures need matplotlib: pip install "topdag[plot]"') from missing
    return matplotlib.pyplot


def saved(axes: Any, form: str) -> bytes:
    """The figure of these axes as a file of this form, png or pdf; it is closed."""
    content = io.BytesIO()
    axes.figure.savefig(content, format=form)
    pyplot().close(axes.figure)
    return content.getvalue()


def plot_graph(graph: GraphToDraw, axes: Any = None) -> Any:
    """Draws a network or class as ``drawing.graph_svg`` does, and returns the axes."""
    plt = pyplot()
    drawing = Drawing.of(graph.names, graph.member)
    below = drawing.lines_below(graph.said)
    height = drawing.height + LINE_HEIGHT * len(below)
    if axes is None:
        inches = (max(2.0, drawing.width / PIXELS_PER_INCH), max(1.5, height / PIXELS_PER_INCH))
        axes = plt.subplots(figsize=inches, layout="constrained")[1]
    for edge in graph.directed:
        _draw_edge(axes, drawing, edge, head=FILL if edge in graph.turning else LINE)
    for edge in graph.undirected:
        _draw_edge(axes, drawing, edge, head=None)
    for lines, box in zip(drawing.lines, drawing.layout.boxes, strict=True):
        _draw_box(axes, lines, box)
    if below:
        axes.text(0, drawing.height - 12, "\n".join(below), ha="left", va="top", color=LINE, fontsize=7)
    axes.set_xlim(-12, drawing.width - 12)
    axes.set_ylim(height - 12, -12)  # y grows downwards
    axes.set_aspect("equal")
    axes.axis("off")
    return axes


def _draw_edge(axes: Any, drawing: Drawing, edge: Arrow, *, head: str | None) -> None:
    """``head``: the colour of the arrow head; None for a line."""
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    way = drawing.route(edge, arrow=head is not None)
    codes = [Path.MOVETO, *[Path.CURVE4] * (len(way.points) - 1)]
    axes.add_patch(PathPatch(Path(way.points, codes), fill=False, edgecolor=LINE, linewidth=1.2))
    if way.head:
        axes.add_patch(Polygon(way.head, closed=True, facecolor=head, edgecolor=LINE, linewidth=1.0))


def _draw_box(axes: Any, lines: Sequence[str], box: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.left + 4, box.top + 4)
    style = "round,pad=4,rounding_size=6"
    size = (box.width - 8, box.height - 8)
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, facecolor=FILL, edgecolor="#8a94a6", linewidth=0.8))
    top = box.y - LINE_HEIGHT * (len(lines) - 1) / 2
    for i, line in enumerate(lines):
        y = top + i * LINE_HEIGHT
        axes.text(box.x, y, line, ha="center", va="center", color=INK, fontsize=8, parse_math=False)


def plot_heat(
    names: Sequence[str],
    matrix: Any,
    title: str,
    first: str,
    second: str,
    numbers: bool | None = None,
    axes: Any = None,
) -> Any:
    """Draws probabilities as a heat map and returns the axes."""
    plt = pyplot()
    n, ticks = len(names), [_tick(name) for name in names]
    if axes is None:
        label = INCHES_PER_LETTER * max(map(len, ticks))  # on the left, and slanting over the right edge
        inches = (max(3.6, 0.42 * n + 1.7 * label + 0.8), max(3.0, 0.42 * n + 0.7 * label + 1.2))
        axes = plt.subplots(figsize=inches, layout="constrained")[1]
    masked = np.ma.masked_array(matrix, np.eye(n, dtype=bool))
    image = axes.imshow(masked, cmap="Blues", vmin=0.0, vmax=1.0)
    axes.set_xticks(range(n), ticks, rotation=45, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(n), ticks)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.set_xlabel(second)
    axes.set_ylabel(first)
    axes.set_title(title)
    if n <= MOST_NUMBERS if numbers is None else numbers:
        _write_numbers(axes, np.asarray(matrix))
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
    return axes


def _tick(name: str) -> str:
    whole = shown(name)
    return whole if len(whole) <= 24 else whole[:23] + "…"


def _write_numbers(axes: Any, matrix: Any) -> None:
    for i, j in zip(*np.nonzero(matrix >= 0.005), strict=True):
        ink = "white" if matrix[i, j] > 0.6 else INK
        axes.text(j, i, f"{matrix[i, j]:.2f}".removeprefix("0"), ha="center", va="center", color=ink, fontsize=7)


def plot_intervals(rows: Sequence[tuple[str, float, float, float]], title: str, label: str, axes: Any = None) -> Any:
    """Draws values with their intervals (a name, the value, from, to), the first on top, and returns the axes."""
    plt = pyplot()
    if axes is None:
        width = 4.6 + INCHES_PER_LETTER * max((len(_tick(name)) for name, *_ in rows), default=1) * 0.6
        axes = plt.subplots(figsize=(width, 1.2 + 0.28 * len(rows)), layout="constrained")[1]
    places = range(len(rows))
    axes.axvline(0.0, color=LINE, linewidth=0.8)
    axes.hlines(places, [row[2] for row in rows], [row[3] for row in rows], color=LINE, linewidth=1.6)
    axes.plot([row[1] for row in rows], places, "o", color=ACCENT, markersize=5)
    axes.set_yticks(places, [_tick(name) for name, *_ in rows])
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(label)
    axes.set_title(title)
    return axes


def score_profile(listed: Any, axes: Any = None) -> Any:
    """How fast the scores of a list of networks or classes fall, and how much of its weight the first ones hold.

    ``listed``: what ``k_best_networks``, ``classes_within`` and similar questions give. Returns the matplotlib axes.
    """
    if not len(listed):
        raise ValueError("The list is empty: there is nothing to draw.")
    plt = pyplot()
    if axes is None:
        axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    ranks = np.arange(1, len(listed) + 1)
    marks = "o" if len(listed) <= 60 else ""
    axes.plot(ranks, listed.scores, color=ACCENT, marker=marks, markersize=3.5, linewidth=1.4)
    axes.set_xlabel("rank")
    axes.set_ylabel("score (natural log)")
    held = axes.twinx()
    held.plot(ranks, np.cumsum(listed.shares), color=LINE, linestyle="--", linewidth=1.2)
    held.set_ylim(0, 1.02)
    held.set_ylabel("weight of the first (dashed)")
    axes.set_title(f"The {len(listed):,} best")
    return axes
