"""HTML made of parts that escape themselves: plain text never becomes markup."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from topdag.networks.drawing.svg import escaped, shown

LONG_NAME = 24
"""Names of more characters may be cut where they stand; the whole one is shown on hover."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
EMPTY = ("input", "meta", "br", "link")


class Html(str):
    """Markup that is safe to put into a page."""

    __slots__ = ()


def tag(kind: str, *content: str, **attributes: object) -> Html:
    """An element. Content that is not Html is escaped. ``class_`` and ``aria_label`` lose their underscores; an
    attribute that is True stands alone, one that is None or False is left out."""
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if kind in EMPTY:
        return Html(f"<{kind}{given}>")
    return Html(f"<{kind}{given}>{joined(content)}</{kind}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(part if isinstance(part, Html) else escaped(part) for part in parts))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    called = name.removesuffix("_").replace("_", "-")
    return f" {called}" if value is True else f' {called}="{escaped(str(value))}"'


def named(name: str) -> Html:
    """The name of a variable, whatever the direction it is written in."""
    whole = shown(name)
    return tag("bdi", whole, class_="name", title=whole if len(whole) > LONG_NAME else None)


def paragraph(*content: str, **attributes: object) -> Html:
    return tag("p", *content, **attributes)


def section(key: str, title: str, *content: str) -> Html:
    head = tag("h2", title, id=f"{key}-title")
    return tag("section", head, *content, id=key, aria_labelledby=f"{key}-title")


def details(summary: str, *content: str) -> Html:
    return tag("details", tag("summary", summary), *content)


def rows(*pairs: tuple[str, str | Html]) -> Html:
    """Labels with what they stand for."""
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", value)) for label, value in pairs), class_="facts")


def scroller(label: str, *content: str, **attributes: object) -> Html:
    """A part of the page that scrolls by itself when it is too wide, also by keyboard."""
    given = {"class_": "scroller", "role": "region", "tabindex": 0} | attributes
    return tag("div", *content, aria_label=label, **given)


def table(label: str, head: Iterable[str], body: Iterable[Html]) -> Html:
    """Rows below the titles of their columns."""
    titles = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in head)))
    return scroller(label, tag("table", titles, tag("tbody", *body), class_="plain"))


def safe_json(content: Any) -> Html:
    """JSON inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Html(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def number(value: float, digits: int = 3) -> str:
    """With a true minus sign."""
    return f"{value:,.{digits}f}".replace("-", "−") if math.isfinite(value) else "unknown"


def percent(share: float) -> str:
    """What is not all or nothing is not shown as if it were."""
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.01:
        return f"{share:.2%}" if share >= 0.00005 else tiny(share)
    return f"{share:.1%}" if share < 0.9995 else ">99.9%"


def tiny(share: float) -> str:
    """A number as 3×10⁻⁷, or as zero when it is too small for any."""
    if share <= 0:
        return "0"
    digits, _, power = f"{share:.0e}".partition("e")
    return f"{digits}×10{str(int(power)).translate(RAISED)}"


def count(amount: int, noun: str, several: str | None = None) -> str:
    return f"{amount:,} {noun if amount == 1 else several or noun + 's'}"
