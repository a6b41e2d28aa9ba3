"""``topdag sample``: networks drawn from the posterior, and how often they have each edge."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from topdag._util.run import shown_bytes
from topdag.answers.samples import NetworkSample
from topdag.cli.advice import mention_advice
from topdag.cli.command import Command, Exit
from topdag.cli.options import add_asked, request_from, require_all_families, running
from topdag.cli.output import about_reading, about_table, as_csv, as_json, labelled, write_text
from topdag.cli.streams import mention, say
from topdag.cli.targets import add_json, add_output, target
from topdag.cli.values import whole
from topdag.data.table import Table
from topdag.errors import OutOfTime
from topdag.questions.request import MOST_SEEDS
from topdag.questions.sampling import sample_of
from topdag.scoring.keep import MOST_IN_A_LIST

SAMPLE_SUFFIXES = (".csv", ".json")
SAMPLES_SHOWN = 20


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("-k", type=whole(0, MOST_IN_A_LIST), default=1000, metavar="N", help="how many; default 1000")
    parser.add_argument("--seed", type=whole(0, MOST_SEEDS - 1), default=0, metavar="S", help="default 0")
    add_asked(parser, in_time="give up after S seconds, all included", in_tasks=False)
    group = parser.add_argument_group("output")
    add_output(group, f"{' or '.join(SAMPLE_SUFFIXES)} (the networks)")
    group.add_argument(
        "--show", type=whole(0), default=SAMPLES_SHOWN, metavar="E", help=f"edges to print; default {SAMPLES_SHOWN}"
    )
    add_json(group, quiet="print edges, nothing else")


def sample(args: Namespace) -> Exit:
    to = None if args.output is None else target(args.output, SAMPLE_SUFFIXES, (args.file,))
    try:
        with running(args) as run:
            asked = request_from(args, weighs=True)
            if asked.scores is not None:
                require_all_families(asked.scores, args.file, "samples")
            run.timed("reading", 0.0)
            mention_advice(asked, "sample", run, quiet=args.quiet)
            drawn = sample_of(asked, args.k, args.seed, run)
    except OutOfTime as stopped:
        mention(f"topdag: {stopped}")
        return Exit.STOPPED
    try:
        if to is not None:
            write_text(to, _csv_of(drawn) if to.suffix.lower() == ".csv" else _json_of(drawn, args.prior))
    finally:  # a full disk must not cost the answer
        say(as_json(_content(drawn, args.prior)) if args.json else _text(drawn, args, asked.table))
    return Exit.FINE


def _content(drawn: NetworkSample, prior: str) -> dict[str, Any]:
    return {
        "format": "topdag-sample",
        "version": 1,
        "names": list(drawn.names),
        "prior": prior,
        "seed": drawn.seed,
        "samples": len(drawn),
        "distinct": drawn.n_distinct,
        "error": drawn.error,
        "notes": list(drawn.notes),
        "edges": list(_edges(drawn)),
    }


def _edges(drawn: NetworkSample) -> Iterator[dict[str, Any]]:
    """With one sample no error is known: None, which JSON can say."""
    for row in drawn.edge_frequencies().rows():
        yield {**row, "error": row["error"] if len(drawn) > 1 else None}


def _json_of(drawn: NetworkSample, prior: str) -> str:
    networks = (
        {"count": count, "parents": {name: list(its) for name, its in network.parents.items() if its}}
        for network, count in drawn.distinct()
    )
    lines = ",\n".join(json.dumps(network) for network in networks)
    head = json.dumps(_content(drawn, prior), allow_nan=False)
    return f'{head[:-1]}, "networks": [\n{lines}\n]}}\n'


def _csv_of(drawn: NetworkSample) -> str:
    rows = (
        [count, repr(network.score), *(", ".join(network.parents[name]) for name in drawn.names)]
        for network, count in drawn.distinct()
    )
    return as_csv(["count", "score", *(f"parents of {name}" for name in drawn.names)], rows)


def _text(drawn: NetworkSample, args: Namespace, table: Table | None) -> str:
    edges = list(_edges(drawn))
    names = [f"{edge['parent']} -> {edge['child']}" for edge in edges[: args.show]]
    width = max(map(len, names), default=0)
    lines = [
        f"{name:<{width}}  {edge['frequency']:8.4f}" + (f" +- {edge['error']:.4f}" if edge["error"] else "")
        for name, edge in zip(names, edges, strict=False)
    ]
    if args.quiet:
        return "\n".join(lines)
    if len(edges) > args.show:
        lines.append(f"and {len(edges) - args.show:,} edges that are no more frequent (--show)")
    stats = drawn.stats
    lines.append(
        labelled(
            "drawn",
            f"{len(drawn):,} networks, {drawn.n_distinct:,} different, {args.prior} prior, seed {drawn.seed}; each "
            f"drawn independently with its posterior probability, rounding {drawn.error:.0e}.",
        )
    )
    lines += about_table(table, drawn.notes)
    lines.append(labelled("time", f"{stats.seconds:.3f} s, {shown_bytes(stats.memory)} planned, {stats.engine}"))
    return "\n".join([*about_reading(table), *lines])


COMMAND = Command(
    name="sample",
    usage="topdag sample FILE [-k N] [--seed S] [--prior P] [-o OUT] [options]",
    page="""\
Draws N networks from the posterior, independent of each other, each with exactly its probability,
and prints how often they have each edge: an estimate of the edge's posterior probability, with its
standard error. There is no chain that must first settle.

FILE is a table, or a file of scores with all families: a .npz written with --keep all; for a .jkl or
.pss file that was never pruned say so with --keep all.

--prior says what is thought before the data: uniform, all networks alike; fair, every number of
parents alike, then every parent set of this size; order-modular, every order alike, so that a
network counts once for each order that agrees with it. The answers differ.""",
    ending="""\
costs:
  With n variables tables take 36*n*2^(n-1) bytes and, but for order-modular, time like 3^n: 17
  variables a second or two, 20 half a minute, 22 five minutes; then a million samples some ten
  seconds and 8*n bytes each. Order-modular takes time like n*2^n.
  With --time-limit, when it comes first, nothing is printed: the samples that end first are not
  typical. The first samples of a longer run with the same seed are the same.

examples:
  topdag sample asia.csv -k 10000 --seed 7
  topdag sample asia.csv -k 10000 --prior order-modular -o networks.csv

-o writes the different networks, the most frequent first, with how often each was drawn.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=add_options,
    run=sample,
    partial=False,
)
