"""``topdag list``: the k best networks or classes of a table or a file of scores."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.cli.command import Command, Exit
from topdag.cli.list_options import ABOUT_LISTED_FILES, ABOUT_LISTS, add_listing, list_costs
from topdag.cli.list_runs import answer_list
from topdag.cli.values import whole
from topdag.questions.listing.sources import Wanted
from topdag.scoring.keep import MOST_IN_A_LIST


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("-k", type=whole(1, MOST_IN_A_LIST), default=10, metavar="K", help="how many; default 10")
    add_listing(parser)


def list_best(args: Namespace) -> Exit:
    return answer_list(args, Wanted("A list", most=args.k))


COMMAND = Command(
    name="list",
    usage="topdag list FILE [-k K] [--classes] [options]",
    page=f"""\
Prints the K networks with the highest scores, best first, and the proof that none is left out.

With few rows many networks fit nearly as well as the best one, and the data alone cannot choose.
With --classes it lists equivalence classes: all networks of a class state the same independences
and score the same, so a list of classes reaches further than one of as many networks.

{ABOUT_LISTED_FILES}

{ABOUT_LISTS}

What is proved: no network on these variables, within --max-parents, that is not in the list scores
more than the last one; some may score the same. Each is listed once, ties in a fixed order.""",
    costs=list_costs,
    ending="""\
examples:
  topdag list asia.csv -k 100 --classes
  topdag list asia.csv -k 100000 --score bic -o networks.jsonl.gz

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(Exit),
    add_options=add_options,
    run=list_best,
)
