"""What a plan advises, said before a long run begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topdag._util.run import Run
from topdag.cli.output import labelled
from topdag.cli.streams import mention
from topdag.questions.request import Request

if TYPE_CHECKING:
    from topdag.questions.plan import Plan

SHORT = 20
"""Columns up to which nothing takes long, or much memory."""


def mention_advice(request: Request, question: str, run: Run, *, quiet: bool) -> None:
    """Whether it will take long, or more memory than there is, and what to change; nothing where all is well. What
    cannot be answered at all the question itself refuses, at once."""
    if quiet or request.table is None or request.kind is None or request.table.n_variables <= SHORT:
        return
    from topdag.questions.plan import NONE, plan  # small questions open only what they need

    planned = plan(
        request.table,
        request.kind,
        question=question,
        max_parents=request.max_parents,
        prior=request.prior,
        constraints=request.constraints,
        memory_limit=run.memory_limit,
    )
    if planned.advice and planned.engine != NONE:
        mention(labelled("plan", _in_words(planned)))


def _in_words(planned: Plan) -> str:
    takes = f"Memory {planned.memory_in_words}, time {planned.time_in_words}."
    return f"{takes} If that is too much: {planned.advice}."
