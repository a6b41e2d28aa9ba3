"""Networks, classes and probabilities as SVG and HTML, without other software. Names are always escaped."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topdag.networks.drawing.layout import Arrow, Box, Layout, layered
from topdag.networks.drawing.routes import Point, Route, route

FONT_SIZE, LINE_HEIGHT = 13.0, 16.0
PADDING_X, PADDING_Y = 12.0, 8.0
LONGEST_LINE, MOST_LINES = 18, 2
"""Characters of a line, and lines of a box; what is longer is cut, and the whole name is shown on hover."""
MARGIN, ROOM_BELOW = 12.0, 26.0
SMALL, LEAST_BELOW = 0.85, 38
"""Of the size of names, for what is said below a picture, in lines of at least so many characters."""
NARROW, WIDE = "iljtfrI.,:;'|!()[]{} ", "mwMWQO@%&"
NOT_IN_MARKUP = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKUP_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
HEAT = (31, 78, 140)
"""The colour of a probability of one."""


@dataclass(frozen=True)
class Drawing:
    """Names in boxes, each name in lines that fit its box."""

    names: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    layout: Layout

    @classmethod
    def of(cls, names: Sequence[str], edges: Iterable[Arrow]) -> Drawing:
        """``edges``: pairs (parent, child) of a network, by place."""
        lines = tuple(fitted(name) for name in names)
        return cls(tuple(names), lines, layered([_size(own) for own in lines], edges))

    @property
    def width(self) -> float:
        return self.layout.width + 2 * MARGIN

    @property
    def height(self) -> float:
        return self.layout.height + MARGIN + ROOM_BELOW

    def route(self, edge: Arrow, *, arrow: bool = True, shift: float = 0.0) -> Route:
        return route(self.layout, *edge, arrow=arrow, shift=shift)

    def svg(self, body: str, label: str, *, scale: float = 1.0, below: Sequence[str] = ()) -> str:
        """A picture with this content under the boxes. ``label``: what it shows, for those who do not see it;
        ``below``: lines of text under all."""
        width = max(self.width, *(SMALL * text_width(line) + 2 * MARGIN for line in below), 0.0)
        height = self.height + LINE_HEIGHT * len(below)
        view = f"{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"
        boxes = "".join(_box(*parts) for parts in zip(self.names, self.lines, self.layout.boxes, strict=True))
        said = "".join(
            f'<text class="below" x="0" y="{self.height + LINE_HEIGHT * (i - 1):.1f}" '
            f'font-size="{SMALL * FONT_SIZE:g}" fill="#5b6472">{escaped(line)}</text>'
            for i, line in enumerate(below)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escaped(label)}" viewBox="{view}" '
            f'width="{width * scale:.0f}" height="{height * scale:.0f}" '
            f'font-family="{FONT}" font-size="{FONT_SIZE:g}">{body}{boxes}{said}</svg>'
        )

    def lines_below(self, text: str) -> list[str]:
        """The text in lines about as wide as the picture."""
        return textwrap.wrap(text, max(LEAST_BELOW, int(self.width / (0.6 * SMALL * FONT_SIZE))))


@dataclass(frozen=True)
class GraphToDraw:
    """A network or class, edges by place. ``member``: of a network in it, which say what stands above what;
    ``turning``: of the directed edges those with open heads; ``said``: what is written below."""

    names: Sequence[str]
    member: Sequence[Arrow]
    directed: Sequence[Arrow]
    undirected: Sequence[Arrow] = ()
    turning: Sequence[Arrow] = ()
    said: str = ""


def graph_svg(graph: GraphToDraw) -> str:
    names, drawing = graph.names, Drawing.of(graph.names, graph.member)
    marks = dict.fromkeys(graph.directed, "→") | dict.fromkeys(graph.undirected, "–")
    said = {edge: f"{shown(names[edge[0]])} {mark} {shown(names[edge[1]])}" for edge, mark in marks.items()}
    edges = [
        edge_svg(drawing.route(edge, arrow=mark == "→"), said[edge], is_open=edge in graph.turning)
        for edge, mark in marks.items()
    ]
    label = f"{len(names)} variables. {', '.join(said.values()) or 'No edges'}."
    return drawing.svg("".join(edges), label, below=drawing.lines_below(graph.said))


def edge_svg(way: Route, title: str, *, is_open: bool = False, **attributes: object) -> str:
    """One edge as a group: the curve, its arrow head, filled or open, and what is said on hover."""
    given = {"class_": "edge open" if is_open else "edge"} | attributes
    extra = "".join(f' {_attribute(name)}="{escaped(str(value))}"' for name, value in given.items())
    ink = 'fill="#ffffff" stroke="#5b6472" stroke-width="1.4"' if is_open else 'fill="#5b6472"'
    head = "" if not way.head else f'<path class="head" {ink} d="M{_places(way.head)}Z"/>'
    path = f"M{_places(way.points[:1])}C{_places(way.points[1:])}"
    curve = f'<path class="curve" fill="none" stroke="#5b6472" stroke-width="1.6" d="{path}"/>'
    return f"<g{extra}><title>{escaped(title)}</title>{curve}{head}</g>"


def _attribute(name: str) -> str:
    return name.removesuffix("_").replace("_", "-")


def _places(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _box(name: str, lines: Sequence[str], box: Box) -> str:
    rectangle = (
        f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="7" '
        'fill="#f6f8fb" stroke="#8a94a6"/>'
    )
    first = box.y - LINE_HEIGHT * (len(lines) - 1) / 2
    texts = "".join(
        f'<text x="{box.x:.1f}" y="{first + i * LINE_HEIGHT:.1f}" text-anchor="middle" dominant-baseline="central" '
        f'fill="#1d2430" unicode-bidi="isolate">{escaped(line)}</text>'
        for i, line in enumerate(lines)
    )
    return f'<g class="box"><title>{escaped(shown(name))}</title>{rectangle}{texts}</g>'


def _size(lines: Sequence[str]) -> tuple[float, float]:
    width = max(map(text_width, lines)) + 2 * PADDING_X
    return max(44.0, width), LINE_HEIGHT * len(lines) + 2 * PADDING_Y - 2


def text_width(text: str) -> float:
    """About so many pixels, a little more than less: there is no font to ask."""
    return FONT_SIZE * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in NARROW:
        return 0.34
    return 0.92 if character in WIDE else 0.7 if character.isupper() else 0.58


def shown(name: str) -> str:
    """A name on one line, with what cannot be shown replaced."""
    return " ".join(NOT_IN_MARKUP.sub("\ufffd", name).split()) or "\ufffd"


def escaped(text: str) -> str:
    """Text that HTML and XML take as text, also inside quotes."""
    return NOT_IN_MARKUP.sub("\ufffd", text).translate(MARKUP_ESCAPES)


def fitted(name: str) -> tuple[str, ...]:
    """The name in a line or two, broken where that hurts least, cut when it is too long."""
    whole = shown(name)
    if text_width(whole) <= LONGEST_LINE * 0.58 * FONT_SIZE:
        return (whole,)
    lines, rest = list[str](), whole
    while rest and len(lines) < MOST_LINES:
        length = _line_length(rest)
        lines.append(rest[:length].rstrip())
        rest = rest[length:].lstrip()
    if rest:
        lines[-1] = lines[-1][: max(1, len(lines[-1]) - 1)].rstrip() + "…"
    return tuple(lines)


def _line_length(text: str) -> int:
    """How many characters go on a line: up to the last place to break in its second half, or as many as fit."""
    fits, width = 0, 0.0
    while fits < len(text) and width + FONT_SIZE * _character_width(text[fits]) <= LONGEST_LINE * 0.58 * FONT_SIZE:
        width += FONT_SIZE * _character_width(text[fits])
        fits += 1
    if fits == len(text):
        return fits
    breaks = [i + 1 for i, character in enumerate(text[:fits]) if character in " _-./:" and i + 1 > fits // 2]
    return breaks[-1] if breaks else max(1, fits)


def heat_html(names: Sequence[str], rows: Sequence[Sequence[float]], caption: str, first: str, second: str) -> str:
    """Probabilities as a table whose cells are shaded; what each means is shown on hover."""
    head = "".join(f'<th scope="col" title="{escaped(shown(name))}">{_short(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row" style="text-align:right" title="{escaped(shown(name))}">{_short(name)}</th>'
        + "".join(_cell(name, other, p, i == j) for j, (other, p) in enumerate(zip(names, row, strict=True)))
        + "</tr>"
        for i, (name, row) in enumerate(zip(names, rows, strict=True))
    )
    corner = f"<td>{escaped(first)} ↓ {escaped(second)} →</td>"
    said = f"<caption>{escaped(caption)}</caption>"
    return f"<table>{said}<thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(name: str, other: str, p: float, is_self: bool) -> str:
    if is_self:
        return '<td style="text-align:center">·</td>'
    fill, ink = heat_colours(p)
    title = escaped(f"{shown(name)} → {shown(other)}: {p:.4f}")
    style = f"text-align:center;background:{fill};color:{ink}"
    return f'<td style="{style}" title="{title}">{probability_text(p)}</td>'


def _short(name: str) -> str:
    whole = shown(name)
    return escaped(whole if len(whole) <= LONGEST_LINE else whole[: LONGEST_LINE - 1] + "…")


def heat_colours(p: float) -> tuple[str, str]:
    """The shade of a probability, and an ink that can be read on it."""
    part = max(0.0, min(1.0, p))
    shade = tuple(round(255 + part * (full - 255)) for full in HEAT)
    return "#{:02x}{:02x}{:02x}".format(*shade), "#ffffff" if part > 0.55 else "#1d2430"


def probability_text(p: float) -> str:
    """Two digits; what is not certain is not shown as if it were."""
    if p <= 0 or p >= 1:
        return f"{min(1.0, max(0.0, p)):.0f}"
    if p < 0.005:
        return "<.01"
    return ">.99" if p > 0.995 else f"{p:.2f}".removeprefix("0")


def by_place(names: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[Arrow]:
    """Pairs of names as pairs of places."""
    place: Mapping[str, int] = {name: i for i, name in enumerate(names)}
    return [(place[a], place[b]) for a, b in pairs]
