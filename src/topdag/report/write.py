"""A report: one page to look at in a browser, with every answer, self-contained. ``write_report`` makes it."""

from __future__ import annotations

import os
from typing import Any, Unpack

from topdag._util.atomic_write import FilePath, write_whole
from topdag._util.brief import brief
from topdag._util.run import Run
from topdag.answers.effects import CausalEffects
from topdag.answers.lists import BestList
from topdag.answers.posteriors import EdgePosteriors, NetworkPosteriors, PathPosteriors
from topdag.answers.results import Answer
from topdag.errors import ScoreError
from topdag.knowledge.priors import Prior
from topdag.questions.request import Request, Said, checked_count, parted
from topdag.report.gathered import Gathered
from topdag.report.gathering import gather, note_sums
from topdag.scoring.kinds.discrete import KINDS_BY_NAME, KindLike, ScoreKind
from topdag.scoring.scores import Scores

DEFAULT_K, LARGEST_K = 20, 1000
Shown = Answer | BestList[Any] | NetworkPosteriors | EdgePosteriors | PathPosteriors | CausalEffects
PARTS = (Answer, BestList, NetworkPosteriors, EdgePosteriors, PathPosteriors, CausalEffects)
PAGE_SUFFIXES = (".html", ".htm")


@brief
def write_report(
    path: FilePath,
    *content: Any,
    kind: KindLike = None,
    k: int = DEFAULT_K,
    prior: Prior | None = None,
    title: str | None = None,
    budget: float | None = None,
    **options: Unpack[Said],
) -> None:
    """Writes one self-contained HTML page: the data, the best network with its proof, the k best classes, how sure
    each edge and path is, what would follow if a variable were set, what was assumed, what it cost.

    ``content``: scores, or a table, frame, array or path, with all that a question takes; and answers that are there
    already, which are not asked for again. Only with answers, the page shows just these. Under a ``prior``, or a score
    that is not the same for all networks of a class, the list is one of networks. ``budget``: seconds for the list and
    the probabilities, a minute unless it or ``time_limit`` is given; they take at most half of the free memory unless
    ``memory_limit`` is given. What cannot be had within the limits is left out, and the page says why; Ctrl-C leaves
    out the rest, and so does what ``on_progress`` raises, which is then raised when the page is written.

    >>> from topdag.networks.example import example_table
    >>> write_report("asia.html", example_table(), k=10)
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path).lower().endswith(PAGE_SUFFIXES):
        raise ScoreError(f"The first argument names the page to write and ends in .html, not {path!r}.")
    checked_count("k", k, 1, LARGEST_K)
    if budget is not None:
        Run(time_limit=budget)  # refuses what is no number of seconds
    limits, about = parted(options)
    run = Run(**limits)
    parts = [part for part in content if isinstance(part, PARTS)]
    sources = [part for part in content if not isinstance(part, PARTS)]
    kinds = [part for part in sources[1:] if isinstance(part, ScoreKind) or str(part).lower() in KINDS_BY_NAME]
    if kinds:
        raise ScoreError(f'The score goes by its name: write_report("page.html", table, kind={kinds[0]!r}).')
    if len(sources) > 1 or not content:
        raise ScoreError("Give one table or scores, or answers, or both, after the name of the page.")
    request = Request.about(sources[0], kind, about, prior) if sources else None
    found = _known(parts, request)
    if request is not None:
        gather(request, k, run, budget=budget, known=found)
    write_page(path, found, title or title_of(sources[0] if sources else None))
    if run.stopped_by is not None and not isinstance(run.stopped_by, KeyboardInterrupt):
        raise run.stopped_by  # the page has what was known when on_progress raised it


def write_page(path: FilePath, found: Gathered, title: str) -> None:
    import topdag
    from topdag.report.page import page_of  # only now: commands that write no page start faster

    page = page_of(found, title, topdag.__version__)
    write_whole(path, lambda file: file.write(page.encode("utf-8", "replace")))


def title_of(source: Any) -> str:
    """The name of the file without its folder, where there is one."""
    return (
        os.path.basename(os.fspath(source)) if isinstance(source, str | os.PathLike) else "Bayesian network structure"
    )


def _known(parts: list[Shown], request: Request | None) -> Gathered:
    """What the answers given say, of one and the same table."""
    names = {
        part.network.names if isinstance(part, Answer) and part.network is not None else _names(part) for part in parts
    }
    names |= set() if request is None else {request.known_names}
    names.discard(())
    if len(names) != 1:
        raise ScoreError("All parts of a report must be about the same variables in the same order.")
    found = _about(next(iter(names)), parts, request)
    for part in parts:
        if isinstance(part, Answer):
            found.best = part
        elif isinstance(part, BestList):
            found.listed = part
        elif isinstance(part, CausalEffects):
            found.effects = part
        else:
            note_sums(found, part)
    return found


def _names(part: Shown) -> tuple[str, ...]:
    return () if isinstance(part, Answer | CausalEffects) else part.names


def _about(names: tuple[str, ...], parts: list[Shown], request: Request | None) -> Gathered:
    listed = next((part for part in parts if isinstance(part, BestList)), None)
    answer = next((part for part in parts if isinstance(part, Answer)), None)
    known: Request | Scores | None = request if request is not None else None if listed is None else listed.source
    kind = answer.kind if known is None and answer is not None else None if known is None else known.kind
    if known is None:
        return Gathered(names, None, kind, prior=None if answer is None else answer.prior)
    return Gathered(names, known.table, kind, known.max_parents, known.constraints, known.prior)


__all__ = ["DEFAULT_K", "LARGEST_K", "Gathered", "title_of", "write_page", "write_report"]
