"""Runs one question in a process of its own and brings back seconds and peak memory."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def machine() -> str:
    """Processor, cores and system, in a line."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {multiprocessing.cpu_count()} cores, Python {platform.python_version()}"


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
