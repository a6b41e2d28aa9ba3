"""One page that needs nothing else: the sections, the style, the script and the numbers in a single file."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from topdag.answers.results import Status, finite_or_none
from topdag.networks.drawing.svg import Drawing, by_place, escaped, shown
from topdag.report.about_section import assumptions_section, cite_section, run_section
from topdag.report.best_section import best_section
from topdag.report.data_section import data_section
from topdag.report.effects_section import effects_section
from topdag.report.gathered import AveragedMatrix, Gathered, Missing
from topdag.report.list_section import list_section
from topdag.report.markup import Html, count, joined, number, percent, safe_json, tag
from topdag.report.posterior_section import posterior_section
from topdag.report.weights import Weights, weights_of

PLACE = re.compile(r"\{\{(\w+)\}\}")
SECTIONS = {
    "data": "Data",
    "best": "Best network",
    "list": "What else fits",
    "sure": "How sure",
    "effects": "Effects",
    "assumed": "Assumptions",
    "run": "Computation",
    "cite": "Cite",
}
SURE = 0.95


def page_of(found: Gathered, title: str, version: str) -> str:
    """The whole page."""
    drawing = _drawing(found)
    weights = weights_of(found)
    listing = list_section(found, weights, drawing)
    sections = [
        data_section(found),
        best_section(found, drawing),
        listing.html,
        posterior_section(found, drawing),
        effects_section(found),
        assumptions_section(found),
        run_section(found),
        cite_section(version),
    ]
    style, script = _file("page.css"), _file("page.js")
    parts = {
        "title": escaped(shown(title)),
        "policy": f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "contents": tag("ul", *(tag("li", tag("a", text, href=f"#{key}")) for key, text in SECTIONS.items())),
        "summary": _summary(found, weights),
        "sections": joined(sections),
        "values": safe_json(_values(found, listing.roles)),
        "version": escaped(version),
    }
    return PLACE.sub(lambda place: parts[place[1]], _file("page.html"))


def _file(name: str) -> str:
    from importlib.resources import files

    return (files("topdag.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """By which the policy of the page knows its own style and script, and lets nothing else run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _drawing(found: Gathered) -> Drawing | None:
    """All pictures of a page have their boxes at the same places: those of the best network."""
    if not isinstance(found.best, Missing) and found.best.network is not None:
        network = found.best.network
    elif not isinstance(found.listed, Missing) and len(found.listed):
        network = found.listed.network(0)
    else:
        return None if isinstance(found.edges, Missing) else Drawing.of(found.names, [])
    return Drawing.of(network.names, by_place(network.names, network.edges))


def _summary(found: Gathered, weights: Weights) -> Html:
    every = (_table_tile(found), _best_tile(found), _list_tile(found, weights), _edge_tile(found))
    tiles = [tile for tile in every if tile]
    return tag("div", *(tag("div", tag("b", big), " ", tag("span", small)) for big, small in tiles), class_="tiles")


def _table_tile(found: Gathered) -> tuple[str, str]:
    if found.table is None:
        return str(len(found.names)), "variables"
    return f"{found.table.n_rows:,}", f"row{'s' * (found.table.n_rows != 1)} of {count(len(found.names), 'variable')}"


def _best_tile(found: Gathered) -> tuple[str, str] | None:
    if isinstance(found.best, Missing) or found.best.network is None:
        return None
    proved = "proved to be the best" if found.best.proof.status is Status.PROVED else "the best found, not proved"
    return count(
        found.best.network.n_edges, "edge"
    ), f"in the network that is {proved} (score {number(found.best.score, 2)})"


def _best_of(listed: int, several: str) -> str:
    return f"{listed:,} best {several}" if listed > 1 else f"best {'class' if several == 'classes' else 'network'}"


def _list_tile(found: Gathered, weights: Weights) -> tuple[str, str] | None:
    if isinstance(found.listed, Missing) or not len(found.listed):
        return None
    several = "classes" if found.what == "class" else "networks"
    if weights.covered is not None:
        return percent(weights.covered), f"of the posterior is held by the {_best_of(len(found.listed), several)}"
    factor = float(found.listed.factors[-1])
    times = f"{factor:,.3g}" if factor < 1e6 else f"{factor:.1e}"
    return f"{len(found.listed):,} {several}", f"within a factor of {times} of the best"


def _edge_tile(found: Gathered) -> tuple[str, str] | None:
    if not isinstance(found.edges, AveragedMatrix) or not found.edges.exact:
        return None
    either = found.edges.matrix + found.edges.matrix.T
    sure = int((either >= SURE).sum()) // 2
    return f"{sure}", f"{'pair is' if sure == 1 else 'pairs are'} joined by an edge with a probability of 95% or more"


def _values(found: Gathered, roles: list[list[list[int | str]]]) -> dict[str, Any]:
    """What the script needs, and anyone who reads the page by program."""
    values: dict[str, Any] = {"names": list(found.names), "roles": roles}
    for key in ("edges", "paths"):
        part = getattr(found, key)
        if isinstance(part, AveragedMatrix):
            values[key] = [[round(p, 6) for p in row] for row in part.matrix.tolist()]
    if not isinstance(found.best, Missing):
        values["best"] = {
            "edges": [] if found.best.network is None else [list(edge) for edge in found.best.network.edges],
            "score": finite_or_none(found.best.score),
            "status": found.best.proof.status.name,
            "bound": finite_or_none(found.best.proof.bound),
        }
    if not isinstance(found.listed, Missing):
        values["scores"] = [float(value) for value in found.listed.scores]
    if not isinstance(found.effects, Missing):
        values["effects"] = [[e.cause, e.outcome, round(e.value, 6)] for e in found.effects.ranked]
    values["log_evidence"] = found.log_evidence
    return values
