"""``topdag demo``: the main job on the embedded example, and how the answer compares with the truth."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from topdag._util.run import Run
from topdag.cli.command import Command, Exit
from topdag.cli.commands.best import answer_and_exit
from topdag.cli.output import answer_text, as_csv, labelled, table_in_words, write_text
from topdag.cli.streams import say
from topdag.cli.targets import add_output, target
from topdag.cli.values import whole
from topdag.data.table import Table
from topdag.networks.example import example_network, example_table
from topdag.networks.network import Network
from topdag.questions.request import Request

WHY_NOT_THE_SAME = """\
The data need not recover that network. The best network is the one that scores most on these rows:
rare states leave little trace in few rows, and where two networks state the same independences they
score the same, so that the direction of such an edge is undetermined."""
TRY_NEXT = """\
Try next:
  topdag demo --rows 20000            more rows: does the answer come closer?
  topdag demo -o asia.csv             write the table, then
  topdag best asia.csv --score bdeu   another score
  topdag best asia.csv -o best.json && topdag check best.json asia.csv"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=whole(1, 10_000_000), default=500, metavar="N", help="default 500")
    parser.add_argument("--seed", type=whole(0), default=1, metavar="N", help="another seed, other rows; default 1")
    add_output(parser, ".csv (the table)")


def show_demo(args: Namespace) -> Exit:
    to = None if args.output is None else target(args.output, (".csv", ".txt"), (), packed=True)
    table = example_table(args.rows, args.seed)
    if to is not None:
        write_text(to, csv_text(table))
    say(f"The chest clinic: {table_in_words(table)}, drawn with seed {args.seed}.\n")
    answer, code = answer_and_exit(Request.about(table), Run())
    say(answer_text(answer, None, scores=True))
    if answer.network is not None:
        say("\n" + comparison(answer.network, example_network().network))
    say("\n" + TRY_NEXT)
    return code


def comparison(found: Network, truth: Network) -> str:
    """In words: which edges of the truth were found, and which not."""
    ours, true = set(found.edges), set(truth.edges)
    flipped = {(child, parent) for parent, child in ours}
    groups = {
        "found": [edge for edge in truth.edges if edge in ours],
        "reversed": [edge for edge in truth.edges if edge in flipped],
        "missing": [edge for edge in truth.edges if edge not in ours | flipped],
        "added": [edge for edge in found.edges if edge not in true and edge[::-1] not in true],
    }
    head = f"Compared with the network the rows were drawn from, which has {len(true)} edges:"
    lines = [labelled(f"  {len(edges)} {label:<10}", shown_edges(edges)) for label, edges in groups.items()]
    return "\n".join([head, *lines, WHY_NOT_THE_SAME])


def shown_edges(edges: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{parent} -> {child}" for parent, child in edges) or "none"


def csv_text(table: Table) -> str:
    """Every row as often as it occurs."""
    return as_csv(table.names, (row for row, count in table.rows() for _ in range(count)))


COMMAND = Command(
    name="demo",
    usage="topdag demo [--rows N] [--seed N] [-o OUT]",
    page="""\
Samples a table from the chest clinic network, a classic of 8 variables also known as Asia, finds
the best network for it, and compares that with the one the rows were drawn from.""",
    ending="""\
What is proved is that no network scores more on these rows. That need not be the network they were
drawn from: few rows do not pay for every edge, and networks that state the same independences
score the same, so that data cannot tell the direction of some edges.

costs:
  About a second.

example:
  topdag demo --rows 5000 -o asia.csv""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=show_demo,
)
