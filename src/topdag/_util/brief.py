"""Short tracebacks of what a user got wrong: the call that was made, not how the mistake was found."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection
from functools import wraps
from typing import ParamSpec, TypeVar

from topdag._util.messages import closest
from topdag.errors import ConstraintError, FileError, NetworkError, ScoreError, TableError, TooLarge

MISTAKES = (ConstraintError, FileError, NetworkError, ScoreError, TableError, TooLarge)
CALLED_OTHERWISE = {
    "score": "kind",
    "scoring_method": "kind",
    "equivalent_sample_size": "ess",
    "max_indegree": "max_parents",
    "black_list": "forbidden_edges",
    "blacklist": "forbidden_edges",
    "temporal_order": "tiers",
    "dropna": "missing",
    "usecols": "columns",
    "continuous": "types",
    "n_jobs": "threads",
    "random_state": "seed",
    "verbose": "on_progress",
}
"""What commands or other packages call an argument."""
DRAWN = ("n", "n_samples")
"""What is called k, as in a shell, or draws elsewhere."""
OF_CONSTRAINTS = ("required_edges", "forbidden_edges", "tiers", "ancestors", "roots", "leaves", "rules")
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class UnknownArgument(TypeError):
    """An argument that nothing takes; ``known``: the names of those that were looked for."""

    def __init__(self, name: str, known: Collection[str], asked: str = "") -> None:
        others = DRAWN if name in ("k", "draws") else (CALLED_OTHERWISE.get(name),)
        here = [other for other in others if other in known]
        if here:
            close = f"it is called {here[0]!r} here"
        elif name in OF_CONSTRAINTS and "constraints" in known:
            close = f"'constraints' takes it, as Constraints({name}=...)"
        elif (name, asked) == ("time_limit", "score(): "):
            close = "scoring has none; give it to a question, which scores too, such as best_network"
        else:
            close = closest(name, sorted(known))
        super().__init__(f"{asked}there is no argument {name!r}; {close}")
        self.name, self.known = name, known


def brief(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """The same, but a mistake is raised as if the function itself had found it; all of the way with TOPDAG_TRACEBACK
    set, as for the command line."""

    takes = _spread(function)

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except UnknownArgument as mistake:
            own = takes.parameters.values()
            known = {*mistake.known, *(each.name for each in own if each.kind is not each.VAR_KEYWORD)}
            raise UnknownArgument(mistake.name, known, f"{function.__name__}(): ") from None
        except MISTAKES as mistake:
            if os.environ.get("TOPDAG_TRACEBACK"):
                raise
            raise mistake.with_traceback(None) from mistake.__cause__

    called.__signature__ = takes  # type: ignore[attr-defined]
    return called


def _spread(function: Callable[..., object]) -> inspect.Signature:
    """Its arguments as help() shows them: those that a TypedDict stands for one by one."""
    whole = inspect.signature(function)
    *named, last = whole.parameters.values()
    options = function.__globals__.get(str(last.annotation).removeprefix("Unpack[").removesuffix("]"))
    if last.kind is not inspect.Parameter.VAR_KEYWORD or options is None:
        return whole
    one = last.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=...)
    of_each = {name: getattr(kind, "__forward_arg__", kind) for name, kind in options.__annotations__.items()}
    return whole.replace(parameters=[*named, *(one.replace(name=name, annotation=of) for name, of in of_each.items())])
