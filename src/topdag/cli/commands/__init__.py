"""The sub-commands of ``topdag``, one file each; their help is the page of commands in the docs (see cli/docs.py).

Comes in: options. Goes out: text and an exit code. Knows: everything; only ``cli.main`` knows it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topdag.cli.command import Command

SUMMARIES = {
    "look": "what each column of a table is, and what topdag will do with it",
    "best": "the best network of a table, with proof",
    "list": "the k best networks or equivalence classes of a table",
    "within": "all networks or classes within a Bayes factor of the best, or their number",
    "edges": "how probable each edge is, averaged over all networks",
    "paths": "how probable it is that one variable is an ancestor of another",
    "effects": "what would follow if a variable were set, averaged over all networks",
    "evidence": "the log of the sum over all networks of exp(score)",
    "sample": "networks drawn from the posterior, and how often they have each edge",
    "bootstrap": "how often each edge comes back in tables drawn from the rows",
    "em": "a network from rows with missing cells, by structural EM",
    "fit": "give a network probabilities from a table, for other programs",
    "show": "a network or an answer in a file, as text or as a picture",
    "convert": "a network from one file format to another",
    "score": "local scores: of all families into a file, or of one family or network",
    "plan": "what a question will take, before it is asked",
    "report": "one page with every answer, to look at in a browser",
    "check": "score an answer anew from its table, by other formulas",
    "demo": "the best network of an embedded example, compared with the truth",
}
"""What each command is for; its module has the same name."""


def command_named(name: str) -> Command:
    """Loads its module, and what that needs: no command waits for what another one needs."""
    command: Command = import_module(f"{__name__}.{name}").COMMAND
    return command
