"""The best network, drawn, with its proof in plain words."""

from __future__ import annotations

import math

from topdag.answers.results import Answer, Proof, Status
from topdag.networks.drawing.svg import Drawing, by_place, edge_svg, shown
from topdag.networks.equivalence import EquivalenceClass
from topdag.networks.network import Network
from topdag.report.figures import drawn, figure
from topdag.report.gathered import AveragedMatrix, Gathered, Missing, limit_in_words
from topdag.report.markup import (
    Html,
    count,
    details,
    joined,
    named,
    number,
    paragraph,
    percent,
    rows,
    section,
    table,
    tag,
)
from topdag.scoring.kinds.discrete import ScoreKind

TITLE = "The best network"


def best_section(found: Gathered, drawing: Drawing | None) -> Html:
    answer = found.best
    if isinstance(answer, Missing):
        return section("best", TITLE, paragraph(f"There is no best network here, because {answer.reason}."))
    network = answer.network
    if network is None or drawing is None:
        return section("best", TITLE, tag("div", *_proof_in_words(answer, found), class_="proof"))
    return section(
        "best",
        TITLE,
        tag("div", *_proof_in_words(answer, found), class_="proof"),
        figure("best-figure", _picture(network, drawing, found), _legend(network, found)),
        rows(*_facts(answer, network, found)),
        details("Every edge", _edges(network, found)) if network.edges else Html(""),
        details("Every variable with its parents", _families(network)),
        details("The proof in exact words", paragraph(_exact(answer.proof)), *_cautions(found.kind)),
    )


def _proof_in_words(answer: Answer, found: Gathered) -> list[Html]:
    proof = answer.proof
    if proof.status is Status.INFEASIBLE:
        return [paragraph(tag("strong", "No network is possible."), " Nothing satisfies all that was asked for.")]
    if proof.status is Status.STOPPED:
        return [_stopped(proof)]
    text = (
        ", none scores higher than this one. This is not an estimate: the search covered every one of them, or "
        "ruled it out by a bound."
    )
    return [paragraph(tag("strong", "Proved. "), "Of ", *_how_many(found), text), *_ties(found)]


def _stopped(proof: Proof) -> Html:
    limit = limit_in_words(proof)
    start = f" The search was ended by {limit}. This is the best network found by then; a better one may exist"
    if not math.isfinite(proof.gap):
        return paragraph(tag("strong", "Not proved."), f"{start}, and no bound is known.")
    most = f", but none scores more than {number(proof.bound)}, which is {number(proof.gap)} above it."
    if proof.vague_in_words:
        most += " That bound is too far away to tell how good this network is."
    return paragraph(tag("strong", "Not proved."), start, most)


def _how_many(found: Gathered) -> list[str]:
    n = len(found.names) - len(constant_names(found))
    total = networks_on(n)
    many = [f"all {total:,}"] if total < 10**15 else ["about 10", tag("sup", f"{math.log10(total):.0f}")]
    limits = [f"with at most {count(found.max_parents, 'parent')} each"] if found.max_parents is not None else []
    limits += ["that satisfy the constraints"] if found.constraints else []
    only = f", and of them those {' and '.join(limits)}" if limits else ""
    return [*many, f" networks on {count(n, 'variable')}{only}"]


def constant_names(found: Gathered) -> tuple[str, ...]:
    """Variables with a single state, which stay without edges."""
    return () if found.table is None or found.table.keep_constant else found.table.constant


def networks_on(n: int) -> int:
    """How many networks there are on n variables [Robinson 1977]."""
    counts = [1]
    for m in range(1, n + 1):
        terms = ((-1) ** (k + 1) * math.comb(m, k) * 2 ** (k * (m - k)) * counts[m - k] for k in range(1, m + 1))
        counts.append(sum(terms))
    return counts[n]


def _ties(found: Gathered) -> list[Html]:
    own = own_class(found)
    if own is None or own.size == 1:
        return []
    others = f"{count(own.size - 1, 'other network')} {'scores' if own.size == 2 else 'score'} exactly the same: "
    why = "with the same independences, only the direction of some edges differs, which data alone cannot tell."
    return [paragraph(others, why)]


def own_class(found: Gathered) -> EquivalenceClass | None:
    """The class of the best network, where all its members score the same."""
    if isinstance(found.best, Missing) or found.best.network is None:
        return None
    equivalent = (
        found.kind is not None and found.kind.score_equivalent and found.prior is None and not found.constraints
    )
    return EquivalenceClass(found.best.network) if equivalent else None


def _picture(network: Network, drawing: Drawing, found: Gathered) -> Html:
    own = own_class(found)
    open_heads = set(by_place(network.names, own.undirected)) if own is not None else set()
    edges = []
    for edge in by_place(network.names, network.edges):
        is_open = edge in open_heads or edge[::-1] in open_heads
        said = _edge_in_words(found, edge, open_head=is_open)
        edges.append(edge_svg(drawing.route(edge), said, is_open=is_open, data_a=edge[0], data_b=edge[1]))
    listed = ", ".join(f"{shown(a)} to {shown(b)}" for a, b in network.edges) or "no edges"
    return drawn(drawing, edges, f"The best network. Edges: {listed}.")


def _edge_in_words(found: Gathered, edge: tuple[int, int], *, open_head: bool) -> str:
    a, b = (shown(found.names[v]) for v in edge)
    words = f"{a} → {b}"
    if isinstance(found.edges, AveragedMatrix):
        words += f"; probability {found.edges.matrix[edge]:.3f}"
        words += f", {found.edges.matrix[edge] + found.edges.matrix[edge[::-1]]:.3f} either way"
    return words + ("; its direction is open" if open_head else "")


def _legend(network: Network, found: Gathered) -> Html:
    own = own_class(found)
    if own is None or not network.edges:
        return Html("")
    some = len(own.undirected)
    text = (
        f"{count(some, 'edge')} of {network.n_edges} {'has' if some == 1 else 'have'} an open arrow head: there are "
        "networks that fit exactly as well in which they point the other way. The filled ones point the same way in "
        "all of these."
    )
    return Html("") if not some else joined([text])


def _facts(answer: Answer, network: Network, found: Gathered) -> list[tuple[str, str | Html]]:
    facts: list[tuple[str, str | Html]] = [("Score", f"{number(answer.score, 6)} ({found.kind or 'from a file'})")]
    if answer.prior is not None and network.score is not None:
        parts = (
            f"{number(network.score, 6)} by the data, {number(answer.score - network.score, 6)} by the {answer.prior}"
        )
        facts.append(("Of these", parts))
    facts.append(("Edges", f"{network.n_edges}"))
    if (own := own_class(found)) is not None:
        facts.append(("Networks in its class", f"{own.size:,}"))
    if found.log_evidence is not None:
        share = math.exp(min(0.0, answer.score - found.log_evidence))
        facts.append(("Its share of the posterior", percent(share)))
    return facts


def _edges(network: Network, found: Gathered) -> Html:
    """The edges with what is known of each: its direction, its probability."""
    own, sure = own_class(found), found.edges
    turned = set() if own is None else {frozenset(pair) for pair in own.undirected}
    head = ["From", "To"] + ["Direction"] * (own is not None)
    head += ["Probability", "Either way"] * isinstance(sure, AveragedMatrix)
    body = []
    for (a, b), place in zip(network.edges, by_place(network.names, network.edges), strict=True):
        cells = [tag("td", named(a)), tag("td", named(b))]
        if own is not None:
            cells.append(tag("td", "open" if frozenset((a, b)) in turned else "the same in the whole class"))
        if isinstance(sure, AveragedMatrix):
            p, back = float(sure.matrix[place]), float(sure.matrix[place[::-1]])
            cells += [tag("td", f"{value:.3f}", class_="number") for value in (p, p + back)]
        body.append(tag("tr", *cells))
    return table("Edges", head, body)


def _families(network: Network) -> Html:
    body = []
    for name in network.names:
        parents = [part for parent in network.parents[name] for part in (", ", named(parent))][1:] or ["none"]
        value = "" if network.local_scores is None else number(network.local_scores[name], 4)
        body.append(
            tag("tr", tag("th", named(name), scope="row"), tag("td", *parents), tag("td", value, class_="number"))
        )
    return table("Families", ("Variable", "Parents", "Local score"), body)


def _exact(proof: Proof) -> str:
    if proof.status is Status.PROVED:
        return f"Proved best among {proof.space}."
    return f"No network scores above {proof.bound:.6f} among {proof.space}."


def _cautions(kind: ScoreKind | None) -> list[Html]:
    is_weight = kind is None or kind.is_likelihood
    return [
        paragraph(
            "Scores are natural logarithms; larger is better. "
            + "A difference of 3 means about twenty times as probable. " * is_weight
            + "The best network is best by this score and these data. It is not a diagram of cause and effect."
        )
    ]
