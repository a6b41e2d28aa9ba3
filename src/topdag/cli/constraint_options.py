"""The options that say what is known about the structure."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topdag.knowledge.constraints import Constraints

ABOUT_CONSTRAINTS = ("constraints", "require", "forbid", "rule", "parameter")


def add_constraints(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what is known (docs/guides/constraints.md)")
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
        "; may be repeated (docs/guides/probability_constraints.md)",
    )


def known_from(args: Namespace) -> Constraints | None:
    """All that the options say; None when they say nothing."""
    if all(getattr(args, name) is None for name in ABOUT_CONSTRAINTS):
        return None
    from topdag.cli.constraint_values import constraints_of

    return constraints_of(args)
