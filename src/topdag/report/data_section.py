"""The data at a glance: variables, states, rows, and what was done to them."""

from __future__ import annotations

import numpy as np

from topdag.data.table import Table
from topdag.report import markup
from topdag.report.gathered import Gathered
from topdag.report.markup import Html, count, details, joined, named, paragraph, percent, section, tag

MOST_STATES_LISTED = 12
"""States of a variable that are listed one by one."""
OPEN_UP_TO = 12
"""Variables up to which their table is shown at once."""
STATE_BAR = 120
SHADES = 6


def data_section(found: Gathered) -> Html:
    table = found.table
    if table is None:
        return section("data", "The data", paragraph("The scores were read from a file; the data are not known here."))
    said = paragraph(
        f"{count(table.n_variables, 'variable')}, {table.rows_in_words}. ",
        _states_in_words(table),
    )
    return section("data", "The data at a glance", said, _notes(table), _variables(table))


def _states_in_words(table: Table) -> str:
    arities = table.arities[table.arities > 0]
    if not len(arities):
        return "Every variable is continuous."
    fewest, most = int(arities.min()), int(arities.max())
    who = f"{count(len(table.continuous), 'variable')} continuous, the others" if table.continuous else "Variables"
    every = "Every variable has" if not table.continuous else f"{who} have"
    return f"{every} {count(fewest, 'state')}." if fewest == most else f"{who} have {fewest} to {most} states."


def _notes(table: Table) -> Html:
    if not table.notes:
        return paragraph("Nothing was dropped, merged or cut into states.", class_="muted")
    return joined(
        [
            paragraph("What was done to the table:"),
            tag("ul", *(tag("li", note) for note in table.notes), class_="notes"),
        ]
    )


def _variables(table: Table) -> Html:
    body = [
        tag(
            "tr",
            tag("th", named(name), scope="row"),
            tag("td", str(len(states)) if states else "numbers"),
            tag("td", _shares(table, v) if states else _numbers_in_words(table, name)),
        )
        for v, (name, states) in enumerate(zip(table.names, table.states, strict=True))
    ]
    whole = markup.table("Variables", ("Variable", "States", "How often each occurs"), body)
    return whole if table.n_variables <= OPEN_UP_TO else details(f"All {table.n_variables} variables", whole)


def _numbers_in_words(table: Table, name: str) -> str:
    """Mean, standard deviation and range of a continuous variable."""
    cells = table.numbers[table.continuous.index(name)]
    mean = float(np.average(cells, weights=table.weights))
    deviation = float(np.sqrt(np.average((cells - mean) ** 2, weights=table.weights)))
    return f"mean {mean:.4g}, standard deviation {deviation:.4g}, from {cells.min():.4g} to {cells.max():.4g}"


def _shares(table: Table, v: int) -> Html:
    """A bar and, in words, the share of each state."""
    states: list[object] = [*table.states[v], *(["missing"] if table.names[v] in table.missing else [])]
    own = table.of_columns([v])
    counts = np.bincount(own.codes[0], weights=own.weights, minlength=len(states))
    shares = counts / max(1.0, counts.sum())
    words = [joined([tag("bdi", str(state)), f" {percent(float(p))}"]) for state, p in zip(states, shares, strict=True)]
    more = [f"and {len(words) - MOST_STATES_LISTED} more"] if len(words) > MOST_STATES_LISTED else []
    listed = [part for word in [*words[:MOST_STATES_LISTED], *more] for part in (", ", word)][1:]
    return joined([_bar(shares.tolist()), tag("span", *listed, class_="states")])


def _bar(shares: list[float]) -> Html:
    left, parts = 0.0, list[Html]()
    for i, share in enumerate(shares):
        parts.append(
            tag(
                "rect",
                x=f"{left * STATE_BAR:.1f}",
                width=f"{max(0.0, share * STATE_BAR - 0.6):.1f}",
                height=10,
                class_=f"s{i % SHADES}",
            )
        )
        left += share
    return tag(
        "svg", *parts, class_="bar", width=STATE_BAR, height=10, viewBox=f"0 0 {STATE_BAR} 10", aria_hidden="true"
    )
