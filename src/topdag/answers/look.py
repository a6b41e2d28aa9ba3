"""What was seen of a table: the types of its columns, and what will be done with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from topdag.data.guess.types import LEFT_OUT
from topdag.data.table import Table

HEAD = ("column", "type", "values", "missing", "use")
WIDEST = 40
UNUSED = (*LEFT_OUT, "constant")


@dataclass(frozen=True)
class Look:
    """The columns of a table as topdag understands them.

    Attributes
    ----------
    table : Table
        The table as questions take it.
    score : str
        The score of a question that names none.
    """

    table: Table
    score: str

    @property
    def types(self) -> dict[str, str]:
        """The type of each column that was read, by name."""
        return {name: of.type for name, of in self.table.types.items()}

    def rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield a row of text for each column: name, type, values, missing cells, use."""
        for name, of in self.table.types.items():
            yield name or "(no name)", of.type, of.values, f"{of.n_missing:,}" if of.n_missing else "", self._use(name)

    def _use(self, name: str) -> str:
        table, of = self.table, self.table.types[name]
        if of.type == "weight":
            return "weight of the row"
        if name not in table.names:
            return "left out: " + (of.reason if of.type in UNUSED else "too many missing cells")
        v = table.index(name)
        if len(table.states[v]) == 1:
            return "no edges: one value"
        return "as a number" if table.is_number(v) else f"as a category of {len(table.states[v])} states"

    @property
    def title(self) -> str:
        """The size of the table and the score of its first answer."""
        return f"{self.table.summary}; score {self.score}"

    def __str__(self) -> str:
        rows = [tuple(map(_cut, row)) for row in (HEAD, *self.rows())]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        notes = ["", *self.table.notes] if self.table.notes else []
        return "\n".join([self.title, "", *lines, *notes])

    def _repr_html_(self) -> str:
        from topdag._util.html import html_table

        return html_table(HEAD, self.rows(), self.title, self.table.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the same for JSON."""
        columns = [dict(zip(HEAD, row, strict=True)) for row in self.rows()]
        about = {"rows": self.table.n_rows, "score": self.score, "notes": list(self.table.notes)}
        return {"format": "topdag-look", "version": 1, **about, "columns": columns}


def _cut(cell: str) -> str:
    return cell if len(cell) <= WIDEST else cell[: WIDEST - 3] + "..."
