"""``topdag check``: scores an answer anew from its table, by other formulas than those that found it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from topdag.answers.check import Check, check_claims, check_network
from topdag.cli.command import Command, Exit, UsageError
from topdag.cli.options import (
    add_memory_for_reading,
    add_reading,
    add_score,
    kind_from,
    network_source,
    require_order,
    said_in,
    table_from,
)
from topdag.cli.output import about_reading, about_table, as_json, labelled, score_lines
from topdag.cli.streams import say
from topdag.cli.targets import add_json
from topdag.data.table import Table
from topdag.errors import FileError, NetworkError, ScoreError
from topdag.io.networks import Source, read_json
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import KINDS_BY_NAME, ScoreKind, kind_from_dict, kind_to_dict
from topdag.scoring.kinds.for_table import taken_by

CHECKED_FORMATS = ("topdag-answer", "topdag-network")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("answer", metavar="ANSWER", help="a .json file: an answer or a network")
    parser.add_argument("file", metavar="TABLE", help="the table it is about")
    add_score(parser, default="what the file says")
    add_reading(parser)
    add_memory_for_reading(parser)
    add_json(parser)


def check_answer(args: Namespace) -> Exit:
    require_order(args.answer, args.file, COMMAND.usage)
    source = network_source(args.answer, args.file)
    content = read_json(source)
    if content.get("format") not in CHECKED_FORMATS:
        raise FileError(f"{source}: this is neither an answer nor a network that topdag wrote")
    kind = _kind(args, source, content)
    table = taken_by(table_from(args, said_in(source, content)), kind)
    try:
        network = _network(content)
    except NetworkError as error:
        return _report(args, None, [str(error)], kind, table)
    found = check_network(network, table, kind)
    problems = list(found.problems)
    if content["format"] == "topdag-answer":
        problems += check_claims(content, found.score)
    return _report(args, found, problems, kind, table)


def _network(content: Mapping[str, Any]) -> Network:
    """The network in the file; an error if it has a cycle or contradicts itself."""
    if content["format"] == "topdag-network":
        return Network.from_dict(content)
    if not isinstance(content.get("network"), dict):
        raise NetworkError("The answer holds no network.")
    return Network.from_dict(content["network"])


def _kind(args: Namespace, source: Source, content: Mapping[str, Any]) -> ScoreKind:
    """The score the file says, or else the one asked for; an error if they differ."""
    said = _said_kind(source, content)
    asked = None if args.score is None and args.ess is None else kind_from(args)
    if said is None and asked is None:
        raise UsageError(f"{source} does not say which score it has; add --score: {', '.join(KINDS_BY_NAME)}")
    if said is not None and asked is not None and said != asked:
        raise FileError(f"{source}: the score is {said}, not {asked}; leave out --score and --ess")
    kind = said or asked
    assert kind is not None
    return kind


def _said_kind(path: Source, content: Mapping[str, Any]) -> ScoreKind | None:
    said = content.get("kind")
    if not isinstance(said, dict | None):
        raise FileError(f"{path}: 'kind' is not a score: {said!r}")
    try:
        return kind_from_dict(said)
    except ScoreError as error:
        raise FileError(f"{path}: {error}") from None


def _report(args: Namespace, found: Check | None, problems: list[str], kind: ScoreKind, table: Table) -> Exit:
    code = Exit.FAILED if problems else Exit.FINE
    if args.json:
        content = {"format": "topdag-check", "version": 1, "fine": not problems, "wrong": problems}
        score = None if found is None else found.score
        say(as_json({**content, "score": score, "kind": kind_to_dict(kind), "notes": list(table.notes)}))
        return code
    lines = (
        about_reading(table)
        + about_table(table, table.notes)
        + ([] if found is None else score_lines(found.score, kind))
    )
    claim = "the file claims no score" if found is None or found.claimed is None else "every score agrees"
    fine = [labelled("fine", f"The network has no cycle; {claim}.")]
    say("\n".join([*lines, *([labelled("wrong", problem) for problem in problems] or fine)]))
    return code


COMMAND = Command(
    name="check",
    usage="topdag check ANSWER TABLE [options]",
    page="""\
Checks an answer that topdag best wrote with -o, or a network in JSON, against its table: that
the network has no cycle, that each local score and the total agree with the data, and that bound
and gap fit the score. Scores are added up anew, by formulas written straight from their
definitions that share no arithmetic with the search. Prints "fine" or every disagreement.

The table is read as it was for the answer, which says how, unless reading options say otherwise.
The score is the one the file says; --score is needed only when it does not say.

What this does not do: prove again that no other network scores more. Run topdag best for that.""",
    ending="""\
costs:
  A pass over the rows for each variable; any number of variables that a table can have.

example:
  topdag best asia.csv -o best.json && topdag check best.json asia.csv""",
    exits=(Exit.FINE, Exit.FAILED, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=check_answer,
)
