"""The command line: finds the command, runs it, and turns what went wrong into a message and an exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, NoReturn

import topdag
from topdag._util.options import in_shell
from topdag.cli.command import Command, Exit, UsageError, exit_codes
from topdag.cli.commands import SUMMARIES, command_named
from topdag.cli.streams import WIDTH, NotAllPrinted, mention, say
from topdag.errors import ConstraintError, FileError, LostWorker, NetworkError, ScoreError, TableError, TooLarge

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

ABOUT = """\
Exact structure learning of Bayesian networks: the best network of a table, with proof."""
NEXT = """\
topdag COMMAND --help says more. In place of a file, - is standard input. Start with: topdag demo"""
FAULT = """\
{what}
This is a fault in topdag, not in what you did. Please report it with the command and this line;
TOPDAG_TRACEBACK=1 before the command shows where it happened."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; nobody at a command line should have to read a traceback."""
    try:
        return run_or_explain(argv)
    except Exception as error:
        if os.environ.get("TOPDAG_TRACEBACK"):
            raise
        return failed(FAULT.format(what=f"{type(error).__name__}: {error}"), Exit.FAULT)


def run_or_explain(argv: Sequence[str] | None) -> int:
    """Runs a command; what is wrong with its input becomes a message and an exit code (see cli/command.py)."""
    try:
        return run(parsed(argv))
    except SystemExit as ended:  # argparse has printed help, the version or what is wrong
        return ended.code if isinstance(ended.code, int) else Exit.FINE
    except (TableError, ScoreError, FileError, NetworkError, ConstraintError, LostWorker) as error:
        allows_none = isinstance(error, ConstraintError) and error.conflict  # statements that contradict each other
        return failed(str(error), Exit.FAILED if allows_none else Exit.BAD_INPUT)
    except MemoryError as error:
        return failed(what_did_not_fit(error), Exit.TOO_LARGE)
    except KeyboardInterrupt as error:
        what = "all was printed" if isinstance(error, NotAllPrinted) else "anything was known"
        return failed(f"interrupted before {what}", Exit.INTERRUPTED)
    except BrokenPipeError:
        return Exit.NO_READER


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options; those that are not known are refused with the names most like them."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    args, unknown = build_parser(words).parse_known_args(words)
    if unknown:
        parser: Parser = args.parser
        meant = [name for word in unknown if word.startswith("-") for name in parser.options_like(word)]
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return args


def run(args: argparse.Namespace) -> Exit:
    parser: Parser = args.parser
    if args.command is None:
        mention(parser.format_help())
        return Exit.WRONG_USE
    command: Command = args.command
    asks: str = getattr(args, "question", command.name)  # a plan speaks of another command
    try:
        with in_shell(lambda option: option_for(asks, option)):
            return command.run(args)
    except UsageError as error:
        parser.error(str(error))


def option_for(asks: str, option: str) -> str:
    """The option as that command is told of it: one of another command comes with the command's name."""
    has_it = (name for name in (asks, *SUMMARIES) if option in options_of(name))
    name = next(has_it, asks)
    return option if name == asks else f"topdag {name} {option}"


@cache
def options_of(name: str) -> Collection[str]:
    parser = Parser()
    command_named(name).add_options(parser)
    return parser._option_string_actions


def failed(message: str, code: Exit) -> Exit:
    mention(f"topdag: {message}")
    return code


def what_did_not_fit(error: MemoryError) -> str:
    if isinstance(error, TooLarge):
        return str(error)
    said = f": {error}" if str(error) else ""
    return f"the system gave no more memory{said}; topdag plan says what would fit"


class Help(argparse.RawDescriptionHelpFormatter):
    """Texts as they are written, and one width everywhere, since help is also the docs page."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=WIDTH)


class Parser(argparse.ArgumentParser):
    """Prints its help as answers are printed."""

    def format_help(self) -> str:
        command: Command | None = self.get_default("command")
        if command is not None:  # the costs in it take long to know
            self.epilog = command.epilog()
        return super().format_help()

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        say(self.format_help().rstrip())

    def options_like(self, word: str) -> list[str]:
        """The options most like this one, by their names: dashes make none alike."""
        names = {option.lstrip("-"): option for option in self._option_string_actions}
        return [names[name] for name in get_close_matches(word.partition("=")[0].lstrip("-"), names, n=1)]

    def error(self, message: str) -> NoReturn:
        """Wrong use; a command that is not there comes with the one most like it."""
        found = re.match(r"argument COMMAND: invalid choice: '([^']*)'", message)
        if found:
            is_file = os.path.exists(found[1])
            close = [f"topdag best {found[1]}"] if is_file else get_close_matches(found[1], SUMMARIES, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            message = f"there is no command {found[1]!r}; there are {', '.join(SUMMARIES)}{hint}"
        super().error(message)


def build_parser(words: Sequence[str]) -> Parser:
    """Of all commands, those among the words with their options."""
    parser = Parser(
        prog="topdag",
        usage="topdag COMMAND ...",
        description=ABOUT,
        epilog=f"{exit_codes(tuple(Exit))}\n\n{NEXT}",
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"topdag {topdag.__version__}")
    parser.set_defaults(command=None, parser=parser)
    group = parser.add_subparsers(title="commands", metavar="COMMAND", prog="topdag")
    for name, summary in SUMMARIES.items():
        made = group.add_parser(name, help=summary, formatter_class=Help, allow_abbrev=False)
        if name in words:
            add_command(made, command_named(name))
    return parser


def add_command(parser: Parser, command: Command) -> None:
    parser.usage, parser.description = command.usage, command.page
    parser.set_defaults(command=command, parser=parser)
    command.add_options(parser)
