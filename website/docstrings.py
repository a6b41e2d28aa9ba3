"""What the reference of names shows: what ``__all__`` lists, with docstrings whose examples are blocks of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Module, Object


class Docstrings(Extension):
    """An extension of griffe, named in mkdocs.yml."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        self.on_object(obj=pkg)
        hide_what_is_not_exported(pkg)

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.name.startswith("__") and obj.is_function:
            obj.docstring = None  # how an object prints or compares is no name to call: not shown
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def hide_what_is_not_exported(package: Module) -> None:
    for name, module in package.modules.items():
        if not module.is_alias:  # imported, not part of it
            module.public = name in (package.exports or ())
            hide_what_is_not_exported(module)


def as_markdown(docstring: str) -> str:
    """Paragraphs that begin with >>> are examples; elsewhere, outside of code, no mark is meant as one of Markdown."""
    paragraphs = docstring.split("\n\n")
    return "\n\n".join(f"```pycon\n{p}\n```" if p.startswith(">>>") else _escaped(p) for p in paragraphs)


def _escaped(text: str) -> str:
    pieces = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    return "".join(piece if piece.startswith("`") else re.sub(r"([<*_\[])", r"\\\1", piece) for piece in pieces)
