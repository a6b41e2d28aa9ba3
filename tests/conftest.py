"""What all tests share: how hypothesis runs, and commands run in this process.

Examples are the same on every run, so that a failure can be repeated. ``--hypothesis-profile=explore`` draws new
ones each time: run it after changing an engine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Ran, Start, Topdag
from ctrl_c import only_a_person_ends_the_run
from hypothesis import HealthCheck, settings

import topdag as td
from topdag.cli.commands.demo import csv_text
from topdag.cli.main import main

slow_is_fine = [HealthCheck.too_slow]
settings.register_profile("topdag", deadline=None, derandomize=True, suppress_health_check=slow_is_fine)
settings.register_profile("explore", deadline=None, suppress_health_check=slow_is_fine)
settings.load_profile("topdag")
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script, where tests run too


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    with only_a_person_ends_the_run():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    with only_a_person_ends_the_run():
        return (yield)


@pytest.fixture
def topdag(capsys: pytest.CaptureFixture[str]) -> Topdag:
    """Runs a command of the command line in this process."""

    def run(*words: object) -> Ran:
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def asia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example table as a CSV file."""
    path = tmp_path_factory.mktemp("asia") / "asia.csv"
    path.write_text(csv_text(td.example_table()))
    return path


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command in a process of its own, which does not outlive the test."""
    processes = []

    def started(*words: object, **streams: Any) -> subprocess.Popen[str]:
        here = {"PYTHONPATH": str(Path(td.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "100"}
        command = [sys.executable, "-m", "topdag", *map(str, words)]
        processes.append(subprocess.Popen(command, text=True, env=os.environ | here, **streams))
        return processes[-1]

    yield started
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()
