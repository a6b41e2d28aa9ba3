"""A notebook as a page of the site: its texts, its programs, and what they printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def as_markdown(notebook: Mapping[str, Any], file_name: str) -> str:
    parts = [part for cell in notebook["cells"] for part in _cell(cell)]
    title, *rest = parts
    return "\n\n".join([title, f"[This page as a notebook]({file_name}).", *rest]) + "\n"


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text.replace(".ipynb)", ".md)")  # other notebooks are pages here
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        yield from _output(output)


def _output(output: Mapping[str, Any]) -> Iterator[str]:
    """The richest form that a page can show."""
    shown = output.get("data", {})
    if "image/svg+xml" in shown:
        yield "".join(shown["image/svg+xml"])
    elif "text/html" in shown:
        yield "".join(shown["text/html"])
    elif text := "".join(output.get("text", shown.get("text/plain", ""))).rstrip():
        yield f"```text\n{text}\n```"
