"""How ``topdag list`` and ``topdag within`` ask for a list, what they do with it, and how they end."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from topdag._core import Listed
from topdag._util.atomic_write import is_score_file
from topdag._util.run import Run
from topdag.answers.lists import ClassList, NetworkList
from topdag.answers.results import Status
from topdag.cli.advice import mention_advice
from topdag.cli.command import Exit, UsageError
from topdag.cli.list_text import count_text, list_text, nouns
from topdag.cli.options import kind_from, prior_from, request_from, running, writable
from topdag.cli.output import about_reading, about_table
from topdag.cli.streams import printing, say
from topdag.cli.targets import target
from topdag.errors import Interrupted, OutOfTime, ScoreError
from topdag.io.lists import LIST_SUFFIXES, list_lines, write_list
from topdag.questions.list_counts import count_of
from topdag.questions.listing.sources import Wanted
from topdag.questions.lists import list_of, require_score_equivalent
from topdag.questions.request import Request, Trail, space_of
from topdag.scoring.scores import Scores

LINES_AT_ONCE = 1000
FoundList = NetworkList | ClassList


def answer_list(args: Namespace, wanted: Wanted) -> Exit:
    to = None if args.output is None else target(args.output, LIST_SUFFIXES, (args.file,))
    with running(args) as run:
        asked = _asked(args, wanted, run)
        found, code = _list_and_exit(asked, wanted, run, classes=args.classes)
    try:
        if to is not None:
            write_list(to, found)
    finally:  # a full disk must not cost the answer
        with printing():
            if args.json:
                _print_lines(list_lines(found))
            else:
                say(list_text(found, wanted, asked.table, run, show=args.show, quiet=args.quiet))
    return code


def answer_count(args: Namespace, wanted: Wanted) -> Exit:
    with running(args) as run:
        trail = Trail(_asked(args, wanted, run))
        found, code = _count_and_exit(trail, wanted, run, classes=args.classes)
    at_least = "at least " * (code in (Exit.STOPPED, Exit.INTERRUPTED))
    table = trail.request.table
    counted = f"{at_least.capitalize()}{found:,} {nouns(classes=args.classes)[found != 1]}"
    said = count_text(counted, wanted.factor, space_of(trail))
    lines = [*about_reading(table), said, *about_table(table, trail.notes)]
    say(f"{at_least}{found}" if args.quiet else "\n".join(lines))
    return code


def _asked(args: Namespace, wanted: Wanted, run: Run) -> Request:
    if args.classes and prior_from(args) is not None:
        raise UsageError(
            f"--classes: under the {prior_from(args)} networks of a class weigh differently; list networks"
        )
    named = None if is_score_file(args.file) else kind_from(args)
    if args.classes and named is not None and not named.score_equivalent:
        raise UsageError(
            f"--classes: {named} does not give all networks of a class one score; "
            "bdeu, bic, rank-bic, aic, qnml, bge and gaussian-bic do"
        )
    checkpoint = None if args.checkpoint is None else writable(args.checkpoint, inputs=(args.file,))
    request = replace(request_from(args), checkpoint=checkpoint)
    if request.scores is not None:
        _require_enough(request.scores, args, wanted)
    run.timed("reading", 0.0)
    mention_advice(request, args.command.name, run, quiet=args.quiet)
    return request


def _require_enough(scores: Scores, args: Namespace, wanted: Wanted) -> None:
    """An error if a file of scores lacks what the list may need."""
    try:
        wanted.require_kept(scores)
    except ScoreError as error:
        reason = str(error).partition(" Score again ")[0]
        raise ScoreError(
            f"{args.file}: {reason} Score again with topdag score --keep all; for a .jkl or .pss file that was never "
            "pruned, add --keep all here."
        ) from None
    if args.classes:
        require_score_equivalent(Request.from_scores(scores), "--classes")


def _list_and_exit(request: Request, wanted: Wanted, run: Run, *, classes: bool) -> tuple[FoundList, Exit]:
    """The list, or what was known of it when a limit or Ctrl-C came."""
    make: Callable[..., FoundList] = ClassList if classes else NetworkList
    try:
        found = list_of(make, request, wanted, run)
    except Interrupted as interrupted:
        return interrupted.answer, Exit.INTERRUPTED
    if found.proof.status is Status.STOPPED:
        return found, Exit.STOPPED
    return found, Exit.FINE if len(found) else Exit.FAILED


def _count_and_exit(trail: Trail, wanted: Wanted, run: Run, *, classes: bool) -> tuple[int, Exit]:
    """The count, or how many there are at least when a limit or Ctrl-C came."""
    what = Listed.CLASSES if classes else Listed.NETWORKS
    try:
        found = count_of(what, trail, wanted, run)
    except OutOfTime as stopped:
        return stopped.answer or 0, Exit.STOPPED
    except KeyboardInterrupt as interrupted:
        return (interrupted.answer or 0) if isinstance(interrupted, Interrupted) else 0, Exit.INTERRUPTED
    return found, Exit.FINE if found else Exit.FAILED


def _print_lines(lines: Iterator[str]) -> None:
    while chunk := list(islice(lines, LINES_AT_ONCE)):
        say("\n".join(chunk))
