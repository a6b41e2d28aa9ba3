"""Writes docs/reference/commands.md from the help of the commands.

``python -m topdag.cli.docs > docs/reference/commands.md``
"""

from __future__ import annotations

import contextlib
import io
import re

from topdag.cli.commands import SUMMARIES
from topdag.cli.main import main

HEAD = """\
# Commands

<!-- Made from the help of the commands: python -m topdag.cli.docs > docs/reference/commands.md -->

`topdag COMMAND --help` shows the same. `python -m topdag` is another way to say `topdag`.
"""


def commands_page() -> str:
    pages = {"topdag": help_of()} | {f"topdag {name}": help_of(name) for name in SUMMARIES}
    return "\n".join([HEAD, *(f"## {title}\n\n```text\n{text}\n```\n" for title, text in pages.items())])


def help_of(*words: str) -> str:
    """What a user sees, without the colours of newer Pythons."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        main([*words, "--help"])
    return re.sub(r"\x1b\[[0-9;]*m", "", text.getvalue()).rstrip()


if __name__ == "__main__":
    print(commands_page(), end="")
