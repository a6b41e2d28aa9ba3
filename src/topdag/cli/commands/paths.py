"""``topdag paths``: the probability of every ancestor relation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.cli.averaging import ABOUT_FILES, ABOUT_PRIORS, COSTS, add_averaging, print_pairs
from topdag.cli.command import Command, Exit
from topdag.questions.sums import Purpose, path_posteriors

PAGE = f"""\
Prints how probable it is, given the data, that one variable is an ancestor of another, most
probable first: the share of all networks, each weighed by how well it fits, with a directed path
from the first to the second (a ~> b). Nothing is sampled or left out.

{ABOUT_PRIORS}

{ABOUT_FILES}"""

ENDING = f"""\
{COSTS}

examples:
  topdag paths asia.csv --threshold 0.5
  topdag paths asia.csv --score bic --json

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands."""


def add_options(parser: ArgumentParser) -> None:
    add_averaging(parser, pairs=True)


def print_paths(args: Namespace) -> Exit:
    return print_pairs(args, path_posteriors, Purpose(paths=True))


COMMAND = Command(
    name="paths",
    usage="topdag paths FILE [--prior NAME] [--threshold P] [options]",
    page=PAGE,
    ending=ENDING,
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=add_options,
    run=print_paths,
    partial=False,
)
