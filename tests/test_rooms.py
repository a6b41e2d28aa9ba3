"""The rooms of the code and what each may know: an arrow that is not drawn here is a failure.

The picture of the package stands in docs/develop.md too, between ``<!-- rooms -->`` and ``<!-- /rooms -->``. After a
change that is meant, draw it in both; ``python tests/test_rooms.py`` prints what is, line by line.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, CORE, BINDINGS = ROOT / "src" / "topdag", ROOT / "src" / "core", ROOT / "src" / "bindings"

# Room: what it may import, at the top of its file or inside a function. From the ground up.
ROOMS = {
    # tables
    "errors": "",
    "messages": "errors",
    "writing": "errors",
    "columns": "errors messages",
    "discretize": "columns errors messages",
    "continuous": "columns discretize errors messages",
    "building": "columns continuous discretize errors messages",
    "table": "building columns continuous discretize errors frames messages",
    "frames": "building columns discretize errors messages table",
    "text_cells": "columns errors file_kinds messages",
    "reading": "building columns continuous discretize errors file_kinds frames messages table text_cells",
    # pictures
    "layouts": "",
    "routes": "layouts",
    "drawing": "layouts routes",
    "plots": "drawing",
    # networks
    "file_kinds": "",
    "separation": "",
    "network_checks": "errors",
    "graphs": "_core converters drawing errors fitting network_checks parameters plots separation",
    "frame_making": "",
    "priors": "errors graphs network_checks",
    "classes": "_core drawing errors graphs plots",
    "parameters": "bif converters errors frame_making graphs network_checks plain_names row_coding state_words table",
    "row_coding": "columns errors frames messages table",
    "fitting": "continuous_kinds decomposable errors graphs messages network_checks parameters score_kinds "
    "score_making table",
    "random_networks": "errors graphs parameters",
    "example": "graphs parameters table",
    # scores
    "family_lists": "errors",
    "score_files": "errors family_lists",
    "set_arrays": "",
    "stores": "_core family_lists set_arrays",
    "decomposable": "_core discretize errors messages table",
    "number_columns": "_core messages table",
    "continuous_kinds": "_core decomposable errors messages number_columns table",
    "score_kinds": "_core continuous_kinds decomposable errors parameters table",
    "components": "_core family_lists set_arrays stores",
    "results": "drawing graphs priors score_kinds",
    "runs": "displays errors memory results",
    "engines": "_core continuous_kinds errors runs score_kinds",
    "memory": "errors",
    "displays": "memory results",
    "order_search": "_core runs stores",
    "continuous_scoring": "_core continuous_kinds decomposable engines errors number_columns runs stores table",
    "scoring": "_core continuous_kinds continuous_scoring engines errors runs score_kinds stores table",
    "block_lattice": "_core engines errors runs",
    "lattices": "_core engines runs stores",
    "pruning": "_core family_lists lattices runs stores",
    "pruned_scoring": "_core continuous_kinds errors family_lists runs score_kinds set_arrays stores table",
    "continuous_lists": "_core continuous_kinds errors family_lists pruned_scoring runs score_kinds stores table",
    # what is known
    "rules": "errors",
    "rule_making": "errors rule_text rules",
    "rule_text": "errors rules text_reading",
    "statements": "constraints errors graphs network_checks parameter_constraints rules",
    "closure": "rules statements",
    "conflicts": "closure errors statements",
    "compiled_constraints": "closure rules set_arrays statements",
    "text_reading": "errors",
    "parameter_text": "errors parameter_constraints text_reading",
    "constraint_values": "errors parameter_constraints parameter_text rule_text rules",
    "constraints": "compiled_constraints conflicts constraint_values errors graphs parameter_constraints rules "
    "statements",
    "constraint_files": "constraints errors",
    "classifiers": "constraints errors rule_making rules",
    # what is known about probabilities
    "parameter_constraints": "errors messages",
    "isotonic": "",
    "parameter_regions": "errors isotonic parameter_constraints",
    "constrained_likelihood": "errors isotonic parameter_regions",
    "constrained_scores": "constrained_likelihood decomposable errors fitting graphs network_checks "
    "parameter_constraints parameter_regions parameters score_kinds table",
    "parameter_scoring": "constrained_scores constraints engines errors family_lists runs score_kinds scoring "
    "set_arrays stores table",
    # scores of what is allowed
    "family_walk": "_core compiled_constraints errors parameter_scoring pruned_scoring runs score_kinds set_arrays "
    "table",
    "constrained_scoring": "compiled_constraints continuous_lists engines errors family_lists family_walk "
    "parameter_scoring pruned_scoring pruning runs score_kinds scoring stores table",
    # scores with it
    "keeping": "errors pruned_scoring pruning runs",
    "scores": "compiled_constraints constraints decomposable errors graphs keeping lattices network_checks "
    "priors pruned_scoring runs score_kinds searching set_arrays stores table",
    "score_making": "_core compiled_constraints constrained_scoring constraints continuous_lists continuous_scoring "
    "engines errors family_lists keeping parameter_scoring pruned_scoring pruning reading runs score_kinds scores "
    "scoring stores table",
    "weighted_scores": "errors priors runs scores scoring stores",
    "order_prior": "_core engines errors keeping priors runs scores weighted_scores",
    "mdl_pruning": "",
    # bounds beyond the lattice
    "family_costs": "_core set_arrays stores",
    "family_program": "family_costs runs set_arrays stores",
    "relaxation": "_core family_costs family_program runs set_arrays stores",
    "search_parts": "family_costs family_program",
    "branch_and_cut": "family_costs family_program relaxation runs search_parts set_arrays stores",
    "branching": "_core case_rules compiled_constraints runs search_results stores",
    "parent_limits": "engines errors family_lists keeping mdl_pruning score_kinds score_making stores table",
    "search_results": "",
    "case_rules": "_core closure compiled_constraints rules",
    "checkpoints": "errors relaxation search_parts set_arrays stores writing",
    "searching": "_core branch_and_cut branching checkpoints components engines family_costs order_search "
    "relaxation runs search_parts set_arrays stores",
    # questions
    "greedy": "",
    "asking": "_core constraints continuous_kinds engines graphs placed_lists priors results runs "
    "score_kinds score_making scores searching stores table",
    "order_questions": "asking errors lists order_prior priors results runs weighted_scores",
    "questions": "_core asking block_lattice branching constrained_search decomposable engines errors graphs "
    "greedy ideal_lattices keeping order_prior order_questions placed_lists priors results runs "
    "score_making scores searching stores weighted_scores wider_lists",
    "placed_lists": "_core family_lists set_arrays stores",
    "ideal_lattices": "_core engines runs scores",
    "lists": "_core classes errors frame_making graphs priors results scores",
    "list_lattices": "_core block_lattice engines errors family_costs ideal_lattices keeping lattices lists "
    "order_search placed_lists relaxation runs score_kinds score_making scores searching stores",
    "list_questions": "_core asking constrained_lists engines errors family_lists graphs keeping list_lattices "
    "lists order_prior order_questions priors results runs score_making scores weighted_scores",
    "network_search": "_core asking engines errors lattices list_lattices list_questions lists order_search "
    "prior_search priors relaxation results runs scores stores",
    "prior_search": "_core asking errors lattices list_lattices list_questions lists priors results runs "
    "score_making scores",
    "rule_splits": "closure compiled_constraints rules set_arrays statements",
    "path_cuts": "_core family_costs set_arrays stores",
    "narrowing": "closure compiled_constraints statements",
    "clauses": "closure compiled_constraints family_costs family_program narrowing path_cuts rule_splits "
    "rules set_arrays statements stores",
    "mending": "_core closure compiled_constraints family_costs path_cuts rule_splits set_arrays statements stores",
    "obeying": "compiled_constraints family_costs mending relaxation runs set_arrays stores",
    "row_search": "branch_and_cut clauses compiled_constraints obeying relaxation runs search_results stores",
    "feasibility": "closure compiled_constraints narrowing rule_splits rules runs scores search_results statements",
    "part_listing": "_core family_costs order_search runs stores",
    "row_listing": "_core branch_and_cut compiled_constraints constrained_best family_costs family_program "
    "keeping list_lattices part_listing relaxation runs scores search_results stores",
    "row_lists": "_core closure compiled_constraints engines keeping pruned_scoring pruning rules runs "
    "score_kinds score_making scores set_arrays stores",
    "constrained_best": "clauses family_costs feasibility pruning relaxation row_lists row_search runs score_kinds "
    "scores search_results stores",
    "wider_lists": "constrained_best engines feasibility keeping runs score_making scores search_results stores",
    "constrained_search": "constrained_best engines errors feasibility part_bounds part_stores row_listing rule_splits "
    "runs score_making scores search_results stores wider_lists",
    "part_stores": "pruning rule_splits stores",
    "part_bounds": "_core engines errors lattices rule_splits runs stores",
    "constrained_lists": "_core constrained_best constrained_search errors keeping list_lattices lists results runs "
    "scores search_results",
    "alternatives": "_core errors lattices network_checks runs scores",
    "comparing": "classes errors graphs messages scores",
    "summaries": "comparing lists messages",
    "class_edges": "errors",
    "features": "_core class_edges errors graphs network_checks separation",
    "list_averaging": "class_edges errors features graphs lists scores",
    "prediction": "columns decomposable errors graphs list_averaging messages row_coding score_kinds table",
    "samples": "errors graphs network_checks priors results scores",
    "sampling": "_core asking errors keeping priors runs samples score_making scores weighted_scores",
    "planning": "_core block_lattice continuous_kinds engines errors pruned_scoring runs score_kinds "
    "score_making scoring sums table",
    # sums
    "posteriors": "drawing errors frame_making graphs network_checks plots results",
    "sums": "_core asking constrained_scoring constraints engines errors network_checks posteriors priors results "
    "runs score_kinds score_making scores stores table weighted_scores",
    "posterior_files": "errors posteriors writing",
    # answers and files
    "fitted_regressions": "continuous_kinds errors graphs number_columns score_making table",
    "continuous_checks": "continuous_kinds errors table",
    "checking": "constrained_scores continuous_checks continuous_kinds errors graphs messages results score_kinds "
    "table",
    # networks for other programs
    "state_words": "columns errors",
    "plain_names": "graphs parameters",
    "converters": "errors graphs parameters state_words",
    "text_scanner": "errors parameters",
    "xml_tree": "errors",
    "network_parts": "errors graphs messages network_checks parameters state_words",
    "bif": "errors network_parts parameters plain_names state_words text_scanner",
    "net_format": "errors network_parts parameters plain_names state_words text_scanner",
    "xmlbif": "errors graphs network_parts parameters state_words text_scanner xml_tree",
    "xdsl": "errors net_format network_parts parameters state_words text_scanner xml_tree",
    "network_files": "bif errors graphs net_format network_parts parameters writing xdsl xmlbif",
    "files": "constraints errors family_lists graphs keeping parameter_scoring score_files score_kinds score_making "
    "scores scoring set_arrays stores table writing",
    "list_reading": "errors family_lists graphs lists network_checks priors results score_kinds scores stores",
    "list_files": "errors list_reading lists priors score_kinds scores writing",
    # the scikit-learn way in
    "estimator_base": "columns constraints discretize errors frames messages priors questions results score_kinds "
    "score_making scores table",
    "structure_learner": "building constraints discretize estimator_base list_questions messages priors score_kinds "
    "sums table",
    "tan_classifier": "building classifiers columns discretize errors estimator_base fitting messages score_kinds "
    "table",
    # one page with all of them: asks, and shows
    "report": "asking classes comparing constraints drawing engines errors graphs list_averaging list_lattices "
    "list_questions lists posteriors priors questions results runs score_kinds score_making "
    "scores sums table topdag writing",
    # the command line: knows everything, computes nothing, and nothing knows it
    "commands": "_core asking checking cli comparing constraint_files constraints continuous_kinds discretize displays "
    "engines errors example files fitting graphs keeping list_files list_lattices list_questions lists "
    "messages network_files parameters plain_names planning posterior_files posteriors priors "
    "questions reading report results rule_text rules runs samples sampling score_kinds "
    "score_making scores summaries sums table writing",
    "cli": "topdag commands discretize errors",
    "__main__": "cli",
}
LEADS_ON = {"graphs": {"converters", "fitting", "parameters"}}  # methods open these rooms when they are called
NOBODY_IMPORTS = {"cli": {"__main__", "commands"}, "commands": {"cli"}, "__main__": set()}

# A folder of the core: those it may include besides its own, as src/core/README.md draws them, from the ground up.
CORE_FOLDERS = {
    "base": "",
    "counting": "base",
    "scoring": "base counting",
    "families": "base",
    "lattice": "base families",
    "listing": "base families lattice",
    "orders": "base families",
    "cuts": "base families",
    "cycles": "base families cuts",
    "order_prior": "base families lattice listing",
    "partial_networks": "base families lattice listing orders",
    "averages": "base families",
    "sampling": "base families",
}


def room_of(file: Path) -> str:
    """A module is a room; the commands are one together."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(file: Path) -> Iterator[str]:
    """The rooms a module imports, wherever in the file."""
    package = ("topdag", *file.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [alias.name for alias in node.names]
            targets = [f"{module}.{name}" if module == "topdag" else module for name in names]
        else:
            continue
        for target in targets:
            first, _, rest = target.partition(".")
            if first == "topdag":
                room = rest.partition(".")[0]
                yield room if room and is_room(room) else "topdag"


def is_room(name: str) -> bool:
    return name == "_core" or (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()


@cache
def actual_rooms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        room = room_of(file)
        if room != "__init__":
            found.setdefault(room, set()).update(set(imported(file)) - {room})
    return found


def included(file: Path, marks: str) -> list[str]:
    return re.findall(rf"^\s*#\s*include\s*{marks[0]}([^{marks[1]}]+){marks[1]}", file.read_text(), re.MULTILINE)


# ---- The package


@pytest.mark.parametrize("room", sorted(actual_rooms()))
def test_a_room_imports_what_is_drawn(room: str) -> None:
    assert room in ROOMS, f"the room {room!r} is not drawn"
    assert actual_rooms()[room] - set(ROOMS[room].split()) == set()


def test_no_room_is_drawn_that_is_not_there() -> None:
    assert set(ROOMS) - set(actual_rooms()) == set()


def test_nothing_imports_the_command_line() -> None:
    for room, others in actual_rooms().items():
        for top, may in NOBODY_IMPORTS.items():
            assert top not in others or room in may, f"{room} imports {top}"


def test_tables_and_networks_stand_alone() -> None:
    """What a table or a network is does not depend on scores or searches."""
    ground = ["errors", "messages", "columns", "discretize", "continuous", "building", "table", "frames", "reading"]
    ground += [
        "file_kinds",
        "text_cells",
        "layouts",
        "routes",
        "drawing",
        "plots",
        "separation",
        "network_checks",
        "graphs",
    ]
    for room in ground:
        assert set(ROOMS[room].split()) <= {*ground, "_core", *LEADS_ON.get(room, ())}


def test_the_picture_in_the_docs_is_this_one() -> None:
    page = ROOT / "docs" / "develop.md"
    text = page.read_text() if page.exists() else ""
    match = re.search(r"<!-- rooms -->(.*?)<!-- /rooms -->", text, re.DOTALL)
    if match is None:
        pytest.skip("docs/develop.md has no picture of the rooms yet; the one in this file holds")
    lines = [line.strip().lstrip("-* ").replace("`", "") for line in match[1].splitlines()]
    drawn = {
        room.strip(): set(re.findall(r"\w+", may)) - {"nothing"}
        for room, colon, may in (line.partition(":") for line in lines)
        if colon
    }
    assert drawn == {room: set(may.split()) for room, may in ROOMS.items()}


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
    shared = {"binding.h", "listing_from.h", "bitset_arrays.h"}
    own = {name for file in BINDINGS.glob("*.[ch]*") for name in included(file, '""')} - shared
    assert all((CORE / name).is_file() for name in own)


if __name__ == "__main__":
    for name, may in actual_rooms().items():
        sys.stdout.write(f"- {name}: {', '.join(sorted(may)) or 'nothing'}\n")
