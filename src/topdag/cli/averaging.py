"""What ``topdag edges``, ``paths`` and ``evidence`` share: options, scores, prior, and how they end."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable

from topdag._util.atomic_write import MATRICES
from topdag._util.run import Result, Run, shown_bytes
from topdag.answers.posteriors import Averaged, EdgePosteriors, PathPosteriors
from topdag.cli.advice import mention_advice
from topdag.cli.command import Exit
from topdag.cli.options import add_asked, request_from, require_all_families, running
from topdag.cli.output import about_reading, about_table, as_json, labelled
from topdag.cli.streams import mention, say
from topdag.cli.targets import add_json, add_output, target
from topdag.cli.values import number
from topdag.data.table import Table
from topdag.errors import OutOfTime
from topdag.io.posteriors import write_posteriors
from topdag.questions.request import Request
from topdag.questions.sum_sizes import Purpose
from topdag.questions.sums import asked, posteriors_of, scored_for

ABOUT_PRIORS = """\
--prior says what a network weighs before the data. uniform: all networks the same. fair: every
number of parents the same, so that large parent sets do not win by their number. order-modular: a
network counts once for every order of the variables that agrees with it; this is fastest, but
favours networks with many such orders, and what follows is not what it would be under uniform."""
COSTS = """\
costs:
  uniform and fair: time like 3^n for n variables, each further one three times as much. On two cores
  14 variables take a tenth of a second, 17 half a second, 20 ten seconds; memory 12*n*2^n bytes
  and more (20: 0.4 GB). order-modular: time like n^2*2^n, 23 variables take ten seconds; memory 6*n*2^n bytes;
  its paths take time like n^2*3^n, up to 18 variables. Sums are exact; they have no partial answer, so
  when --time-limit comes first nothing is printed."""
ABOUT_FILES = """\
FILE is a table, or a file of scores that holds all families (topdag score --keep all). A .jkl or
.pss file does not say that it does; if so, say --keep all."""


def threshold(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a probability from 0 to 1")
    return value


def add_averaging(parser: ArgumentParser, *, pairs: bool) -> None:
    if pairs:
        parser.add_argument(
            "--threshold", type=threshold, default=0.01, metavar="P", help="print those more probable; default 0.01"
        )
    add_asked(parser, in_time="give up after S seconds", in_tasks=False)
    group = parser.add_argument_group("output")
    if pairs:
        add_output(group, ".json or .npz (all probabilities)")
    add_json(group, quiet="print the answer, nothing else")


def print_pairs(args: Namespace, wanted: Purpose) -> Exit:
    to = None if args.output is None else target(args.output, MATRICES, (args.file,))

    def sums(request: Request, run: Run) -> EdgePosteriors | PathPosteriors:
        found = posteriors_of(scored_for(request, wanted, run), request.prior, wanted, run)
        return found.edges if found.paths is None else found.paths

    found, table = ask_all(args, wanted, sums)
    if found is None:
        return Exit.STOPPED
    try:
        if to is not None:
            write_posteriors(to, found)
    finally:  # a full disk must not cost the answer
        say(as_json(found.to_dict()) if args.json else _pairs_text(found, table, args))
    return Exit.FINE


def ask_all(
    args: Namespace, wanted: Purpose, sums: Callable[[Request, Run], Result]
) -> tuple[Result | None, Table | None]:
    """What the sums give, None when the time was up; and the table they are about."""
    question = "paths" if wanted.paths else "edges" if wanted.edges else "evidence"
    try:
        with running(args) as run:
            request = request_from(args, weighs=True)
            if request.scores is not None:
                require_all_families(request.scores, args.file, "sums")
            mention_advice(request, question, run, quiet=args.quiet)
            return asked(question, run, lambda: sums(request, run)), request.table
    except OutOfTime:
        mention("topdag: the time limit came first, and exact sums have no partial answer")
        return None, None


def _pairs_text(found: EdgePosteriors | PathPosteriors, table: Table | None, args: Namespace) -> str:
    pairs = found.above(args.threshold)
    arrow = "->" if isinstance(found, EdgePosteriors) else "~>"
    texts = [f"{first} {arrow} {second}" for first, second, _ in pairs]
    width = max(map(len, texts), default=0)
    lines = [f"{text:<{width}}  {p:.6f}" for text, (_, _, p) in zip(texts, pairs, strict=True)]
    if not pairs:
        lines = [f"none is more probable than {args.threshold:g}"]
    if args.quiet:
        return "\n".join(lines)
    return "\n".join([*about_reading(table), *lines, "", *averaged_lines(found.averaged, table)])


def averaged_lines(averaged: Averaged, table: Table | None) -> list[str]:
    lines = [
        labelled("prior", averaged.prior),
        labelled("summed", f"over {averaged.space}"),
        labelled("check", f"sums that must be 1 differ from it by at most {averaged.defect:.1e}"),
        *about_table(table, averaged.notes),
    ]
    stats = averaged.stats
    if stats is not None:
        memory = f"{shown_bytes(stats.memory)} planned" if stats.memory else f"{shown_bytes(stats.peak_memory)} at most"
        lines.append(labelled("time", f"{stats.seconds:.3f} s, {stats.threads} threads, {memory}"))
    return lines
