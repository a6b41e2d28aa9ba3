"""From words on the command line to values; what is wrong gets a message that lists what is allowed."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from difflib import get_close_matches

from topdag._util.run import is_scheduler, parse_bytes
from topdag.data.discretize import OTHERS, RULES_IN_SHELL, Rule, named_rule
from topdag.errors import ScoreError, TableError
from topdag.knowledge.priors import FairPrior, OrderModular, Prior
from topdag.scoring.keep import KBest, Keep, Within
from topdag.scoring.kinds.discrete import KINDS_BY_NAME

PRIORS: dict[str, Prior | None] = {"uniform": None, "fair": FairPrior(), "order-modular": OrderModular()}
NAMED_SEPARATORS = {"tab": "\t", r"\t": "\t", "space": " "}


def score_name(text: str) -> str:
    if text.lower() not in KINDS_BY_NAME:
        close = get_close_matches(text.lower(), KINDS_BY_NAME, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ArgumentTypeError(f"no score is called {text!r}; there are {', '.join(KINDS_BY_NAME)}{hint}")
    return text.lower()


def rule(text: str) -> tuple[str, Rule | None]:
    """A rule and the column it is for: ``quantile(3)`` for all others, ``price=quantile(3)``, ``zip=none``."""
    column, _, name = text.rpartition("=")
    try:
        return column or OTHERS, None if column and name.strip().lower() == "none" else named_rule(name)
    except TableError as error:
        reason = "" if "unknown" in str(error) else f" ({error})"
        raise ArgumentTypeError(f"{name!r} is no rule; there are {RULES_IN_SHELL}{reason}") from None


def address(text: str) -> str:
    if not is_scheduler(text):
        raise ArgumentTypeError(f"{text!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786")
    return text


def separator(text: str) -> str:
    mark = NAMED_SEPARATORS.get(text.lower(), text)
    if len(mark) != 1:
        raise ArgumentTypeError(f"{text!r} does not separate cells; give one character such as , ; | or tab or space")
    return mark


def names(text: str) -> list[str]:
    return [name for name in map(str.strip, text.split(",")) if name]


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
    limits = f"from {least} on" if most is None else f"from {least} to {most:,}"
    largest = 2**63 - 1 if most is None else most

    def read(text: str) -> int:
        is_whole = text.isascii() and text.isdigit() and len(text) < 20
        if not is_whole or not least <= int(text) <= largest:
            raise ArgumentTypeError(f"{text!r} is not a whole number {limits}")
        return int(text)

    return read


def types(text: str) -> dict[str, str]:
    """Reads the types of columns, such as trt=categorical,time=continuous."""
    found = {}
    for part in text.split(","):
        name, has_type, type_ = part.rpartition("=")
        if not has_type:
            raise ArgumentTypeError(f"{part!r} is no type of a column; write it as NAME=categorical")
        found[name.strip()] = type_.strip()
    return found


def prior_name(text: str) -> str:
    if text.lower() not in PRIORS:
        raise ArgumentTypeError(f"no prior is called {text!r}; there are {', '.join(PRIORS)}")
    return text.lower()


def keep(text: str) -> Keep:
    """What scores are kept for: all, best, within(a Bayes factor) or kbest(how many)."""
    name = text.strip().lower()
    if name in ("all", "best"):
        return name
    purpose, _, number_in_brackets = name.removesuffix(")").partition("(")
    try:
        if name.endswith(")") and purpose == "within":
            return Within(float(number_in_brackets))
        if name.endswith(")") and purpose == "kbest":
            return KBest(int(number_in_brackets))
    except (ValueError, ScoreError):
        pass  # no such number
    raise ArgumentTypeError(
        f"{text!r} is not known; there are all, best, within(20) with any Bayes factor from 1 on, "
        "and kbest(100) with any whole number from 1 on"
    )
