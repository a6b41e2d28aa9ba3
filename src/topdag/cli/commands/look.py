"""``topdag look``: what each column of a table is, and what topdag will do with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.cli.command import Command, Exit
from topdag.cli.options import add_memory_for_reading, add_reading, table_from
from topdag.cli.output import as_json
from topdag.cli.streams import say
from topdag.cli.targets import add_json
from topdag.questions.look import look_at


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="TABLE", help="a table, as for topdag best")
    add_reading(parser)
    add_memory_for_reading(parser)
    add_json(parser)


def show_look(args: Namespace) -> Exit:
    table = table_from(args, fewest=0)
    found = look_at(table)
    say(as_json(found.to_dict()) if args.json else str(found))
    return Exit.FINE


COMMAND = Command(
    name="look",
    usage="topdag look TABLE [options]",
    page="""\
Shows what each column of a table is, its values and gaps, and what topdag will do with it: use it as a number or as
categories, count rows by it, or leave it out because it is an identifier, text, a date, or repeats another column.

Where a guess is wrong, --types sets it right, here and in every other command.""",
    ending="""\
costs: reading the table once; nothing is scored.

examples:
  topdag look birthwt.csv
  topdag best birthwt.csv --types race=categorical,age=continuous""",
    exits=(Exit.FINE, Exit.BAD_INPUT, Exit.WRONG_USE),
    add_options=add_options,
    run=show_look,
)
