"""Plans, summaries, lists, tables and fitted networks show as tables in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import topdag as td

ODD = 'a<b & "c"'
TABLE = td.Table(
    {ODD: [0.5, 1.5, 2.5, 3.5, None] * 8, "kind": ["a", "<b>", "b", "b", "b"] * 8, "n": [i % 3 for i in range(40)]},
    missing="drop",
    discretize="median",
)
SHOWN: dict[str, Callable[[], Any]] = {
    "Table": lambda: TABLE,
    "numbers": lambda: td.Table({"x": [0.5, 1.5], "y": [0.25, 2.0]}, types={"*": "continuous"}),
    "Plan": lambda: td.plan(TABLE),
    "NetworkList": lambda: td.k_best_networks(TABLE, 15),
    "ClassList": lambda: td.k_best_classes(TABLE, 3),
    "a list that was stopped": lambda: td.k_best_networks(TABLE, 3, time_limit=0),
    "summary": lambda: td.summary(td.k_best_networks(TABLE, 15)),
    "summary of one": lambda: td.summary(td.k_best_classes(TABLE, 1)),
    "FittedNetwork": lambda: td.Network(TABLE.names, {"kind": [ODD]}).fit(TABLE),
    "large FittedNetwork": lambda: td.random_network(40, seed=1),
    "sample": lambda: td.sample_networks(TABLE, 20),
    "parent sets": lambda: td.parent_set_posteriors(TABLE, "kind"),
    "posteriors": lambda: td.network_posteriors(TABLE),
}


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_show_tables(name: str) -> None:
    made = SHOWN[name]()
    html = made._repr_html_()
    assert "<table" in html
    assert len(html) < 100_000
    if name != "posteriors":  # a heat map is HTML, not XML
        ElementTree.fromstring(f"<div>{html}</div>")
    if name == "Table":
        assert "a&lt;b &amp; &quot;c&quot;" in html
        assert "8 of 40 rows were dropped" in html


def test_long_lists_say_what_is_not_shown() -> None:
    html = td.k_best_networks(TABLE, 15)._repr_html_()
    assert html.count("<tr>") == 11
    assert "5 more are not shown." in html
