"""Tables for notebooks: what ``_repr_html_`` of plans, tables, lists and fitted networks gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", notes: Iterable[str] = ()) -> str:
    """A table with a title above it and sentences below."""
    top = f"<caption>{escape(title)}</caption>" if title else ""
    top += "".join(f"<th>{escape(cell)}</th>" for cell in head).join(("<tr>", "</tr>")) if head else ""
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{top}{body}</table>{notes_html(notes)}"


def notes_html(notes: Iterable[str]) -> str:
    """Sentences below what a notebook shows."""
    said = "\n".join(map(escape, notes))
    return f'<pre style="white-space:pre-wrap">{said}</pre>' if said else ""


def more(count: int) -> list[str]:
    """The note on what is not shown."""
    return [f"{count:,} more are not shown."] if count > 0 else []
