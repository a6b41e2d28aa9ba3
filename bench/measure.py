"""Runs one question in a process of its own and brings back seconds and peak memory."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def machine() -> str:
    """Processor, cores and system, in a line."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {multiprocessing.cpu_count()} cores, Python {platform.python_version()}"


def given(option: str) -> str | None:
    """What the command says of ``--option`` or ``--option=text``: the text, "" without one; None: nothing."""
    for word in sys.argv[1:]:
        name, _, text = word.partition("=")
        if name == f"--{option}":
            return text
    return None


def keep_results(name: str, content: dict[str, Any]) -> Path:
    """Writes bench/results/NAME.json, with the day and the machine, a line for each entry of a list."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    lines = []
    for key, value in {"date": str(date.today()), "machine": machine(), **content}.items():
        if isinstance(value, list):
            entries = ",\n".join("  " + json.dumps(entry) for entry in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return path


def in_fresh_process(module: str, **arguments: Any) -> dict[str, Any]:
    """Calls ``module.measure(**arguments)`` in a new interpreter; it returns plain JSON values."""
    program = f"import json, sys, {module}; print(json.dumps({module}.measure(**json.loads(sys.argv[1]))))"
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[1],
        env=os.environ,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))
