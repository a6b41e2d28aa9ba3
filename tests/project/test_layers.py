"""Which package may know which, and which folder of the core may include which; imports inside functions count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, CORE, BINDINGS = ROOT / "src" / "topdag", ROOT / "src" / "core", ROOT / "src" / "bindings"

# Package: what it may know directly; what that knows comes with it, and everyone may know errors and the core.
PACKAGES = {
    "_util": "",
    "data": "_util",
    "search": "_util",
    "networks": "data",
    "knowledge": "networks",
    "scoring": "search knowledge networks data",
    "constrained": "scoring search knowledge",
    "effects": "scoring data",
    "answers": "scoring networks data",
    "questions": "constrained answers effects scoring search knowledge networks data",
    "io": "answers scoring search knowledge networks data",
    "estimators": "questions",
    "report": "questions",
    "cli": "report io questions",
    "features": "answers",
    "rules": "knowledge",
    "probabilities": "answers",
    "types": "questions",
    "errors": "",
    "__main__": "cli",
}
CORE_FOLDERS = {
    "base": "",
    "counting": "base",
    "drawn": "base counting",
    "margins": "base counting",
    "scoring": "base counting drawn margins",
    "gaussian": "base counting scoring",
    "families": "base",
    "climbing": "base counting scoring families",
    "lattice": "base families",
    "listing": "base families lattice",
    "orders": "base families",
    "cuts": "base families",
    "cycles": "base families cuts",
    "order_prior": "base families lattice listing",
    "partial_networks": "base families lattice listing orders",
    "averages": "base families",
    "sampling": "base families",
    "reading": "base",
}
TIED = {f"topdag.networks.{name}" for name in ("network", "fit", "fitted")}  # Network.fit gives a FittedNetwork


def included(file: Path, marks: str) -> list[str]:
    return re.findall(rf"^\s*#\s*include\s*{marks[0]}([^{marks[1]}]+){marks[1]}", file.read_text(), re.MULTILINE)


# ---- The package


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(module) for module in MODULES}


def imported(path: Path) -> Iterator[str]:
    """The modules it imports, wherever in the file; not those that only types are taken from."""
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield from NAMES & ({full} if full in NAMES else {str(node.module)})


def known_to(package: str) -> set[str]:
    """Itself, and what it may know, directly or not."""
    return {package}.union(*(known_to(other) for other in PACKAGES[package].split()))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_what_its_package_may_know(path: Path) -> None:
    package = name_of(path).split(".")[1] if path.parent != PACKAGE else path.stem
    assert {module.split(".")[1] for module in imported(path)} <= known_to(package) | {"errors"}


def test_no_module_imports_itself_by_a_detour() -> None:
    arrows = {name_of(path): set(imported(path)) - {name_of(path)} for path in MODULES}
    for name in TIED:
        arrows[name] -= TIED
    TopologicalSorter(arrows).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES} - {PACKAGE}), ids=lambda path: path.name)
def test_a_folder_says_what_it_is_for(folder: Path) -> None:
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    assert "Comes in:" in text and "Goes out:" in text
    assert len(list(folder.glob("*.py"))) <= 20, "too many to find one's way: a second noun"


# ---- The core


CORE_FILES = sorted([*CORE.rglob("*.h"), *CORE.rglob("*.cpp")])


@pytest.mark.parametrize("folder", sorted({file.parent.relative_to(CORE).as_posix() for file in CORE_FILES}))
def test_a_folder_of_the_core_includes_what_is_drawn(folder: str) -> None:
    files = [file for file in CORE_FILES if file.parent == CORE / folder]
    known = {name.rpartition("/")[0] for file in files for name in included(file, '""')}
    assert known - {folder} <= set(CORE_FOLDERS[folder].split())
    assert len(files) <= 20, "too many to find one's way: a second noun"
    drawn = re.search(r"May include: (.*)\.\n", (CORE / folder / "README.md").read_text())
    assert drawn is not None
    assert set(re.findall(r"\w+", drawn[1])) & set(CORE_FOLDERS) == set(CORE_FOLDERS[folder].split())


def test_a_class_of_the_core_is_defined_in_one_place() -> None:
    """Two of one name would be one to the linker, which keeps the functions of either."""
    headers = [file for file in CORE_FILES if file.suffix == ".h"]
    places = [
        (name, file)
        for file in headers
        for name in re.findall(r"^(?:struct|class) (\w+)[^;{]*\{", file.read_text(), re.M)
    ]
    names = [name for name, _ in places]
    assert [(name, file.name) for name, file in places if names.count(name) > 1] == []


STANDARD = re.compile(r"[a-z_0-9]+|sys/mman\.h")
NOT_IN_THE_CORE = re.compile(
    r"\b(iostream|cstdio|fstream|stdio\.h|Python\.h|nanobind|pybind11)\b|"
    r"\b(std::cout|std::cerr|printf|fprintf|puts|std::exit|exit|abort|getenv|system|fopen|signal)\s*\(|std::c(out|err)\b"
)


@pytest.mark.parametrize("file", CORE_FILES, ids=lambda file: file.name)
def test_the_core_keeps_to_itself(file: Path) -> None:
    """The standard library only; prints nothing, ends nothing, reads no environment, knows no Python."""
    code = re.sub(r"//.*", "", file.read_text())
    assert all(STANDARD.fullmatch(name) for name in included(file, "<>"))
    assert NOT_IN_THE_CORE.search(code) is None
    assert all((CORE / name).is_file() for name in included(file, '""'))


def test_only_the_bindings_know_python() -> None:
    users = {file.parent for file in (ROOT / "src").rglob("*.[ch]*") if "nanobind/" in file.read_text(errors="ignore")}
    assert users == {BINDINGS}
    shared = {"binding.h", "bitset_arrays.h", "candidates.h", "packed_cuts.h", "pruning_checks.h"}
    own = {name for file in BINDINGS.glob("*.[ch]*") for name in included(file, '""')} - shared
    assert all((CORE / name).is_file() for name in own)
