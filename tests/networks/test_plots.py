"""Pictures with matplotlib: what is drawn, on which axes, and what is said where matplotlib is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from report_pages import NASTY

import topdag as td
from topdag.networks.network import REVERSIBLE

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt: Any = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def heads(axes: Any) -> int:
    return sum(isinstance(patch, matplotlib.patches.Polygon) for patch in axes.patches)


def open_heads(axes: Any) -> int:
    patches = [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.Polygon)]
    return sum(patch.get_facecolor() != patch.get_edgecolor() for patch in patches)


def test_a_network() -> None:
    network = td.example_network().network
    axes = network.plot()
    axes.figure.canvas.draw()
    *names, said = texts(axes)
    assert sorted(names) == sorted(network.names)
    assert " ".join(said.split()) == f"Open head: {REVERSIBLE}."
    assert heads(axes) == network.n_edges
    assert open_heads(axes) == len(network.reversible) == 3


def test_a_network_whose_edges_are_all_fixed() -> None:
    network = td.Network(list("abc"), {"c": ["a", "b"]})
    axes = network.plot()
    assert (sorted(texts(axes)), heads(axes), open_heads(axes)) == (list("abc"), 2, 0)


def test_a_class_has_lines() -> None:
    own = td.EquivalenceClass(td.Network(["a", "b", "c", "d"], {"b": ["a"], "c": ["b", "d"]}))
    axes = own.plot()
    curves = [patch for patch in axes.patches if isinstance(patch, matplotlib.patches.PathPatch)]
    assert (len(curves), heads(axes)) == (3, 2)


def test_axes_of_ones_own() -> None:
    _, (left, right) = plt.subplots(1, 2)
    network = td.example_network().network
    assert network.plot(axes=left) is left
    assert td.EquivalenceClass(network).plot(axes=right) is right
    assert td.edge_posteriors(td.example_table()).heatmap(axes=plt.subplots()[1]).get_ylabel() == "parent"


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_drawn_as_they_are() -> None:
    """Dollar signs are no formulas."""
    network = td.Network(NASTY, {NASTY[0]: NASTY[1:]})
    network.plot().figure.canvas.draw()
    table = td.Table({name: [0, 1, int(i > 3), 1] for i, name in enumerate(NASTY)})
    axes = td.path_posteriors(table).heatmap()
    axes.figure.canvas.draw()
    assert "{{title}} ${x} $a^b$" in [label.get_text() for label in axes.get_yticklabels()]


def test_a_heat_map() -> None:
    edges = td.edge_posteriors(td.example_table())
    axes = edges.heatmap()
    shown = axes.images[0].get_array()
    assert np.allclose(shown.filled(0.0), edges.matrix)
    assert f"{edges['bronc', 'dysp']:.2f}".removeprefix("0") in texts(axes)
    assert texts(edges.heatmap(numbers=False)) == []


@pytest.mark.parametrize("names", [["W" * 300, "b"], ["W" * 300, "V" * 300], ["W" * 23 + str(i) for i in range(9)]])
def test_a_heat_map_has_room_for_long_names(names: list[str]) -> None:
    """Else matplotlib would warn that its layout was not applied."""
    table = td.Table({name: [0, 1, int(i > 3), 1] for i, name in enumerate(names)})
    td.edge_posteriors(table).heatmap().figure.canvas.draw()


def test_a_score_profile() -> None:
    classes = td.k_best_classes(td.example_table(), 30)
    axes = td.features.score_profile(classes)
    assert np.array_equal(axes.lines[0].get_ydata(), classes.scores)
    held = next(other for other in axes.figure.axes if other is not axes)
    assert held.lines[0].get_ydata()[-1] == pytest.approx(1.0)
    networks = td.k_best_networks(td.example_table(), 100)
    assert len(td.features.score_profile(networks, axes=plt.subplots()[1]).lines[0].get_xdata()) == 100


def test_an_empty_list_has_no_profile() -> None:
    found = td.k_best_classes(td.example_table(), 5)
    empty = replace(found, scores=found.scores[:0], parents=found.parents[:0])
    with pytest.raises(ValueError, match="empty"):
        td.features.score_profile(empty)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"topdag\[plot\]"):
        td.example_network().network.plot()
