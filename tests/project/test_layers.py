"""The rooms of the core and what each may know: an arrow that is not drawn here is a failure."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, CORE, BINDINGS = ROOT / "src" / "topdag", ROOT / "src" / "core", ROOT / "src" / "bindings"

CORE_ROOMS = {
    "var_set": "",
    "simd": "",
    "run_limits": "",
    "big_array": "",
    "table": "",
    "parallel": "run_limits",
    # counting
    "cell_function": "",
    "arity_classes": "",
    "cell_tables": "arity_classes cell_function table",
    "count_plan": "table var_set",
    "cell_groups": "count_plan simd",
    "tail_kernel": "cell_groups cell_tables count_plan simd",
    "counts": "cell_function cell_groups cell_tables count_plan parallel run_limits table tail_kernel var_set",
    "set_scores": "arity_classes cell_function counts parallel run_limits simd table var_set",
    "bde": "parallel set_scores",
    "counting_rows": "table",
    "cell_counters": "cell_function counting_rows simd",
    "pair_counter": "cell_counters simd",
    "sparse_counts": "cell_counters counting_rows parallel run_limits var_set",
    "set_index": "var_set",
    "bdeu_bounds": "cell_function sparse_counts var_set",
    "pruned_scores": "bdeu_bounds parallel pruning_question run_limits score_grid set_index simd sparse_counts table "
    "var_set",
    "scatter": "double_double",
    "gaussian_sets": "parallel run_limits scatter var_set",
    "gaussian_families": "gaussian_sets parallel run_limits scatter set_scores var_set",
    "mixed_families": "gaussian_sets parallel run_limits scatter set_scores table",
    "pruning_question": "set_scores",
    "score_grid": "pruning_question table",
    "layered_scores": "cell_counters counting_rows pair_counter parallel pruning_question run_limits score_grid simd "
    "table var_set",
    # search
    "slot_runs": "",
    "precedence": "var_set",
    "local_scores": "precedence simd slot_runs var_set",
    "candidates": "var_set",
    "parent_lookup": "candidates var_set",
    "bounds": "var_set",
    "cluster_bound": "bounds candidates",
    "order_layers": "bounds parallel parent_lookup run_limits var_set",
    "near_sets": "bounds candidates order_layers run_limits var_set",
    "set_map": "var_set",
    "order_paths": "candidates parent_lookup var_set",
    "layered_search": "order_layers order_paths order_search",
    "components": "candidates var_set",
    "pattern_bounds": "bounds candidates components parent_lookup",
    "order_search": "bounds candidates order_paths parent_lookup run_limits set_map var_set",
    "parent_sets": "big_array local_scores var_set",
    "sweeps": "precedence simd slot_runs var_set",
    "reading_back": "local_scores var_set",
    "lattice": "big_array local_scores parallel reading_back run_limits simd sweeps var_set",
    "undominated_sets": "simd sweeps var_set",
    "block_lattice": "big_array local_scores parallel reading_back run_limits sweeps undominated_sets var_set",
    "family_bounds": "lattice parallel simd",
    "listing": "family_bounds run_limits var_set",
    "class_rule": "listing var_set",
    "block_family_bounds": "big_array block_lattice class_rule family_bounds listing parallel sweeps undominated_sets",
    "sparse_lattice": "candidates family_bounds parallel run_limits set_index var_set",
    "ideals": "precedence var_set",
    "ideal_lattice": "big_array family_bounds ideals local_scores parallel reading_back run_limits sweeps var_set",
    "best_lists": "block_family_bounds class_rule ideal_lattice lattice listing parallel run_limits sparse_lattice",
    "completion_oracle": "bounds candidates components lattice order_search run_limits var_set",
    "network_search": "completion_oracle listing run_limits",
    "packed_families": "big_array lattice parallel run_limits var_set",
    "leaf_steps": "packed_families var_set",
    "extension_counter": "var_set",
    "tree_search": "leaf_steps packed_families run_limits set_map var_set",
    "uniform_orders": "extension_counter lattice parallel tree_search",
    "prior_search": "best_lists big_array lattice packed_families path_counting run_limits tree_search uniform_orders",
    "path_counting": "lattice leaf_steps packed_families run_limits set_map var_set",
    "big_count": "",
    "classes": "big_count var_set",
    "linear_extensions": "big_count var_set",
    # priors over orders
    "order_weight": "linear_extensions precedence var_set",
    "closed_sets": "var_set",
    "exp_of": "",
    "order_sums": "big_array closed_sets exp_of parallel precedence run_limits simd slot_runs var_set",
    "sparse_sums": "closed_sets exp_of order_sums",
    "shared_bounds": "closed_sets exp_of lattice order_sums parallel simd sparse_sums sweeps",
    "worth_list": "order_weight var_set",
    "order_prior": "lattice local_scores order_sums order_weight parallel run_limits shared_bounds sparse_sums sweeps "
    "worth_climbing worth_list",
    "scaled": "",
    "parent_weights": "local_scores parallel run_limits scaled var_set",
    "root_layers": "parent_weights layer_terms parallel run_limits simd var_set",
    "layer_terms": "root_layers var_set",
    "next_layers": "layer_terms root_layers simd var_set",
    "sampling": "draws parent_weights next_layers parallel root_layers run_limits var_set",
    "worth_climbing": "lattice run_limits shared_bounds worth_list",
    # sums
    "double_double": "",
    "scaled_numbers": "big_array double_double simd",
    "family_weights": "local_scores parallel run_limits scaled_numbers var_set",
    "posterior_tables": "family_weights simd",
    "prefix_sums": "big_array family_weights parallel run_limits scaled_numbers",
    "suffix_sums": "big_array family_weights parallel run_limits scaled_numbers",
    "network_sums": "parallel posterior_tables prefix_sums run_limits suffix_sums",
    "ordered_paths": "family_weights local_scores parallel prefix_sums run_limits",
    "summed_orders": "family_weights parallel run_limits",
    "order_ancestors": "summed_orders parallel",
    "order_averages": "order_ancestors summed_orders parallel posterior_tables",
    "path_flow": "var_set",
    "clusters": "run_limits var_set",
    "draws": "",
    "cut_pool": "clusters draws local_cuts var_set",
    "local_orders": "",
    "hull_program": "local_orders",
    "local_cuts": "clusters hull_program local_orders var_set",
    "order_climbing": "candidates clusters draws run_limits",
    "case_marks": "candidates var_set",
    "case_rules": "case_marks var_set",
    "cycle_cases": "candidates case_marks case_rules var_set",
    "branching": "candidates case_rules cycle_cases parallel run_limits",
    "obeying_orders": "candidates case_rules draws order_climbing run_limits",
}


def included(file: Path, marks: str) -> list[str]:
    return re.findall(rf"^\s*#\s*include\s*{marks[0]}([^{marks[1]}]+){marks[1]}", file.read_text(), re.MULTILINE)


@cache
def actual_core_rooms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in sorted(CORE.iterdir()):
        own = {Path(name).stem for name in included(file, '""')}
        found.setdefault(file.stem, set()).update(own - {file.stem})
    return found


# ---- The core


@pytest.mark.parametrize("room", sorted(actual_core_rooms()))
def test_a_core_room_includes_what_is_drawn(room: str) -> None:
    assert room in CORE_ROOMS, f"the room {room!r} of the core is not drawn"
    assert actual_core_rooms()[room] - set(CORE_ROOMS[room].split()) == set()


def test_no_core_room_is_drawn_that_is_not_there() -> None:
    assert set(CORE_ROOMS) - set(actual_core_rooms()) == set()


STANDARD = re.compile(r"[a-z_0-9]+|sys/mman\.h")
NOT_IN_THE_CORE = re.compile(
    r"\b(iostream|cstdio|fstream|stdio\.h|Python\.h|nanobind|pybind11)\b|"
    r"\b(std::cout|std::cerr|printf|fprintf|puts|std::exit|exit|abort|getenv|system|fopen|signal)\s*\(|std::c(out|err)\b"
)


@pytest.mark.parametrize("file", sorted(CORE.iterdir()), ids=lambda file: file.name)
def test_the_core_keeps_to_itself(file: Path) -> None:
    """The standard library only; prints nothing, ends nothing, reads no environment, knows no Python."""
    code = re.sub(r"//.*", "", file.read_text())
    assert all(STANDARD.fullmatch(name) for name in included(file, "<>"))
    assert NOT_IN_THE_CORE.search(code) is None
    assert all("/" not in name for name in included(file, '""'))


def test_only_the_bindings_know_python() -> None:
    users = {file.parent for file in (ROOT / "src").rglob("*.[ch]*") if "nanobind/" in file.read_text(errors="ignore")}
    assert users == {BINDINGS}
    shared = {"binding.h", "listing_from.h", "set_arrays.h"}
    own = {name for file in BINDINGS.iterdir() for name in included(file, '""')} - shared
    assert all(name.startswith("../core/") and Path(name).stem in CORE_ROOMS for name in own)
