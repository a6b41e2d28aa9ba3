"""Frames around pictures: they scroll when wide, can be fitted to the page, and say what they show."""

from __future__ import annotations

from topdag.report.markup import Html, scroller, tag


def figure(key: str, picture: Html, *caption: str) -> Html:
    fit = tag("button", "Fit to width", type="button", class_="fit", data_for=key, aria_pressed="false", hidden=True)
    said = tag("figcaption", *caption) if any(caption) else Html("")
    frame = scroller("Picture; scrolls when it is wide", picture, class_="scroller picture")
    return tag("figure", fit, frame, said, id=key)
