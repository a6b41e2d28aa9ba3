"""``topdag em``: a network from rows with missing cells."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from topdag._util.atomic_write import NETWORKS
from topdag._util.run import Run
from topdag.answers.expectation import LocalOptimum
from topdag.cli.command import Command, Exit
from topdag.cli.constraint_options import add_constraints, known_from
from topdag.cli.options import add_limits, add_max_parents, add_reading, add_score, kind_from, running, table_from
from topdag.cli.output import about_reading, about_table, as_json, labelled, network_text, write_text
from topdag.cli.streams import mention, printing, say
from topdag.cli.targets import ABOUT_NETWORKS, add_json, add_output, is_fitted, targets
from topdag.cli.values import whole
from topdag.data.table import Table
from topdag.errors import Interrupted, OutOfTime
from topdag.io.networks import read_network, write_network
from topdag.questions.request import MOST_SEEDS
from topdag.questions.structural_em import MOST_STARTS, N_FILLED, structural_em_of
from topdag.scoring.kinds.discrete import as_kind


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a table; its missing cells are kept")
    parser.add_argument(
        "--draws",
        type=whole(0, MOST_STARTS),
        default=N_FILLED,
        metavar="N",
        help="tables filled at random to start from",
    )
    parser.add_argument("--seed", type=whole(0, MOST_SEEDS - 1), default=0, metavar="S", help="default 0")
    parser.add_argument("--start", metavar="NET", help="a file with a network to start from too")
    add_max_parents(parser)
    add_constraints(parser)
    add_score(parser, default="bic")
    add_reading(parser)
    add_limits(parser, in_time="print the best so far after S seconds")
    group = parser.add_argument_group("output")
    add_output(group, f".json (the answer), {ABOUT_NETWORKS}", several=True)
    add_json(group, quiet="print network, score and what is known of it, nothing else")


def climb(args: Namespace) -> Exit:
    outputs = targets(args.output, NETWORKS, (args.file,))
    args.score = args.score or "bic"
    try:
        with running(args) as run:
            table = table_from(args, said={"missing": "keep"})
            found, code = _found(args, table, run)
    except OutOfTime as stopped:
        mention(str(stopped))
        return Exit.STOPPED
    try:
        for target in outputs:
            _write(found, target)
    finally:  # a full disk must not cost the answer
        with printing():
            say(as_json(found.to_dict()) if args.json else _text(found, table, quiet=args.quiet))
    return code


def _found(args: Namespace, table: Table, run: Run) -> tuple[LocalOptimum, Exit]:
    try:
        found = structural_em_of(
            table,
            as_kind(kind_from(args)),
            run,
            starts=[] if args.start is None else [read_network(args.start)],
            draws=args.draws,
            seed=args.seed,
            constraints=known_from(args),
            max_parents=args.max_parents,
        )
    except Interrupted as stopped:
        if not isinstance(stopped.answer, LocalOptimum):
            raise
        return stopped.answer, Exit.INTERRUPTED
    return found, Exit.FINE if found.limit is None else Exit.STOPPED


def _write(found: LocalOptimum, target: Path) -> None:
    if target.name.lower().removesuffix(".gz").endswith(".json"):
        write_text(target, as_json(found.to_dict()) + "\n")
        return
    write_network(target, found.fitted if is_fitted(target) else found.network)


def _text(found: LocalOptimum, table: Table, *, quiet: bool) -> str:
    known = found.said[0].upper() + found.said[1:] + "."
    lines = [
        network_text(found.network),
        labelled("score", f"{found.score:.6f} nats of what was observed, {found.kind}"),
        labelled("proof", f"None. {known}"),
    ]
    if not quiet:
        lines += [labelled("climb", text) for text in found.climbs_in_words]
        lines += [*about_table(table, found.notes), labelled("time", f"{found.stats.seconds:.3f} s")]
    return "\n".join(lines if quiet else [*about_reading(table), *lines])


COMMAND = Command(
    name="em",
    usage="topdag em FILE [--draws N] [options]",
    page="""\
Prints a network of high score for a table with missing cells, by structural EM. Missing cells are
filled by what a network says of them, each state by its probability; the best network of the table
so filled is found exactly; and so on, until no other network scores more. The score is that of the
observed cells: the log likelihood, missing cells summed over, less the penalty of bic or aic.

The end is a local optimum, not proved best, though every step is exact. So it is climbed from
several starts: no edges, the best network by the node-average likelihood and that of the complete
rows, those of --draws tables whose gaps are filled at random, and a network given with --start. For
an answer with proof see topdag best with --missing keep --score nal.""",
    ending=f"""\
costs:
  Each round scores and searches a table as topdag best does, with as many rows as completions of
  rows matter; a climb has two to five rounds. Give --max-parents where topdag plan advises it.

examples:
  topdag em survey.csv -o survey.json -o survey.bif
  topdag em survey.csv --max-parents 3 --draws 10 --time-limit 600

A .bif, .xml, .net, .xdsl or .uai file has the probabilities that EM came to. Without --draws
{N_FILLED} tables are filled at random. When --time-limit or Ctrl-C comes first, the best so far is printed.
The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=add_options,
    run=climb,
)
