"""``topdag bootstrap``: how often each edge comes back in tables drawn from the rows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.answers.bootstrap import N_DRAWS, BootstrapFrequencies
from topdag.cli.advice import mention_advice
from topdag.cli.averaging import threshold
from topdag.cli.command import Command, Exit
from topdag.cli.constraint_options import known_from
from topdag.cli.options import add_asked, kind_from, prior_from, running, table_from
from topdag.cli.output import about_reading, about_table, as_json, labelled
from topdag.cli.streams import mention, say
from topdag.cli.targets import add_json, add_output, target
from topdag.cli.values import whole
from topdag.data.table import Table
from topdag.errors import Interrupted, OutOfTime
from topdag.io.bootstraps import write_bootstrap
from topdag.questions.bootstrap import bootstrap_of
from topdag.questions.request import MOST_SEEDS, About, Request
from topdag.scoring.keep import MOST_IN_A_LIST


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-k", type=whole(1, MOST_IN_A_LIST), default=N_DRAWS, metavar="N", help=f"tables to draw; default {N_DRAWS}"
    )
    parser.add_argument("--seed", type=whole(0, MOST_SEEDS - 1), default=0, metavar="S", help="default 0")
    parser.add_argument(
        "--threshold", type=threshold, default=0.1, metavar="P", help="print those more frequent; default 0.1"
    )
    add_asked(parser, in_time="print the draws done after S seconds", file="a table", keep=False)
    group = parser.add_argument_group("output")
    add_output(group, ".json (all frequencies and draws)")
    add_json(group, quiet="print edges, nothing else")


def print_frequencies(args: Namespace) -> Exit:
    to = None if args.output is None else target(args.output, (".json",), (args.file,))
    code = Exit.FINE
    try:
        with running(args) as run:
            kind = kind_from(args)
            table = table_from(args)
            said: About = {"max_parents": args.max_parents, "constraints": known_from(args)}
            request = Request.about(table, kind, said, prior_from(args))
            mention_advice(request, "bootstrap", run, quiet=args.quiet)
            found = bootstrap_of(request, args.k, args.seed, run)
    except OutOfTime as stopped:
        mention(str(stopped))  # it begins with the command
        return Exit.STOPPED
    except Interrupted as stopped:
        if not isinstance(stopped.answer, BootstrapFrequencies):
            raise
        found, code = stopped.answer, Exit.INTERRUPTED
    if found.limit is not None and code is Exit.FINE:
        code = Exit.STOPPED
    try:
        if to is not None:
            write_bootstrap(to, found)
    finally:  # a full disk must not cost the answer
        say(as_json(found.to_dict()) if args.json else _text(found, table, args))
    return code


def _text(found: BootstrapFrequencies, table: Table, args: Namespace) -> str:
    edges = found.above(args.threshold)
    width = max((len(f"{a} -> {b}") for a, b, _ in edges), default=0)
    lines = [f"{f'{a} -> {b}':<{width}}  {found.shown(a, b, p)}" for a, b, p in edges]
    if not edges:
        lines = [f"none is more frequent than {args.threshold:g}"]
    if args.quiet:
        return "\n".join(lines)
    assert found.stats is not None  # it was not read from a file
    drawn = f"{len(found.draws):,} tables, seed {found.seed}; the best network of each"
    return "\n".join(
        [
            *about_reading(table),
            *lines,
            "",
            labelled("drawn", f"{drawn}{', proved' if all(draw.is_proved for draw in found.draws) else ''}"),
            *about_table(table, found.notes),
            labelled("time", f"{found.stats.seconds:.3f} s"),
        ]
    )


COMMAND = Command(
    name="bootstrap",
    usage="topdag bootstrap FILE [-k N] [--seed S] [--processes N | --cluster ADDRESS] [options]",
    page="""\
Draws N tables from the rows of FILE, each with as many rows, with replacement; finds the best
network of each, proved, and prints in which share of them each edge is, most frequent first, with
an interval for what infinitely many draws would give. An edge that is turned either way in the
best class of a draw counts for both directions by the share of its networks; "either way" counts
both.

A frequency near 1 says that the edge does not hang on a few rows. It is no probability given the
data: for that, up to 20 variables or so, see topdag edges.""",
    ending=f"""\
costs:
  The table itself is searched first, and what was learned makes a draw take about a third of the time.
  Draws are independent: --processes or --cluster have them worked on at once, with the same answer.

examples:
  topdag bootstrap alarm.csv --score bic --processes 4
  topdag bootstrap alarm.csv --score bic -k 1000 --cluster tcp://10.0.0.1:8786 -o alarm.json

Without -k {N_DRAWS} tables are drawn; the first draws of more with the same --seed are the same. When
--time-limit or Ctrl-C comes first, the draws done by then are printed.
The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=add_options,
    run=print_frequencies,
)
