"""From what the options say is known to constraints; loaded only where they say something."""

from __future__ import annotations

from argparse import Namespace

from topdag.errors import ConstraintError
from topdag.io.constraints import read_constraints
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.rule_parser import parse_rule
from topdag.knowledge.rules import Adjacent, Edge


def constraints_of(args: Namespace) -> Constraints | None:
    """All that the options say; None when a file of constraints says nothing."""
    known = Constraints() if args.constraints is None else read_constraints(args.constraints)
    known &= Constraints(
        required_edges=_edges("--require", args.require, Edge),
        required_adjacencies=_edges("--require", args.require, Adjacent),
        forbidden_edges=_edges("--forbid", args.forbid, Edge),
        forbidden_adjacencies=_edges("--forbid", args.forbid, Adjacent),
        rules=[parse_rule(text, "--rule") for text in args.rule or ()],
        parameters=args.parameter or (),
    )
    return known or None


def _edges(option: str, texts: list[str] | None, wanted: type[Edge] | type[Adjacent]) -> list[tuple[str, str]]:
    found = []
    for text in texts or ():
        rule = parse_rule(text, option)
        if not isinstance(rule, (Edge, Adjacent)):
            raise ConstraintError(f'{option}: {text!r} is no edge; write "a->b" or "a--b", or use --rule.')
        if isinstance(rule, wanted):
            found.append((rule.names[0], rule.names[1]))
    return found
