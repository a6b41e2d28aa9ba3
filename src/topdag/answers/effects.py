"""What would follow if a variable were set: effects of causes on outcomes, averaged over networks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.to_frame import frame_of_rows
from topdag.answers.results import Stats, finite_or_none
from topdag.errors import ScoreError
from topdag.networks.checks import require_known

FORMAT, VERSION = "topdag-effects", 1
SHOWN_AT_ONCE = 10
EFFECT_COLUMNS = ("cause", "outcome", "effect", "lower", "upper", "no effect", "supported", "meaning")
ASSUMED = (
    "What is assumed: whatever led both to a cause and to an outcome is itself a column of this table. If it is not "
    "(say, sicker patients got the treatment more often, and how sick they were is not in the table), these numbers "
    "are wrong, however narrow their intervals. Rows must not have been chosen by what came out. The table cannot "
    "show whether this holds; only an experiment, or knowledge of how the data arose, can."
)


@dataclass(frozen=True, eq=False)
class Effect:
    """What follows for ``outcome`` when ``cause`` is set.

    Among states ``distributions`` has a row for each state of the cause, the probabilities of the outcome's states when
    it is set to that; ``value`` is the largest total variation distance between two rows: setting the cause to ``more``
    in place of ``less`` makes it so much more probable that the outcome is one of ``raised``. Where the cause is a
    number, ``less`` and ``more`` are its quartiles. Among numbers ``value`` is by how much the mean of the outcome
    grows when the cause is set one higher, and the others are empty. Of a number caused by states ``value`` is the
    largest difference of its ``means``, by state of the cause.

    ``lower``, ``upper``: between them lie as many of the draws as was asked for, not a number without draws.
    ``no_effect``: the share of the weight of networks in which the cause is no ancestor of the outcome, so that
    setting it changes nothing; None where paths were not summed. ``supported``: for this share of the cases the table
    has rows with both states of the cause; for the others the prior speaks alone, so a large effect with little support
    is a guess. ``scale``: a standard deviation of the cause by one of the outcome, to compare effects; 1 among states.
    """

    cause: str
    outcome: str
    value: float
    lower: float
    upper: float
    no_effect: float | None
    supported: float = 1.0
    scale: float = 1.0
    less: Any = None
    more: Any = None
    raised: tuple[Any, ...] = ()
    distributions: Mapping[Any, Mapping[Any, float]] = field(default_factory=lambda: MappingProxyType({}))
    means: Mapping[Any, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def size(self) -> float:
        """What effects are ranked by: the value without its sign, in standard deviations among numbers."""
        return abs(self.value) * self.scale

    @property
    def meaning(self) -> str:
        """The value in words."""
        if self.means:
            return f"mean of {self.outcome}, if {self.cause} = {self.more} and not {self.less}"
        if not self.distributions:
            return f"mean of {self.outcome} for one more of {self.cause}"
        if not self.raised:
            return "no state of the cause changes the outcome"
        states = " or ".join(map(str, self.raised))
        return f"probability of {self.outcome} = {states}, if {self.cause} = {self.more} and not {self.less}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "cause": self.cause,
            "outcome": self.outcome,
            "effect": self.value,
            "lower": finite_or_none(self.lower),
            "upper": finite_or_none(self.upper),
            "no effect": self.no_effect,
            "supported": self.supported,
            "meaning": self.meaning,
        }

    def __str__(self) -> str:
        between = "" if math.isnan(self.lower) else f" ({self.lower:+.4f} to {self.upper:+.4f})"
        without = "" if self.no_effect is None else f"; none in {_percent(self.no_effect)} of the weight of networks"
        return f"{self.cause} -> {self.outcome}: {self.value:+.4f}{between}{without}\n  {self.meaning}"


@dataclass(frozen=True, eq=False)
class CausalEffects(Mapping[tuple[str, str], Effect]):
    """The effect of each of ``causes`` on each of ``outcomes``: ``effects["smoke", "lung"]``.

    ``over``: what was averaged over; ``estimated``: how, in words; ``covered``: of each cause, the share of the weight
    whose parent sets were adjusted for; ``level``: the share of draws between ``lower`` and ``upper``; ``assumed``:
    without what these are no effects.
    """

    causes: tuple[str, ...]
    outcomes: tuple[str, ...]
    by_pair: Mapping[tuple[str, str], Effect]
    over: str
    estimated: str
    covered: Mapping[str, float]
    level: float
    n_draws: int
    seed: int
    stats: Stats
    notes: tuple[str, ...] = ()
    assumed: str = ASSUMED

    def __getitem__(self, pair: tuple[str, str]) -> Effect:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ScoreError(f"Ask for a cause and an outcome, such as [{self._example!r}], not {pair!r}.")
        for name, names, what in zip(pair, (self.causes, self.outcomes), ("causes", "outcomes"), strict=True):
            require_known([name], names, what=f"{what} asked for")
        if pair[0] == pair[1]:
            raise ScoreError(f"The effect of {pair[0]!r} on itself is not asked for.")
        return self.by_pair[pair]

    @property
    def _example(self) -> str:
        return ", ".join(next(iter(self.by_pair), ("cause", "outcome")))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Pairs of cause and outcome, the largest effect first."""
        return iter([(effect.cause, effect.outcome) for effect in self.ranked])

    def __len__(self) -> int:
        return len(self.by_pair)

    @cached_property
    def ranked(self) -> tuple[Effect, ...]:
        """The largest effect first, ties by column."""
        return tuple(sorted(self.by_pair.values(), key=lambda effect: -effect.size))

    @property
    def matrix(self) -> Floats:
        """A row for each cause, a column for each outcome; zero where both are the same."""
        return np.array(
            [[self.by_pair[c, o].value if c != o else 0.0 for o in self.outcomes] for c in self.causes]
        ).reshape(len(self.causes), len(self.outcomes))

    @property
    def least_covered(self) -> float:
        return min(self.covered.values(), default=1.0)

    @property
    def said(self) -> tuple[str, ...]:
        """What the numbers are: averaged over what, how estimated, what is assumed."""
        left = 1 - self.least_covered
        cut = f"; at most {left:.2g} of the weight of a cause's parent sets is left out" if left > 0 else ""
        drawn = f"intervals: {self.level:.0%} of {self.n_draws:,} draws, seed {self.seed}" if self.n_draws else ""
        lines = (f"averaged over {self.over}{cut}", f"estimated with {self.estimated}", drawn, *self.notes)
        return tuple(filter(None, (*lines, self.assumed)))

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One row for each pair, the largest effect first."""
        return (effect.to_dict() for effect in self.ranked)

    def to_frame(self) -> Any:
        """The rows of ``to_dicts`` as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.to_dicts(), EFFECT_COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "causes": list(self.causes),
            "outcomes": list(self.outcomes),
            "over": self.over,
            "estimated": self.estimated,
            "covered": dict(self.covered),
            "level": self.level,
            "draws": self.n_draws,
            "seed": self.seed,
            "effects": [effect.to_dict() | _by_state(effect) for effect in self.ranked],
            "notes": list(self.notes),
            "assumed": self.assumed,
        }

    def plot(self, most: int = 20, axes: Any = None) -> Any:
        """Draws the largest effects, each with its interval, with matplotlib and returns the axes."""
        from topdag.networks.drawing.plots import plot_intervals

        shown = self.ranked[:most]
        rows = [(f"{e.cause} → {e.outcome}", e.scale * e.value, e.scale * e.lower, e.scale * e.upper) for e in shown]
        of_numbers = [not effect.distributions for effect in shown]
        label = "effect (difference of probabilities)"
        if any(of_numbers):
            label = "effect, in standard deviations" + ("" if all(of_numbers) else ", or of probabilities")
        return plot_intervals(rows, f"The {len(shown)} largest effects", label, axes)

    def _repr_html_(self) -> str:
        """For notebooks: the largest effects."""
        from topdag._util.html import html_table, more

        rows = [_cells(effect) for effect in self.ranked[:SHOWN_AT_ONCE]]
        return html_table(EFFECT_COLUMNS, rows, repr(self).strip("<>"), [*more(len(self) - len(rows)), *self.said])

    def lines(self, most: int = SHOWN_AT_ONCE) -> list[str]:
        """The largest effects in columns, below a line that names these."""
        rows = [EFFECT_COLUMNS, *(_cells(effect) for effect in self.ranked[:most])]
        widths = [max(len(row[i]) for row in rows) for i in range(len(EFFECT_COLUMNS))]
        return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]

    def __str__(self) -> str:
        more = [f"... and {len(self) - SHOWN_AT_ONCE} more"] if len(self) > SHOWN_AT_ONCE else []
        return "\n".join([*self.lines(), *more, *self.said])

    def __repr__(self) -> str:
        if not self.by_pair:
            return "<CausalEffects: none>"
        first = self.ranked[0]
        return f"<CausalEffects: {len(self):,}, the largest {first.cause} -> {first.outcome} {first.value:+.4f}>"


def _cells(effect: Effect) -> tuple[str, ...]:
    ends = ["" if math.isnan(end) else f"{end:+.4f}" for end in (effect.lower, effect.upper)]
    without = "" if effect.no_effect is None else _percent(effect.no_effect)
    return (
        effect.cause,
        effect.outcome,
        f"{effect.value:+.4f}",
        *ends,
        without,
        _percent(effect.supported),
        effect.meaning,
    )


def _percent(share: float) -> str:
    """What is not all or nothing is not shown as if it were."""
    if share <= 0 or share >= 1:
        return f"{share:.0%}"
    return "<0.1%" if share < 0.001 else ">99.9%" if share > 0.999 else f"{share:.1%}"


def _by_state(effect: Effect) -> dict[str, Any]:
    """What follows for each state of the cause, for JSON."""
    means = [{"set to": _state(state), "mean": mean} for state, mean in effect.means.items()]
    return {"distributions": _plain(effect)} | ({"means": means} if means else {})


def _plain(effect: Effect) -> list[dict[str, Any]]:
    """Distributions for JSON, which has no keys but texts."""
    return [
        {"set to": _state(state), "outcome": [{"state": _state(own), "probability": p} for own, p in row.items()]}
        for state, row in effect.distributions.items()
    ]


def _state(state: Any) -> Any:
    return state if isinstance(state, str | int | float | bool) else str(state)
