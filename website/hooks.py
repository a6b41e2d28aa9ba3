"""What mkdocs runs while it builds the site: pages that are made from files outside docs/, and their links.

README.md, CHANGES.md and bench/RESULTS.md are pages too, and so are the notebooks of the tutorial.
"""

from __future__ import annotations

import json
import re
import sys
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from website.notebook_pages import as_markdown  # noqa: E402

ELSEWHERE = {"index.md": "README.md", "develop/changes.md": "CHANGES.md", "develop/measurements.md": "bench/RESULTS.md"}
"""Pages of the site, and the files of the project that they are."""
PAGE_OF = {source: page for page, source in ELSEWHERE.items()}
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)")


def on_files(files: Files, config: Any) -> Files:
    made = {page: (ROOT / source).read_text() for page, source in ELSEWHERE.items()}
    for notebook in sorted((ROOT / "docs" / "tutorial").glob("*.ipynb")):
        made[f"tutorial/{notebook.stem}.md"] = as_markdown(json.loads(notebook.read_text()), notebook.name)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links between files of the project as links between pages of the site."""
    here = page.file.src_uri
    file = ELSEWHERE.get(here, f"docs/{here}")

    def link(found: re.Match[str]) -> str:
        target = normpath(PurePosixPath(file).parent / found[1])
        to = PAGE_OF.get(target, target.removeprefix("docs/"))
        return f"]({relpath(to, PurePosixPath(here).parent)}"

    return LINK.sub(link, markdown)
