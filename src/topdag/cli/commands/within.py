"""``topdag within``: all networks or classes that fit nearly as well as the best one, listed or counted."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.cli.command import Command, Exit, UsageError
from topdag.cli.list_options import ABOUT_LISTED_FILES, ABOUT_LISTS, add_listing, bayes_factor, list_costs
from topdag.cli.list_runs import answer_count, answer_list
from topdag.cli.options import refuse
from topdag.cli.values import whole
from topdag.questions.listing.sources import Wanted
from topdag.scoring.keep import MOST_IN_A_LIST

NOT_WITH_COUNT = ("at_most", "checkpoint", "show", "output", "json")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--factor", type=bayes_factor, default=20.0, metavar="FACTOR", help="the Bayes factor, from 1 on; default 20"
    )
    parser.add_argument("--at-most", type=whole(1, MOST_IN_A_LIST), metavar="N", help="list only the N best of them")
    parser.add_argument("--count", action="store_true", help="print how many there are, and list none")
    add_listing(parser)


def list_within(args: Namespace) -> Exit:
    wanted = Wanted("A list", args.at_most or MOST_IN_A_LIST, args.factor)
    if not args.count:
        return answer_list(args, wanted)
    refuse(args, NOT_WITH_COUNT, "this is for lists, and --count makes none")
    if args.prior == "order-modular":
        raise UsageError("--count: under an order-modular prior networks are listed, not counted")
    return answer_count(args, wanted)


COMMAND = Command(
    name="within",
    usage="topdag within FILE [--factor FACTOR] [--classes] [--count] [--at-most N] [options]",
    page=f"""\
Prints all networks that are at least 1/FACTOR times as probable as the best one by the data, best
first, and the proof that none is left out: those that score at least the best less ln(FACTOR).
Factors of 3, 20 and 150 are often called positive, strong and very strong evidence.

With --classes it lists equivalence classes: all networks of a class state the same independences
and score the same. With --count it only counts, however many there are, and stores none; when
--time-limit comes first, or Ctrl-C, it says how many there are at least.

{ABOUT_LISTED_FILES}

{ABOUT_LISTS}

What is proved: every network on these variables, within --max-parents and FACTOR, is in the list,
once; ties stand in a fixed order. With --at-most N the list holds the N best of them.""",
    costs=list_costs,
    ending="""\
  How many there are is hard to foresee: few rows or many variables make millions. --at-most keeps
  the list short; --count --quiet prints just their number.

examples:
  topdag within asia.csv --factor 20 --classes
  topdag within asia.csv --factor 150 --count
  topdag within asia.csv --factor 20 --at-most 100000 -o near.jsonl.gz

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(Exit),
    add_options=add_options,
    run=list_within,
)
