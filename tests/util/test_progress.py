"""How long computations show how they stand: in terminals and notebooks, never in pipes."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from strategies import sampled_table

import topdag as td
from topdag._util import progress as displays
from topdag._util import run as runs
from topdag._util.run import Run
from topdag.cli.main import main
from topdag.data.files import read as reading
from topdag.io.networks import write_network

LATER = td.types.Progress("ordering", 65.0, 0.25, -10.5, -10.0, 2_000_000)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ZMQInteractiveShell:
    """What IPython's shell is called in a notebook."""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A notebook that keeps what it is given to show."""
    shown: list[str] = []

    def display(line: Any, display_id: bool) -> Any:
        assert display_id
        shown.append(line._repr_html_())
        return SimpleNamespace(update=lambda next_line: shown.append(next_line._repr_html_()))

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def test_in_words() -> None:
    assert displays.in_words(td.types.Progress("counting", 2.4, None, None, None, 0)) == "counting, 2 s"
    assert displays.in_words(LATER) == "ordering 25%, 65 s, 2 MB, best -10.500, bound -10.000, gap 0.500"


def test_nothing_is_shown_within_two_seconds(notebook: list[str]) -> None:
    for line in (displays.TerminalLine(), displays.NotebookLine()):
        line.show(td.types.Progress("counting", 1.9, 0.5, None, None, 0))
        line.wipe()
    assert notebook == []


def test_who_sees_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program sees nothing unless it asks; neither does a pipe."""
    assert displays.display_for(None) is None
    assert displays.display_for(True) is None  # stderr is captured here, no terminal
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert displays.display_for(None) is None
    assert isinstance(displays.display_for(True), displays.TerminalLine)
    assert displays.display_for(False) is None
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert isinstance(displays.display_for(None), displays.TerminalLine)


def on_screen(written: str) -> str:
    """The line that a terminal shows; what comes after a return overwrites."""
    line = ""
    for piece in written.split("\r"):
        line = piece + line[len(piece) :]
    return line


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_a_terminal_line_fits_and_is_overwritten_and_wiped(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(displays, "_columns", lambda: columns)
    line = displays.TerminalLine()
    for progress in (LATER, td.types.Progress("counting", 67.4, None, None, None, 0), replace(LATER, seconds=68.0)):
        line.show(progress)
        assert on_screen(terminal.getvalue()).rstrip() == displays.in_words(progress)[: columns - 1]
    line.wipe()
    line.wipe()
    assert on_screen(terminal.getvalue()).strip() == "" and terminal.getvalue().endswith("\r")
    assert "\n" not in terminal.getvalue() and max(map(len, terminal.getvalue().split("\r"))) < columns


QUESTIONS_OF_FILES: dict[str, Callable[[str], object]] = {
    "topdag best": lambda file: main(["best", file]),
    "topdag plan": lambda file: main(["plan", file]),
    "topdag score": lambda file: main(["score", file, "--family", "a"]),
    "topdag bootstrap": lambda file: main(["bootstrap", file, "-k", "1"]),
    "topdag fit": lambda file: main(["fit", file, file.replace(".csv", ".json"), "-o", file.replace(".csv", ".bif")]),
    "read_table": td.read_table,
    "best_network": td.best_network,
    "score": td.score,
    "plan": td.plan,
    "edge_posteriors": td.edge_posteriors,
    "structural_em": td.structural_em,
}


@pytest.mark.parametrize("name", QUESTIONS_OF_FILES)
def test_a_table_that_takes_long_to_read_shows_it(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands on a terminal, Python at its prompt."""
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n" + "x,y\nx,x\ny,y\n" * 5)
    write_network(file.with_suffix(".json"), td.Network(["a", "b"], {"b": ["a"]}))
    at_once = reading.table_of_file

    def slowly(*of_file: Any) -> td.Table:
        sleep(0.1)
        return at_once(*of_file)

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(displays, "SECONDS_OF_SILENCE", 0.0)
    monkeypatch.setattr(displays, "SECONDS_A_LOOK", 0.01)
    monkeypatch.setattr(reading, "table_of_file", slowly)
    QUESTIONS_OF_FILES[name](str(file))
    assert "\rreading, 0 s, " in terminal.getvalue()
    gc.collect()
    assert on_screen(terminal.getvalue()).strip() == ""


def test_reading_is_shown_to_nobody_who_does_not_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = [thread.name for thread in threading.enumerate()]
    with displays.shown_meanwhile("reading", None):
        assert [thread.name for thread in threading.enumerate()] == begun
    line = displays.TerminalLine()
    monkeypatch.setattr(displays, "SECONDS_A_LOOK", 0.01)
    with pytest.raises(KeyboardInterrupt), displays.shown_meanwhile("reading", line):
        raise KeyboardInterrupt
    assert [thread.name for thread in threading.enumerate()] == begun


@pytest.mark.parametrize("has_begun", [False, True])
def test_ctrl_c_while_a_display_begins_ends_it(has_begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its thread runs by then or not."""
    begun = threading.enumerate()

    class Interrupted(threading.Thread):
        def start(self) -> None:
            if has_begun:
                super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(displays, "Thread", Interrupted)
    monkeypatch.setattr(displays, "SECONDS_A_LOOK", 0.01)
    with pytest.raises(KeyboardInterrupt), displays.shown_meanwhile("reading", displays.TerminalLine()):
        pytest.fail("nothing is to be read any more")
    assert threading.enumerate() == begun


def test_a_terminal_that_does_not_say_how_wide_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert displays._columns() == displays.COLUMNS


def test_a_notebook_shows_it_unasked(notebook: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()
    run.tick("counting", 1, 4)
    assert notebook == []
    run.start -= 3
    run.tick("counting", 1, 4)
    run.tick("<counting>", 2, 4)
    assert '<progress value="0.250">' in notebook[0] and "counting 25% (about 9 s left), 3 s" in notebook[0]
    assert "&lt;counting&gt;" in notebook[1]
    del run
    gc.collect()
    assert notebook[2:] == ["<div></div>"]
    quiet = Run(on_progress=False)
    quiet.start -= 3
    quiet.tick("counting", 1, 4)
    assert len(notebook) == 3


ASKED = ("best_network", "edge_posteriors", "log_evidence", "networks_within", "sample_networks")


@pytest.mark.parametrize("ask", ASKED)
def test_every_question_shows_itself(notebook: list[str], monkeypatch: pytest.MonkeyPatch, ask: str) -> None:
    """Three seconds pass whenever the clock is read; a score that is a function of ours tells of itself before it is
    asked for, however fast the machine is."""
    monkeypatch.setattr(runs, "perf_counter", iter(range(0, 10**9, 3)).__next__)
    kind = td.CustomScore(lambda family: -float(len(family.parents)))
    table = sampled_table(4, 20, seed=1)
    more = {"networks_within": (50.0,), "sample_networks": (20,)}.get(ask, ())
    getattr(td, ask)(table, *more, kind)
    assert any("<code>counting" in line for line in notebook)
    assert notebook[-1] == "<div></div>"


def test_topdag_does_not_load_ipython() -> None:
    code = "import sys, topdag as td; td.best_network(td.example_table(20)); print('IPython' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


def test_progress_tells_memory() -> None:
    told: list[td.types.Progress] = []
    run = Run(on_progress=told.append)
    run.tick("counting", 0, 0)
    assert told[0].memory > 1_000_000
    assert told[0].fraction is None
    assert told[0].seconds >= 0


def course(*reports: tuple[str, float, float | None]) -> list[tuple[float, float | None, float | None]]:
    """Seconds, part of the phase and seconds left, as shown after each report."""
    on_the_way = displays.Course()
    shown = [on_the_way.on(td.types.Progress(*report, None, None, 0)) for report in reports]
    return [(progress.seconds, progress.fraction, left) for progress, left in shown]


def test_one_clock_where_one_computation_follows_another() -> None:
    shown = course(("scoring", 3.0, None), ("scoring", 5.0, None), ("summing", 1.0, None), ("summing", 2.0, None))
    assert [seconds for seconds, _, _ in shown] == [3.0, 5.0, 6.0, 7.0]


def test_a_phase_that_falls_back_shows_no_part_until_the_next_phase() -> None:
    reports = [("lattice", 1.0, 0.5), ("lattice", 2.0, 0.9), ("lattice", 3.0, 0.1), ("lattice", 4.0, 0.95)]
    shown = course(*reports, ("listing", 5.0, 0.2), ("listing", 6.0, 0.4))
    assert [fraction for _, fraction, _ in shown] == [0.5, 0.9, None, None, 0.2, 0.4]


def test_what_is_left_of_a_phase_is_said_where_it_is_known() -> None:
    shown = course(("counting", 1.0, 0.0), ("counting", 1.5, 0.02), ("counting", 3.0, 0.25), ("search", 4.0, None))
    assert [left for _, _, left in shown] == [None, None, pytest.approx(6.0), None]
    words = displays.in_words(td.types.Progress("counting", 3.0, 0.25, None, None, 0), 6.0)
    assert words == "counting 25% (about 6 s left), 3 s"
