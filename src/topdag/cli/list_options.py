"""The options and the parts of the help that ``topdag list`` and ``topdag within`` share."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from topdag.cli.command import SIZES_SHOWN, search_costs
from topdag.cli.options import add_asked
from topdag.cli.targets import add_json, add_output
from topdag.cli.values import number, whole
from topdag.io.lists import LIST_SUFFIXES
from topdag.questions.lists import LARGEST_FACTOR

ABOUT_LISTED_FILES = """\
FILE is a table or a file of scores, as for topdag best. A .jkl or .pss file does not say what it
was pruned for; if it holds all that is needed here, say so with --keep. --classes needs a score
that is the same for all networks of a class: bdeu, bic, aic or qnml; say that such a file has one with
--score-equivalent."""

ABOUT_LISTS = """\
The best network is printed first. Then a table, one row each: its score; its factor, how many times
less probable than the best it is by the data; its share of the posterior probability that all of
the list have together (all networks equally likely before, unless --prior says otherwise; then the
score has the log weight of the network added, and data is the score without); with --classes its size, the number of
networks in it; and the edges to add (+), drop (-) or turn (~) to get it from the best. Last, How
different are they? says which edges all of them have, and which vary with which share."""


def list_costs() -> str:
    from topdag._util.memory import shown_bytes
    from topdag.questions.plan import bytes_for_all_sets

    sizes = ", ".join(f"{n}: {shown_bytes(bytes_for_all_sets(n, 'list', 2))}" for n in SIZES_SHOWN)
    return f"""\
{search_costs()}

  Lists need further tables, and 8*n+8 bytes for each network or class; without the latter, with
  two threads:
    {sizes}

  When --time-limit comes first, or Ctrl-C, or memory is full, the list is shorter but
  has no gaps: everything that scores above a floor is in it, and the floor is said."""


def add_listing(parser: ArgumentParser) -> None:
    parser.add_argument("--classes", action="store_true", help="list equivalence classes instead of networks")
    parser.add_argument(
        "--score-equivalent",
        action="store_true",
        default=None,
        help="of a .jkl or .pss file: networks of a class have the same score; checked where families allow it",
    )
    stopped = "stop after S seconds, reading and scoring included; the list is then complete above a floor"
    add_asked(parser, in_time=stopped)
    group = parser.add_argument_group("search")
    group.add_argument(
        "--checkpoint",
        metavar="STATE",
        help="a file in which a list by partition, as of more than 30 variables, leaves how it stands every few "
        "seconds, and from which it goes on",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--show", type=whole(0), metavar="N", help="rows of the table to print; default 20")
    add_output(group, f"{' or '.join(LIST_SUFFIXES)} (the whole list as JSON lines)")
    add_json(group, quiet="print networks, scores and proof, nothing else")


def bayes_factor(text: str) -> float:
    value = number(text)
    if not 1 <= value <= LARGEST_FACTOR:
        raise ArgumentTypeError(f"{text!r} is not a Bayes factor, a number from 1 on, at most {LARGEST_FACTOR:g}")
    return value
