"""Answers in words, and how a long computation stands."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from topdag._util.atomic_write import write_as_named
from topdag._util.messages import plural
from topdag._util.progress import TerminalLine, is_terminal
from topdag._util.run import OnProgress, shown_bytes
from topdag.answers.results import Answer, Proof, Status
from topdag.cli.streams import WIDTH, mention
from topdag.data.table import Table
from topdag.knowledge.priors import OrderModular, Prior
from topdag.networks.network import REVERSIBLE, Network
from topdag.scoring.kinds.discrete import BIC, ScoreKind

WIDEST_FAMILY = 64
MOST_DOUBTS = 3
"""Notes in a first answer."""


def write_text(target: Path, text: str) -> None:
    write_as_named(target, lambda file: file.write(text.encode()))


def as_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def as_json(content: Mapping[str, Any]) -> str:
    """Plain ASCII, so that it is the same in every encoding."""
    return json.dumps(content, indent=2, allow_nan=False)


def answer_text(
    answer: Answer,
    table: Table | None,
    *,
    quiet: bool = False,
    scores: bool = False,
    verbose: bool = False,
    next_step: str = "",
) -> str:
    """Return how the table was understood, the network, its score, the proof, doubts and the next command.

    ``quiet`` leaves the network, its score and the proof; ``scores`` adds local scores, ``verbose`` all notes, the
    precision of the proof and the cost.
    """
    paragraphs = [] if quiet else about_reading(table)
    if answer.network is not None:
        said = score_lines(answer.score, answer.kind, answer.network, answer.prior, bits=verbose)
        paragraphs += [network_text(answer.network, scores=scores or verbose), *said]
    paragraphs.append(labelled("proof", proof_in_words(answer.proof, precisely=verbose)))
    if quiet:
        return "\n".join(paragraphs)
    doubts = [note for note in answer.notes if note not in answer.about_table]
    shown = doubts if verbose else doubts[:MOST_DOUBTS]
    paragraphs += [labelled("note", note) for note in shown]
    if len(doubts) > len(shown):
        paragraphs.append(labelled("note", f"{plural(len(doubts) - len(shown), 'more note')} with --verbose."))
    if verbose:
        paragraphs.append(labelled("time", time_in_words(answer)))
    elif next_step:
        paragraphs.append(labelled("next", next_step))
    return "\n".join(paragraphs)


def network_text(network: Network, *, scores: bool = True) -> str:
    """Return one line for each family, with its local score where that is known and asked for."""
    families = {name: _family(_quoted(name), network.marked_parents(name, _quoted)) for name in network.names}
    said = [f"* {REVERSIBLE}"] if network.reversible else []
    if network.local_scores is None or not scores:
        return "\n".join([*families.values(), *said])
    width = min(WIDEST_FAMILY, max(map(len, families.values())))
    lines = [f"{text:<{width}}  {network.local_scores[name]:16.6f}" for name, text in families.items()]
    return "\n".join(lines + said)


def family_text(variable: str, parents: Sequence[str]) -> str:
    """A variable and its parents."""
    return _family(_quoted(variable), list(map(_quoted, parents)))


def _family(variable: str, parents: Sequence[str]) -> str:
    return variable + (f" <- {', '.join(parents)}" if parents else "")


def _quoted(name: str) -> str:
    """Names that could not be told from the rest of a line are quoted."""
    return name if name.isprintable() and "," not in name and not name.endswith("*") else repr(name)


def score_lines(
    value: float,
    kind: ScoreKind | None,
    network: Network | None = None,
    prior: Prior | None = None,
    *,
    bits: bool = True,
) -> list[str]:
    """Return the score, what of it is the data's and what the prior's, and MDL in ``bits``, which knows no prior."""
    name = "as in the file" if kind is None else str(kind)
    by_data = value if network is None or network.score is None else network.score
    lines = [labelled("score", f"{value:.6f} nats, {name}")]
    if prior is not None and network is not None:
        parts = f"{by_data:.6f} by the data ({name}), {value - by_data:+.6f} by the {prior}"
        lines = [labelled("score", f"{value:.6f} nats: {parts}")]
        if isinstance(prior, OrderModular):
            lines.append(labelled("orders", f"{network.linear_extensions:,} agree with the network"))
    if isinstance(kind, BIC) and bits:
        lines.append(labelled("MDL", f"{-by_data / math.log(2):.3f} bits"))
    return lines


def proof_in_words(proof: Proof, *, precisely: bool = True) -> str:
    """Return the proof as a sentence; ``precisely``: with the precision of local scores."""
    space = proof.space if precisely else proof.short_space
    if proof.status is Status.PROVED:
        return f"Proved: no network scores more, among {space}."
    if proof.status is Status.INFEASIBLE:
        return f"No network is allowed, among {space}."
    stopped = f"Stopped by {proof.limit_in_words}: a better network may exist"
    if not math.isfinite(proof.bound):
        return f"{stopped}; no bound is known yet, among {space}."
    bound, gap = rounded_up(proof.bound), rounded_up(proof.gap)
    if not math.isfinite(proof.gap):
        return f"{stopped}, and no network was found yet; none scores above the bound {bound}, among {space}."
    vague = f" ({proof.vague_in_words})" if proof.vague_in_words else ""
    return f"{stopped}, but none scores above the bound {bound}, which is {gap} more{vague}, among {space}."


def rounded_up(value: float) -> str:
    """A bound must not lose in print what makes it one."""
    return f"{math.ceil(value * 1e6) / 1e6:.6f}" if math.isfinite(value) else str(value)


def about_table(table: Table | None, notes: Sequence[str]) -> list[str]:
    """Return the doubts about a table and its answer, which stand at the end."""
    decisions = () if table is None else table.decisions
    return [labelled("note", note) for note in notes if note not in decisions]


def about_reading(table: Table | None) -> list[str]:
    """Return how a table was understood, which stands first, a paragraph for each decision, and an empty line."""
    if table is None:
        return []
    said = (f"{table.summary}.", *table.decisions)
    return [*(labelled("" if place else "table", line) for place, line in enumerate(said)), ""]


def mention_notes(notes: Sequence[str]) -> None:
    """For commands whose answer is for other programs."""
    for line in about_table(None, notes):
        mention(line)


def table_in_words(table: Table) -> str:
    return f"{table.n_variables} variables, {table.rows_in_words}"


def time_in_words(answer: Answer) -> str:
    stats = answer.stats
    threads = f"{stats.threads} thread{'s' * (stats.threads != 1)}"
    memory = f"{shown_bytes(stats.memory)} planned" if stats.memory else f"{shown_bytes(stats.peak_memory)} at most"
    return f"{stats.seconds:.3f} s, {threads}, {memory}, {stats.engine}"


def labelled(label: str, text: str) -> str:
    """A paragraph with its label in a column of its own."""
    start = f"{label:<7}"
    indent = " " * len(start)
    wrapper = textwrap.TextWrapper(
        WIDTH, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(text)


def line_for(*, quiet: bool) -> TerminalLine | None:
    return TerminalLine() if is_terminal() and not quiet else None


@contextlib.contextmanager
def progress_line(*, quiet: bool) -> Iterator[OnProgress]:
    """Shows on stderr how a computation stands, if that is a terminal; wiped out at the end."""
    line = line_for(quiet=quiet)
    if line is None:
        yield False
        return
    try:
        yield line.show
    finally:
        line.wipe()
