"""The pictures of docs/develop/mixed_scores.md, from bench/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.measure import RESULTS

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
COLOURS = {
    "RankBIC": "#00796b",
    "DG, as published": "#7e57c2",
    "MixedBIC": "#c62828",
    "three quantiles, BIC": "#ef6c00",
    "codes as numbers": "#9e9e9e",
    "GaussianBIC": "#1565c0",
    "GaussianBIC, normal scores": "#64b5f6",
    "BGe, standardized": "#8d6e63",
    "RankBIC, power 0.5": "#43a047",
    "bootstrap of RankBIC, 50": "#212121",
    "K2, nearly the true prior": "#ec407a",
}
DRAWN = {"4 and 4": "4 categories and 4 numbers", "8 numbers": "8 numbers"}


def draw_comparison() -> None:
    """Distance from the true class by kind, a panel for each sort of table; docs/pictures/mixed-scores.png."""
    cells = json.loads((RESULTS / "mixed_scores.json").read_text())["by kind"]
    figure, panels = _panels(len(DRAWN), 8.6, 3.4)
    for panel, (table, title) in zip(panels, DRAWN.items(), strict=True):
        own = [c for c in cells if c["table"] == table and c["kind"] != "noise"]
        kinds = list(dict.fromkeys(c["kind"] for c in own))
        scores = [score for score in COLOURS if any(c["score"] == score for c in own)]
        for at, score in enumerate(scores):
            for k, kind in enumerate(kinds):
                values = [c["shd"] for c in own if (c["kind"], c["score"]) == (kind, score)]
                places = [k + (at - (len(scores) - 1) / 2) * 0.15] * len(values)
                sizes = [8.0 + 12.0 * i for i in range(len(values))]
                panel.plot(places, values, color=COLOURS[score], linewidth=0.8, alpha=0.6)
                panel.scatter(places, values, sizes, COLOURS[score], linewidths=0, label=score if not k else None)
        panel.set_xticks(range(len(kinds)), [_called(kind, table) for kind in kinds], fontsize=7)
        panel.set_title(title, fontsize=9)
        panel.set_ylim(bottom=0)
        panel.legend(fontsize=6, frameon=False)
    panels[0].set_ylabel("pairs with another mark than in the true class", fontsize=7)
    _keep(figure, "mixed-scores")


def _called(kind: str, table: str) -> str:
    """Without categories what is logistic is linear."""
    return "linear" if kind == "logistic" and "numbers" in table else kind.replace(" ", "\n")


def draw_calibration() -> None:
    """Reliability of edge probabilities, a panel for each sort of table; docs/pictures/calibration.png."""
    made = json.loads((RESULTS / "calibration.json").read_text())["groups"]
    worlds = list(dict.fromkeys(r["world"] for r in made))
    groups = list(dict.fromkeys(r["group"] for r in made))
    figure, panels = _panels(len(groups) * len(worlds), 8.6, 5.6, rows=len(worlds))
    parts = [(world, group) for world in worlds for group in groups]
    for panel, (world, group) in zip(panels, parts, strict=True):
        panel.plot([0, 1], [0, 1], color="#bdbdbd", linewidth=0.8)
        for r in made:
            if (r["world"], r["group"]) == (world, group) and not (r["kind"] or r["rows"]) and r["score"] in COLOURS:
                says, often, _ = zip(*(point for point in r["curve"] if point[2] >= 20), strict=True)
                panel.plot(says, often, "o-", color=COLOURS[r["score"]], markersize=2.5, linewidth=1, label=r["score"])
        panel.set_title(f"{group}, {world} networks", fontsize=9)
    panels[0].set_ylabel("how often there is an edge", fontsize=7)
    panels[-1].set_xlabel("probability of an edge", fontsize=7)
    lines = {line.get_label(): line for panel in panels for line in panel.lines if line.get_label() in COLOURS}
    figure.legend(lines.values(), lines, fontsize=6, frameon=False, ncols=5, loc="lower center")
    _keep(figure, "calibration", below=0.07)


def _panels(many: int, width: float, height: float, rows: int = 1) -> tuple[Any, list[Any]]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, many // rows, figsize=(width, height), squeeze=False)
    for panel in axes.flat:
        panel.tick_params(labelsize=7)
        panel.spines[["top", "right"]].set_visible(False)
    return figure, list(axes.flat)


def _keep(figure: Any, name: str, below: float = 0.0) -> None:
    figure.tight_layout(rect=(0, below, 1, 1))
    figure.savefig(PICTURES / f"{name}.png", dpi=120, metadata={"Software": None}, facecolor="white")
    print(f"docs/pictures/{name}.png")
