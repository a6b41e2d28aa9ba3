"""What a plan advises, said before a long run begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topdag._util.run import Run
from topdag.cli.output import labelled
from topdag.cli.streams import mention
from topdag.questions.request import Request

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.questions.plan import Plan

SHORT, LITTLE_WORK = 20, 1e8
"""Columns, and rows times sets of these columns, up to which nothing takes long, or much memory."""


def mention_advice(request: Request, question: str, run: Run, *, quiet: bool) -> None:
    """Whether it will take long, or more memory than there is, and what to change; nothing where all is well. What
    cannot be answered at all the question itself refuses, at once."""
    if quiet or request.table is None or request.kind is None or _is_short(request.table):
        return
    from topdag.questions.plan import NONE, plan_of  # small questions open only what they need

    planned = plan_of(request, question, run.memory_limit, time_limit=run.time_limit)
    if planned.advice and planned.engine != NONE:
        mention(labelled("plan", _in_words(planned)))


def _is_short(table: Table) -> bool:
    n = table.n_variables
    return n <= SHORT and table.chunks is None and table.n_distinct * 2.0**n <= LITTLE_WORK


def _in_words(planned: Plan) -> str:
    takes = f"Memory {planned.memory_in_words}, time {planned.time_in_words}."
    return f"{takes} If that is too much: {planned.advice}."
