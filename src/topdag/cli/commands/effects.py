"""``topdag effects``: what would follow if a variable were set."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from topdag._util.run import Run, shown_bytes
from topdag.answers.effects import EFFECT_COLUMNS, CausalEffects
from topdag.answers.lists import NetworkList
from topdag.cli.advice import mention_advice
from topdag.cli.averaging import ABOUT_PRIORS
from topdag.cli.command import Command, Exit
from topdag.cli.options import add_asked, request_from, require_all_families, running
from topdag.cli.output import about_reading, about_table, as_csv, as_json, labelled, write_text
from topdag.cli.streams import mention, say
from topdag.cli.targets import add_json, add_output, target
from topdag.cli.values import number, whole
from topdag.data.table import Table
from topdag.errors import OutOfTime
from topdag.questions.bootstrap import bootstrap_of
from topdag.questions.effects import (
    MOST_DRAWS,
    WantedEffects,
    effects_of,
    effects_of_bootstrap,
    effects_of_list,
    require_effects,
)
from topdag.questions.listing.sources import Wanted
from topdag.questions.lists import list_of
from topdag.questions.request import MOST_SEEDS, Request
from topdag.questions.sums import asked
from topdag.scoring.keep import MOST_IN_A_LIST

EFFECT_SUFFIXES = (".csv", ".json", ".png", ".pdf")
EFFECTS_SHOWN = 20


def part(text: str) -> float:
    value = number(text)
    if not 0 < value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share above 0 and at most 1")
    return value


def add_options(parser: ArgumentParser) -> None:
    usual = WantedEffects()
    several = "may be repeated; default: every variable"
    parser.add_argument("--cause", action="append", metavar="NAME", help=f"what would be set; {several}")
    parser.add_argument("--outcome", action="append", metavar="NAME", help=f"what would follow; {several}")
    over = parser.add_mutually_exclusive_group()
    over.add_argument(
        "-k", type=whole(1, MOST_IN_A_LIST), metavar="K", help="average over the K best networks, not over all"
    )
    over.add_argument(
        "--bootstrap",
        type=whole(1, MOST_IN_A_LIST),
        metavar="N",
        help="average over the best networks of N tables drawn from the rows, as topdag bootstrap finds them",
    )
    parser.add_argument(
        "--share",
        type=part,
        default=usual.share,
        metavar="P",
        help=f"adjust for the most probable parent sets until they hold this share; default {usual.share:g}",
    )
    parser.add_argument(
        "--draws", type=whole(0, MOST_DRAWS), default=usual.draws, metavar="N", help=f"default {usual.draws}; 0: none"
    )
    parser.add_argument(
        "--level", type=part, default=usual.level, metavar="P", help=f"of the intervals; default {usual.level:g}"
    )
    parser.add_argument("--seed", type=whole(0, MOST_SEEDS - 1), default=0, metavar="S", help="of draws; default 0")
    file = "a table, or an .npz file of scores, which holds its table"  # and knows what it keeps
    add_asked(parser, in_time="give up after S seconds", file=file, keep=False)
    group = parser.add_argument_group("output")
    add_output(group, ".csv or .json (all effects), .png or .pdf (a picture of the largest)")
    group.add_argument(
        "--show", type=whole(0), default=EFFECTS_SHOWN, metavar="E", help=f"how many; default {EFFECTS_SHOWN}"
    )
    add_json(group, quiet="print effects, nothing else")


def effects(args: Namespace) -> Exit:
    to = None if args.output is None else target(args.output, EFFECT_SUFFIXES, (args.file,))
    wanted = WantedEffects(_names(args.cause), _names(args.outcome), args.share, args.draws, args.level, args.seed)
    try:
        with running(args) as run:
            request = request_from(args, weighs=True)
            is_over_all = args.k is None and args.bootstrap is None
            require_effects(request, wanted, weighs=args.bootstrap is None and args.k != 1)
            if request.scores is not None and is_over_all:
                require_all_families(request.scores, args.file, "sums")
            question = "paths" if is_over_all else "best" if args.k is None else "list"
            mention_advice(request, question, run, quiet=args.quiet)
            found = asked("effects", run, lambda: _found(request, wanted, args, run))
    except OutOfTime:
        mention("topdag: the time limit came first, and effects have no partial answer")
        return Exit.STOPPED
    try:
        if to is not None:
            _write(to, found, args.show)
    finally:  # a full disk must not cost the answer
        say(as_json(found.to_dict()) if args.json else _text(found, args, request.table))
    return Exit.FINE


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _found(request: Request, wanted: WantedEffects, args: Namespace, run: Run) -> CausalEffects:
    if args.bootstrap is not None:
        return effects_of_bootstrap(bootstrap_of(request, args.bootstrap, args.seed, run), wanted, run)
    if args.k is None:
        return effects_of(request, wanted, run)
    listed: NetworkList = list_of(NetworkList, request, Wanted("The list", most=args.k), run)
    return effects_of_list(listed, wanted, run)


def _write(to: Path, found: CausalEffects, most: int) -> None:
    if to.suffix.lower() == ".json":
        write_text(to, as_json(found.to_dict()) + "\n")
    elif to.suffix.lower() == ".csv":
        write_text(to, as_csv(EFFECT_COLUMNS, (list(row.values()) for row in found.to_dicts())))
    else:
        from topdag._util.atomic_write import write_as_named
        from topdag.networks.drawing.plots import saved

        content = saved(found.plot(max(1, most)), to.suffix[1:].lower())
        write_as_named(to, lambda file: file.write(content))


def _text(found: CausalEffects, args: Namespace, table: Table | None) -> str:
    lines = found.lines(args.show)
    if args.quiet:
        return "\n".join(lines)
    if len(found) > args.show:
        lines.append(f"and {len(found) - args.show:,} that are no larger (--show)")
    lines += ["", *_said(found), *about_table(table, found.notes)]
    stats = found.stats
    lines.append(labelled("time", f"{stats.seconds:.3f} s, {shown_bytes(stats.peak_memory)} at most"))
    return "\n".join([*about_reading(table), *lines])


def _said(found: CausalEffects) -> list[str]:
    left = 1 - found.least_covered
    cut = f"; at most {left:.2g} of the weight of a cause's parent sets is left out (--share)" if left > 0 else ""
    drawn = [labelled("drawn", f"{found.n_draws:,} for each, seed {found.seed}")] if found.n_draws else []
    return [
        labelled("over", f"{found.over}{cut}"),
        labelled("with", found.estimated),
        *drawn,
        labelled("needs", found.assumed.removeprefix("What is assumed: ")),
    ]


COMMAND = Command(
    name="effects",
    usage="topdag effects FILE [--cause NAME] [--outcome NAME] [-k K | --bootstrap N] [options]",
    page=f"""\
Prints what would follow if a variable were set by hand (not: observed), the largest effect first. In
each network the parents of the cause are adjusted for, and the networks are averaged, each by how well
it fits: all of them, or with -k the K best. With --bootstrap they are the best networks of tables drawn
from the rows, which count alike: no probabilities given the data, but what does not hang on few rows.

effect: among states, how much more probable the outcome's states become that the last column names;
among numbers, by how much the mean of the outcome grows when the cause is set one higher; where one is a
number, the last column says what is compared. lower, upper:
between them lie 95% of the draws (--level). no effect: in such a share of the networks, by weight, no
path leads from the cause to the outcome. supported: for this share of the cases the table has rows with
both states of the cause; for the others there is nothing but a guess.

Read this first: the numbers are effects only if whatever led both to a cause and to an outcome is itself
a column of the table. If it is not (say, sicker patients got the treatment more often, and how sick they
were is not in the table), they are wrong, however narrow the intervals. The table cannot show whether
this holds.

{ABOUT_PRIORS}""",
    ending="""\
costs:
  Those of topdag paths, and then a fifth of a millisecond for each parent set and each 1,000 different
  rows; intervals about as much again. On two cores 8 variables take half a second, 17 some seconds, 20
  a minute. Beyond some 20 variables say -k or --bootstrap. When --time-limit comes first nothing is
  printed.

examples:
  topdag effects asia.csv --cause smoke
  topdag effects asia.csv --cause smoke --outcome lung --outcome bronc -o effects.csv
  topdag effects wide.csv --score bic -k 1000 -o effects.pdf
  topdag effects alarm.csv --score bic --bootstrap 200 --cause V3

-o writes all effects (.csv, .json) or draws the largest (.png, .pdf).""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=add_options,
    run=effects,
    partial=False,
)
