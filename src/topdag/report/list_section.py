"""The best classes (or networks) as a list to go through; what differs from the best is drawn and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topdag.answers.compare import Graph, compare, marks_of
from topdag.answers.lists import BestList, ClassList
from topdag.answers.results import Status
from topdag.networks.drawing.svg import Drawing, by_place, edge_svg, shown
from topdag.networks.equivalence import EquivalenceClass
from topdag.report.figures import drawn, figure
from topdag.report.gathered import Gathered, Missing, limit_in_words
from topdag.report.markup import Html, count, named, number, paragraph, percent, rows, section, tag
from topdag.report.weights import Weights

SHARE_BAR = 64
MOST_CHANGES = 60
"""Changes that are told one by one."""
CHANGES = {
    "added": ("+", "added"),
    "dropped": ("−", "removed"),
    "reversed": ("↺", "turned round, now"),
    "directed": ("↺", "now with a direction,"),
    "undirected": ("↺", "now without a direction,"),
}


@dataclass(frozen=True)
class Listing:
    """The section, and for the script what role each drawn edge has in each item."""

    html: Html
    roles: list[list[list[int | str]]]


def list_section(found: Gathered, weights: Weights, drawing: Drawing | None) -> Listing:
    listed = found.listed
    what = "classes" if found.what == "class" else "networks"
    title = "What else fits the data"
    if isinstance(listed, Missing):
        text = f"There is no list of the best {what}, because {listed.reason}."
        return Listing(section("list", title, paragraph(text)), [])
    if not len(listed) or drawing is None:
        return Listing(section("list", title, paragraph("The list is empty.")), [])
    items: list[Any] = list(listed)
    edges = _Edges(items, listed.names, drawing)
    panels = tag(
        "div",
        *(_panel(found, weights, listed, items, place) for place in range(len(items))),
        id="panels",
        aria_live="polite",
    )
    chooser = tag("div", _choices(found, weights, listed), panels)
    view = tag("div", chooser, _shown(found, edges, drawing), class_="explorer")
    return Listing(section("list", title, *_intro(found, weights, listed), view), edges.roles)


def _intro(found: Gathered, weights: Weights, listed: BestList[Any]) -> list[Html]:
    several = "equivalence classes" if found.what == "class" else "networks"
    start = f"These are the {len(listed):,} best {several}, best first. "
    if found.what == "class":
        start += (
            "A class is a set of networks that state the same independences and score the same; arrows are edges on "
            "whose direction all its networks agree, lines are edges that can point either way. The share counts every "
            "network of a class, so that a large class can weigh more than one that scores better. "
        )
    return [paragraph(start, _covered(weights)), paragraph(_completeness(found, listed), class_="muted")]


def _covered(weights: Weights) -> str:
    if None in weights.shares:
        return "Their score is no likelihood, so that it does not tell how probable one is beside another."
    if weights.covered is None:
        return "Shares are of what the listed ones have together, as the whole posterior was not summed."
    return f"Together they hold {percent(weights.covered)} of the whole posterior probability."


def _completeness(found: Gathered, listed: BestList[Any]) -> str:
    if listed.proof.status is Status.PROVED:
        return "Proved: none that is left out scores more than the last one here."
    return (
        f"The search was ended by {limit_in_words(listed.proof)}. Everything that scores above {number(listed.floor)} "
        "is in the list; below that there may be others." + (f" {found.more_time}." if found.more_time else "")
    )


def _choices(found: Gathered, weights: Weights, listed: BestList[Any]) -> Html:
    choices = [
        tag(
            "label",
            tag(
                "input",
                type="radio",
                name="item",
                value=place,
                checked=place == 0,
                autocomplete="off",
                aria_label=f"{found.what} {place + 1}, {_share_in_words(share)}score {_behind(listed, place)}",
            ),
            tag("span", f"{place + 1}", class_="rank"),
            _share(share, weights),
            tag("span", _behind(listed, place), class_="behind"),
        )
        for place, share in enumerate(weights.shares)
    ]
    legend = tag("legend", f"Choose a {found.what}", tag("span", _columns(weights), class_="muted"))
    buttons = tag(
        "div",
        tag("button", "Previous", type="button", id="previous"),
        tag("button", "Next", type="button", id="next"),
        class_="buttons",
        hidden=True,
    )
    return tag("div", tag("fieldset", legend, tag("div", *choices, class_="choices")), buttons, class_="chooser")


def _share_in_words(share: float | None) -> str:
    return "" if share is None else f"share {percent(share)}, "


def _share(share: float | None, weights: Weights) -> Html:
    if share is None:
        return tag("span")
    widest = max(own for own in weights.shares if own is not None) or 1.0
    return tag("span", _bar(share / widest), tag("span", percent(share), class_="share"))


def _columns(weights: Weights) -> str:
    of = "" if None in weights.shares else f"share of the {'list' if weights.covered is None else 'posterior'}, "
    return f"Rank, {of}score (from the second on: the difference from the best)"


def _bar(part: float) -> Html:
    inner = tag("rect", width=f"{max(1.0, part * SHARE_BAR):.1f}", height=8, rx=2)
    return tag(
        "svg", inner, class_="share-bar", width=SHARE_BAR, height=8, viewBox=f"0 0 {SHARE_BAR} 8", aria_hidden="true"
    )


def _behind(listed: BestList[Any], place: int) -> str:
    gap = float(listed.scores[place] - listed.scores[0])
    return number(float(listed.scores[0]), 2) if place == 0 else number(gap, 2)


def _shown(found: Gathered, edges: _Edges, drawing: Drawing) -> Html:
    picture = drawn(drawing, edges.svg, f"The {found.what} chosen, compared with the best; told in words below.")
    legend = tag(
        "span",
        tag("span", "+ added", class_="key added"),
        tag("span", "− removed (dashed)", class_="key dropped"),
        tag("span", "↺ turned", class_="key turned"),
        class_="keys",
    )
    said = tag("span", "Compared with the best: ", legend)
    return figure("list-figure", picture, said)


def _panel(found: Gathered, weights: Weights, listed: BestList[Any], items: Sequence[Graph], place: int) -> Html:
    title = tag("h3", f"{found.what.capitalize()} {place + 1} of {len(items)}")
    told = _told(items[0], items[place]) if place else [paragraph("This is the best one.", class_="muted")]
    facts = rows(*_facts(found, weights, listed, items[place], place))
    return tag("div", title, *told, facts, class_="panel", hidden=place > 0)


def _facts(
    found: Gathered, weights: Weights, listed: BestList[Any], item: Graph, place: int
) -> list[tuple[str, str | Html]]:
    factor = float(listed.factors[place])
    facts: list[tuple[str, str | Html]] = [("Score", number(float(listed.scores[place]), 4))]
    share = weights.shares[place]
    if place and share is not None:
        times = f"{factor:,.3g} times" if factor < 1e6 else f"{factor:.1e} times"
        facts.append(("Behind the best", f"{times} less probable, network for network"))
    of = "list" if weights.covered is None else "posterior"
    if share is not None:
        facts.append((f"Share of the {of}", percent(share)))
    if isinstance(item, EquivalenceClass):
        facts.append(("Size", count(item.size, "network")))
        if weights.allowed and weights.allowed[place] != item.size:
            facts.append((f"Of these {_allowed_words(found)}", f"{weights.allowed[place]:,}"))
        facts.append(("Edges", f"{len(item.directed)} with a direction, {len(item.undirected)} without"))
    else:
        facts.append(("Edges", f"{item.n_edges}"))
    return facts


def _allowed_words(found: Gathered) -> str:
    constrained = isinstance(found.listed, ClassList) and found.listed.source.compiled is not None
    return "that satisfy the constraints" if constrained else f"with at most {found.max_parents} parents each"


def _told(best: Graph, own: Graph) -> list[Html]:
    """Every change in words."""
    changed, lines = compare(best, own), list[Html]()
    without = {frozenset(pair) for graph in (best, own) for pair in _undirected(graph)}
    for group, (sign, words) in CHANGES.items():
        role = group if group in ("added", "dropped") else "turned"
        for a, b in getattr(changed, group):
            is_line = group == "undirected" or (role == group and frozenset((a, b)) in without)
            key = tag("span", sign, class_=f"sign {role}", aria_hidden="true")
            lines.append(tag("li", key, f" {words} ", named(a), " – " if is_line else " → ", named(b)))
    if not lines:
        return [paragraph("No edge differs from the best.")]
    more = [tag("li", f"and {len(lines) - MOST_CHANGES} more")] if len(lines) > MOST_CHANGES else []
    return [
        paragraph("What differs from the best:", class_="muted"),
        tag("ul", *lines[:MOST_CHANGES], *more, class_="changes"),
    ]


def _undirected(graph: Graph) -> tuple[tuple[str, str], ...]:
    return graph.undirected if isinstance(graph, EquivalenceClass) else ()


class _Edges:
    """Every edge that occurs in the list, drawn once; ``roles``: by item, [edge, role] of those to show."""

    def __init__(self, items: Sequence[Graph], names: Sequence[str], drawing: Drawing) -> None:
        self.names, self.drawing = names, drawing
        self.places: dict[tuple[tuple[str, str], str], int] = {}
        best = marks_of(items[0], names)
        self.roles = [self._roles(best, marks_of(item, names)) for item in items]
        shown_first = {place for place, _ in self.roles[0]}
        self.svg = [
            self._drawn(pair, mark, hidden=place not in shown_first) for (pair, mark), place in self.places.items()
        ]

    def _roles(self, best: dict[tuple[str, str], str], own: dict[tuple[str, str], str]) -> list[list[int | str]]:
        found: list[list[int | str]] = []
        for pair in {**best, **own}:
            before, after = best.get(pair), own.get(pair)
            mark = after or before
            assert mark is not None
            role = (
                "same" if before == after else "added" if before is None else "dropped" if after is None else "turned"
            )
            found.append([self.places.setdefault((pair, mark), len(self.places)), role])
        return found

    def _drawn(self, pair: tuple[str, str], mark: str, *, hidden: bool) -> str:
        towards = pair[::-1] if mark == "<-" else pair
        edge = by_place(self.names, [towards])[0]
        way = self.drawing.route(edge, arrow=mark != "--")
        said = f"{shown(towards[0])} {'–' if mark == '--' else '→'} {shown(towards[1])}"
        x, y = way.middle
        badge = f'<g class="badge"><circle cx="{x:.1f}" cy="{y:.1f}" r="8"/><text x="{x:.1f}" y="{y:.1f}"></text></g>'
        place = self.places[pair, mark]
        whole = edge_svg(
            way, said, class_="edge off" if hidden else "edge same", data_e=place, data_a=edge[0], data_b=edge[1]
        )
        return whole.removesuffix("</g>") + badge + "</g>"
