"""The options that say what is known about the structure."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag.errors import ConstraintError
from topdag.io.constraints import read_constraints
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.rule_parser import parse_rule
from topdag.knowledge.rules import Adjacent, Edge, Rule

ABOUT_CONSTRAINTS = ("constraints", "require", "forbid", "rule", "parameter")


def add_constraints(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what is known (docs/constraints.md)")
    group.add_argument(
        "--constraints", metavar="KNOWN", help="a .toml file of constraints; its keys are those of topdag.Constraints"
    )
    group.add_argument(
        "--require",
        action="append",
        metavar="EDGE",
        help='an edge that must be, such as "smoke->lung", or "a--b" for one in either direction; may be repeated',
    )
    group.add_argument(
        "--forbid", action="append", metavar="EDGE", help='one that must not be; * stands for any variable: "*->sex"'
    )
    group.add_argument(
        "--rule",
        action="append",
        metavar="RULE",
        help='a rule such as "a->b or not c->d", "parents(lung) <= 2" or "if a->b then c->d"; may be repeated',
    )
    group.add_argument(
        "--parameter",
        action="append",
        metavar="KNOWN",
        help='about probabilities, with bic or aic: "P(lung=yes | smoke=no) <= 0.1" or "influence(smoke, lung, +)"'
        "; may be repeated (docs/parameters.md)",
    )


def known_from(args: Namespace) -> Constraints | None:
    """All that the options say; None when they say nothing."""
    known = Constraints() if args.constraints is None else read_constraints(args.constraints)
    known &= Constraints(
        required_edges=_edges("--require", args.require, Edge),
        required_adjacencies=_edges("--require", args.require, Adjacent),
        forbidden_edges=_edges("--forbid", args.forbid, Edge),
        forbidden_adjacencies=_edges("--forbid", args.forbid, Adjacent),
        rules=[_read("--rule", text) for text in args.rule or ()],
        parameters=args.parameter or (),
    )
    return known or None


def _edges(option: str, texts: list[str] | None, wanted: type[Edge] | type[Adjacent]) -> list[tuple[str, str]]:
    found = []
    for text in texts or ():
        rule = _read(option, text)
        if not isinstance(rule, (Edge, Adjacent)):
            raise ConstraintError(f'{option}: {text!r} is no edge; write "a->b" or "a--b", or use --rule.')
        if isinstance(rule, wanted):
            found.append((rule.names[0], rule.names[1]))
    return found


def _read(option: str, text: str) -> Rule:
    try:
        return parse_rule(text)
    except ConstraintError as error:
        raise ConstraintError(f"{option}: {error}") from None
