"""``topdag best``: the best network of a table or a file of scores."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topdag._util.atomic_write import NETWORKS, is_score_file
from topdag._util.run import Run
from topdag.answers.results import Answer, Status
from topdag.cli.advice import mention_advice
from topdag.cli.command import Command, Exit, UsageError, search_costs
from topdag.cli.options import STANDARD_INPUT, add_asked, network_source, request_from, running, writable
from topdag.cli.output import answer_text, as_json, write_text
from topdag.cli.streams import mention, printing, say
from topdag.cli.targets import ABOUT_NETWORKS, add_json, add_output, is_fitted, targets
from topdag.data.table import Table
from topdag.errors import Interrupted
from topdag.networks.network import Network
from topdag.questions.best import best_of
from topdag.questions.request import Request, Trail
from topdag.search.engines import NAMED, OrderBound, named_bound, named_engine

if TYPE_CHECKING:
    from topdag.networks.fitted import FittedNetwork

ENGINES = " or ".join(f'"{engine.value}"' for engine in NAMED)
BOUNDS = " or ".join(bound.value for bound in OrderBound)
MOST_FOR_SUMS = 20
"""Sums over all networks on more variables take minutes and gigabytes; a bootstrap is advised then."""
EXIT_OF = {Status.PROVED: Exit.FINE, Status.STOPPED: Exit.STOPPED, Status.INFEASIBLE: Exit.FAILED}


def add_options(parser: ArgumentParser) -> None:
    add_asked(parser, in_time="after S seconds, reading and scoring included, print a network and a bound")
    group = parser.add_argument_group("search")
    group.add_argument("--start", metavar="NET", help="a file with a network to begin with; never made worse")
    group.add_argument(
        "--engine",
        choices=[engine.value for engine in NAMED],
        metavar="NAME",
        help=f"instead of the one chosen: {ENGINES}",
    )
    group.add_argument(
        "--bound",
        choices=[bound.value for bound in OrderBound],
        metavar="NAME",
        help=f'of "order search", as published or (cluster) as without it: {BOUNDS}',
    )
    group.add_argument(
        "--checkpoint",
        metavar="STATE",
        help="a file in which a search leaves how it stands every few seconds, and from which it goes on",
    )
    group = parser.add_argument_group("output")
    add_output(group, f".json (the answer), {ABOUT_NETWORKS}", several=True)
    add_json(group, quiet="print network, score and proof, nothing else")
    group.add_argument("--scores", action="store_true", help="print the local score of each family")
    group.add_argument(
        "--verbose", action="store_true", help="print all notes, the precision of the proof and the cost"
    )


def find_best(args: Namespace) -> Exit:
    outputs = targets(args.output, NETWORKS, (args.file,))
    if is_score_file(args.file) and any(map(is_fitted, outputs)):
        raise UsageError("-o: probabilities come from a table, and FILE holds scores; give the table")
    with running(args) as run:
        asked = _asked(args, run)
        mention_advice(asked, "best", run, quiet=args.quiet)
        answer, code = answer_and_exit(asked, run)
    try:
        _write(answer, asked.table, outputs)
    finally:  # a full disk must not cost the answer
        with printing():
            say(as_json(answer.to_dict()) if args.json else _text(answer, asked.table, args))
    return code


def _text(answer: Answer, table: Table | None, args: Namespace) -> str:
    can_sum = answer.network is not None and len(answer.network.names) <= MOST_FOR_SUMS
    how_sure = "edges" if can_sum and answer.kind is not None and answer.kind.is_likelihood else "bootstrap"
    is_asked = table is not None and args.file != STANDARD_INPUT and answer.proved
    next_step = f"topdag {how_sure} {args.file} tells how sure each edge is" if is_asked else ""
    shown = {"quiet": args.quiet, "scores": args.scores, "verbose": args.verbose}
    return answer_text(answer, table, **shown, next_step=next_step)


def _asked(args: Namespace, run: Run) -> Request:
    request = request_from(args)
    engine = None if args.engine is None else named_engine(args.engine)
    request = replace(
        request,
        start=_start_from(args),
        engine=engine,
        bound=None if args.bound is None else named_bound(args.bound, engine),
        checkpoint=None if args.checkpoint is None else writable(args.checkpoint, inputs=(args.file,)),
    )
    run.timed("reading", 0.0)
    return request


def _start_from(args: Namespace) -> Network | None:
    if args.start is None:
        return None
    from topdag.io.networks import read_network  # formats load only where one is read

    return read_network(network_source(args.start, args.file))


def answer_and_exit(request: Request, run: Run) -> tuple[Answer, Exit]:
    """The answer, or what was known of it at Ctrl-C."""
    try:
        answer = best_of(Trail(request), run)
    except Interrupted as interrupted:
        if interrupted.answer is None:
            raise
        return interrupted.answer, Exit.INTERRUPTED
    return answer, EXIT_OF[answer.proof.status]


def _write(answer: Answer, table: Table | None, outputs: list[Path]) -> None:
    for target in outputs:
        if target.name.lower().removesuffix(".gz").endswith(".json"):
            write_text(target, as_json(answer.to_dict()) + "\n")
        elif answer.network is None:
            mention(f"{target}: not written, there is no network")
        else:
            from topdag.io.networks import write_network  # formats load only where one is written

            write_network(target, _as_written(answer.network, table, target))


def _as_written(network: Network, table: Table | None, target: Path) -> Network | FittedNetwork:
    """With probabilities where the file has room for them."""
    if table is None or not is_fitted(target):
        return network
    from topdag.networks.fit import fit_network

    return fit_network(network, table)


COMMAND = Command(
    name="best",
    usage="topdag best FILE [options]",
    page="""\
Prints the network with the highest score, and the proof that none scores more.

FILE is a table (CSV and similar, also gzipped, or Parquet) of discrete variables: strings,
integers, or floats cut by --discretize. Or it is a file of scores (.jkl, .pss or .npz, .jkl.gz
and .pss.gz too), which says itself what was scored, so that only limits and outputs can be added.

Each line of the answer is a family: a variable, its parents, and its local score. Scores are
natural logarithms (nats), larger is better; BIC is shown as MDL in bits too.

What is proved: no network on these variables, within --max-parents, scores more. Other networks
can score the same: where only the direction of edges differs, data often cannot tell. A best
network is not a cause-and-effect diagram.

With --prior the score is the data's plus the log weight of the network: order-modular, the number
of orders of the variables that agree with it (up to about 23 variables).""",
    costs=search_costs,
    ending="""\
  When --time-limit comes first, or Ctrl-C, the answer is some good network with a bound that no
  network exceeds; putting it together takes up to a second.

examples:
  topdag best asia.csv --score bic --max-parents 5 -o best.json -o best.svg
  topdag best asia.csv -o asia.bif
  topdag best survey.csv --score bic --time-limit 600 --checkpoint survey.state

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(Exit),
    add_options=add_options,
    run=find_best,
)
