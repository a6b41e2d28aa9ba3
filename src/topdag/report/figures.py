"""Frames around pictures: they scroll when wide, can be fitted to the page, and say what they show."""

from __future__ import annotations

from topdag.networks.drawing.svg import Drawing
from topdag.report.markup import Html, scroller, tag

SMALL, LARGEST_SCALE = 620.0, 1.35
"""Pictures narrower and lower than this, in pixels, are made larger, up to so many times."""


def drawn(drawing: Drawing, edges: list[str], label: str) -> Html:
    """A picture of these edges, large enough to read."""
    scale = max(1.0, min(LARGEST_SCALE, SMALL / max(drawing.width, drawing.height)))
    return Html(drawing.svg("".join(edges), label, scale=scale))


def figure(key: str, picture: Html, *caption: str) -> Html:
    fit = tag("button", "Fit to width", type="button", class_="fit", data_for=key, hidden=True)
    said = tag("figcaption", *caption) if any(caption) else Html("")
    frame = scroller("Picture; scrolls when it is wide", picture, class_="scroller picture")
    return tag("figure", fit, frame, said, id=key)
