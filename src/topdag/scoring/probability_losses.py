"""What parameter constraints cost families: the loss of log likelihood, taken off the score without them.

Only families of constrained variables lose. The score without constraints bounds the constrained one from above, so it
decides what need not be optimised (see ``walk``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topdag._util.bitsets import masks_in
from topdag._util.options import option
from topdag._util.run import Run
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.rounding import round_store
from topdag.scoring.task import NO_LOSSES
from topdag.search.engines import family_bytes, set_bytes
from topdag.search.stores import Store

if TYPE_CHECKING:
    from topdag.knowledge.constraints import Constraints
    from topdag.scoring.kinds.constrained import ChildKnowledge


@dataclass(frozen=True, eq=False)
class ChildLosses:
    """Of one constrained variable, by parents as masks over the scored columns."""

    known: ChildKnowledge
    table: Table
    columns: tuple[int, ...]

    def of(self, mask: int) -> float:
        """What the constraints cost the log likelihood; the parents must hold those that constraints name."""
        return self.known.loss(self.table, [v for i, v in enumerate(self.columns) if mask >> i & 1])


def losses_of(table: Table, columns: tuple[int, ...], kind: ScoreKind) -> Mapping[int, ChildLosses]:
    """By place among the scored columns; none where the score knows no parameter constraints."""
    if not kind.constraints:
        return NO_LOSSES
    from topdag.scoring.kinds.constrained import knowledge_of

    known = knowledge_of(kind.constraints, table)
    return {columns.index(x): ChildLosses(child, table, columns) for x, child in known.items()}


def together(kind: ScoreKind, constraints: Constraints | None) -> tuple[ScoreKind, Constraints | None]:
    """The score and the constraints with what each says of probabilities in both."""
    said = (*kind.constraints, *(() if constraints is None else constraints.parameters))
    if not said:
        return kind, constraints
    from topdag.knowledge.constraints import Constraints
    from topdag.scoring.kinds.constrained import Constrained

    also = Constraints(parameters=said)
    return Constrained(kind.unconstrained, also.parameters), also if constraints is None else constraints & also


def require_room(table: Table, columns: tuple[int, ...], kind: ScoreKind, max_parents: int | None) -> None:
    """Refused where constant columns or the limit on parents leave out what parameter constraints name."""
    if not kind.constraints:
        return
    from topdag.scoring.kinds.constrained import knowledge_of

    names = table.names
    for x, child in knowledge_of(kind.constraints, table).items():
        if constant := [names[v] for v in (x, *child.named) if v not in columns]:
            raise ScoreError(
                f"Parameter constraints name {constant[0]!r}, a constant column, which stays isolated; read the table "
                f"with {option('keep_constant', True)}."
            )
        if max_parents is not None and len(child.named) > max_parents:
            raise ScoreError(
                f"The constraints on {names[x]!r} name {len(child.named)} parents, more than the {max_parents} "
                f"that {option('max_parents')} allows."
            )


def less_losses(store: Store, losses: Mapping[int, ChildLosses], grid: int, run: Run) -> tuple[Store, int] | None:
    """Every family's score less its loss, and the grid; None when the time limit came first."""
    if not store.is_listed:
        what = f"Constrained scores of all families of {store.n} variables"
        needed = family_bytes(store.n) + 3 * set_bytes(store.n)
        run.require_memory(needed, what, f"Use fewer variables, or {option('keep', 'best')}.")
    begin, done = run.seconds, 0
    lessened = {x: store.families_of(x) for x in losses}
    total = sum(len(masks) for masks, _ in lessened.values())
    for x, child in losses.items():
        masks, values = lessened[x]
        for at, mask in enumerate(masks_in(masks)):
            if run.is_over:
                return None
            if done % 64 == 0:
                run.tick("counting", done, total)
            done += 1
            values[at] -= child.of(mask)
    run.timed("counting", begin)
    lesser = store.with_families(lessened)
    return lesser, round_store(lesser, run.threads, finest=grid)
