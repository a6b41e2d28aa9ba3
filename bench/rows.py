"""More and more rows that are nearly all distinct, in Parquet files: held in memory, and read chunk by chunk."""

from __future__ import annotations

import resource
import time
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import in_fresh_process, machine

# millions of rows, how they are kept, score
ROWS = [
    (1, "held", "bic"),
    (5, "held", "bic"),
    (1, "chunks", "bic"),
    (5, "chunks", "bic"),
    (20, "chunks", "bic"),
    (100, "chunks", "bic"),
    (100, "chunks", "bdeu"),
]
A_FILE = 1_000_000
COLUMNS = 20
TOO_LITTLE = 100
"""Bytes for each row: such rows are read chunk by chunk."""


def write(folder: str, millions: int) -> None:
    """Files with three and four states by turns, up to three parents each, and much noise."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    chance = np.random.default_rng(5)
    arities = [4 if v % 2 else 3 for v in range(COLUMNS)]
    parents = [chance.choice(v, min(v, chance.integers(4)), replace=False).tolist() for v in range(COLUMNS)]
    shapes = [[arities[p] for p in own] for own in parents]
    tables = [
        chance.dirichlet(np.full(arity, 8.0), size=int(np.prod(shape))).cumsum(axis=1)
        for arity, shape in zip(arities, shapes, strict=True)
    ]
    for part in range(millions):
        drawn = np.random.default_rng((11, part))
        columns: list[Any] = []
        for own, shape, table in zip(parents, shapes, tables, strict=True):
            row = np.ravel_multi_index([columns[p] for p in own], shape) if own else np.zeros(A_FILE, np.int64)
            columns.append((drawn.random((A_FILE, 1)) > table[row, :-1]).sum(axis=1).astype(np.int8))
        rows = pa.table({f"X{v}": column for v, column in enumerate(columns)})
        parquet.write_table(rows, Path(folder) / f"{part:03}.parquet")


def measure(folder: str, millions: int, kept: str, kind: str) -> dict[str, Any]:
    import topdag as td

    limit = None if kept == "held" else TOO_LITTLE * A_FILE * millions
    begin, on_the_wall = time.process_time(), time.perf_counter()
    table = td.read_table(folder, memory_limit=limit)
    assert (table.chunks is None) == (kept == "held")
    read = time.process_time()
    scores = td.score(table, kind, max_parents=3)
    scored = time.process_time()
    best = td.best_network(scores)
    return {
        "read": read - begin,
        "scored": scored - read,
        "best": time.process_time() - scored,
        "wall": time.perf_counter() - on_the_wall,
        "score": best.score,
        "status": best.proof.status.name,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    print(f"{COLUMNS} columns, nearly all rows distinct, at most 3 parents, processor s. {date.today()}. {machine()}")
    print(f"{'million rows':>12} {'':8} {'score':6} {'read':>6} {'scored':>7} {'best':>5} {'wall':>6} {'peak MB':>8}")
    with TemporaryDirectory() as folder:
        write(folder, max(millions for millions, _, _ in ROWS))
        files = sorted(Path(folder).glob("*.parquet"))
        for millions, kept, kind in ROWS:
            some = Path(folder) / f"{millions}"
            some.mkdir(exist_ok=True)
            for file in files[:millions]:
                if not (some / file.name).exists():
                    (some / file.name).symlink_to(file)
            r = in_fresh_process("bench.rows", folder=str(some), millions=millions, kept=kept, kind=kind)
            seconds = f"{r['read']:6.1f} {r['scored']:7.1f} {r['best']:5.1f} {r['wall']:6.1f}"
            shown = f"{seconds} {r['peak'] / 1e6:8.0f}  {r['status']} {r['score']:.3f}"
            print(f"{millions:12} {kept:8} {kind:6} {shown}", flush=True)
