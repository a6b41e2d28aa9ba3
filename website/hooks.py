"""What mkdocs is told while it builds the site: pages made from elsewhere, and where new pages go.

README.md, CHANGES.md and bench/RESULTS.md are pages too, so links to them from docs/ lead to those.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from website.notebook_pages import as_markdown  # noqa: E402
from website.reference import reference  # noqa: E402

ELSEWHERE = {"index.md": "README.md", "changes.md": "CHANGES.md", "measurements.md": "bench/RESULTS.md"}
"""Pages of the site, and the files of the project that they are."""
REST = "More"


def on_config(config: Any) -> Any:
    """Pages in docs/ that no section names come last, so that a new page needs nothing but its file."""
    listed = set(_pages(config.nav))
    found = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    if rest := [name for name in found if name not in listed]:
        config.nav.append({REST: rest})
    return config


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [page for part in inner for page in _pages(part)]


def on_files(files: Files, config: Any) -> Files:
    made = {page: (ROOT / source).read_text() for page, source in ELSEWHERE.items()}
    made["api.md"] = reference()
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        made[f"notebooks/{notebook.stem}.md"] = as_markdown(json.loads(notebook.read_text()), notebook.name)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links of the project's folders as links of the site."""
    name = page.file.src_uri
    if name in ELSEWHERE:  # these stand one folder up, or two
        markdown = re.sub(r"\]\((?:\.\./)*docs/", "](", markdown)
    for page_here, source in ELSEWHERE.items():
        for way in (f"../{source}", source, f"../../{source}"):
            markdown = markdown.replace(f"]({way})", f"]({page_here})")
    return markdown
