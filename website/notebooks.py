"""The notebooks in docs/tutorial: written here as plain cells, executed by a kernel, kept with their outputs.

``python -m website.notebooks`` writes them anew. Texts stand in triple quotes, programs between them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tutorial"
SECONDS_PER_CELL = 120


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same cells with the outputs they have now; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    bare = {**notebook, "cells": [_without_outputs(cell) for cell in notebook["cells"]]}
    content = nbformat.reads(json.dumps(bare), as_version=4)
    options = {"kernel_name": "python3", "coalesce_streams": True}  # one print can arrive in two pieces
    NotebookClient(content, timeout=SECONDS_PER_CELL, **options).execute()
    return plain(json.loads(nbformat.writes(content)))


def plain(notebook: dict[str, Any]) -> dict[str, Any]:
    """Without what differs from run to run: times, and names of versions."""
    cells = [{key: value for key, value in cell.items() if key != "id"} for cell in notebook["cells"]]
    for cell in cells:
        cell["metadata"] = {}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def texts_of(notebook: dict[str, Any]) -> list[str]:
    """What the cells printed and showed, as text."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return ["".join(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in outputs]


def _without_outputs(cell: dict[str, Any]) -> dict[str, Any]:
    return {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    for name in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        write(Path(name), executed(json.loads(Path(name).read_text())))


if __name__ == "__main__":
    main()
