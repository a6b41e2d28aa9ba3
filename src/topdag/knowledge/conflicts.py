"""Statements that cannot all hold: a smallest set of them, in words."""

from __future__ import annotations

from collections.abc import Sequence

from topdag.errors import ConstraintError
from topdag.knowledge.closure import Closure
from topdag.knowledge.facts import Statement


def settled(names: Sequence[str], statements: Sequence[Statement], *, is_open: bool = False) -> Closure:
    """What follows from the statements; ConstraintError names a smallest set that cannot all hold.

    ``is_open``: there may be variables beside these.
    """
    closure = _closure(names, statements, is_open)
    if closure is None:
        raise _error(smallest_conflict(names, statements, is_open=is_open))
    return closure


def smallest_conflict(
    names: Sequence[str], statements: Sequence[Statement], *, is_open: bool = False
) -> list[Statement]:
    """Statements that contradict each other, none of which could go, given that all of them together do.

    Large parts are tried first, so that few steps do when few statements matter.
    """
    left = list(statements)
    size = max(1, len(left) // 2)
    while True:
        at = 0
        while at < len(left):
            without = left[:at] + left[at + size :]
            if _closure(names, without, is_open) is None:
                left = without
            else:
                at += size
        if size == 1:
            return left
        size = max(1, min(size, len(left)) // 2)


def _closure(names: Sequence[str], statements: Sequence[Statement], is_open: bool) -> Closure | None:
    return Closure.of(names, (fact for statement in statements for fact in statement.facts), is_open=is_open)


def _error(conflict: Sequence[Statement]) -> ConstraintError:
    words = tuple(statement.words for statement in conflict)
    if not words:
        return ConstraintError("No network is allowed at all.")
    if len(words) == 1:
        return ConstraintError(f"This cannot hold: {words[0]}.", words)
    rest = ", and ".join(words[1:])
    return ConstraintError(f"This cannot all hold: {words[0]}, but {rest}. Drop one of them.", words)
