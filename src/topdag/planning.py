"""What a question will take, said before anything is done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from topdag.block_lattice import block_lattice_bytes
from topdag.engines import (
    BLOCK_LIMIT,
    Engine,
    best_network_bytes,
    engine_for_best,
    require_narrow,
    scores_by_lists,
    set_bytes,
)
from topdag.errors import ScoreError, TooLarge
from topdag.pruned_scoring import require_rule
from topdag.runs import available_memory, parse_bytes, shown_bytes, usable_cores
from topdag.score_kinds import BDeu, ScoreKind
from topdag.score_making import as_table, check_kind, check_max_parents, scored_columns

SECONDS_PER_SET = {Engine.DENSE: 0.4e-6, Engine.BLOCKS: 0.4e-6}
"""Scoring and search of one of the 2^n sets on two cores; from bench/RESULTS.md. Rows add to it."""
SEARCH_BYTES = 2e8
"""What a search starts with; it grows with the families kept and the sets met."""


@dataclass(frozen=True)
class Plan:
    """What will answer a question, why, and what it takes. ``seconds``: a rough guess, None where it depends on the
    data; ``memory``: bytes; ``fits``: whether so many are there; ``advice``: what to change where they are not."""

    question: str
    n_variables: int
    n_rows: int
    kind: ScoreKind
    engine: str
    reason: str
    seconds: float | None
    memory: int
    fits: bool
    advice: str

    def __str__(self) -> str:
        time = "depends on the data; give a time_limit" if self.seconds is None else f"about {_duration(self.seconds)}"
        lines = [
            f"question   {self.question} of {self.n_variables} variables, {self.n_rows:,} rows, {self.kind}",
            f"engine     {self.engine}: {self.reason}",
            f"time       {time}",
            f"memory     {shown_bytes(self.memory)}{'' if self.fits else ', more than there is'}",
        ]
        return "\n".join([*lines, *([f"advice     {self.advice}"] if self.advice else [])])


QUESTIONS = {"best": "the best network", "list": "a list of networks or classes"}


def plan(
    source: Any,
    kind: ScoreKind | None = None,
    *,
    question: str = "best",
    max_parents: int | None = None,
    memory_limit: int | str | None = None,
) -> Plan:
    """What the best network (or, with ``question="list"``, a list) of a table would take, without doing it."""
    kind = BDeu() if kind is None else kind
    check_kind(kind)
    check_max_parents(max_parents)
    if question not in QUESTIONS:
        raise ScoreError(f"question must be {' or '.join(map(repr, QUESTIONS))}, not {question!r}.")
    table = as_table(source)
    n = len(scored_columns(table))
    allowed = available_memory() if memory_limit is None else parse_bytes(memory_limit)
    asked = (QUESTIONS[question], n, table.n_rows, kind)
    try:
        if question == "list":
            require_narrow(n, "a list of networks")
        choice = scores_by_lists(n, table.n_rows, kind, max_parents, everything=False)
        if choice.engine is not Engine.SEARCH:
            choice = engine_for_best(n, listed=False)
        else:
            require_rule(kind, n, max_parents)
    except (TooLarge, ScoreError) as error:
        return Plan(*asked, engine="none", reason=str(error), seconds=None, memory=0, fits=False, advice=_advice(n))
    searched = choice.engine is Engine.SEARCH
    memory = SEARCH_BYTES if searched else bytes_for_all_sets(n, question, usable_cores())
    per_set = SECONDS_PER_SET.get(choice.engine)
    fits = memory <= allowed
    return Plan(
        *asked,
        engine=choice.engine.value,
        reason=choice.reason,
        seconds=None if per_set is None else per_set * 2**n * max(1, 2 / usable_cores()) + 0.01,
        memory=int(memory),
        fits=fits,
        advice="" if fits else _advice(n),
    )


def bytes_for_all_sets(n: int, question: str, threads: int) -> float:
    """What tables over all sets take, the list itself not counted."""
    if engine_for_best(n, listed=False).engine is Engine.BLOCKS:
        return set_bytes(n) + block_lattice_bytes(n, backward=question == "list", threads=threads)
    # A list takes the backward table, and bounds of the families of as many variables as there are threads.
    return best_network_bytes(n) + (0 if question == "best" else (1 + threads) * set_bytes(n))


def _advice(n: int) -> str:
    advice = "limit the parents (max_parents), which leaves few sets, or use BIC, whose penalty does the same"
    return advice + (f"; or leave out {n - BLOCK_LIMIT} columns" if n > BLOCK_LIMIT else "")


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "a second or less"
    return f"{math.ceil(seconds)} s" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
