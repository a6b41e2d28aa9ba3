"""399 tables that everybody can get, asked for the best network as they are: ``python -m bench tables``.

One row for each table, a file of results, and the page docs/develop/any_table.md with its picture. The tables come
from the package index; ``--folder`` names a copy of them, ``--only`` parts of their names; ``--page`` writes the page
from the last results.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench.column_labels import compared, pandas_types, shares
from bench.measure import machine
from bench.pydataset import chosen_tables, folder_of_tables

RESULTS = Path(__file__).with_name("results") / "any_table.json"
LIMIT = 10.0
"""Seconds for an answer."""
WAYS = ("file", "rewritten", "frame")
"""The file as it is, written again by pandas, and its frame in Python."""
OUTCOMES = {0: "proved", 3: "stopped"}
"""By exit code; all others are refused or failed."""
IMPORTS = 5
"""Times that importing is measured."""


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m bench tables")
    options.add_argument("--folder", type=Path, help="a copy of the resources of the package")
    options.add_argument("--only", nargs="+", help="parts of the names of tables; nothing is written then")
    options.add_argument("--page", action="store_true", help="write the page from the last results")
    asked = options.parse_args(arguments or [])
    if not asked.page:
        folder = folder_of_tables(asked.folder)
        tables = [path for path in chosen_tables(folder) if not asked.only or any(p in str(path) for p in asked.only)]
        results = measure(folder, tables)
        if asked.only:
            return
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(as_text(results))
    from bench.tables_page import write_page

    write_page(json.loads(RESULTS.read_text()))


def as_text(results: dict[str, Any]) -> str:
    """Return JSON with a line for each table."""
    lines = ",\n".join(f"  {json.dumps(row)}" for row in results["tables"])
    return json.dumps(results | {"tables": []}, indent=1).replace('"tables": []', f'"tables": [\n{lines}\n ]') + "\n"


def measure(folder: Path, tables: list[Path]) -> dict[str, Any]:
    """Ask of every table, print a row for each, and compare the types of columns with their labels."""
    imports = {"pandas": seconds_to_import("import pandas"), "topdag": seconds_to_begin(tables[0])}
    print(f"{len(tables)} tables, at most {LIMIT:g} s for an answer. {date.today()}. {machine()}")
    print("Processor seconds to import: " + ", ".join(f"{name} {value:.2f}" for name, value in imports.items()))
    rows, by_pandas = [], {}
    for path in tables:
        row, by_pandas[row["table"]] = measure_table(folder, path, imports)
        rows.append(row)
        print(as_line(row), flush=True)
    guesses = {row["table"]: row["types"] for row in rows}
    n_values = {row["table"]: row["values"] for row in rows}
    types = {"topdag": compared(guesses, n_values), "pandas": compared(by_pandas, n_values)}
    for row in types["topdag"]:
        if not row["alike"] and row["part"] == "open":
            print(f"  {row['table']}, {row['column']!r}: labelled {row['label']}, guessed {row['guess']}")
    summary = {
        who: {part: shares([row for row in found if row["part"] == part]) for part in ("open", "aside")}
        for who, found in types.items()
    }
    for row in rows:
        row["kinds"] = dict(Counter(row.pop("types").values()).most_common())
        del row["values"]
    return {
        "date": str(date.today()),
        "machine": machine(),
        "imports": imports,
        "tables": rows,
        "types": summary,
    }


def measure_table(folder: Path, path: Path, imports: dict[str, float]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what is known of a table, and the types of its columns as pandas sees them."""
    import pandas as pd

    import topdag as td

    begin = process_time()
    frame = pd.read_csv(path, encoding_errors="replace")
    by_pandas = process_time() - begin
    row: dict[str, Any] = {"table": str(path.relative_to(folder)), "rows": len(frame), "file": asked_of_file(path)}
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary, path.name)
        frame.to_csv(again)
        row["rewritten"] = asked_of_file(again)
    row["frame"] = timed(lambda: asked_of_frame(frame))
    row["ratio"] = (imports["topdag"] + row["file"]["seconds"]) / (imports["pandas"] + by_pandas)
    try:
        look = td.look(path)
        row |= {"types": look.types, "score": look.score}
    except td.TableError:
        row |= {"types": {}, "score": ""}
    row["values"] = {str(name): int(frame[name].nunique()) for name in frame.columns}
    return row, pandas_types(frame)


def asked_of_file(path: Path) -> dict[str, Any]:
    """Ask the command line, in this process, for the best network."""
    from topdag.cli.main import main as command_line

    def ask() -> dict[str, Any]:
        said, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            code = int(command_line(["best", str(path), "--time-limit", str(LIMIT)]))
        outcome = OUTCOMES.get(code, "refused")
        message = "" if outcome in OUTCOMES.values() else sentence(errors.getvalue(), path)
        return {"outcome": outcome, "message": message, "lines": len(said.getvalue().splitlines())}

    return timed(ask)


def sentence(errors: str, path: Path) -> str:
    """Return what is said to be wrong, without advice on the cost that may come before."""
    return " ".join(errors.rpartition("topdag: ")[2].replace(f"{path}: ", "").split())


def asked_of_frame(frame: Any) -> dict[str, Any]:
    """Ask the estimator for the best network of a frame."""
    import topdag as td
    from topdag.estimators import StructureLearner

    try:
        learner = StructureLearner(time_limit=LIMIT).fit(frame)
    except (td.TableError, td.ScoreError, MemoryError) as error:
        return {"outcome": "refused", "message": str(error)}
    except Exception as error:
        return {"outcome": "refused", "message": f"{type(error).__name__}: {error}"}
    return {"outcome": "proved" if learner.answer_.proved else "stopped", "message": ""}


def timed(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    begin = process_time()
    found = ask()
    return found | {"seconds": process_time() - begin}


def as_line(row: dict[str, Any]) -> str:
    """Return what is known of a table in one line, and a line for each refusal."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(row["types"].values()).most_common())
    outcomes = "/".join(row[way]["outcome"] for way in WAYS)
    line = f"{row['table']:32} {outcomes:24} {row['file']['seconds']:6.2f} s  ratio {row['ratio']:5.1f}"
    refusals = {row[way]["message"] for way in WAYS} - {""}
    return "\n".join([f"{line}  {row['score']:24} {kinds}", *(f"    {message}" for message in refusals)])


def seconds_to_import(statement: str) -> float:
    """Return the processor seconds of the statement in a fresh interpreter."""
    program = f"from time import process_time; begin = process_time(); {statement}; print(process_time() - begin)"

    def once() -> float:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        return float(done.stdout.splitlines()[-1])

    return median(once() for _ in range(IMPORTS))


def seconds_to_begin(table: Path) -> float:
    """Return the processor seconds that the first answer takes more than the second to the same question: modules."""
    ask = f"command_line(['best', {str(table)!r}, '--time-limit', '{LIMIT}'])"
    first = f"from topdag.cli.main import main as command_line; {ask}"
    again = f"import time; again = time.process_time(); {ask}; begin += time.process_time() - again"
    return seconds_to_import(f"{first}; {again}")


if __name__ == "__main__":
    main(sys.argv[1:])
