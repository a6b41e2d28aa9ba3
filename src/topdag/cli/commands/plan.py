"""``topdag plan``: what a question will take, before it is asked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from topdag.cli.command import Command, Exit
from topdag.cli.constraint_options import add_constraints, known_from
from topdag.cli.options import add_max_parents, add_prior, add_reading, add_score, kind_from, prior_from, table_from
from topdag.cli.output import as_json
from topdag.cli.streams import say
from topdag.cli.targets import add_json
from topdag.cli.values import size_in_bytes
from topdag.questions.plan import QUESTIONS, plan
from topdag.scoring.kinds.discrete import kind_to_dict


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="TABLE", help="a table, as for topdag best")
    parser.add_argument(
        "--question",
        choices=tuple(QUESTIONS),
        default="best",
        metavar="COMMAND",
        help=f"the command that will ask: {', '.join(QUESTIONS)}; default best",
    )
    add_max_parents(parser)
    add_score(parser)
    add_prior(parser)
    add_constraints(parser)
    add_reading(parser)
    parser.add_argument("--memory-limit", type=size_in_bytes, metavar="SIZE", help="default: what is free")
    add_json(parser)


def show_plan(args: Namespace) -> Exit:
    found = plan(
        table_from(args),
        kind_from(args),
        question=args.question,
        max_parents=args.max_parents,
        prior=prior_from(args),
        constraints=known_from(args),
        memory_limit=args.memory_limit,
    )
    say(as_json({**asdict(found), "kind": kind_to_dict(found.kind)}) if args.json else str(found))
    return Exit.FINE if found.fits else Exit.TOO_LARGE


COMMAND = Command(
    name="plan",
    usage="topdag plan TABLE [options]",
    page="""\
Says which engine would answer, why, and roughly what time and memory it would take, without doing
it; and what to change where it would not fit.""",
    ending="""\
Nothing is proved here: times are guesses from measurements on two cores (docs/guides/large_tables.md), memory is
what the tables take. A search on listed families takes what the data make it take: scoring and
memory are told as the most they can be; give it a --time-limit.

costs:
  Reading the table.

example:
  topdag plan survey.csv --score bic
  topdag plan survey.csv --question edges""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.NO_READER),
    add_options=add_options,
    run=show_plan,
)
