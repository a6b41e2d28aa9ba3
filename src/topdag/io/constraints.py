"""Constraints from files (.toml) and from the knowledge objects of pgmpy and causal-learn."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from topdag.errors import ConstraintError, FileError, why_not_opened
from topdag.knowledge.constraints import Constraints


def read_constraints(path: str | os.PathLike[str]) -> Constraints:
    """Constraints from a TOML file, whose keys are the arguments of ``Constraints`` (docs/guides/constraints.md).

    Pairs are lists of two names or texts such as "a->b"; rules are texts.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not a text in UTF-8, byte {error.start:,}; save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # what tomllib raises, also for numbers of thousands of digits
        raise FileError(f"{path}: this is not TOML: {error}") from error
    try:
        return Constraints.from_dict(content)
    except ConstraintError as error:
        raise ConstraintError(f"{path}: {error}", error.conflict) from None


def constraints_from(knowledge: Any, names: Sequence[str] | None = None) -> Constraints:
    """What a pgmpy ExpertKnowledge or a causal-learn BackgroundKnowledge says.

    Of pgmpy: required and forbidden edges, temporal order and search space; of causal-learn: required and forbidden
    edges, by node or by pattern, and tiers. ``names``: the variables, needed for a search space and for patterns.
    """
    if hasattr(knowledge, "required_rules_specs"):
        return _from_causal_learn(knowledge, names)
    if hasattr(knowledge, "required_edges") and hasattr(knowledge, "forbidden_edges"):
        return _from_pgmpy(knowledge, names)
    raise ConstraintError(
        "Constraints are read from pgmpy's ExpertKnowledge or causal-learn's BackgroundKnowledge, "
        f"not from {type(knowledge).__name__}."
    )


def _from_pgmpy(knowledge: Any, names: Sequence[str] | None) -> Constraints:
    space = set(_edges(getattr(knowledge, "search_space", None)))
    every = _required_names(names, "search_space") if space else ()
    return Constraints(
        required_edges=_edges(knowledge.required_edges),
        forbidden_edges=_edges(knowledge.forbidden_edges),
        tiers=[list(map(str, tier)) for tier in getattr(knowledge, "temporal_order", None) or [] if tier],
        allowed_parents={child: [parent for parent in every if (parent, child) in space] for child in every},
    )


def _from_causal_learn(knowledge: Any, names: Sequence[str] | None) -> Constraints:
    levels = {level: sorted(map(_name, nodes)) for level, nodes in sorted(knowledge.tier_map.items()) if nodes}
    closed: set[int] = getattr(knowledge, "forbidden_within_tiers", set())
    return Constraints(
        required_edges=[
            *_edges(knowledge.required_rules_specs),
            *_matching(knowledge.required_pattern_rules_specs, names),
        ],
        forbidden_edges=[
            *_edges(knowledge.forbidden_rules_specs),
            *_matching(knowledge.forbidden_pattern_rules_specs, names),
        ],
        forbidden_adjacencies=[pair for level in levels if level in closed for pair in combinations(levels[level], 2)],
        tiers=list(levels.values()),
    )


def _matching(patterns: Iterable[tuple[str, str]], names: Sequence[str] | None) -> list[tuple[str, str]]:
    """The edges between names that begin as the patterns, regular expressions, say."""
    listed = list(patterns)
    every = _required_names(names, "patterns of names") if listed else ()
    return [
        (a, b) for one, other in listed for a, b in permutations(every, 2) if re.match(one, a) and re.match(other, b)
    ]


def _required_names(names: Sequence[str] | None, what: str) -> Sequence[str]:
    if names is None:
        raise ConstraintError(f"{what}: give the variables too, such as constraints_from(knowledge, table.names).")
    return names


def _edges(pairs: Iterable[Any] | None) -> list[tuple[str, str]]:
    return [(_name(a), _name(b)) for a, b in pairs or ()]


def _name(variable: Any) -> str:
    """A text, or a causal-learn node, which knows its name."""
    return str(variable.get_name()) if hasattr(variable, "get_name") else str(variable)
