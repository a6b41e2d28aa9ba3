"""What ``import topdag`` offers: opened when asked for, the same for people, type checkers and ``dir``."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import topdag as td

SOURCE = Path(td.__file__).read_text()


def drawn_imports() -> dict[str, str]:
    """Name to room, as the type checkers see it."""
    imports = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.ImportFrom)]
    rooms = [node for node in imports if (node.module or "").startswith("topdag.")]
    return {alias.name: str(node.module).removeprefix("topdag.") for node in rooms for alias in node.names}


def test_names_agree() -> None:
    assert drawn_imports() == td._ROOM_OF
    assert sorted(td.__all__) == sorted(td._ROOM_OF) == sorted(dir(td))


@pytest.mark.parametrize("name", td.__all__)
def test_every_name_is_there(name: str) -> None:
    value = getattr(td, name)
    assert getattr(value, "__module__", "topdag").startswith("topdag")


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'best_netwrok'"):
        _ = td.best_netwrok


def test_importing_opens_nothing() -> None:
    program = (
        "import sys, topdag; print(any(m.split('.')[0] == 'numpy' or m.startswith('topdag.') for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_no_name_is_also_a_room() -> None:
    """Else importing the room would put it in the place of the name."""
    rooms = {path.stem for path in Path(td.__file__).parent.iterdir()}
    assert rooms.isdisjoint(td.__all__)
