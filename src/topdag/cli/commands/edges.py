"""``topdag edges``: the probability of every edge."""

from __future__ import annotations

from functools import partial

from topdag.cli.averaging import ABOUT_FILES, ABOUT_PRIORS, COSTS, add_averaging, print_pairs
from topdag.cli.command import Command, Exit
from topdag.questions.sum_sizes import Purpose

COMMAND = Command(
    name="edges",
    usage="topdag edges FILE [--prior NAME] [--threshold P] [options]",
    page=f"""\
Prints how probable each edge is given the data, most probable first: the share of all networks,
each weighed by how well it fits, that have it. Nothing is sampled or left out.

{ABOUT_PRIORS}

{ABOUT_FILES}

An edge says nothing about cause and effect: where data cannot tell its direction, a score such as
bdeu shares the probability between both.""",
    ending=f"""\
{COSTS}

examples:
  topdag edges asia.csv --threshold 0.5
  topdag edges asia.csv --prior order-modular -o edges.npz

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=partial(add_averaging, pairs=True),
    run=partial(print_pairs, wanted=Purpose()),
    partial=False,
)
