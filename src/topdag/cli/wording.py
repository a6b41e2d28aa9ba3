"""Messages of the library in words of the command line."""

from __future__ import annotations

import re

from topdag.cli.values import RULES as RULES_HERE
from topdag.data.discretize import CONTINUOUS_SCORES, RULES

IN_LIBRARY_WORDS = re.compile(r'\b(missing|discretize|separator|weights|encoding|decimal|leave_out)=(?:"([-\w,.]+)")?')
SCORES_HERE = "--score bge or gaussian-bic, or mixed-bic where other columns have states"
OTHER_WORDS = {
    'Score again with keep="all"': "Score again with topdag score --keep all",
    'read_scores(path, keep="all")': "add --keep all here",
    "header=False": "--no-header",
    "keep_constant=True": "--keep-constant",
    "max_parents=": "--max-parents ",
    "max_parents": "--max-parents",
    "memory_limit": "--memory-limit",
    "time_limit": "--time-limit",
    "MixedBIC(),": "--score mixed-bic,",
    "BGe(),": "--score bge,",
}


def in_options(message: str) -> str:
    """A message of the library in words of the command line: --missing drop for missing="drop".

    A colon follows the key of a file of constraints, which stays as it is written there.
    """
    message = message.replace(f"discretize={RULES}", f"--discretize: {RULES_HERE}")
    message = message.replace(f"with {CONTINUOUS_SCORES}", f"with {SCORES_HERE}")
    for ours, here in OTHER_WORDS.items():
        message = re.sub(
            rf"(?<![-\w]){re.escape(ours)}(?![\w:])" if ours[-1].isalnum() else re.escape(ours), here, message
        )
    return IN_LIBRARY_WORDS.sub(
        lambda found: f"--{found[1].replace('_', '-')}" + (f" {found[2]}" if found[2] else ""), message
    )
