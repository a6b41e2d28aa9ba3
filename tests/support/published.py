"""Optima that others published, and those computed twice here, for the data in ../shared/data."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import topdag as td

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Optimum:
    """One line of a list of optima. Prints as the name of its test."""

    file: str
    score: str
    max_parents: int | None
    optimum: float
    source: str

    @property
    def path(self) -> Path:
        return DATA / (self.file if "/" in self.file else f"{self.file}.csv")

    @property
    def kind(self) -> td.BIC | td.BDeu:
        return td.BIC() if self.score == "BIC" else td.BDeu(1.0)

    @property
    def tolerance(self) -> float:
        """Published: 5e-7 relative, for solvers that worked in single precision. Checked here: six decimals."""
        checked = self.source == "checked"
        return 1e-6 + 1e-9 * abs(self.optimum) if checked else 5e-7 * abs(self.optimum)

    def __repr__(self) -> str:
        return f"{self.file.removeprefix('scores/')}-{self.score.replace(' ', '_')}-{self.source.replace(' ', '_')}"


def _lines(name: str) -> Iterator[Optimum]:
    if not (DATA / name).exists():
        return
    with (DATA / name).open(newline="") as file:
        for line in csv.DictReader(file):
            limit = int(line["parent_limit"]) if line["parent_limit"] else None
            source = line.get("solver") or "checked"
            yield Optimum(line["file"], line["score"], limit, float(line["optimum"]), source)


def n_variables(optimum: Optimum) -> int:
    """From the first line that says something, so that collecting tests reads no data."""
    if not optimum.path.exists():
        return 0
    with gzip.open(optimum.path, "rt") if optimum.path.suffix == ".gz" else optimum.path.open() as file:
        first = next(line for line in file if not line.startswith("#"))
    return int(first) if optimum.file.startswith("scores/") else len(first.split(","))


def optima(least: int, most: int) -> list[Optimum]:
    """All lines for files with so many variables. Empty where the data are not."""
    everything = [*_lines("checked_optima.csv"), *_lines("published_optima.csv")]
    return [optimum for optimum in everything if least <= n_variables(optimum) <= most]


def grouped(lines: list[Optimum]) -> list[list[Optimum]]:
    """Lines that one computation answers, together."""
    groups: dict[tuple[str, str, int | None], list[Optimum]] = {}
    for line in lines:
        groups.setdefault((line.file, line.score, line.max_parents), []).append(line)
    return list(groups.values())


def assert_met(lines: list[Optimum]) -> None:
    """The optimum of one file and score, against everyone who gave one."""
    first = lines[0]
    if first.file.startswith("scores/"):
        scores = td.io.read_scores(first.path)
    else:
        scores = td.score(
            td.read_table(first.path, types={"*": "categorical"}), first.kind, max_parents=first.max_parents
        )
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert scores.of(answer.network) == pytest.approx(answer.score, rel=1e-12)
    for line in lines:
        assert abs(answer.score - line.optimum) <= line.tolerance, line
