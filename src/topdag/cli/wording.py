"""Messages of the library in words of the command line."""

from __future__ import annotations

import ast
import re
import shlex

from topdag.cli.values import RULES_HERE
from topdag.data.columns import CONTINUOUS_SCORES
from topdag.data.discretize import RULES
from topdag.data.troubles import SETTLED

WORDS = {
    f"discretize={RULES}": f"--discretize: {RULES_HERE}",
    f"with {CONTINUOUS_SCORES}": "with --score bge or gaussian-bic, or mixed-bic where other columns have states",
    'Score again with keep="all"': "Score again with topdag score --keep all",
    'read_scores(path, keep="all")': "add --keep all here",
    "header=False": "--no-header",
    "keep_constant=True": "--keep-constant",
    "max_parents=": "--max-parents ",
    "memory_limit=": "--memory-limit",
    "budget=": "--budget",
    "MixedBIC(),": "--score mixed-bic,",
    "BGe(),": "--score bge,",
}
QUOTED_NAME = r"(?<!\w)'(?:[^'\\]|\\.)*'"
LIMIT = r"(?<![-\w])(?:max_parents|memory_limit|time_limit)(?![\w:])"
OPTION = r'\b(?P<name>missing|discretize|separator|weights|encoding|decimal|leave_out)=(?:"(?P<value>[-\w,.()]+)")?'
LEAVE_OUT = r"\bleave_out=(?P<columns>\[[^\]]+\])"
PIECE = re.compile("|".join([QUOTED_NAME, *map(re.escape, WORDS), LIMIT, LEAVE_OUT, OPTION]))


def in_options(message: str) -> str:
    """A message of the library in words of the command line: --missing drop for missing="drop".

    What is quoted, such as a name of the user's, stays as it is; so does a limit that a colon follows, which is the key
    of a file of constraints.
    """
    said, settled, arguments = message.partition(SETTLED)
    return PIECE.sub(_here, said) + settled + PIECE.sub(_here, arguments).replace(", --", " --")


def _here(found: re.Match[str]) -> str:
    piece = found[0]
    if piece.startswith("'") or piece in WORDS:
        return WORDS.get(piece, piece)
    if found["columns"]:
        return " ".join(f"--leave-out {shlex.quote(name)}" for name in ast.literal_eval(found["columns"]))
    option = "--" + (found["name"] or piece).replace("_", "-")
    value = f'"{found["value"]}"' if found["value"] and "(" in found["value"] else found["value"]  # shells want quotes
    return f"{option} {value}" if value else option
