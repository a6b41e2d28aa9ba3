"""The site of the docs: links lead somewhere, the reference finds every name, the notebooks print what they show."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import topdag as td

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from website.notebook_pages import as_markdown  # noqa: E402
from website.notebooks import executed, texts_of  # noqa: E402

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGES.md", ROOT / "bench" / "RESULTS.md"]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorial").glob("*.ipynb"))
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
MADE = {"index.md", "develop/changes.md", "develop/measurements.md"}
"""Pages that stand in no file of docs/ (website/hooks.py)."""


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Of the headings, as the site and GitHub make them."""
    titles = re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(without_code(page.read_text())):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_pages_that_the_source_names_are_there() -> None:
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".h", ".cpp", ".md")]
    named = {page for path in sources for page in re.findall(r"\b[\w/]*[A-Za-z_]+\.md\b", path.read_text())}
    assert {page for page in named if not page.endswith("README.md") and not (ROOT / page).exists()} == set()


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"^ +- (?:.+: )?([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}
    notebooks = {notebook.relative_to(docs).with_suffix(".md").as_posix() for notebook in NOTEBOOKS}
    assert len(listed) == len(set(listed))
    assert set(listed) == pages | notebooks | MADE


def test_every_public_name_is_in_the_reference() -> None:
    """The reference reads the source, so it must find names there that are loaded only when they are asked for."""
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions("unpack_typeddict", ROOT / "website" / "docstrings.py")
    package = griffe.load(
        "topdag", search_paths=[ROOT / "src"], extensions=extensions, allow_inspection=False, resolve_aliases=True
    )
    for space in [package, *(package[name] for name in td.__all__ if isinstance(getattr(td, name), ModuleType))]:
        assert space.exports == import_module(space.path).__all__
        assert [name for name in space.exports if not space[name].has_docstring] == []
        assert {name for name, module in space.modules.items() if module.is_public} <= set(space.exports)
        assert f"::: {space.path}\n" in (ROOT / "docs" / "reference" / "names.md").read_text()
    assert "```pycon\n>>> chain = Network(" in package["compare"].docstring.value
    assert {"kind", "time_limit", "missing"} <= {argument.name for argument in package["best_network"].parameters}


def test_a_docstring_as_markdown() -> None:
    pytest.importorskip("griffe")
    from website.docstrings import as_markdown as text_of

    shown = text_of("Takes ``a*b`` < c_d.\n\n>>> f(1)\n2")
    assert shown == "Takes ``a*b`` \\< c\\_d.\n\n```pycon\n>>> f(1)\n2\n```"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of the kernel and its libraries
def test_notebooks_print_what_they_show(path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    kept = json.loads(path.read_text())
    assert texts_of(kept) and all(text.strip() for text in texts_of(kept))
    assert texts_of(executed(kept)) == texts_of(kept), "make notebooks writes them anew"


def test_a_notebook_as_a_page() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "[next](other.ipynb)"]},
        {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]},
        {"cell_type": "code", "source": ["draw()"], "outputs": [{"data": {"image/svg+xml": ["<svg/>"]}}]},
    ]
    page = as_markdown({"cells": cells}, "title.ipynb")
    assert "[next](other.md)" in page and "(title.ipynb)" in page
    assert "```python\n1 + 1\n```\n\n```text\n2\n```" in page
    assert "<svg/>" in page and "text/plain" not in page
