"""What all tests share: how hypothesis runs, which tests are quick, and commands run in this process.

Examples are the same on every run, so that a failure can be repeated. ``--hypothesis-profile=explore`` draws new
ones each time, and twice as many: run it after changing an engine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
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

always = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("topdag", always, derandomize=True, max_examples=50)
settings.register_profile("explore", always)
settings.load_profile("topdag")
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script, where tests run too


# ---- What took little time before: make test-fast

TOOK = "topdag/seconds"
QUICK = 0.04  # seconds


def pytest_addoption(parser: pytest.Parser) -> None:
    text = f"only tests that took at most {QUICK} s when they last ran here, and those that never did"
    parser.addoption("--fast", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and config.pluginmanager.hasplugin("cacheprovider"):
        config.pluginmanager.register(Stopwatch(config))


class Stopwatch:
    """Writes down how long each test took."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.took: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        if self.took:
            self.config.cache.set(TOOK, self.config.cache.get(TOOK, {}) | self.took)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("fast"):
        took = config.cache.get(TOOK, {})
        slow = [item for item in items if took.get(item.nodeid, 0.0) > QUICK]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if took.get(item.nodeid, 0.0) <= QUICK]


# ---- Ctrl-C, and commands


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
