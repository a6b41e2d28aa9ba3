"""How sure each edge and path is: a heat map, and a graph whose edges fade with their probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from topdag.networks.drawing.svg import Drawing, edge_svg, probability_text, shown
from topdag.report.figures import drawn, figure
from topdag.report.gathered import AveragedMatrix, Gathered, Missing
from topdag.report.markup import Html, count, details, joined, named, paragraph, scroller, section, table, tag

LEAST, MOST_DRAWN = 0.02, 1500
"""Pairs less probable than this are not drawn, nor more than so many."""
LEVELS = 20
SIDE_BY_SIDE = 4.0
"""Pixels between an edge and the one in the other direction, halved."""
WITH_NUMBERS, SMALL_CELLS = 18, 36
"""Up to so many variables the numbers stand in the heat map, or its cells are not tiny."""
START = 50
MOST_ROWS_LISTED = 25
TITLES = {
    "edges": ("Edges", "parent", "child", "the edge"),
    "paths": ("Paths", "ancestor", "descendant", "a directed path"),
}


def posterior_section(found: Gathered, drawing: Drawing | None) -> Html:
    title = "How sure is each edge?"
    have = {key: part for key in TITLES if isinstance(part := getattr(found, key), AveragedMatrix)}
    lacking = {key: part for key in TITLES if isinstance(part := getattr(found, key), Missing)}
    if not have or drawing is None:
        reason = next((part.reason for part in lacking.values()), "there is no network")
        return section("sure", title, paragraph(f"There are no probabilities here, because {reason}."))
    return section(
        "sure",
        title,
        *_intro(found, have),
        *(paragraph(f"Probabilities of {key} are left out, because {part.reason}.") for key, part in lacking.items()),
        _switch(list(have)),
        *(_view(found, drawing, key, part, is_first=i == 0) for i, (key, part) in enumerate(have.items())),
    )


OF_NUMBERS = {
    "probability": "The best network is one of very many. A probability near 1 means that nearly all networks that fit "
    "the data have the edge; near 0, that hardly any has it.",
    "frequency": "Other rows might have given another network. A frequency near 1 means that the edge is in the best "
    "network of nearly all tables drawn from these rows; near 0, that it is in hardly any.",
}


def _intro(found: Gathered, have: dict[str, AveragedMatrix]) -> list[Html]:
    first = next(iter(have.values()))
    both = f"Where the data cannot tell the direction, the {first.number} is shared between both."
    words = [paragraph(f"{OF_NUMBERS[first.number]} {both}")]
    if first.exact:
        return [*words, paragraph(f"These are {first.said}; nothing is sampled or left out.", class_="muted")]
    return [*words, *(_warning(own, keys, len(have)) for keys, own in _alike(have))]


def _alike(have: dict[str, AveragedMatrix]) -> list[tuple[list[str], AveragedMatrix]]:
    """What is said of several, once."""
    said = {own.said: own for own in have.values()}
    return [([key for key, own in have.items() if own.said == text], own) for text, own in said.items()]


def _warning(own: AveragedMatrix, keys: list[str], n_views: int) -> Html:
    what = "These" if len(keys) == n_views else f"The {own.numbers} of {keys[0]}"
    return paragraph(tag("strong", "Not exact. "), f"{what} are {own.said}. {own.warning}", class_="note")


def _switch(keys: list[str]) -> Html:
    if len(keys) < 2:
        return Html("")
    choices = [
        tag(
            "label",
            tag("input", type="radio", name="pairs", value=key, checked=i == 0, autocomplete="off"),
            tag("span", f"{TITLES[key][0]}", tag("small", f" {_meaning(key)}")),
        )
        for i, key in enumerate(keys)
    ]
    legend = tag("legend", "Show", class_="sr")
    return tag("fieldset", legend, *choices, class_="switch", hidden=True)


def _meaning(key: str) -> str:
    return "one variable is a parent of the other" if key == "edges" else "one leads to the other, directly or not"


def _view(found: Gathered, drawing: Drawing, key: str, own: AveragedMatrix, *, is_first: bool) -> Html:
    title = tag("h3", f"{TITLES[key][0]}", class_="view-title")
    parts = [_graph(found, drawing, key, own), _heat(found, key, own), _most_probable(found, key, own)]
    return tag("div", title, *parts, class_="view", data_pairs=key, data_first=is_first)


def _graph(found: Gathered, drawing: Drawing, key: str, own: AveragedMatrix) -> Html:
    pairs = drawn_pairs(own.matrix)
    both = set(pairs)
    edges = []
    for a, b in reversed(pairs):  # the most probable on top
        p = float(own.matrix[a, b])
        shift = 0.0 if (b, a) not in both else SIDE_BY_SIDE if a < b else -SIDE_BY_SIDE
        said = f"{shown(found.names[a])} → {shown(found.names[b])}: {p:.3f}"
        way = drawing.route((a, b), shift=shift)
        kind = "edge fading" if p * 100 >= START else "edge fading off"
        edges.append(edge_svg(way, said, class_=kind, data_p=f"{p:.4f}", opacity=f"{fade(p):.2f}", data_a=a, data_b=b))
    label = (
        f"{TITLES[key][0]} as a graph; each is the fainter the less probable it is. The numbers stand in the heat map."
    )
    slider = tag(
        "div",
        tag("label", f"Show what has a {own.number} of at least ", tag("output", f"{START}%"), for_=f"slider-{key}"),
        tag(
            "input", type="range", id=f"slider-{key}", class_="slider", min=round(LEAST * 100), max=100, step=1,
            value=START, autocomplete="off", data_for=f"{key}-figure",
        ),
        tag("span", "", class_="muted shown-count", aria_live="polite"),
        class_="slide",
        hidden=True,
    )  # fmt: skip
    picture = drawn(drawing, edges, label)
    return joined([slider, figure(f"{key}-figure", picture, "Boxes stand where they stand in the best network.")])


def fade(p: float) -> float:
    """How dark an edge of this probability is drawn."""
    return 0.12 + 0.88 * max(0.0, min(1.0, p))


def drawn_pairs(matrix: Any) -> list[tuple[int, int]]:
    """The pairs that are drawn, most probable first."""
    found = [
        (-float(matrix[i, j]), int(i), int(j)) for i, j in zip(*np.nonzero(matrix >= LEAST), strict=True) if i != j
    ]
    return [(i, j) for _, i, j in sorted(found)[:MOST_DRAWN]]


def _heat(found: Gathered, key: str, own: AveragedMatrix) -> Html:
    name, first, second, thing = TITLES[key]
    n = len(found.names)
    head = [tag("th", tag("div", named(other)), scope="col") for other in found.names]
    body = [
        tag("tr", tag("th", named(name), scope="row"), *(_cell(own, i, j, n) for j in range(n)))
        for i, name in enumerate(found.names)
    ]
    corner = tag("td", tag("span", f"{first} ↓"), tag("br"), tag("span", f"{second} →"), class_="corner")
    said = f"{name}: the {own.number} of {thing} from the row to the column"
    caption = tag("caption", said, class_="sr")
    rows = tag("thead", tag("tr", corner, *head)), tag("tbody", *body)
    size = "numbers" if n <= WITH_NUMBERS else "small" if n <= SMALL_CELLS else "small tiny"
    heat = tag("table", caption, *rows, class_=f"heat {size}", data_thing=thing, data_number=own.number)
    readout = paragraph(
        "Point at a cell, or go there with Tab and the arrow keys.", class_="readout", aria_live="polite"
    )
    return joined([paragraph(said, class_="muted said"), scroller(f"Heat map of {key}", heat, tabindex=None), readout])


def _cell(own: AveragedMatrix, i: int, j: int, n: int) -> Html:
    if i == j:
        return tag("td", "", class_="self")
    p = float(own.matrix[i, j])
    level = round(max(0.0, min(1.0, p)) * LEVELS)
    text = probability_text(p) if n <= WITH_NUMBERS else tag("span", f"{p:.2f}", class_="sr")
    return tag("td", text, class_=f"h{level}", data_i=i, data_j=j)


def _most_probable(found: Gathered, key: str, own: AveragedMatrix) -> Html:
    """The first pairs as a table, with both directions."""
    matrix = own.matrix
    pairs = drawn_pairs(matrix)[:MOST_ROWS_LISTED]
    head = ("From", "To", own.number.capitalize(), "The other way")
    body = [
        tag(
            "tr",
            tag("td", named(found.names[a])),
            tag("td", named(found.names[b])),
            tag("td", f"{matrix[a, b]:.3f}", class_="number"),
            tag("td", f"{matrix[b, a]:.3f}", class_="number"),
        )
        for a, b in pairs
    ]
    title = f"The {count(len(body), 'most probable one', 'most probable')}, in numbers"
    return details(title, table(f"The most probable {key}", head, body)) if body else Html("")
