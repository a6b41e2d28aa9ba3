"""The site of the docs: links lead somewhere, the reference knows every name, the notebooks print what they show."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import topdag as td

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from website.notebook_pages import as_markdown  # noqa: E402
from website.notebooks import executed, texts_of  # noqa: E402
from website.reference import members_of, reference, signature  # noqa: E402

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGES.md", ROOT / "bench" / "RESULTS.md"]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
MADE = {"api.md", "index.md", "changes.md", "measurements.md"}
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
        assert target.exists() or name in MADE, f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_the_sections_of_the_site_name_pages_that_are_there() -> None:
    listed = re.findall(r"^ +- ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed)) > 20
    made = MADE | {f"notebooks/{notebook.stem}.md" for notebook in NOTEBOOKS}
    assert [page for page in listed if page not in made and not (ROOT / "docs" / page).exists()] == []


def test_every_public_name_is_in_the_reference() -> None:
    page = reference()
    assert [name for name in td.__all__ if f"### {name}\n" not in page] == []
    assert "```python\nk_best_networks(" in page
    assert "- **`to_dot()`** " in page
    assert "time_limit: float | None = None," in page


def test_signatures() -> None:
    assert signature("example_table", td.example_table) == "example_table(rows: int = 500, seed: int = 1) -> Table"
    assert signature("Status", td.Status) == "Status: PROVED, STOPPED, INFEASIBLE"
    long = signature("best_network", td.best_network).splitlines()
    assert long[0] == "best_network(" and long[1:3] == ["    source: Any,", "    *,"] and long[-1] == ") -> Answer"
    members = dict(members_of(td.Network))
    assert {"from_edges()", "to_dot()", "adjacency"} <= members.keys()
    assert "names" not in members  # a field, which the class tells


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
