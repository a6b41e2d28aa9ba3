"""The options that commands share, and what they mean: a table, a score, a run."""

from __future__ import annotations

import math
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from topdag.commands.command import UsageError
from topdag.discretize import Rule, named_rule
from topdag.errors import FileError, ScoreError, TableError
from topdag.reading import read_table
from topdag.runs import OnProgress, Run, parse_bytes
from topdag.score_kinds import KINDS_BY_NAME, ScoreKind, kind_from_dict
from topdag.table import Table

DEFAULT_SCORE = "bdeu"
WITH_ESS = tuple(name for name, kind in KINDS_BY_NAME.items() if hasattr(kind, "ess"))
RULES = "mean, median, quantile(3) or uniform(4) with any number of states"
SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " "}
SCORE_FILES = (".jkl", ".pss", ".npz")
ABOUT_TABLES = (
    "score", "ess", "max_parents", "missing", "discretize", "weights", "separator", "no_header", "keep_constant",
)  # fmt: skip


def add_reading(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("reading the table")
    group.add_argument(
        "--missing",
        choices=("error", "drop", "state"),
        metavar="WHAT",
        help="missing cells (empty, NA, NaN, null, ?): error (default), drop the rows, or make "
        "missing a state of its own",
    )
    group.add_argument(
        "--discretize",
        type=rule,
        metavar="RULE",
        help=f"how columns of floats are cut into states: {RULES}; quote the brackets",
    )
    group.add_argument("--weights", metavar="COLUMN", help="the column that says how often each row counts")
    group.add_argument(
        "--separator",
        type=separator,
        metavar="CHAR",
        help="what separates cells: one character, tab or space; default: seen from the first line",
    )
    group.add_argument("--no-header", action="store_true", help="the first line is a row; names are V0, V1, ...")
    group.add_argument(
        "--keep-constant",
        action="store_true",
        help="let columns with a single state take part; default: they are left without edges",
    )


def add_score(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("score")
    group.add_argument(
        "--score", type=score_name, metavar="NAME", help=f"{', '.join(KINDS_BY_NAME)}; default {DEFAULT_SCORE}"
    )
    group.add_argument(
        "--ess",
        type=number,
        metavar="ROWS",
        help=f"weight of the prior in imaginary rows, for {' and '.join(WITH_ESS)}; default 1",
    )


def add_max_parents(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-parents",
        type=whole(0),
        metavar="K",
        help="only networks with at most K parents for each variable; default: any number",
    )


def add_limits(parser: ArgumentParser, *, with_time: bool) -> None:
    group = parser.add_argument_group("limits")
    if with_time:
        group.add_argument(
            "--time-limit",
            type=seconds,
            metavar="S",
            help="after S seconds, reading and scoring included, print a network and a bound",
        )
    group.add_argument(
        "--memory-limit",
        type=size_in_bytes,
        metavar="SIZE",
        help="refuse what needs more than this, such as 8GB; default: what is free",
    )
    group.add_argument("--threads", type=whole(1), metavar="N", help="default: all cores")


def add_quiet(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--quiet", action="store_true", help=what)


def table_from(args: Namespace) -> Table:
    """The table in ``args.file``, read as the options say."""
    return read_table(
        args.file,
        separator=args.separator,
        header=not args.no_header,
        discretize=args.discretize,
        missing=args.missing or "error",
        weights=args.weights,
        keep_constant=args.keep_constant,
    )


def kind_from(args: Namespace) -> ScoreKind:
    name = args.score or DEFAULT_SCORE
    if args.ess is not None and name not in WITH_ESS:
        raise UsageError(f"{name} has no --ess; {' and '.join(WITH_ESS)} have")
    try:
        kind = kind_from_dict({"name": name} if args.ess is None else {"name": name, "ess": args.ess})
    except ScoreError as error:
        raise UsageError(str(error)) from None
    assert kind is not None
    return kind


def run_from(args: Namespace, on_progress: OnProgress | None) -> Run:
    """Starts the clock."""
    return Run(
        time_limit=args.time_limit,
        memory_limit=args.memory_limit,
        threads=args.threads,
        on_progress=on_progress,
    )


def is_score_file(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(SCORE_FILES)


def refuse(args: Namespace, names: tuple[str, ...], why: str) -> None:
    """Wrong use if any of these options was given."""
    given = ["--" + name.replace("_", "-") for name in names if getattr(args, name) not in (None, False)]
    if given:
        raise UsageError(f"{', '.join(given)}: {why}")


def writable(path: str, *, inputs: tuple[str, ...]) -> Path:
    """Where to write, links followed; an error now rather than after the work if that cannot succeed."""
    target = Path(path).resolve()
    if target in [Path(name).resolve() for name in inputs]:
        raise FileError(f"{path}: this is the input; give another name to write to")
    if target.exists() and not target.is_file():
        raise FileError(f"{path}: this is not a file that can be replaced")
    if not target.parent.is_dir():
        raise FileError(f"{path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError(f"{path}: nothing can be written to the folder {target.parent}")
    return target


def score_name(text: str) -> str:
    if text.lower() not in KINDS_BY_NAME:
        close = get_close_matches(text.lower(), KINDS_BY_NAME, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ArgumentTypeError(f"no score is called {text!r}; there are {', '.join(KINDS_BY_NAME)}{hint}")
    return text.lower()


def rule(text: str) -> Rule:
    try:
        return named_rule(text)
    except TableError as error:
        reason = "" if "unknown" in str(error) else f" ({error})"
        raise ArgumentTypeError(f"{text!r} is no rule; there are {RULES}{reason}") from None


def separator(text: str) -> str:
    mark = SEPARATORS.get(text.lower(), text)
    if len(mark) != 1:
        raise ArgumentTypeError(f"{text!r} does not separate cells; give one character such as , ; | or tab or space")
    return mark


def size_in_bytes(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no size; give a number of bytes or one such as 500MB or 8GB") from None


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


def seconds(text: str) -> float:
    value = number(text)
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds from 0 on")
    return value


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Reads a whole number within these limits."""
    limits = f"from {least} on" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20) or not least <= int(text) <= (most or math.inf):
            raise ArgumentTypeError(f"{text!r} is not a whole number {limits}")
        return int(text)

    return read
