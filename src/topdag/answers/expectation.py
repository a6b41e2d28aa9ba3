"""What structural EM gives back: a network, how it was climbed to, and what is not proved about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topdag._util.messages import plural
from topdag.answers.results import Stats, WithNetwork, finite_or_none
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import ScoreKind, kind_to_dict


@dataclass(frozen=True)
class Climb:
    """From one start: ``scores``, rising, of the network of each round; ``network``: the last one. ``is_whole``: it
    ended by itself; ``are_proved``: each network is the best for the expected counts of its round."""

    start: str
    network: Network
    scores: tuple[float, ...]
    is_whole: bool
    are_proved: bool


@dataclass(frozen=True)
class LocalOptimum(WithNetwork):
    """The network with the highest score that structural EM came to, with its probabilities.

    ``score``: of the observed cells, the log likelihood at its greatest less the penalty of ``kind``. ``climbs``: one
    for each start, in order. ``parts``: expected counts are whole numbers of 1/parts of a row. ``limit``: what stopped
    it, None when all climbs ended by themselves. Nothing is proved: in each round no network is better for the expected
    counts, so rounded, but another start may lead to a higher score.
    """

    fitted: FittedNetwork
    score: float
    climbs: tuple[Climb, ...]
    parts: int
    limit: str | None
    kind: ScoreKind
    stats: Stats
    notes: tuple[str, ...]
    reading: Mapping[str, Any]

    @property
    def network(self) -> Network:
        return self.fitted.network

    @property
    def _found(self) -> Network:
        return self.network

    @property
    def proved(self) -> bool:
        """Never: it is the best of what was climbed to."""
        return False

    @property
    def said(self) -> str:
        """What is known of it, in a sentence or two."""
        n_best = sum(climb.scores[-1] > self.score - 1e-3 for climb in self.climbs)
        steps = "each step exact" if all(climb.are_proved for climb in self.climbs) else "some steps stopped early"
        stopped = "" if self.limit is None else f"; stopped by {self.limit.replace('_', ' ')}"
        return (
            f"a local optimum, not proved best: the highest of {plural(len(self.climbs), 'climb')}, {steps}, "
            f"reached by {n_best}{stopped}"
        )

    @property
    def climbs_in_words(self) -> tuple[str, ...]:
        return tuple(
            f"from {climb.start}: {climb.scores[-1]:.6f} after {plural(len(climb.scores), 'round')}"
            for climb in self.climbs
        )

    def __str__(self) -> str:
        score = f"score {self.score:.6f} of what was observed"
        return "\n".join([str(self.network), score, self.said, *self.climbs_in_words, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": "topdag-structural-em",
            "version": 1,
            "network": self.network.to_dict(),
            "score": finite_or_none(self.score),
            "kind": kind_to_dict(self.kind),
            "climbs": [
                {
                    "start": climb.start,
                    "scores": list(climb.scores),
                    "edges": [list(edge) for edge in climb.network.edges],
                }
                for climb in self.climbs
            ],
            "proof": f"none: {self.said}",
            "parts": self.parts,
            "limit": self.limit,
            "stats": self.stats.to_dict(),
            "notes": list(self.notes),
            "reading": dict(self.reading),
        }
