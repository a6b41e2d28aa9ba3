"""Lists of networks or classes as text: the best one, a table of all, how different they are, what is proved."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

from topdag._util.messages import plural
from topdag._util.run import Run, shown_bytes
from topdag.answers.compare import compare, edge_text, wrapped
from topdag.answers.lists import ClassList, NetworkList
from topdag.answers.results import Status
from topdag.answers.summary import summary
from topdag.cli.output import about_reading, about_table, labelled, network_text, rounded_up, score_lines
from topdag.cli.streams import WIDTH
from topdag.data.table import Table
from topdag.networks.network import Network
from topdag.questions.listing.sources import Wanted

LINES_SHOWN = 20
LEAST_WIDTH = 30
CLASSES_COUNTED = 1000
"""Networks of a list whose classes are told apart."""


def nouns(*, classes: bool) -> tuple[str, str]:
    """One of them, and several."""
    return ("class", "classes") if classes else ("network", "networks")


def list_text(
    found: NetworkList | ClassList, wanted: Wanted, table: Table | None, run: Run, *, show: int | None, quiet: bool
) -> str:
    """The list in words; unless quiet, also what is to be said about table and time."""
    paragraphs = [] if quiet else about_reading(table)
    if len(found):
        paragraphs += [_best(found), *_best_score(found), ""]
        paragraphs += [*table_lines(found, LINES_SHOWN if show is None else show), ""]
        paragraphs += ["How different are they?", str(summary(found)), ""]
        paragraphs += _on_ties(found)
    paragraphs.append(labelled("proof", proof_in_words(found, wanted)))
    if not quiet:
        paragraphs += about_table(table, found.notes)
        planned = shown_bytes(max(run.memory, found.stats.memory))
        paragraphs.append(labelled("time", f"{run.seconds:.3f} s, {plural(run.threads, 'thread')}, {planned} planned"))
    return "\n".join(paragraphs)


def _on_ties(found: NetworkList | ClassList) -> list[str]:
    """Networks of one class tie, whatever the data, unless the score or a prior tells them apart."""
    if not isinstance(found, NetworkList) or not found.source.score_equivalent:
        return []
    n_networks = min(len(found), CLASSES_COUNTED)
    if (n_classes := found.n_classes(n_networks)) == n_networks:
        return []
    which = f"{'first ' * (n_networks < len(found))}{n_networks:,} networks"
    classes = f"{n_classes:,} equivalence class{'es' * (n_classes > 1)}"
    return [
        labelled(
            "ties",
            f"The {which} are of {classes}: those of a class state the same independences and tie, which no data can "
            "decide. --classes lists each class once, and so reaches further.",
        )
    ]


def _best_score(found: NetworkList | ClassList) -> list[str]:
    value = found[0].score or 0.0 if found.prior is None else float(found.scores[0])
    return score_lines(value, found.source.kind, found.network(0), found.prior)


def table_lines(found: NetworkList | ClassList, most: int) -> list[str]:
    """One row each: rank, score, factor behind the best, share, size of a class, and how it differs from the best."""
    shown = min(most, len(found))
    columns = {
        "rank": [str(place + 1) for place in range(shown)],
        **_score_columns(found, shown),
        "factor": [factor_text(value) for value in found.factors[:shown].tolist()],
        "share": [share_text(value) for value in found.shares_if_known[:shown].tolist()],
    }
    if isinstance(found, ClassList):
        columns["size"] = [f"{size:,}" for size in found.sizes[:shown]]
    changes: list[Sequence[str]] = [["the best, shown above"]]
    changes += [compare(found[0], found[place]).changes for place in range(1, shown)]
    lines = _aligned(columns, "edges: + added, - dropped, ~ turned", changes[:shown]) if shown else []
    left = len(found) - shown
    return [*lines, f"{left:,} more are not shown; --show {len(found)} shows all, -o writes them"] if left else lines


def _score_columns(found: NetworkList | ClassList, shown: int) -> dict[str, list[str]]:
    """The score; under a prior also what of it is the data's."""
    by_data = [f"{item.score:.6f}" for item in found[:shown]]
    if found.prior is None:
        return {"score": by_data}
    return {"score": [f"{value:.6f}" for value in found.scores[:shown].tolist()], "data": by_data}


def factor_text(factor: float) -> str:
    return f"{factor:,.2f}" if factor < 1e6 else f"{factor:.1e}" if factor < math.inf else "over 1e308"


def share_text(share: float) -> str:
    if math.isnan(share):
        return "?"
    return f"{share:.2%}" if share >= 1e-4 else "<0.01%"


def proof_in_words(found: NetworkList | ClassList, wanted: Wanted) -> str:
    space = f"among {found.proof.space}"
    if found.proof.status is Status.STOPPED:
        return f"{_stopped_in_words(found)}, {space}."
    if not len(found):
        return f"No network is allowed, {space}."
    one, several = nouns(classes=isinstance(found, ClassList))
    within = "" if wanted.factor == math.inf else f" within a Bayes factor of {wanted.factor:g} of the best"
    if len(found) != wanted.most:
        return f"Proved: no {one}{within} is missing, {space}."
    best = f"best {one} is" if len(found) == 1 else f"{len(found):,} best {several} are"
    return f"Proved: the {best} listed; no other{within} scores more than the last, though some may tie, {space}."


def _stopped_in_words(found: NetworkList | ClassList) -> str:
    one, several = nouns(classes=isinstance(found, ClassList))
    stopped = f"Stopped by {found.proof.limit_in_words}"
    if not math.isfinite(found.floor):
        return f"{stopped} before anything was known"
    floor = rounded_up(found.floor)
    if not len(found):
        return f"{stopped} before anything was listed; no {one} scores above {floor}"
    if found.floor > found.scores[0]:
        begun = f"{stopped}: the list begins with the best found, which is not proved; others may score up to {floor}"
        vague = found.proof.vague_in_words
        return f"{begun}, which is {rounded_up(found.proof.gap)} more ({vague})" if vague else begun
    behind = factor_text(math.exp(min(700.0, found.scores[0] - found.floor)))
    return (
        f"{stopped}: the list is complete above the floor {floor}, a factor of {behind} behind the best; "
        f"{several} that score less may be missing"
    )


def count_text(counted: str, factor: float, space: str) -> str:
    return textwrap.fill(f"{counted} within a Bayes factor of {factor:g} of the best, among {space}.", WIDTH)


def _best(found: NetworkList | ClassList) -> str:
    """The first of the list: families, or the edges of a class."""
    item = found[0]
    if isinstance(item, Network):
        return network_text(item)
    edges = [edge_text(edge, "->") for edge in item.directed] + [edge_text(edge, "--") for edge in item.undirected]
    return "\n".join(edges) or "no edges"


def _aligned(columns: Mapping[str, Sequence[str]], title: str, changes: Sequence[Sequence[str]]) -> list[str]:
    """Columns set flush right, and changes in as many lines as they need."""
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    start = "  ".join(f"{name:>{width}}" for name, width in widths.items()) + "  "
    lines = [start + title]
    room = max(LEAST_WIDTH, WIDTH - len(start))
    for cells, change in zip(zip(*columns.values(), strict=True), changes, strict=True):
        row = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths.values(), strict=True)) + "  "
        first, *more = wrapped(change, room)
        lines += [row + first, *(" " * len(start) + line for line in more)]
    return lines
