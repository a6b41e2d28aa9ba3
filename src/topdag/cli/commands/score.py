"""``topdag score``: local scores, of all families into a file, or of one family or network on stdout."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from topdag._util.atomic_write import SCORES, is_score_file
from topdag.cli.command import Command, Exit
from topdag.cli.constraint_options import ABOUT_CONSTRAINTS, add_constraints, known_from
from topdag.cli.options import (
    add_limits,
    add_max_parents,
    add_reading,
    add_score,
    executor_from,
    kind_from,
    network_source,
    refuse,
    said_about,
    table_from,
)
from topdag.cli.output import as_json, family_text, mention_notes, network_text, progress_line, score_lines
from topdag.cli.streams import say
from topdag.cli.targets import add_json, add_output, target
from topdag.cli.values import keep
from topdag.data.table import Table
from topdag.errors import FileError, ScoreError
from topdag.io.networks import read_network
from topdag.io.scores import ending_of_scores, require_names_for, write_scores
from topdag.networks.network import Network
from topdag.scoring.keep import KBest, Keep, Within
from topdag.scoring.kinds.discrete import ScoreKind, kind_to_dict
from topdag.scoring.kinds.for_table import scored_as
from topdag.scoring.kinds.interventions import kind_for
from topdag.scoring.score import score
from topdag.scoring.scores import Scores
from topdag.search.lattice import most_held

ONLY_FOR_FILES = ("keep", "max_parents", "threads", "processes", "cluster", *ABOUT_CONSTRAINTS)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="TABLE", help="a table, as for topdag best")
    what = parser.add_argument_group("what to do, one of these").add_mutually_exclusive_group(required=True)
    add_output(what, ".jkl (GOBNILP), .pss (URLearning) or .npz (all scores)")
    what.add_argument("--family", nargs="+", metavar=("CHILD", "PARENT"), help="print the local score of one family")
    what.add_argument("--network", metavar="NET", help="print the local scores of a network in a file")
    parser.add_argument(
        "--keep",
        type=keep,
        metavar="WHAT",
        help="all, best (what the best network can need), within(FACTOR) (what networks within "
        "this Bayes factor of the best can need) or kbest(K) (what the K best can need); default all for .npz, "
        "best for the others",
    )
    add_max_parents(parser)
    add_constraints(parser)
    add_score(parser)
    add_reading(parser)
    add_limits(parser)
    add_json(parser, quiet="no progress and no notes about the table")


def score_table(args: Namespace) -> Exit:
    if is_score_file(args.file):
        raise FileError(f"{args.file}: this holds scores already; give the table")
    if args.output is not None:
        return _score_all(args)
    refuse(args, ONLY_FOR_FILES, "this goes with -o")
    source = None if args.network is None else network_source(args.network, args.file)
    network = None if source is None else read_network(source)
    table, kind = scored_as(table_from(args, None if source is None else said_about(source)), kind_from(args))
    notes = (*table.notes, *kind.notes_on(table))
    kind.require_columns(table)
    scored = _of_family(table, kind, args.family) if network is None else _of_network(table, kind, network)
    if args.json:
        values = {"parents": scored.parents, "local_scores": scored.local_scores, "score": scored.score}
        say(
            as_json(
                {"format": "topdag-local-scores", "version": 1, "kind": kind_to_dict(kind), **values, "notes": notes}
            )
        )
        return Exit.FINE
    if not args.quiet:
        mention_notes(notes)
    say(scored.text)
    return Exit.FINE


def _score_all(args: Namespace) -> Exit:
    to = target(args.output, SCORES, (args.file,), packed=True)
    ending_of_scores(args.output)
    table = table_from(args)
    require_names_for(args.output, table.names)
    with progress_line(quiet=args.quiet) as on_progress:
        scores = score(
            table,
            kind_from(args),
            constraints=known_from(args),
            max_parents=args.max_parents,
            keep=args.keep or _usual_keep(to, table),
            executor=executor_from(args),
            memory_limit=args.memory_limit,
            threads=args.threads,
            on_progress=on_progress,
        )
    write_scores(to, scores)
    if not args.quiet:
        mention_notes(scores.notes)
    say(_what_was_kept(args.output, scores))
    return Exit.FINE


def _usual_keep(target: Path, table: Table) -> Keep:
    """Lists are read back as kept for the best network, so they need not hold more; nor can they of wide tables."""
    holds_all = ending_of_scores(target) == ".npz" and table.n_variables <= most_held()
    return "all" if holds_all else "best"


def _what_was_kept(path: str, scores: Scores) -> str:
    purpose = {"all": "every question", "best": "the best network"}.get(str(scores.keep))
    if isinstance(scores.keep, Within):
        purpose = f"networks within a Bayes factor of {scores.keep.factor:g} of the best"
    if isinstance(scores.keep, KBest):
        purpose = f"the {scores.keep.k:,} best networks" + " or classes" * scores.score_equivalent
    limit = "" if scores.max_parents is None else f" with at most {scores.max_parents} parents"
    return (
        f"{path}: {scores.n_families:,} families of {len(scores.columns)} variables{limit}, {scores.kind}, "
        f"kept for {purpose}"
    )


@dataclass(frozen=True)
class _ScoredGraph:
    parents: dict[str, list[str]]
    local_scores: dict[str, float]
    score: float
    text: str


def _of_family(table: Table, kind: ScoreKind, family: Sequence[str]) -> _ScoredGraph:
    value, (child, *parents) = _local(table, kind, *family), family
    return _ScoredGraph({child: parents}, {child: value}, value, f"{family_text(child, parents)}  {value:.6f}")


def _of_network(table: Table, kind: ScoreKind, network: Network) -> _ScoredGraph:
    if set(network.names) != set(table.names):
        different = sorted(set(network.names) ^ set(table.names))
        raise FileError(f"The network and the table have different variables: {', '.join(different)}.")
    values = {name: _local(table, kind, name, *network.parents[name]) for name in network.names}
    total = math.fsum(values.values())
    scored = Network(network.names, network.parents, values, kind_for(table, kind).tells_apart(table))
    text = "\n".join([network_text(scored), *score_lines(total, kind)])
    return _ScoredGraph({name: list(network.parents[name]) for name in network.names}, values, total, text)


def _local(table: Table, kind: ScoreKind, variable: str, *parents: str) -> float:
    x, *columns = (table.index(name) for name in (variable, *parents))
    if len({x, *columns}) <= len(columns):
        raise ScoreError(f"A family names each variable once, not {', '.join((variable, *parents))}.")
    return kind_for(table, kind).local(table, x, sorted(columns))


COMMAND = Command(
    name="score",
    usage="topdag score TABLE (-o OUT | --family CHILD [PARENT ...] | --network NET) [options]",
    page="""\
Scores families of a table: a family is a variable with its parents.

With -o it scores all families and writes them to a file that topdag best and other programs read:
.jkl (GOBNILP), .pss (URLearning), both also with .gz, or .npz, which keeps everything, the table
included; .jkl and .pss do not say what they were kept for and are read back as for the best
network. With --family or --network it prints the local scores of just these, from tables of any
size; --family takes the child first, then its parents.""",
    ending="""\
costs:
  -o takes time like n*2^n for n variables and at least 8*2^n bytes; with bic, aic
  or a small --max-parents, beyond 20 variables, only as much as the families that can matter. With
  --keep all, .jkl and .pss files have up to n*2^(n-1) lines (20 variables: 10 million); .npz files
  8*2^n bytes (bds: 8*n*2^(n-1)). --processes and --cluster share the counting where families are
  listed (up to 64 variables), with the same scores; tables over all sets are counted here.

examples:
  topdag score asia.csv --score bic -o asia.jkl
  topdag score asia.csv --family lung smoke asia
  topdag score asia.csv --network best.json

No network is printed here, so nothing is proved; --keep best, within(FACTOR) and kbest(K) drop only
families that provably no such network needs. kbest(K) searches the K best (of classes, where the
score allows it) to know, and takes time and memory as topdag list does.""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=score_table,
)
