"""The command line stopped by limits, Ctrl-C and closed pipes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import TIMEOUT, Start, Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.cli.commands import SUMMARIES, best
from topdag.cli.commands.demo import csv_text


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes far longer than any test waits: many variables, many distinct rows."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    path.write_text(csv_text(td.random_network(22, arities=3, seed=1).sample(10_000, seed=1)))
    return path


def bound_in(text: str) -> float:
    found = re.search(r"above the\s+bound\s+(-\d+\.\d+)", text)
    assert found, text
    return float(found[1])


def test_time_limit_zero_gives_a_valid_bound(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    optimum = td.best_network(asia).score
    ran = topdag("best", asia, "--time-limit", "0", "-o", tmp_path / "stopped.json")
    assert ran.code == Exit.STOPPED
    assert "Stopped by the time limit" in ran.out
    content = json.loads((tmp_path / "stopped.json").read_text())
    assert content["score"] <= optimum <= content["proof"]["bound"] <= bound_in(ran.out)
    assert topdag("check", tmp_path / "stopped.json", asia).code == 0


def test_too_large(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("best", asia, "--memory-limit", "1kB")
    assert (ran.code, ran.out) == (Exit.TOO_LARGE, "")
    assert "allowed by --memory-limit" in ran.err
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([",".join(f"v{i}" for i in range(30)), ",".join("0" * 30), ",".join("1" * 30)]))
    limited = ["--score", "bdeu", "--memory-limit", "8GB"]
    assert topdag("best", wide, *limited).code == Exit.TOO_LARGE
    assert topdag("score", wide, "-o", tmp_path / "wide.jkl", *limited).code == Exit.TOO_LARGE


def test_ctrl_c_prints_what_is_known(start: Start, large: Path, tmp_path: Path) -> None:
    """The signal is sent once the progress line has appeared, so this tests that line too."""
    ours, theirs = pty.openpty()
    json_file = tmp_path / "stopped.json"
    process = start("best", large, "--threads", 1, "-o", json_file, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = ""
    while "counting" not in seen:
        seen += os.read(ours, 1024).decode()
    assert re.search(r"counting \d+%( \(about .* left\))?, \d+ s, [0-9.]+ MB", seen)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=TIMEOUT)
    os.close(ours)
    assert process.returncode == Exit.INTERRUPTED
    assert "Stopped by Ctrl-C" in out
    content = json.loads(json_file.read_text())
    assert content["score"] <= content["proof"]["bound"] <= bound_in(out)


PRESSED_WHEN_CALLED = """
import os, signal, sys
import {module} as place
from topdag.__main__ import main

called = getattr(place, {name!r}, print)

def pressed(*arguments, **options):
    place.{name} = called
    os.kill(os.getpid(), signal.SIGINT)
    return called(*arguments, **options)

place.{name} = pressed
sys.argv = ["topdag", *{words}]
sys.exit(main())
"""


def pressed_when_called(module: str, name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which gets Ctrl-C when it calls a function."""
    program = PRESSED_WHEN_CALLED.format(module=module, name=name, words=[str(word) for word in words])
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["best", "list", "within"])
def test_ctrl_c_while_it_scores(asia: Path, command: str) -> None:
    done = pressed_when_called("topdag.questions.request", "score_within", command, asia)
    said = "Stopped by Ctrl-C" if command == "best" else "Stopped by Ctrl-C: the list begins with the best found"
    assert said in " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "")


@pytest.mark.parametrize(
    ("command", "module", "name"),
    [
        ("best", "topdag.cli.streams", "print"),
        ("best", "topdag.cli.commands.best", "answer_text"),
        ("list", "topdag.cli.streams", "print"),
        ("list", "topdag.cli.list_runs", "list_text"),
        ("within", "topdag.cli.list_runs", "list_text"),
    ],
)
def test_ctrl_c_while_it_prints(asia: Path, command: str, module: str, name: str) -> None:
    done = pressed_when_called(module, name, command, asia)
    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "topdag: interrupted before all was printed\n")


def test_ctrl_c_while_json_lines_are_printed(asia: Path) -> None:
    done = pressed_when_called("topdag.cli.list_runs", "list_lines", "within", asia, "--json")
    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "topdag: interrupted before all was printed\n")


PRESSED_IN_THE_END = """
import atexit, os, signal, sys
from topdag.__main__ import main

class Last:
    def __del__(self, kill=os.kill, own=os.getpid(), ctrl_c=signal.SIGINT):
        kill(own, ctrl_c)

last = Last()
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["topdag", "within", {path!r}]
sys.exit(main())
"""


def test_ctrl_c_while_python_ends(asia: Path) -> None:
    """All is printed, and the exit code says how it ended."""
    program = PRESSED_IN_THE_END.format(path=str(asia))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.FINE, "")


NOTHING_KNOWN = "topdag: interrupted before anything was known\n"
PRESSED_WHILE_LOADING = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
import topdag.__main__ as entry
if {is_ignored}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.argv = ["topdag", {command!r}]
sys.exit(entry.main())
"""


def pressed_while_loading(module: str, command: str, *, is_ignored: bool = False) -> tuple[int, str]:
    program = PRESSED_WHILE_LOADING.format(module=module, command=command, is_ignored=is_ignored)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", ["topdag.cli", "numpy", "datetime"])  # NumPy asks for the last one in C
@pytest.mark.parametrize("is_ignored", [False, True])
def test_ctrl_c_while_it_still_loads(module: str, is_ignored: bool) -> None:
    expected = (Exit.FINE, "") if is_ignored else (Exit.INTERRUPTED, NOTHING_KNOWN)
    assert pressed_while_loading(module, "demo", is_ignored=is_ignored) == expected


@pytest.mark.parametrize("command", SUMMARIES)
def test_ctrl_c_while_a_command_loads(command: str) -> None:
    assert pressed_while_loading("numpy", command) == (Exit.INTERRUPTED, NOTHING_KNOWN)


PRESSED_WHILE_THE_SCRIPT_LOADS = """
import os, runpy, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
sys.argv = ["topdag", "--version"]
runpy.run_path({script!r}, run_name="__main__")
"""


@pytest.mark.parametrize("module", ["topdag", "topdag.__main__", "topdag.cli"])
def test_ctrl_c_while_the_installed_script_loads(module: str) -> None:
    """It is a file of ours, not one that pip makes: such a one loads modules before Ctrl-C can be heard."""
    script = Path(__file__).resolve().parents[2] / "src" / "script" / "topdag"
    program = PRESSED_WHILE_THE_SCRIPT_LOADS.format(module=module, script=str(script))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "topdag: interrupted before anything was known\n")


def test_ctrl_c_before_anything_is_known(topdag: Topdag, asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(best, "request_from", interrupted)
    ran = topdag("best", asia)
    assert (ran.code, ran.out) == (Exit.INTERRUPTED, "")
    assert "interrupted" in ran.err


@pytest.mark.parametrize("words", [["best", "FILE"], ["demo"], ["best", "--help"]])
def test_nobody_reads_the_output(start: Start, asia: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*(asia if word == "FILE" else word for word in words), stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (Exit.NO_READER, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_stdout_is_full(start: Start, asia: Path) -> None:
    with open("/dev/full", "w") as full:
        process = start("best", asia, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == Exit.BAD_INPUT
    assert err.startswith("topdag: standard output: ")
    assert "Traceback" not in err


def test_names_that_stdout_cannot_encode(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "names.csv"
    path.write_text("größe,b\n0,1\n1,0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    for words in (["best", path], ["best", path, "--json"]):
        out, err = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE).communicate(timeout=TIMEOUT)
        assert err == ""
        assert "gr" in out
    assert "größe" in json.loads(out)["network"]["variables"]
