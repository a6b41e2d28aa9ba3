"""What is installed, and what is loaded when: little, and late."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
HEAVY = ("highspy", "pandas", "polars", "pyarrow", "matplotlib", "scipy", "networkx", "sklearn", "IPython")


def loaded_by(program: str) -> set[str]:
    """The heavy modules that a program of its own has loaded in the end."""
    ending = f"\nimport sys; print(' '.join(m for m in {HEAVY} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "program",
    [
        "import topdag",
        "import topdag as td; td.best_network(td.example_table(50))",
        "import topdag as td; td.k_best_networks(td.Table({'a': [0, 1, 0], 'b': [0, 1, 1]}), 2)",
        "import topdag as td; td.edge_posteriors(td.example_table(50))",
        "from topdag.cli.main import main; main(['demo', '--rows', '20'])",
        "from topdag.cli.main import main; main(['--version'])",
    ],
)
def test_nothing_heavy_is_loaded(program: str) -> None:
    assert loaded_by(program) == set()


def test_large_searches_load_their_solver() -> None:
    program = (
        "import topdag as td; td.best_network(td.score(td.random_network(24, seed=1).sample(60, seed=1), td.BIC()))"
    )
    assert loaded_by(program) <= {"highspy"}


def test_what_is_needed_at_run_time() -> None:
    names = {need.split(">")[0] for need in PROJECT["project"]["dependencies"]}
    assert names == {"numpy", "narwhals", "highspy"}


def test_the_extra_for_everything_is_everything_for_use() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.removeprefix("topdag[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "test", "lint", "docs"}


def test_every_extra_is_documented() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "platforms.md").read_text()
    assert {extra for extra in PROJECT["project"]["optional-dependencies"] if f"`topdag[{extra}]`" not in page} == set()


def test_the_command_is_a_script_of_ours() -> None:
    """Installers put the path of their Python for ``#!python``."""
    top = Path(__file__).resolve().parents[2]
    script = top / "src" / "script" / "topdag"
    assert script.read_text().startswith("#!python\n")
    assert os.access(script, os.X_OK)
    assert "src/script/topdag DESTINATION ${SKBUILD_SCRIPTS_DIR}" in (top / "CMakeLists.txt").read_text()
    assert "scripts" not in PROJECT["project"]


def test_the_source_distribution_holds_no_binaries() -> None:
    """A module built in place for one Python would shadow the one built for another."""
    assert "*.so" in PROJECT["tool"]["scikit-build"]["sdist"]["exclude"]


OPENED = """
import sys
from topdag.__main__ import main

sys.argv = ["topdag", *{words}]
assert main() == 0
print(*(name for name in sys.modules if name.startswith(("topdag", "numpy", "highspy"))))
"""


def opened_by(*words: str) -> set[str]:
    """What a command has loaded in the end."""
    program = OPENED.format(words=words)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_a_small_question_opens_what_it_needs(tmp_path: Path) -> None:
    """No constraints, no formats of other programs, no engine for large tables, no other command."""
    path = tmp_path / "small.csv"
    path.write_text("a,b,c\n0,0,1\n0,1,0\n1,1,1\n1,0,0\n1,1,0\n")
    opened = opened_by("best", os.fspath(path))
    own = {name for name in opened if name.startswith("topdag")}
    folders = {name.split(".")[1] for name in own if "." in name}
    assert not folders & {"constrained", "io", "report", "estimators", "features", "rules", "probabilities", "types"}
    assert {name for name in own if name.startswith("topdag.cli.commands.")} == {"topdag.cli.commands.best"}
    assert not {"topdag.knowledge.constraints", "topdag.search.branch_and_cut", "highspy"} & opened
    assert len(own) <= 81


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_opens_next_to_nothing(word: str) -> None:
    opened = opened_by(word)
    assert "numpy" not in opened and len(opened) <= 12
