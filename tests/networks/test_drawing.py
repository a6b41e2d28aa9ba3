"""Drawings: boxes that do not overlap, parents above children, edges that go round boxes, names that stay text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_pages import NASTY

import topdag as td
from topdag.networks.drawing import svg as drawing
from topdag.networks.drawing.layout import Layout, layered
from topdag.networks.drawing.routes import Point, route
from topdag.networks.drawing.svg import GraphToDraw, escaped, fitted, graph_svg, probability_text, shown
from topdag.networks.network import REVERSIBLE

REVERSIBLE_OR_NOT = [
    td.example_network().network,
    td.Network(list("abc"), {}),
    td.Network(list("abc"), {"c": ["a", "b"]}),
    td.Network(list("ab"), {"b": ["a"]}),
    td.Network([f"V{v}" for v in range(90)], {f"V{v}": [f"V{v - 1}"] for v in range(1, 90)}),
]
SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def drawn_networks(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Sizes of boxes, and edges without a circle."""
    rng = Random(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 22))
    order = rng.sample(range(n), n)
    share = draw(st.sampled_from([0.0, 0.1, 0.3, 0.7]))
    edges = [(order[i], order[j]) for i, j in combinations(range(n), 2) if rng.random() < share]
    return [(rng.choice([44.0, 90.0, 160.0]), rng.choice([30.0, 46.0])) for _ in range(n)], edges


def on_curve(points: tuple[Point, ...], steps: int = 24) -> list[Point]:
    """Points along the cubic pieces of a route."""
    found = []
    for at in range(0, len(points) - 1, 3):
        p0, p1, p2, p3 = points[at : at + 4]
        for step in range(steps + 1):
            t = step / steps
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * p[i] for w, p in zip(weights, (p0, p1, p2, p3), strict=True)) for i in (0, 1))
            found.append((x, y))
    return found


def assert_well_placed(layout: Layout, edges: list[tuple[int, int]]) -> None:
    for one, other in combinations(layout.boxes, 2):
        apart_x = abs(one.x - other.x) >= (one.width + other.width) / 2 + 4
        apart_y = abs(one.y - other.y) >= (one.height + other.height) / 2 + 4
        assert apart_x or apart_y
    for parent, child in edges:
        assert layout.boxes[parent].bottom < layout.boxes[child].top
    for box in layout.boxes:
        assert box.left >= -0.01 and box.right <= layout.width + 0.01
        assert box.top >= -0.01 and box.bottom <= layout.height + 0.01


@given(drawn_networks())
@settings(max_examples=60)
def test_boxes_do_not_overlap_and_parents_stand_above(
    network: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    assert_well_placed(layered(*network), network[1])


@given(drawn_networks())
@settings(max_examples=40)
def test_edges_go_round_other_boxes(network: tuple[list[tuple[float, float]], list[tuple[int, int]]]) -> None:
    """Edges of the network, and any others that one may want to see among the same boxes."""
    sizes, edges = network
    layout = layered(sizes, edges)
    others = [(a, b) for a in range(len(sizes)) for b in range(len(sizes)) if a != b]
    for a, b in [*edges, *Random(1).sample(others, min(12, len(others)))]:
        way = route(layout, a, b)
        for x, y in (*on_curve(way.points), way.middle):
            for v, box in enumerate(layout.boxes):
                assert v in (a, b) or not (box.left < x < box.right and box.top < y < box.bottom)


def test_an_arrow_ends_at_its_box() -> None:
    layout = layered([(60.0, 30.0)] * 4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    for a, b in ((0, 1), (0, 2), (2, 0), (3, 1)):
        way = route(layout, a, b)
        x, y = way.head[1]
        box = layout.boxes[b]
        assert box.left <= x <= box.right
        assert min(abs(y - box.top), abs(y - box.bottom)) < 0.01
    assert route(layout, 0, 1, arrow=False).head == ()


def test_edges_along_a_row() -> None:
    """A line where there is room for one, else an arc below."""
    near = layered([(60.0, 30.0)] * 3, [(0, 1), (0, 2)])
    assert max(y for _, y in on_curve(route(near, 1, 2).points)) > near.boxes[1].bottom + 5
    far = replace(near, boxes=(*near.boxes[:2], replace(near.boxes[2], x=near.boxes[1].x + 200)))
    assert {y for _, y in route(far, 1, 2).points} == {far.boxes[1].y}


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="circle"):
        layered([(60.0, 30.0)] * 2, [(0, 1), (1, 0)])


def test_a_drawing_is_the_same_every_time() -> None:
    network = td.example_network().network
    assert network.to_svg() == network.to_svg()


# ---- SVG


def test_svg_of_a_network() -> None:
    network = td.example_network().network
    picture = ElementTree.fromstring(network._repr_svg_())
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert sorted(texts[: len(network.names)]) == sorted(network.names)
    assert len([path for path in picture.iter(f"{SVG}path") if path.get("class") == "head"]) == network.n_edges
    titles = {title.text for title in picture.iter(f"{SVG}title")}
    assert "tub → either" in titles
    assert "tub → either" in (picture.get("aria-label") or "")


@pytest.mark.parametrize("network", REVERSIBLE_OR_NOT, ids=lambda network: f"{network.n_edges} edges")
def test_reversible_edges_have_open_heads_and_one_line_says_so(network: td.Network) -> None:
    picture = ElementTree.fromstring(network.to_svg())
    groups = [group for group in picture.iter(f"{SVG}g") if (group.get("class") or "").startswith("edge")]
    opened = {group.findtext(f"{SVG}title") for group in groups if group.get("class") == "edge open"}
    assert opened == {f"{a} → {b}" for a, b in network.reversible}
    below = " ".join(text.text or "" for text in picture.iter(f"{SVG}text") if text.get("class") == "below")
    assert below == (f"Open head: {REVERSIBLE}." if network.reversible else "")
    assert float(picture.get("width") or 0) >= 200 or not below


def test_svg_of_a_class_has_lines_where_members_differ() -> None:
    own = td.EquivalenceClass(td.Network(["a", "b", "c", "d"], {"b": ["a"], "c": ["b", "d"]}))
    picture = ElementTree.fromstring(own._repr_svg_())
    heads = [path for path in picture.iter(f"{SVG}path") if path.get("class") == "head"]
    assert (len(heads), len(own.directed), len(own.undirected)) == (2, 2, 1)
    titles = {title.text for title in picture.iter(f"{SVG}title")}
    assert {"a – b", "b → c", "d → c"} <= titles


def test_nasty_names_stay_text_in_svg() -> None:
    edges = [(i, i + 1) for i in range(len(NASTY) - 1)]
    picture = ElementTree.fromstring(graph_svg(GraphToDraw(NASTY, edges, edges)))
    assert {element.tag for element in picture.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "g", "title", "path", "rect", "text")
    }
    titles = [title.text for title in picture.iter(f"{SVG}title")]
    assert [shown(name) for name in NASTY] == titles[-len(NASTY) :]


def test_characters_that_xml_lacks_are_replaced() -> None:
    names = ("nul\x00", "bell\x07", "\udcff")
    ElementTree.fromstring(graph_svg(GraphToDraw(names, [], [])))
    assert shown("nul\x00") == "nul\ufffd"
    assert escaped("\udcff") == "\ufffd"


@pytest.mark.parametrize("name", NASTY)
def test_long_names_are_broken_and_cut(name: str) -> None:
    lines = fitted(name)
    assert 1 <= len(lines) <= drawing.MOST_LINES
    assert all(drawing.text_width(line) <= drawing.LONGEST_LINE * drawing.FONT_SIZE for line in lines)
    assert lines[-1].endswith("…") == (len(name) == 300)


def test_names_break_where_that_hurts_least() -> None:
    assert fitted("short") == ("short",)
    assert fitted("systolic_blood_pressure") == ("systolic_blood_", "pressure")


# ---- DOT


def test_dot_of_a_class() -> None:
    own = td.EquivalenceClass(td.Network(["a", 'b"', "c", "d"], {'b"': ["a"], "c": ['b"', "d"]}))
    text = own.to_dot()
    assert '"a" -> "b\\"" [dir=none];' in text
    assert '"d" -> "c";' in text
    assert text.startswith("digraph {") and text.endswith("}\n")


# ---- Posteriors and answers in notebooks


class Cells(HTMLParser):
    """Collects the tags and texts of a table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_posteriors_are_a_table() -> None:
    edges = td.edge_posteriors(td.example_table())
    cells = Cells(edges._repr_html_())
    assert cells.tags.count("td") == 1 + 64
    assert probability_text(edges["bronc", "dysp"]) in cells.texts
    assert "Probability of each edge, all networks equally likely before" in cells.texts


def test_nasty_names_stay_text_in_html() -> None:
    table = td.Table({name: [0, 1, int(i > 3), 1] for i, name in enumerate(NASTY)})
    cells = Cells(td.edge_posteriors(table)._repr_html_())
    assert set(cells.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}


def test_an_answer_is_drawn() -> None:
    shown_answer = td.best_network(td.example_table())._repr_html_()
    before, drawing, after = shown_answer.partition("<svg")
    assert "500 rows, 8 variables" in before and drawing and "proved best" in after


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "0"), (1.0, "1"), (0.001, "<.01"), (0.999, ">.99"), (0.5, ".50"), (0.995, ".99")]
)
def test_what_is_not_certain_is_not_shown_as_if(p: float, text: str) -> None:
    assert probability_text(p) == text
