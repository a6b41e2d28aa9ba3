"""The options that commands share, and what they mean: a table, a score, a run."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from topdag._util.atomic_write import READ, is_score_file
from topdag._util.progress import shown_meanwhile
from topdag._util.run import MOST_THREADS, Run, parse_bytes
from topdag.cli.command import UsageError
from topdag.cli.constraint_options import ABOUT_CONSTRAINTS, add_constraints, known_from
from topdag.cli.output import line_for, progress_line
from topdag.cli.values import (
    PRIORS,
    address,
    keep,
    names,
    number,
    prior_name,
    rule,
    score_name,
    seconds,
    separator,
    size_in_bytes,
    types,
    whole,
)
from topdag.data.convert import Reading, as_table
from topdag.data.discretize import MANY_VALUES, RULES_IN_SHELL
from topdag.data.files.delimited import MISSING_VALUES
from topdag.data.gaps import MISSING_WORDS
from topdag.data.guess.types import TYPES
from topdag.data.table import Table
from topdag.errors import FileError, ScoreError
from topdag.knowledge.priors import Prior
from topdag.scoring.keep import how_to_keep_all
from topdag.scoring.kinds.discrete import KINDS_BY_NAME, ScoreKind, kind_from_dict
from topdag.scoring.kinds.for_table import scored_as
from topdag.scoring.scores import Scores

if TYPE_CHECKING:
    from topdag.io.networks import Source
    from topdag.questions.request import Request

DEFAULT_SCORE = "bic for categories, rank-bic where there are numbers"
WITH_ESS = tuple(name for name, kind in KINDS_BY_NAME.items() if hasattr(kind, "ess"))
STANDARD_INPUT = "-"
NOT_A_FILE = "this is not a file that can be replaced; give the name of one"
ABOUT_READING = (
    "missing",
    "discretize",
    "types",
    "weights",
    "interventions",
    "separator",
    "no_header",
    "missing_values",
    "encoding",
    "decimal",
    "columns",
    "leave_out",
    "keep_constant",
)
ABOUT_SCORES = ("keep", "score_equivalent")
ABOUT_TABLES = ("score", "ess", "max_parents", *ABOUT_READING)


def add_memory_for_reading(parser: ArgumentParser) -> None:
    """Of commands that have no other limits."""
    parser.add_argument(
        "--memory-limit",
        type=size_in_bytes,
        metavar="SIZE",
        help="for reading the table, such as 8GB: Parquet files that need more are read chunk by chunk; default: what "
        "is free",
    )


def add_reading(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("reading the table")
    group.add_argument(
        "--missing",
        choices=MISSING_WORDS,
        metavar="WHAT",
        help="what to do with missing cells (empty, NA, NaN, null or ?): drop (their rows), state (one of its own), "
        "keep (for --score nal), error, or auto (default): drop few rows, keep cells of categories where more are lost",
    )
    group.add_argument(
        "--discretize",
        type=rule,
        action="append",
        metavar="RULE",
        help=f"how columns of decimals, and of whole numbers with more than {MANY_VALUES} values, are cut into states: "
        f'{RULES_IN_SHELL}; "price=quantile(3)" is for one column, and "price=none" leaves it; may be repeated',
    )
    group.add_argument(
        "--types",
        type=types,
        action="append",
        metavar="COLUMN=TYPE",
        help="what a column is, where topdag look shows something else: " + ", ".join(TYPES) + "; several with commas "
        "between them; may be repeated",
    )
    group.add_argument("--weights", metavar="COLUMN", help="the column that says how often each row counts")
    group.add_argument(
        "--interventions",
        metavar="COLUMN",
        help="the column that says which variables were set by experiment in each row: names with ; between them, "
        "empty for none; such rows tell nothing of the causes of what was set",
    )
    group.add_argument(
        "--separator",
        type=separator,
        metavar="CHAR",
        help="what separates cells: one character, tab or space; default: seen from the first line",
    )
    group.add_argument(
        "--missing-values",
        type=names,
        action="extend",
        metavar="WORDS",
        help="what stands for a missing cell, with commas between them; default: "
        + ", ".join(filter(None, MISSING_VALUES)),
    )
    group.add_argument("--no-header", action="store_true", help="the first line is a row; names are V0, V1, ...")
    group.add_argument(
        "--columns",
        type=names,
        action="extend",
        metavar="NAMES",
        help="the columns that are variables, with commas between them; default: all; may be given again",
    )
    group.add_argument(
        "--leave-out", action="append", metavar="COLUMN", help="a column that is no variable; may be given again"
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="of the text, such as latin-1; default: UTF-8, or UTF-16 with its mark"
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar="MARK",
        help="what numbers have before their decimals: . (default) or ,",
    )
    group.add_argument(
        "--keep-constant",
        action="store_true",
        help="let columns with a single state take part; default: they are left without edges",
    )


def add_score(parser: ArgumentParser, *, default: str = DEFAULT_SCORE) -> None:
    group = parser.add_argument_group("score")
    names, with_ess = ", ".join(KINDS_BY_NAME), " and ".join(WITH_ESS)
    group.add_argument("--score", type=score_name, metavar="NAME", help=f"{names}; default {default}")
    ess_help = f"weight of the prior in imaginary rows, for {with_ess}; default 1"
    group.add_argument("--ess", type=number, metavar="ROWS", help=ess_help)


def add_prior(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--prior",
        type=prior_name,
        default="uniform",
        metavar="NAME",
        help="what networks weigh before the data: uniform (default), all the same; fair, every number of parents the "
        "same; order-modular, every order of the variables the same",
    )


def prior_from(args: Namespace) -> Prior | None:
    return PRIORS[args.prior]


def add_keep(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--keep",
        type=keep,
        metavar="WHAT",
        help="what a .jkl or .pss file holds: all (any family that can matter), within(FACTOR) or kbest(K)",
    )


def add_max_parents(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-parents",
        type=whole(0),
        metavar="K",
        help="only networks with at most K parents for each variable; default: any number",
    )


def add_asked(
    parser: ArgumentParser,
    *,
    in_time: str,
    file: str = "a table or a file of scores",
    keep: bool = True,
    in_tasks: bool = True,
) -> None:
    """FILE, what a question can say about it, and limits; ``in_time``: what happens when S seconds are over;
    ``in_tasks``: whether others may do a part of the work."""
    parser.add_argument("file", metavar="FILE", help=file)
    add_max_parents(parser)
    add_prior(parser)
    parser.set_defaults(keep=None, score_equivalent=None)
    if keep:
        add_keep(parser)
    add_constraints(parser)
    add_score(parser)
    add_reading(parser)
    add_limits(parser, in_time=in_time, in_tasks=in_tasks)


def add_limits(parser: ArgumentParser, *, in_time: str | None = None, in_tasks: bool = True) -> None:
    parser.set_defaults(processes=None, cluster=None)
    group = parser.add_argument_group("limits")
    if in_time is not None:
        group.add_argument("--time-limit", type=seconds, metavar="S", help=in_time)
    group.add_argument(
        "--memory-limit",
        type=size_in_bytes,
        metavar="SIZE",
        help="refuse what needs more than this, such as 8GB; default: what is free",
    )
    group.add_argument("--threads", type=whole(1, MOST_THREADS), metavar="N", help="default: all cores")
    if not in_tasks:
        return
    group.add_argument(
        "--processes",
        type=whole(1, MOST_THREADS),
        metavar="N",
        help="what can be cut into tasks is done by N processes; default: one, with all threads",
    )
    group.add_argument(
        "--cluster", type=address, metavar="ADDRESS", help="or by the Dask scheduler there, such as tcp://10.0.0.1:8786"
    )


def executor_from(args: Namespace) -> int | str | None:
    if args.processes is not None and args.cluster is not None:
        raise UsageError("--processes and --cluster: give one of them")
    if args.cluster is not None and importlib.util.find_spec("distributed") is None:
        raise UsageError("--cluster needs the package distributed: pip install 'topdag[cluster]'")
    executor: int | str | None = args.cluster or args.processes
    return executor


def require_order(network: str, table: str, usage: str) -> None:
    """Wrong use if the table stands where the network belongs, and the network, by its name, where the table does."""
    if _is_network_file(table) and not _is_network_file(network):
        raise UsageError(f"{table} is no table, going by its name; the other way round? The order is {usage}")


def _is_network_file(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(READ)


def table_from(args: Namespace, said: Mapping[str, Any] | None = None, **more: Any) -> Table:
    """Return the table in ``args.file``, read as the options say; and as was ``said`` for an answer about it, where the
    options say nothing else."""
    if is_score_file(args.file):
        raise FileError(f"{args.file}: this is a file of scores, going by its name; give the table it was made from")
    source = sys.stdin.buffer if args.file == STANDARD_INPUT else args.file
    reading = cast(Reading, {**(said or {}), **reading_from(args)})
    limit = getattr(args, "memory_limit", None)
    memory_limit = None if limit is None else parse_bytes(limit)
    with shown_meanwhile("reading", line_for(quiet=getattr(args, "quiet", False))):
        return as_table(source, reading, memory_limit, **more)


def network_source(path: str, table: str | None = None) -> Source:
    """Where the network is that ``path`` names; wrong use if its table too shall come from standard input."""
    if path != STANDARD_INPUT:
        return path
    if table == STANDARD_INPUT:
        raise UsageError("- stands for both files, and standard input can be read once; give one of them by its name")
    from topdag.io.networks import Unnamed  # formats load only where one is read

    return Unnamed(sys.stdin.buffer.read(), "standard input")


def said_about(source: Source) -> Mapping[str, Any]:
    """What an answer there says about reading its table; nothing if it is none."""
    from topdag.io.networks import is_json, read_json

    return said_in(source, read_json(source)) if is_json(source) else {}


def said_in(path: Source, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was said about reading the table of an answer."""
    said = content.get("reading", {})
    if not isinstance(said, dict) or not said.keys() <= Reading.__annotations__.keys():
        raise FileError(f"{path}: 'reading' does not say how a table is read: {said!r}")
    return said


def reading_from(args: Namespace) -> Reading:
    """What the options say about reading a table; nothing of those that were not given."""
    said = {name: getattr(args, name) for name in ABOUT_READING if name not in ("no_header", "discretize", "types")}
    reading = cast(Reading, {name: value for name, value in said.items() if value is not None and value is not False})
    if args.no_header:
        reading["header"] = False
    if args.discretize is not None:
        reading["discretize"] = dict(args.discretize)
    if args.types is not None:
        reading["types"] = {name: of for given in args.types for name, of in given.items()}
    return reading


def kind_from(args: Namespace) -> ScoreKind | None:
    """Return the score that the options name; None where they name none."""
    if args.score is None and args.ess is None:
        return None
    name = args.score or "bdeu"  # the score that --ess is for
    if args.ess is not None and name not in WITH_ESS:
        raise UsageError(f"{name} has no --ess; {' and '.join(WITH_ESS)} have")
    try:
        kind = kind_from_dict({"name": name} if args.ess is None else {"name": name, "ess": args.ess})
    except ScoreError as error:
        raise UsageError(str(error)) from None
    return kind


def scores_from(args: Namespace) -> Scores:
    """The scores in ``args.file``; a file of some kinds does not say what it was pruned for, nor what the score is, but
    options may."""
    if args.file.lower().endswith(".npz"):
        refuse(args, ABOUT_SCORES, "a .npz file says itself what it holds")
    from topdag.io.scores import read_scores

    return read_scores(args.file, keep=args.keep or "best", score_equivalent=args.score_equivalent or False)


def request_from(args: Namespace, *, weighs: bool = False) -> Request:
    """Return the question about the scores in ``args.file``, or about its table with what the options say of it;
    ``weighs``: whether networks are weighed by exp(score)."""
    from topdag.questions.request import Request
    from topdag.scoring.kinds.interventions import kind_for

    if is_score_file(args.file):
        refuse(args, (*ABOUT_TABLES, *ABOUT_CONSTRAINTS), "this is for tables, and FILE holds scores already")
        return Request.from_scores(scores_from(args), prior=prior_from(args))
    refuse(args, ABOUT_SCORES, "this is for files of scores, and FILE is a table")
    named, known = kind_from(args), known_from(args)
    mentioned = () if known is None else known.named
    table, kind = scored_as(table_from(args, mentioned=mentioned), named, weighs=weighs)
    kind.require_columns(table)
    return Request(table, kind_for(table, kind), args.max_parents, prior=prior_from(args), constraints=known)


@contextlib.contextmanager
def running(args: Namespace) -> Iterator[Run]:
    """A run within the limits of the options, its clock started; on a terminal a line shows how it stands."""
    with progress_line(quiet=args.quiet) as shown:
        limits = {name: getattr(args, name) for name in ("time_limit", "memory_limit", "threads")}
        yield Run(**limits, on_progress=shown, executor=executor_from(args))


def refuse(args: Namespace, names: tuple[str, ...], why: str) -> None:
    """Wrong use if any of these options was given."""
    values = {"--" + name.replace("_", "-"): getattr(args, name) for name in names}
    given = [option for option, value in values.items() if value is not None and value is not False]
    if given:
        raise UsageError(f"{', '.join(given)}: {why}")


def require_all_families(scores: Scores, path: str, what: str) -> None:
    if not scores.is_kept():
        raise ScoreError(f"{path}: {what} need all families, but these scores were pruned. {how_to_keep_all()}")


def writable(path: str, *, inputs: tuple[str, ...] = ()) -> Path:
    """Where to write, links followed; an error now rather than after the work if that cannot succeed."""
    try:
        target = Path(path).resolve()
        with contextlib.suppress(FileNotFoundError):
            target.stat()  # a name too long, or a file for a folder
        is_special = Path(path).exists() and not Path(path).is_file()  # a pipe may have no name that can be followed
        trouble = NOT_A_FILE if is_special else _trouble_with_writing(target, [Path(name).resolve() for name in inputs])
    except (OSError, RuntimeError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if trouble is not None:
        raise FileError(f"{path}: {trouble}")
    return target


def _trouble_with_writing(target: Path, inputs: list[Path]) -> str | None:
    if target in inputs:
        return "this is the input; give another name to write to"
    if target.exists() and _is_a_stream(target):
        return "this is where stdout or stderr goes already; give another name to write to"
    if not target.parent.is_dir():
        return f"there is no folder {target.parent}"
    if not os.access(target.parent, os.W_OK | os.X_OK):
        return f"nothing can be written to the folder {target.parent}"
    return None


def _is_a_stream(target: Path) -> bool:
    """Whether the shell sends stdout or stderr there: replacing the file would lose what was printed."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # it may be closed
            if os.path.samestat(os.fstat(descriptor), target.stat()):
                return True
    return False
