"""Branch and cut proves what the dense lattice finds, and tells the truth whenever it is stopped."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import reference
import strategies
from given_sizes import climb_little
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA
from search_checks import check_network, store_of

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.search import branch_and_cut, part_relaxation, relaxation
from topdag.search.best import begin
from topdag.search.branch_and_cut import prove_best
from topdag.search.costs import Families
from topdag.search.family_lists import FamilyLists
from topdag.search.linear_program import Program, Solution
from topdag.search.relaxation import Known, solve_root
from topdag.search.stores import ListStore


def list_store(table: td.Table, kind: td.BIC | td.AIC | td.BDeu) -> ListStore:
    store = td.score(table, kind, keep="best").store
    assert isinstance(store, ListStore)
    return store


def least_cost(store: ListStore) -> float:
    """By the dense lattice."""
    found = strategies.list_scores(store.lists)
    return float(store.best_scores.sum()) - td.best_network(found).score


@pytest.fixture
def little_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poor first network and few cuts, so that there is something to branch on."""
    monkeypatch.setattr(Known, "climb", lambda *_, **__: None)
    monkeypatch.setattr(Program, "add_halves", lambda self, weights: 0)
    monkeypatch.setattr(Program, "add_local", lambda self, weights: 0)
    monkeypatch.setattr(relaxation, "PATIENCE", 1)
    monkeypatch.setattr(part_relaxation, "FIRST_PATIENCE", 1)
    for room in (relaxation, part_relaxation):
        monkeypatch.setattr(room, "CUTS_A_ROUND", 1)


@settings(max_examples=60, deadline=None)
@given(strategies.tied_lists(variables=(1, 5)))
def test_it_finds_the_best_of_few_variables(lists: FamilyLists) -> None:
    store = store_of(lists)
    best = reference.best_score_by_orders(store.value, store.n)
    found = prove_best(store, Run())
    assert found.finished
    if best == -math.inf:
        assert found.masks is None and found.cost == found.bound == math.inf
    else:
        assert found.masks is not None
        check_network(store, found.cost, list(found.masks))
        assert found.cost == found.bound == store.best_scores.sum() - best


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([30, 100, 500]), st.booleans())
def test_it_agrees_with_the_lattice(seed: int, rows: int, is_bic: bool) -> None:
    store = list_store(strategies.sampled_table(9, rows, seed, states=(2, 3)), td.BIC() if is_bic else td.BDeu())
    found = prove_best(store, Run())
    assert found.finished and found.masks is not None
    check_network(store, found.cost, list(found.masks))
    assert found.cost == pytest.approx(least_cost(store), abs=1e-8)
    assert found.bound == pytest.approx(found.cost, abs=1e-8)


@pytest.mark.usefixtures("little_help")
@pytest.mark.parametrize("seed", range(6))
def test_it_branches_to_the_same_end(seed: int) -> None:
    store = list_store(strategies.sampled_table(10, 200, seed), td.BDeu(10))
    found = prove_best(store, Run())
    assert found.finished
    assert found.cost == pytest.approx(least_cost(store), abs=1e-8)
    again = prove_best(store, Run())
    assert (again.masks, again.cost, again.work) == (found.masks, found.cost, found.work)


@pytest.mark.usefixtures("little_help")
@pytest.mark.parametrize("seed", [0, 2])
def test_parts_side_by_side_are_the_same_for_any_number_of_threads(seed: int) -> None:
    store = list_store(strategies.sampled_table(10, 200, seed), td.BDeu(10))
    one = prove_best(store, Run(threads=1))
    assert one.finished and one.work["parts"] > 2
    assert all(prove_best(store, Run(threads=threads)) == one for threads in (2, 4))


def cut_program(families: Families) -> Program:
    """After some rounds."""
    program, run = Program(families, 1e4), Run()
    for first in (2, 4, 4):
        program.admit(families.first(first))
        solution = program.solve(run)
        assert solution is not None
        program.add_clusters(*families.core.separate(solution.weights, 3, 20, 1e-4, 100, 1))
    program.add_halves(solution.weights)
    program.add_local(solution.weights)
    return program


@pytest.mark.parametrize("sent", ["not sent", "sent", "sent twice", "of a copy"])
@pytest.mark.parametrize("seed", range(4))
def test_a_program_goes_on_where_another_stood(seed: int, sent: str) -> None:
    """The same to the last bit, be it in another process."""
    families = Families.of_store(list_store(strategies.sampled_table(11, 200, seed), td.BDeu(10)))
    there = cut_program(families)
    standing, everything = there.standing(), np.ones(families.size, dtype=np.bool_)
    assert len(standing.cuts) == len(there.cuts) > 0
    copied = families
    for _ in range({"not sent": 0, "sent": 1, "sent twice": 2}.get(sent, 0)):
        standing = pickle.loads(pickle.dumps(standing))
        assert len(standing.cuts) == len(there.cuts)
    if sent == "of a copy":
        copied = families.only(everything)
    here = Program.at(standing, everything, copied, 1e4)
    assert (here.is_in == there.is_in).all()
    assert [here.cuts[c] for c in range(len(here.cuts))] == [there.cuts[c] for c in range(len(there.cuts))]
    marks = np.ones(families.size + families.n, dtype=np.uint8)
    for ours, theirs in zip(here.cuts.entries(0, marks), there.cuts.entries(0, marks), strict=True):
        assert ours.tolist() == theirs.tolist()
    found, wanted = here.solve(Run()), there.solve(Run())
    assert found is not None and wanted is not None
    bounds = [
        own_families.bound(everything, program.cuts, own.multipliers)[0]
        for own_families, program, own in ((copied, here, found), (families, there, wanted))
    ]
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-6)
    assert families.costs @ found.weights == pytest.approx(families.costs @ wanted.weights, abs=1e-6)


def test_cuts_that_were_damaged_on_the_way_are_refused() -> None:
    families = Families.of_store(list_store(strategies.sampled_table(11, 200, 1), td.BDeu(10)))
    sent = cut_program(families).standing().cuts.__getstate__()
    numbers = np.frombuffer(sent, dtype=np.int32)
    for wrong in (numbers[:-1], numbers[: len(numbers) // 2], np.concatenate([[numbers[0] + 1], numbers[1:]])):
        cuts = _core.CutList.__new__(_core.CutList)
        cuts.__setstate__(wrong.astype(np.int32).tobytes())
        with pytest.raises(ValueError, match="packed cuts"):
            families.cuts().replace(cuts)


def test_a_clause_stays_where_it_is() -> None:
    families = Families.of_store(list_store(strategies.sampled_table(5, 50, 1), td.BIC()))
    cuts = families.cuts()
    cuts.add_clause(np.ones(families.size, dtype=np.uint8))
    with pytest.raises(ValueError, match="a clause cannot be sent"):
        pickle.dumps(cuts.listed())


@pytest.mark.usefixtures("little_help")
def test_few_open_parts_lead_to_the_same_end(monkeypatch: pytest.MonkeyPatch) -> None:
    store = list_store(strategies.sampled_table(10, 200, 0), td.BDeu(10))
    best = prove_best(store, Run())
    monkeypatch.setattr(branch_and_cut, "most_held", lambda run, n: 1)
    frugal = prove_best(store, Run())
    assert frugal.finished and best.work["parts"] > 3
    assert frugal.cost == best.cost


@pytest.mark.usefixtures("little_help")
@pytest.mark.parametrize("after", [1, 2, 5, 20, 60])
def test_stopped_at_any_time_the_bound_holds(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store = list_store(strategies.sampled_table(10, 200, 0), td.BDeu(10))
    best = least_cost(store)
    solved = iter(range(after))
    solve = Program.solve
    monkeypatch.setattr(Program, "solve", lambda self, run: None if next(solved, None) is None else solve(self, run))
    found = prove_best(store, Run())
    assert found.masks is not None
    check_network(store, found.cost, list(found.masks))
    assert found.bound <= best + 1e-9 and best <= found.cost + 1e-9
    assert not found.finished or found.cost == pytest.approx(best, abs=1e-8)


@pytest.mark.usefixtures("little_help")
@pytest.mark.parametrize(("after", "threads"), [(1, 1), (3, 2), (10, 1), (10, 4)])
def test_ctrl_c_leaves_what_is_known(after: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store = list_store(strategies.sampled_table(10, 200, 0), td.BDeu(10))
    best = least_cost(store)
    solved = iter(range(after))
    solve = Program.solve

    def stopped(self: Program, run: Run) -> Solution | None:
        if next(solved, None) is None:
            run.stop(KeyboardInterrupt())
            return None
        return solve(self, run)

    monkeypatch.setattr(Program, "solve", stopped)
    run = Run(threads=threads)
    known = Known(store, run)
    assert not prove_best(store, run, known=known).finished
    assert known.incumbent is not None
    check_network(store, known.cost, list(known.incumbent.masks))
    assert 0.0 <= known.bound <= best + 1e-9 and best <= known.cost + 1e-9


@pytest.mark.usefixtures("little_help")
@pytest.mark.parametrize("every", [2, 3, 7])
def test_a_solver_that_loses_its_way_costs_time_only(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store = list_store(strategies.sampled_table(8, 200, 0), td.BDeu(10))
    calls, is_solved = iter(range(10**9)), Program._is_solved
    monkeypatch.setattr(Program, "_is_solved", lambda self, run: next(calls) // 2 % every > 0 and is_solved(self, run))
    found = prove_best(store, Run())
    assert found.finished
    assert found.cost == pytest.approx(least_cost(store), abs=1e-8)


def test_stopped_in_the_first_part_the_bound_has_what_its_cuts_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    store = list_store(strategies.sampled_table(13, 60, 3), td.AIC())
    monkeypatch.setattr(relaxation, "PATIENCE", 1)
    root = solve_root(store, Run())
    solve, left = Program.solve, 3

    def solve_a_few(self: Program, limits: Run) -> Solution | None:
        nonlocal left
        left -= 1
        return solve(self, limits) if left >= 0 else None

    monkeypatch.setattr(Program, "solve", solve_a_few)
    found = prove_best(store, Run(), root=root)
    assert not found.finished and found.work["parts"] == 1
    assert root.bound < found.bound <= least_cost(store)


def test_a_root_and_a_network_can_be_handed_over() -> None:
    store = list_store(strategies.sampled_table(9, 200, 3), td.BIC())
    root = solve_root(store, Run())
    whole = prove_best(store, Run())
    found = prove_best(store, Run(), known=begin(store, Run(), [[0] * store.n]), root=root)
    assert found.finished and found.cost == whole.cost


def ring(n: int) -> ListStore:
    """Each variable would have the next as its parent, which closes a circle; to go without costs it 1 + its number."""
    listed = [(v, parents, score) for v in range(n) for parents, score in (([(v + 1) % n], 0.0), ([], -1.0 - v))]
    return store_of(FamilyLists.build([f"V{v}" for v in range(n)], listed))


def test_sixty_four_variables_in_a_circle_and_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    climb_little(monkeypatch)
    found = prove_best(ring(64), Run())
    assert found.finished and found.cost == found.bound == 1.0
    assert found.masks == (0, *(1 << (v + 1) % 64 for v in range(1, 64)))
    wide = prove_best(ring(65), Run())
    assert wide.finished and wide.masks == (0, *(1 << (v + 1) % 65 for v in range(1, 65)))


REAL = [("wine", -1258.445909), ("voting", -4642.631030), ("zoo", -612.261239), ("hepatitis", -1322.584220)]


@pytest.mark.skipif(not DATA.exists(), reason=f"no data in {DATA}")
@pytest.mark.parametrize(("name", "optimum"), REAL)
def test_real_tables(name: str, optimum: float) -> None:
    store = list_store(td.read_table(DATA / f"{name}.csv", types={"*": "categorical"}), td.BIC())
    found = prove_best(store, Run())
    assert found.finished
    assert store.best_scores.sum() - found.cost == pytest.approx(optimum, abs=1e-6)


@pytest.mark.skipif(not DATA.exists(), reason=f"no data in {DATA}")
@pytest.mark.parametrize("name", ["mildew-5000.bic.blip.jkl", "barley-5000.bic.blip.jkl", "water-5000.bic.blip.jkl"])
def test_score_files_beyond_the_lattice(name: str) -> None:
    store = td.io.read_scores(DATA / "scores" / name).store
    assert isinstance(store, ListStore)
    found = prove_best(store, Run())
    assert found.finished and found.masks is not None
    check_network(store, found.cost, list(found.masks))
    assert found.bound == pytest.approx(found.cost, abs=1e-6)
