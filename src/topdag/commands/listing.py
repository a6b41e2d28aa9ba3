"""How ``topdag list`` and ``topdag within`` ask for a list, what they do with it, and how they end."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from topdag.commands.command import Exit, UsageError
from topdag.commands.list_options import list_tables
from topdag.commands.list_text import Request, count_text, list_text
from topdag.commands.options import ABOUT_TABLES, is_score_file, kind_from, refuse, run_from, table_from, writable
from topdag.commands.show import progress_line, say
from topdag.engines import plan_lattice
from topdag.errors import Interrupted, OutOfTime, ScoreError
from topdag.family_lists import FamilyLists
from topdag.files import read_scores
from topdag.list_files import SUFFIXES, list_lines, write_list
from topdag.list_questions import (
    classes_within,
    count_classes_within,
    count_networks_within,
    k_best_classes,
    k_best_networks,
    networks_within,
    require_score_equivalent,
)
from topdag.lists import ClassList, NetworkList
from topdag.questions import Asked, space_of, upper_bound
from topdag.results import Proof, Stats, Status
from topdag.runs import Run, peak_memory
from topdag.scores import MOST_IN_A_LIST, Scores, score_within, scores_from_lists
from topdag.table import Table

LINES_AT_ONCE = 1000
Found = NetworkList | ClassList


def answer_list(args: Namespace, wanted: Request) -> Exit:
    target = _target(args)
    with progress_line(quiet=args.quiet) as on_progress:
        run = run_from(args, on_progress)
        asked = _asked(args, wanted, run)
        found, code = _list_and_exit(asked, wanted, run)
    try:
        if target is not None:
            write_list(target, found)
    finally:  # a full disk must not cost the answer
        if args.json == "-":
            _print_lines(list_lines(found))
        else:
            say(list_text(found, wanted, asked.table, run, show=args.show, quiet=args.quiet))
    return code


def answer_count(args: Namespace, wanted: Request) -> Exit:
    with progress_line(quiet=args.quiet) as on_progress:
        run = run_from(args, on_progress)
        asked = _asked(args, wanted, run)
        found, code = _count_and_exit(asked, wanted, run)
    at_least = "at least " * (code in (Exit.STOPPED, Exit.INTERRUPTED))
    say(f"{at_least}{found}" if args.quiet else count_text(found, wanted, space_of(asked), at_least))
    return code


def _target(args: Namespace) -> Path | None:
    if args.json in (None, "-"):
        return None
    if not args.json.lower().endswith(SUFFIXES):
        raise UsageError(f"--json {args.json}: the name must end in {' or '.join(SUFFIXES)}")
    return writable(args.json, inputs=(args.file,))


def _asked(args: Namespace, wanted: Request, run: Run) -> Asked:
    if is_score_file(args.file):
        refuse(args, ABOUT_TABLES, "this is for tables, and FILE holds scores already")
        asked = Asked.from_scores(_scores_in(args.file, args, wanted))
    else:
        refuse(args, ("keep",), "this is for files of scores, and FILE is a table")
        kind = kind_from(args)
        if wanted.classes and not kind.score_equivalent:
            raise UsageError(
                f"--classes: {kind} does not give all networks of a class one score; bdeu, bic, aic and qnml do"
            )
        asked = Asked(table_from(args), kind, args.max_parents)
    run.timed("reading", 0.0)
    return asked


def _scores_in(path: str, args: Namespace, wanted: Request) -> Scores:
    if args.keep is not None and path.lower().endswith(".npz"):
        raise UsageError("--keep: a .npz file says itself what it holds")
    scores = read_scores(path, keep=args.keep or "best")
    try:
        scores.require_kept("A list", most=wanted.most or MOST_IN_A_LIST, factor=wanted.factor or math.inf)
    except ScoreError as error:
        reason = str(error).partition(" Score again ")[0]
        raise ScoreError(
            f"{path}: {reason} Score again with topdag score --keep all; for a .jkl or .pss file that was never "
            "pruned, add --keep all here."
        ) from None
    if wanted.classes:
        require_score_equivalent(scores, "--classes")
    return scores


def _list_and_exit(asked: Asked, wanted: Request, run: Run) -> tuple[Found, Exit]:
    """The list, or what was known of it when a limit or Ctrl-C came."""
    try:
        scores = _scores(asked, run)
        if scores is None:
            return _nothing_yet(asked, wanted, run, "time_limit"), Exit.STOPPED
        found = _listed(scores, wanted, run)
    except KeyboardInterrupt as interrupted:
        if isinstance(interrupted, Interrupted) and interrupted.answer is not None:
            return interrupted.answer, Exit.INTERRUPTED
        return _nothing_yet(asked, wanted, run, "Ctrl-C"), Exit.INTERRUPTED
    if found.proof.status is Status.STOPPED:
        return found, Exit.STOPPED
    return found, Exit.FINE if len(found) else Exit.FAILED


def _count_and_exit(asked: Asked, wanted: Request, run: Run) -> tuple[int, Exit]:
    """The count, or how many there are at least when a limit or Ctrl-C came."""
    assert wanted.factor is not None
    count = count_classes_within if wanted.classes else count_networks_within
    try:
        scores = _scores(asked, run)
        if scores is None:
            return 0, Exit.STOPPED
        _require_memory(len(scores.columns), run, held=sum(array.nbytes for array in scores.store.arrays))
        found = count(scores, wanted.factor, **_limits(run))
    except OutOfTime as stopped:
        return stopped.answer, Exit.STOPPED
    except KeyboardInterrupt as interrupted:
        return (interrupted.answer or 0) if isinstance(interrupted, Interrupted) else 0, Exit.INTERRUPTED
    return found, Exit.FINE if found else Exit.FAILED


def _scores(asked: Asked, run: Run) -> Scores | None:
    """None when the time is up before all families are scored."""
    if asked.scores is None:
        assert asked.table is not None and asked.kind is not None
        _require_memory(len(_scored_columns(asked.table)), run)
        asked.scores = score_within(asked.table, asked.kind, run, max_parents=asked.max_parents)
    return asked.scores


def _require_memory(n: int, run: Run, held: int = 0) -> None:
    """What cannot be listed is not scored either."""
    plan_lattice(max(1, n), run, held=held, more=list_tables(n, run.threads))


def _listed(scores: Scores, wanted: Request, run: Run) -> Found:
    if wanted.factor is not None:
        within = classes_within if wanted.classes else networks_within
        return within(scores, wanted.factor, at_most=wanted.most, **_limits(run))
    assert wanted.most is not None
    k_best = k_best_classes if wanted.classes else k_best_networks
    return k_best(scores, wanted.most, **_limits(run))


def _limits(run: Run) -> dict[str, Any]:
    """What is left of a run, for the question that goes on with it."""
    return {
        "time_limit": run.seconds_left,
        "memory_limit": run.memory_limit,
        "threads": run.threads,
        "on_progress": run.on_progress,
    }


def _nothing_yet(asked: Asked, wanted: Request, run: Run, limit: str) -> Found:
    """An empty list that is complete above a bound. Its scores are those of variables without parents."""
    table, kind = asked.table, asked.kind
    assert table is not None and kind is not None
    columns = _scored_columns(table)
    alone = [kind.local(table, v, []) for v in columns]
    lists = FamilyLists.build([table.names[v] for v in columns], [(x, (), value) for x, value in enumerate(alone)])
    few = scores_from_lists(lists, kind=kind, table=table, max_parents=asked.max_parents, notes=table.notes)
    bound = upper_bound(asked)
    return (ClassList if wanted.classes else NetworkList)(
        source=replace(few, names=table.names, columns=columns),
        scores=np.empty(0),
        parents=np.empty((0, len(columns)), dtype=np.uint64),
        floor=bound,
        proof=Proof(Status.STOPPED, bound, math.inf, limit, space_of(asked)),
        stats=Stats(run.seconds, dict(run.phases), run.threads, run.memory, peak_memory(), 0, 0, "none"),
    )


def _scored_columns(table: Table) -> tuple[int, ...]:
    return tuple(v for v in range(table.n_variables) if table.keep_constant or table.arities[v] > 1)


def _print_lines(lines: Iterator[str]) -> None:
    while chunk := list(islice(lines, LINES_AT_ONCE)):
        say("\n".join(chunk))
