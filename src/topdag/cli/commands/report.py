"""``topdag report``: one page with every answer, to look at in a browser."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.cli.advice import mention_advice
from topdag.cli.command import Command, Exit
from topdag.cli.commands.best import EXIT_OF
from topdag.cli.options import STANDARD_INPUT, add_asked, request_from, running
from topdag.cli.output import about_reading, about_table, labelled
from topdag.cli.streams import mention, say
from topdag.cli.targets import Once, target
from topdag.cli.values import seconds, whole
from topdag.report.gathered import Gathered, Missing
from topdag.report.gathering import DEFAULT_BUDGET, MOST_TO_SUM, gather
from topdag.report.write import DEFAULT_K, LARGEST_K, PAGE_SUFFIXES, title_of, write_page

DEFAULT_PAGE = "report.html"
LEFT_OUT = {
    "best": "the best network",
    "listed": "the list",
    "edges": "probabilities of edges",
    "paths": "those of paths",
    "effects": "effects",
}


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        dest="output",
        action=Once,
        default=DEFAULT_PAGE,
        metavar="OUT",
        help=f"the page to write; default {DEFAULT_PAGE}",
    )
    parser.add_argument(
        "-k", type=whole(1, LARGEST_K), default=DEFAULT_K, metavar="K", help=f"how many to list; default {DEFAULT_K}"
    )
    parser.add_argument("--title", metavar="TEXT", help="the heading of the page; default: the name of the file")
    parser.add_argument(
        "--budget",
        type=seconds,
        metavar="S",
        help=f"seconds for the list and the probabilities; default {DEFAULT_BUDGET:g}, or what --time-limit leaves",
    )
    add_asked(parser, in_time="stop after about S seconds and write what is known by then")
    group = parser.add_argument_group("output")
    group.add_argument("--quiet", action="store_true", help="print nothing but what went wrong")


def make_report(args: Namespace) -> Exit:
    to = target(args.output, PAGE_SUFFIXES, (args.file,))
    with running(args) as run:
        asked = request_from(args)
        mention_advice(asked, "best", run, quiet=args.quiet)
        found = gather(asked, args.k, run, budget=args.budget)
    name = "standard input" if args.file == STANDARD_INPUT else title_of(args.file)
    write_page(to, found, args.title or name)
    if not args.quiet:
        say("\n".join([*about_reading(found.table), _said(args.output, found), *about_table(found.table, found.notes)]))
    return _exit_of(found)


def _said(page: str, found: Gathered) -> str:
    lines = [labelled("page", page)]
    reasons: dict[str, list[str]] = {}
    for part, words in LEFT_OUT.items():
        answer = getattr(found, part)
        if isinstance(answer, Missing):
            reasons.setdefault(answer.reason, []).append(words)
    lines += [labelled("lacks", f"{' and '.join(words)}, because {why}") for why, words in reasons.items()]
    return "\n".join(lines)


def _exit_of(found: Gathered) -> Exit:
    """As of the best network, which is the first of all answers."""
    if found.is_interrupted:
        return Exit.INTERRUPTED
    if isinstance(found.best, Missing):
        mention(f"topdag: the best network was not found: {found.best.reason}")
        return Exit.TOO_LARGE
    return EXIT_OF[found.best.proof.status]


COMMAND = Command(
    name="report",
    usage="topdag report FILE [-o OUT.html] [-k K] [options]",
    page="""\
Writes one HTML page that needs nothing else: no network, no other files. Open it in any browser, on a
phone too, print it, or send it to a colleague.

It shows the data at a glance; the best network with its proof in plain words; the K best classes, to go
through one by one, each with its score, its share of the posterior, its size and what differs from the
best, drawn and told; how probable each edge and path is, as a heat map and as a graph behind a slider;
what would follow if a variable were set; what was assumed; what it cost; and how to cite it.

FILE is a table or a file of scores, as for topdag best. Under a --prior, or with a score that is not the
same for all networks of a class, the list is one of networks.""",
    ending=f"""\
costs:
  Those of topdag best, topdag list --classes and topdag paths together; on two cores 8 variables take a
  second, 17 two, 20 half a minute or less. The list and the probabilities have a --budget of {DEFAULT_BUDGET:g}
  seconds together, and at most half of the free memory unless --memory-limit is given. A --time-limit is
  shared: half of what is left for the best network, half of the rest for the list, or all where nothing
  can come after it (no sums that memory does not hold). Without either option probabilities are summed up
  to {MOST_TO_SUM} variables; beyond they are averages over the list. A page always comes out: what could not be had
  is left out, and the page says why and which option brings it.

examples:
  topdag report asia.csv -o asia.html
  topdag report survey.csv --score bic -k 100 --time-limit 600 -o survey.html

The name of the page and what is missing from it go to stdout, all else to stderr.""",
    exits=tuple(Exit),
    add_options=add_options,
    run=make_report,
)
