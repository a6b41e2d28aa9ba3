"""Responses averaged over the parent sets of a cause, and draws of effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.bitsets import bits
from topdag._util.run import Run
from topdag.data.table import Table
from topdag.effects.mixed import AmongAll
from topdag.effects.numbers import AmongNumbers
from topdag.effects.states import AmongStates, AsNetworkSays, Contrast, ImaginaryRows, SpreadEvenly
from topdag.scoring.kinds.base import ScoreKind
from topdag.scoring.kinds.discrete import BDe
from topdag.scoring.kinds.gaussian import BGe

PHASE = "adjusting for parents"
SETS_BETWEEN_LOOKS = 8
"""Parent sets between two looks at the clock."""
DEFAULT_ESS = 1.0


class Adjustment(Protocol):
    """What follows from setting a variable, given its parents."""

    @property
    def table(self) -> Table: ...
    @property
    def n_bytes(self) -> float: ...
    def levels(self, x: int) -> tuple[Any, ...]: ...
    def part(self, y: int) -> Any: ...
    def mean(self, x: int, parents: Sequence[int]) -> Floats: ...
    def unchanged(self, x: int) -> Floats: ...
    def compared(self, x: int, y: int, response: Floats) -> tuple[float, Any]: ...
    def draws(
        self, x: int, parents: Sequence[int], asked: Mapping[int, tuple[Any, np.random.Generator]], count: int
    ) -> Iterator[tuple[int, Floats]]: ...


@dataclass(frozen=True)
class WeighedSets:
    """Parent sets of one cause, as masks over the columns of the table, the heaviest first; ``weights`` add up to
    ``covered``, the share that these sets have of all."""

    masks: Sequence[int]
    weights: Floats
    covered: float


@dataclass(frozen=True)
class FoundEffect:
    """Of one cause on one outcome. ``contrast``: what it is read from, among states."""

    value: float
    contrast: Contrast | None
    response: Floats
    draws: Floats


def adjustment_of(table: Table, kind: ScoreKind, outcomes: Sequence[str] | None = None) -> tuple[Adjustment, str]:
    """How effects are estimated from a table, with the prior of the score where it has one; and that in words.
    ``outcomes``: those that will be asked for."""
    table.require_complete("causal_effects")
    if not table.continuous and not (table.ordered and kind.numbers):
        imaginary, said = _imaginary_rows(table, kind.unconstrained)
        free = ", without the constraints on probabilities" if kind.unconstrained is not kind else ""
        return AmongStates(table, imaginary), said + free
    if isinstance(kind, BGe):
        return AmongNumbers.by_prior(table, kind), f"regressions under the prior of {kind!r}"
    if kind.numbers == "all":
        return AmongNumbers.by_least_squares(table), f"regressions by least squares, since {kind!r} has no prior"
    found = AmongAll(table, outcomes)
    if not any(found.table.states):
        return found, "linear regressions"
    return found, "linear regressions for numbers and logistic ones for states, standardised over the rows"


def _imaginary_rows(table: Table, kind: ScoreKind) -> tuple[ImaginaryRows, str]:
    arities = tuple(table.arities.tolist())
    if isinstance(kind, BDe):
        said = f"{_rows(kind.ess)}, as the prior network of BDe says"
        return AsNetworkSays(float(kind.ess), kind.joint_prior(table)), said
    if ess := getattr(kind, "ess", None):
        return SpreadEvenly(float(ess), arities), f"{_rows(ess)} of {kind!r}, spread evenly"
    said = f"{_rows(DEFAULT_ESS)}, spread evenly, since {kind!r} has none"
    return SpreadEvenly(DEFAULT_ESS, arities), said


def _rows(ess: float) -> str:
    return f"{ess:g} imaginary row{'s' * (ess != 1)}"


def heaviest(masks: Sequence[int], weights: Floats, share: float) -> WeighedSets:
    """As few of the parent sets as hold this share of the weight, or all that have any."""
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0]
    held = np.cumsum(weights[order])
    chosen = order[: int(np.searchsorted(held, share * held[-1])) + 1]
    covered = float(held[len(chosen) - 1] / held[-1])
    return WeighedSets([int(masks[place]) for place in chosen], weights[chosen] / held[-1], covered)


class Averaging:
    """The effects of causes on outcomes, one cause after the other. ``draws``: for each pair."""

    def __init__(self, run: Run, *, total: int, draws: int, seed: int) -> None:
        self.run, self.n_draws, self.seed = run, draws, seed
        self.total, self.done = max(1, total), 0

    def effects(
        self, adjustment: Adjustment, x: int, outcomes: Sequence[int], sets: WeighedSets
    ) -> dict[int, FoundEffect] | None:
        """By outcome; None when the run is over."""
        response = self._mean(adjustment, x, sets)
        if response is None:
            return None
        compared = {y: adjustment.compared(x, y, response) for y in outcomes}
        drawn = self._draws(adjustment, x, {y: contrast for y, (_, contrast) in compared.items()}, sets)
        if drawn is None:
            return None
        return {
            y: FoundEffect(value, contrast, response[..., adjustment.part(y)], drawn[y])
            for y, (value, contrast) in compared.items()
        }

    def no_effects(self, adjustment: Adjustment, x: int, outcomes: Sequence[int]) -> dict[int, FoundEffect]:
        """On outcomes that come before the cause in every network: whatever the rows show, nothing follows for them."""
        response = adjustment.unchanged(x)
        compared = {y: adjustment.compared(x, y, response) for y in outcomes}
        return {
            y: FoundEffect(0.0, contrast, response[..., adjustment.part(y)], np.zeros(self.n_draws))
            for y, (_, contrast) in compared.items()
        }

    def _mean(self, adjustment: Adjustment, x: int, sets: WeighedSets) -> Floats | None:
        total: Any = 0.0
        for place, (mask, weight) in enumerate(zip(sets.masks, sets.weights.tolist(), strict=True)):
            if place % SETS_BETWEEN_LOOKS == 0 and self._is_over(SETS_BETWEEN_LOOKS):
                return None
            total = total + weight * adjustment.mean(x, bits(mask))
        return np.asarray(total / sets.weights.sum())

    def _draws(
        self, adjustment: Adjustment, x: int, contrasts: Mapping[int, Any], sets: WeighedSets
    ) -> dict[int, Floats] | None:
        """The parent set is drawn first. What is drawn for a pair does not depend on the other pairs asked for."""
        counts = np.random.default_rng([self.seed, x]).multinomial(self.n_draws, sets.weights / sets.weights.sum())
        asked = {y: (contrast, np.random.default_rng([self.seed, x, y])) for y, contrast in contrasts.items()}
        found: dict[int, list[Floats]] = {y: [np.zeros(0)] for y in contrasts}
        for place in np.flatnonzero(counts).tolist():
            if self._is_over(0):
                return None
            for y, drawn in adjustment.draws(x, bits(sets.masks[place]), asked, int(counts[place])):
                found[y].append(drawn)
                if self.run.is_over:
                    return None
        return {y: np.concatenate(parts) for y, parts in found.items()}

    def _is_over(self, done: int) -> bool:
        self.done += done
        return self.run.tick(PHASE, min(self.done, self.total), self.total) or self.run.is_over
