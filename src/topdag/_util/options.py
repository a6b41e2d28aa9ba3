"""Options in messages, as whoever reads them writes them: missing="drop" in Python, --missing drop in a shell.

A message is made for one reader, someone who writes Python, unless a command runs. So it holds its options from the
start: whatever is done with it afterwards, none is lost, and nothing of the user's is taken for one.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

COMMANDS = {
    "best_network": "topdag best",
    "k_best_networks": "topdag list",
    "k_best_classes": "topdag list --classes",
    "networks_within": "topdag within",
    "classes_within": "topdag within --classes",
    "count_networks_within": "topdag within --count",
    "count_classes_within": "topdag within --classes --count",
    "edge_posteriors": "topdag edges",
    "path_posteriors": "topdag paths",
    "log_evidence": "topdag evidence",
    "sample_networks": "topdag sample",
    "causal_effects": "topdag effects",
    "bootstrap": "topdag bootstrap",
    "structural_em": "topdag em",
}
"""The command that asks what a function asks."""

Here = Callable[[str], str]  # how the running command is told of an option, such as --missing
_here: ContextVar[Here | None] = ContextVar("here", default=None)


@contextmanager
def in_shell(here: Here) -> Iterator[None]:
    """Meanwhile messages are for the reader of a command."""
    before = _here.set(here)
    try:
        yield
    finally:
        _here.reset(before)


def worded(python: str, shell: str) -> str:
    """Whichever the reader understands, where the two differ in more than an option."""
    return python if _here.get() is None else shell


def question(name: str) -> str:
    """A question by its function, or its command; what is neither stays."""
    return worded(name, COMMANDS.get(name, name))


def option(name: str, value: Any = None, *, shell: str | None = None) -> str:
    """An argument of a function and the option of the same name, with a value or without; ``shell``: what a shell takes
    for a value that is no text, number or list of them.

    >>> option("missing", "drop"), option("leave_out", ["id"]), option("max_parents")
    ('missing="drop"', "leave_out=['id']", 'max_parents')
    >>> with in_shell(str):
    ...     option("missing", "drop"), option("leave_out", ["id", "row no"]), option("max_parents")
    ('--missing drop', '--leave-out id --leave-out "row no"', '--max-parents')
    """
    here = _here.get()
    if here is None:
        return _in_python(name, value)
    written = here(f"--{'no-' * (value is False)}{name.replace('_', '-')}")
    return " ".join(f"{written} {text}".rstrip() for text in _in_shell(value if shell is None else shell))


def all_of(options: list[str]) -> str:
    """Options to be given together."""
    return worded(", ".join(options), " ".join(options))


def _in_python(name: str, value: Any) -> str:
    if value is None:
        return name if "_" in name else f"{name}="  # no word of the sentence
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value!r}"


def _in_shell(value: Any) -> list[str]:
    """The value for each time that the option is given."""
    if value is None or isinstance(value, bool):
        return [""]
    if isinstance(value, Mapping):
        value = [f"{key}={each}" for key, each in value.items()]
    return [_quoted(str(each)) for each in (value if isinstance(value, list) else [value])]


def _quoted(text: str) -> str:
    """As few shells as possible mistake it: double quotes are known to those of Windows too."""
    is_plain = not set(text) & set("\"'\\$`!%")
    return f'"{text}"' if is_plain and shlex.quote(text) != text else shlex.quote(text)
