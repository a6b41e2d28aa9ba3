"""What ``import topdag`` offers: opened when asked for, the same for people, type checkers and ``dir``."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import topdag as td

SPACES = [td, *(import_module(f"topdag.{name}") for name in td._PLACES[""].split())]
NAMES = [(space, name) for space in SPACES for name in space.__all__]


def drawn_imports(space: ModuleType) -> Iterator[tuple[str, str]]:
    """Each name with its module, as the type checkers see it."""
    assert space.__file__ is not None
    for node in ast.walk(ast.parse(Path(space.__file__).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topdag"):
            for alias in node.names:
                if alias.name != "opener":
                    yield alias.name, str(node.module).removeprefix("topdag").removeprefix(".")


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_names_agree(space: ModuleType) -> None:
    drawn = dict(drawn_imports(space))
    assert sorted(space.__all__) == sorted(drawn)
    if hasattr(space, "_PLACES"):
        assert drawn == {name: module for module, names in space._PLACES.items() for name in names.split()}
        assert sorted(dir(space)) == sorted(space.__all__)


@pytest.mark.parametrize(("space", "name"), NAMES, ids=lambda part: getattr(part, "__name__", part))
def test_every_name_is_there_and_explained(space: ModuleType, name: str) -> None:
    value = getattr(space, name)
    assert getattr(value, "__module__", "topdag").startswith("topdag")
    explained = (value.__doc__ or "").strip()
    assert explained and not explained.startswith(f"{name}(")  # what a dataclass writes by itself


@pytest.mark.parametrize("space", SPACES[1:], ids=lambda space: space.__name__)
def test_a_namespace_lists_what_is_there(space: ModuleType) -> None:
    assert space.__doc__ is not None
    assert [name for name in space.__all__ if f"``{name}``" not in space.__doc__] == []
    assert f"``{space.__name__}``" in (td.__doc__ or "")


def test_nothing_is_offered_twice() -> None:
    """``edge`` is two things: a feature in one namespace, a rule in another."""
    values = [getattr(space, name) for space, name in NAMES]
    assert len({id(value) for value in values}) == len(values)
    names = [name for _, name in NAMES]
    assert {name for name in names if names.count(name) > 1} == {"edge"}


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="'topdag' has no attribute 'best_netwrok'; did you mean best_network"):
        _ = td.best_netwrok
    with pytest.raises(AttributeError, match=r"'topdag\.io' has no attribute 'read_score'; did you mean read_scores"):
        _ = td.io.read_score


def test_importing_opens_nothing() -> None:
    program = (
        "import sys, topdag, topdag.io; print(*(m for m in sys.modules if m.split('.')[0] in ('numpy', 'topdag')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"topdag", "topdag._util", "topdag._util.on_demand", "topdag.io"}


def test_no_name_is_also_a_module() -> None:
    """Else importing the module would put it in the place of the name."""
    for space in (td, td.io, td.estimators):
        modules = {path.stem for path in Path(space.__path__[0]).iterdir()}
        assert modules.isdisjoint(name for name in space.__all__ if not isinstance(getattr(space, name), ModuleType))


def test_rules_are_made_of_names_and_of_texts() -> None:
    made = td.any_of([td.rules.edge("a", "b"), "c->d", td.rules.adjacent("a", "c") & (td.rules.n_parents("d") <= 1)])
    assert made == td.rules.parse_rule("a->b or c->d or (a--c and parents(d) <= 1)")
    known = td.Constraints(rules=[td.not_(td.rules.edge("either", "xray"))])
    best = td.best_network(td.score(td.example_table(), td.BDeu(), constraints=known))
    assert ("either", "xray") not in best.network.edges
