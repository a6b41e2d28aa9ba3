"""What a question gives back: the answer, what was proved about it, and what it cost."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topdag._util.stop import Stop
from topdag.errors import NetworkError
from topdag.knowledge.priors import Prior
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import ScoreKind, kind_to_dict
from topdag.scoring.kinds.interventions import without_interventions
from topdag.scoring.rounding import HOPELESS_NATS
from topdag.search.reach import FURTHEST, LARGEST_REACH


class Status(enum.StrEnum):
    """PROVED: no network in the space scores more. STOPPED: a limit came first, ``bound`` still holds.
    INFEASIBLE: the space holds no network at all. Each equals its name as a text, in any case."""

    PROVED = "proved"
    STOPPED = "stopped"
    INFEASIBLE = "infeasible"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.lower() == self.value

    __hash__ = str.__hash__
    __str__ = enum.Enum.__str__  # Status.PROVED, as it is written in a program


VAGUE_SHARE = 0.01
"""Of the score of a network: a gap below is never called vague, even where edges gain less."""
LIMITS = {
    Stop.INTERRUPT: "Ctrl-C",
    Stop.NOTHING_FOUND: "no network that satisfies the constraints was found",
    Stop.WEAK_RELAXATION: "the relaxation is weak",
    Stop.FAR_BEHIND_BEST: f"{LARGEST_REACH:g} nats behind the best",
    Stop.TOO_FAR: f"{FURTHEST:,.0f} nats behind the best network without constraints",
    Stop.CUT_OFF: f"the cut-off at {HOPELESS_NATS:g} nats below the best",
}


def limit_text(stop: Stop | None) -> str | None:
    """What ``proof.limit`` says of it: a sentence, or the name of the argument that set the limit."""
    return None if stop is None else LIMITS.get(stop, stop.name.lower())


@dataclass(frozen=True)
class Proof:
    """What is certain. No network in ``space`` scores above ``bound``; ``gap`` is bound minus score;
    ``limit`` names the limit that stopped the search, None when it ended by itself. ``gain``: how much more the network
    scores than the one without edges; None where that was not asked for, or has no score."""

    status: Status
    bound: float
    gap: float
    limit: str | None
    space: str
    gain: float | None = None

    @property
    def short_space(self) -> str:
        """The space without the precision of local scores."""
        return self.space.partition("; local scores rounded")[0]

    @property
    def is_vague(self) -> bool:
        """Whether the bound does not tell how good the network is: the gap is larger than all its edges gain together,
        and than a hundredth of its score."""
        if self.status is not Status.STOPPED:
            return False
        if not math.isfinite(self.gap):
            return True
        score = self.bound - self.gap
        return self.gain is not None and self.gap > max(self.gain, VAGUE_SHARE * abs(score))

    @property
    def limit_in_words(self) -> str:
        limit = str(self.limit)
        return f"the {limit.replace('_', ' ')}" if limit.endswith("_limit") else limit

    def __str__(self) -> str:
        if self.status is Status.PROVED:
            return f"proved best among {self.short_space}"
        if self.status is Status.INFEASIBLE:
            return f"no network is allowed among {self.space}"
        if not math.isfinite(self.bound):
            return f"stopped by {self.limit}; no bound is known yet among {self.space}"
        gap = f"gap {self.gap:.6f}" if math.isfinite(self.gap) else "no network was found yet"
        vague = f", {self.vague_in_words}" if self.vague_in_words else ""
        return f"stopped by {self.limit}; no network scores above {self.bound:.6f} ({gap}{vague}) among {self.space}"

    @property
    def vague_in_words(self) -> str:
        """Why the bound does not tell how good the network is; empty where it does, and where there is no network."""
        if not self.is_vague or self.gain is None:
            return ""
        gained = f"all its edges together gain {self.gain:.6f}" if self.gain > 0 else "its edges gain nothing"
        return f"too much to tell how good this network is: {gained}"


def proof_of(limit: Stop | None, best: float, most: float, space: str, gain: float | None = None) -> Proof:
    """Of the best that was found, minus infinity where there is none, when nothing scores above ``most``; ``limit``:
    what came before that was certain, None when it is; ``gain``: as of a proof."""
    if limit is None:
        return Proof(Status.PROVED if best > -math.inf else Status.INFEASIBLE, best, 0.0, None, space)
    bound = max(best, most)
    return Proof(Status.STOPPED, bound, bound - best, limit_text(limit), space, gain)


@dataclass(frozen=True)
class Stats:
    """What it cost. ``phases``: seconds by phase; ``memory``: bytes planned for; ``peak_memory``: the most this
    process has held so far; ``sets`` and ``families``: how many were scored; ``engine`` and ``reason``: what answered,
    and why it was chosen; ``work``: what else was counted, by name (see docs/explanation/method.md)."""

    seconds: float
    phases: Mapping[str, float]
    threads: int
    memory: int
    peak_memory: int
    sets: int
    families: int
    engine: str
    reason: str = ""
    work: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "phases": dict(self.phases), "work": dict(self.work)}


class WithNetwork:
    """What an answer offers of the network it found."""

    @property
    def _found(self) -> Network:
        raise NotImplementedError

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All pairs (parent, child) of the network."""
        return self._found.edges

    def plot(self, axes: Any = None) -> Any:
        """Draws the network with matplotlib, on ``axes`` or a new figure, and returns the axes."""
        return self._found.plot(axes)

    def to_networkx(self) -> Any:
        """The network as a ``networkx.DiGraph``."""
        return self._found.to_networkx()

    def _repr_html_(self) -> str:
        """For notebooks: the network drawn, and below it what is said of it."""
        from topdag._util.html import notes_html

        said = str(self).removeprefix(str(self._found)).strip()
        return self._found.to_svg() + notes_html([said])


@dataclass(frozen=True)
class Answer(WithNetwork):
    """A network with its score, the proof and the cost. ``network`` is None only when none is allowed.

    Under a ``prior``, ``score`` is the data's plus the log weight of the network. ``notes``: what was done to the
    table; ``reading``: what was said about reading it.
    """

    network: Network | None
    score: float
    proof: Proof
    stats: Stats
    kind: ScoreKind | None = None
    notes: tuple[str, ...] = ()
    prior: Prior | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    about_table: tuple[str, ...] = ()
    """How the table was understood: its size, and the decisions among the notes."""

    @property
    def proved(self) -> bool:
        """Whether no network in the space scores more."""
        return self.proof.status is Status.PROVED

    @property
    def _found(self) -> Network:
        if self.network is None:
            raise NetworkError(f"There is no network: {self.proof}.")
        return self.network

    def __repr__(self) -> str:
        return f"<Answer: {self.network!r}, {self.kind}, {self.proof.status.name}>"

    def __str__(self) -> str:
        return "\n".join(
            [*self.about_table, str(self.network) if self.network is not None else "no network", *self._said]
        )

    @property
    def _said(self) -> list[str]:
        """What is said of the network."""
        lines = []
        if self.network is not None:
            lines.append(f"score {self.score:.6f}" + ("" if self.kind is None else f", {self.kind}"))
        if self.prior is not None and self.network is not None and self.network.score is not None:
            added = self.score - self.network.score
            lines.append(f"of these {self.network.score:.6f} by the data and {added:+.6f} by the {self.prior}")
        return [*lines, str(self.proof), *(note for note in self.notes if note not in self.about_table)]

    def _repr_html_(self) -> str:
        from topdag._util.html import notes_html

        if self.network is None:
            return notes_html([str(self)])
        return notes_html(self.about_table) + self.network.to_svg() + notes_html(self._said)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: infinite numbers become None."""
        proof = self.proof
        return {
            "format": "topdag-answer",
            "version": 1,
            "network": None if self.network is None else self.network.to_dict(),
            "score": finite_or_none(self.score),
            "kind": kind_to_dict(without_interventions(self.kind)),  # reading says the rest
            "prior": None if self.prior is None else str(self.prior),
            "proof": {
                "status": proof.status.name,
                "bound": finite_or_none(proof.bound),
                "gap": finite_or_none(proof.gap),
                "limit": proof.limit,
                "space": proof.space,
            },
            "stats": self.stats.to_dict(),
            "notes": list(self.notes),
            "reading": dict(self.reading),
        }


def finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
