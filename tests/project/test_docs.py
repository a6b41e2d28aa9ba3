"""The examples in README.md, docs/ and docstrings run and say what they print.

Commands in the docs are tried in test_cli*.py; here are the Python examples (lines that begin with >>>).
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest

import topdag
from topdag.cli.commands import SUMMARIES
from topdag.cli.docs import help_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.exists()]
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(topdag.__path__, "topdag.")
    if not found.name.endswith("__main__") and not found.name.endswith("_core")
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Examples may write files; they do so in a folder of their own, which is empty: they have no others."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: os.fspath(page.relative_to(ROOT)))
@pytest.mark.usefixtures("elsewhere")
def test_page(page: Path) -> None:
    found = doctest.DocTestParser().get_doctest(
        page.read_text(), {"__name__": "__main__"}, page.name, os.fspath(page), 0
    )
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=OPTIONS).run(found, out=report.append)
    assert not failed, "".join(report)


@pytest.mark.parametrize("name", ["topdag", *MODULES])
@pytest.mark.usefixtures("elsewhere")
def test_module(name: str) -> None:
    module = importlib.import_module(name)
    failures, runner = [], doctest.DocTestRunner(optionflags=OPTIONS)
    for found in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        failed, _ = runner.run(found, out=failures.append)
        assert not failed, "".join(failures)


def test_there_are_examples() -> None:
    """That nothing is skipped silently: the pages that have Python blocks have examples that run."""
    for page in PAGES:
        text = page.read_text()
        if "```python" in text:
            assert ">>> " in text, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_have_the_options_they_are_given(page: Path) -> None:
    written = re.findall(r"topdag (\w+)([^`\n]*)", page.read_text())
    used = {
        (command, option)
        for command, rest in written
        if command in SUMMARIES
        for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", re.split(r"[.,;] ", rest)[0])  # where a sentence goes on
    }
    helps = {command: help_of(command) for command, _ in used}
    assert not [f"{command} {option}" for command, option in used if not re.search(rf"{option}\b", helps[command])]
