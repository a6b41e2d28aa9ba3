"""``topdag paths``: the probability of every ancestor relation."""

from __future__ import annotations

from functools import partial

from topdag.cli.averaging import ABOUT_FILES, ABOUT_PRIORS, COSTS, add_averaging, print_pairs
from topdag.cli.command import Command, Exit
from topdag.questions.sum_sizes import Purpose

COMMAND = Command(
    name="paths",
    usage="topdag paths FILE [--prior NAME] [--threshold P] [options]",
    page=f"""\
Prints how probable it is, given the data, that one variable is an ancestor of another, most
probable first: the share of all networks, each weighed by how well it fits, with a directed path
from the first to the second (a ~> b). Nothing is sampled or left out.

{ABOUT_PRIORS}

{ABOUT_FILES}""",
    ending=f"""\
{COSTS}

examples:
  topdag paths asia.csv --threshold 0.5
  topdag paths asia.csv --score bic --json

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=partial(add_averaging, pairs=True),
    run=partial(print_pairs, wanted=Purpose(paths=True)),
    partial=False,
)
