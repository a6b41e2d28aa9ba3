"""Counting all sets: topdag's splitting and summing out beside a sparse AD-tree, one thread each."""

from __future__ import annotations

import subprocess
import tempfile
import time
from datetime import date
from pathlib import Path

from bench.measure import DATA, machine

NAMES = ["wine", "tic_tac_toe", "nltcs", "zoo"]


def main() -> None:
    import topdag as td

    print(f"\nAll BDeu set scores, one thread. {date.today()}. {machine()}")
    print(f"{'data':12} {'n':>3} {'rows':>6} {'AD-tree build':>13} {'AD-tree score':>13} {'topdag':>8} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ad_tree"
        subprocess.run(["g++", "-std=c++20", "-O3", Path(__file__).with_suffix(".cpp"), "-o", program], check=True)
        for name in NAMES:
            if not (DATA / f"{name}.csv").exists():
                print(f"{name:12} skipped: no {name}.csv in ../shared/data")
                continue
            table = td.read_table(DATA / f"{name}.csv")
            begin = time.perf_counter()
            scores = td.score(table, td.BDeu(1.0), threads=1)
            own = time.perf_counter() - begin
            done = subprocess.run([program], input=_as_text(table), capture_output=True, text=True, check=True)
            build, score, checksum = map(float, done.stdout.split())
            mine = float(scores.store.joint.sum())  # type: ignore[union-attr]
            assert abs(checksum - mine) <= 1e-9 * abs(mine), (checksum, mine)
            print(
                f"{name:12} {table.n_variables:3} {table.n_rows:6} {build:13.3f} {score:13.3f} {own:8.3f} "
                f"{(build + score) / own:7.0f}",
                flush=True,
            )


def _as_text(table: object) -> str:
    codes, weights = table.codes, table.weights  # type: ignore[attr-defined]
    rows = [
        " ".join(map(str, row)) for row, w in zip(codes.T.tolist(), weights.tolist(), strict=True) for _ in range(w)
    ]
    return f"{len(codes)} {len(rows)}\n{' '.join(map(str, table.arities))}\n" + "\n".join(rows)  # type: ignore[attr-defined]
