"""Reads a report as a program would: its elements, texts, numbers and policy."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import topdag as td

NASTY = (
    "<script>alert(1)</script>",
    "quo\"te's & <b>bold</b>",
    "naïve Größe 温度",
    "x" * 300,
    "line\u2028separator</script><!--",
    "\u202eright to left",
    "tab\tand\nnewline",
    "{{title}} ${x} $a^b$",
)
"""Names of variables that would do harm if a page took them as anything but text."""

SECTIONS = ("data", "best", "list", "sure", "effects", "assumed", "run", "cite")
EMPTY = ("meta", "link", "input", "br")


class Page(HTMLParser):
    """The elements of a page with their attributes, its text, and the numbers it carries."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    @property
    def values(self) -> dict[str, Any]:
        found = re.search(r'<script type="application/json" id="values">(.*?)</script>', self.html, re.DOTALL)
        assert found is not None
        content: dict[str, Any] = json.loads(found[1])
        return content

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            own
            for kind, own in self.elements
            if kind == tag and all(value in (own.get(name) or "").split() for name, value in wanted.items())
        ]


def page_of(tmp_path: Path, *content: Any, **options: Any) -> Page:
    """The report with this content, read back."""
    path = tmp_path / "page.html"
    td.write_report(path, *content, **options)
    return Page(path.read_text(encoding="utf-8"))
