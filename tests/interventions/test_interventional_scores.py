"""Rows of experiments: a family counts the rows in which its variable was not set; every question follows."""

from __future__ import annotations

import json
import math
import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from cli_runs import Topdag
from random_inputs import FORMULAS
from sums_truth import Truth

import topdag as td
from topdag.answers.check import check_network, local_by_definition
from topdag.data.resample import resampled
from topdag.scoring.kinds.interventions import kind_for

N = 4


def experiment(seed: int, n: int = N, n_rows: int = 60) -> tuple[td.Table, list[tuple[int, ...]], list[int]]:
    """A table in which some rows had variables set; its rows and what was set in each, as given."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, n)
    rows = [tuple(int(rng.integers(0, a)) for a in arities) for _ in range(int(rng.choice([8, n_rows])))]
    rows += [(0,) * n, (1,) * n]  # no column is constant
    choices = [0, 0, 1, 2, 3, 8, *rng.integers(0, 2**n - 1, 2).tolist()]
    targets = [int(rng.choice(choices)) for _ in rows]
    targets[-2:] = [0, 0]
    names = [f"V{v}" for v in range(n)]
    by_row = [[names[v] for v in reference.members(mask)] for mask in targets]
    table = td.Table(np.array(rows), names=names, interventions=by_row)
    return table, [tuple(of.index(s) for of, s in zip(table.states, row, strict=True)) for row in rows], targets


KINDS: dict[str, Any] = {
    "BDeu": td.BDeu(1.0), "BIC": td.BIC(), "AIC": td.AIC(), "K2": td.K2(), "fNML": td.fNML(), "qNML": td.qNML(),
    "BDs": td.BDs(1.0),
}  # fmt: skip


def truth_of(name: str, table: td.Table, rows: list[tuple[int, ...]], targets: list[int]) -> Any:
    formula = FORMULAS.get(name) or getattr(reference, name.lower())
    return reference.local_where_not_set(formula, rows, [1] * len(rows), table.arities.tolist(), targets)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_family_of_every_score(name: str, seed: int) -> None:
    table, rows, targets = experiment(seed)
    local = truth_of(name, table, rows, targets)
    scores = td.score(table, KINDS[name])
    for x in range(N):
        for mask in range(1 << N):
            if mask >> x & 1:
                continue
            parents = [table.names[v] for v in reference.members(mask)]
            assert scores.local(table.names[x], parents) == pytest.approx(local(x, mask), abs=1e-9)
            assert scores.store.value(x, mask) == pytest.approx(local(x, mask), abs=1e-6)
            other = local_by_definition(table, scores.kind, table.names[x], tuple(parents))  # type: ignore[arg-type]
            assert other == pytest.approx(local(x, mask), abs=1e-8)


@pytest.mark.parametrize("seed", range(3, 9))
def test_the_best_network_lists_and_sums(seed: int) -> None:
    table, rows, targets = experiment(seed)
    local = truth_of("BDeu", table, rows, targets)
    best, _ = reference.best_networks(local, N)
    answer = td.best_network(table, "bdeu")
    assert answer.score == pytest.approx(best, abs=1e-6) and answer.proved
    truth = reference.networks_within(local, N, math.log(21.7))
    listed = td.networks_within(table, 21.7, "bdeu")  # no network is just so much behind
    assert [round(score, 5) for score, _ in truth] == [round(float(score), 5) for score in listed.scores]
    logs = np.array([[-math.inf if m >> x & 1 else local(x, m) for m in range(1 << N)] for x in range(N)])
    sums = Truth(logs)
    found = td.network_posteriors(table, "bdeu")
    assert found.log_evidence == pytest.approx(sums.log_total, abs=1e-6)
    assert np.abs(found.edges.matrix - sums.edges).max() < 1e-6
    assert found.paths is not None and np.abs(found.paths.matrix - sums.paths).max() < 1e-6
    ordered = td.edge_posteriors(table, "bdeu", prior=td.OrderModular())
    by_orders = Truth(logs, np.zeros((N, 1 << N)))
    assert np.abs(ordered.matrix - by_orders.edges).max() < 1e-6


def test_under_constraints() -> None:
    table, rows, targets = experiment(2)
    local = truth_of("BDeu", table, rows, targets)
    known = td.Constraints(ancestors=[("V0", "V3")], forbidden_edges=[("V0", "V3")], max_parents=2)
    answer = td.best_network(table, "bdeu", constraints=known)
    allowed = [
        masks
        for masks in reference.all_networks(N)
        if reference.descendants(masks, 0) >> 3 & 1
        and not masks[3] & 1
        and all(mask.bit_count() <= 2 for mask in masks)
    ]
    assert answer.score == pytest.approx(max(reference.network_score(local, masks) for masks in allowed), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_under_constraints_that_leave_few_families_or_speak_of_several_variables(seed: int) -> None:
    table, rows, targets = experiment(seed)
    local = truth_of("BIC", table, rows, targets)
    rng = np.random.default_rng(seed)
    a, b, c, d = (table.names[v] for v in rng.permutation(N))
    known = [
        td.Constraints(ancestors=[(a, b)], allowed_parents={c: [a]}),
        td.Constraints(fixed_parents={a: [b], d: []}, rules=[f"{b}->{c} or {d}->{c}"]),
        td.Constraints(precedence=[(a, b), (b, c)], forbidden_edges=[(a, c)]),
        td.Constraints(not_ancestors=[(a, b), (b, a)], max_parents=1),
    ][seed % 4]
    allowed = []
    for masks in reference.all_networks(N):
        network = td.Network.from_masks(table.names, masks)
        if not known.violations(network):
            allowed.append(reference.network_score(local, masks))
    answer = td.best_network(table, "bic", constraints=known)
    assert answer.score == pytest.approx(max(allowed), abs=1e-6)
    listed = td.k_best_networks(table, 5, "bic", constraints=known)
    assert listed.scores == pytest.approx(sorted(allowed, reverse=True)[:5], abs=1e-6)


def test_numbers_and_mixed_tables() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 3))
    rows[:, 1] += rows[:, 0]
    which = [["b"] if i % 3 == 0 else [] for i in range(60)]
    names = ["a", "b", "c"]
    table = td.Table(rows, names=names, types={"*": "continuous"}, interventions=which)
    kept = td.Table(rows[[i for i in range(60) if i % 3]], names=names, types={"*": "continuous"})
    for kind in (td.GaussianBIC(), td.GaussianAIC()):
        assert td.score(table, kind).local("b", ["a"]) == pytest.approx(td.score(kept, kind).local("b", ["a"]))
        whole = td.score(td.Table(rows, names=names, types={"*": "continuous"}), kind)
        assert td.score(table, kind).local("a", ["b"]) == pytest.approx(whole.local("a", ["b"]))
        assert td.best_network(table, kind).proved
    assert td.best_network(table, td.BGe()).proved
    columns = {"a": rows[:, 0].tolist(), "b": rows[:, 1].tolist(), "s": (rows[:, 2] > 0).tolist()}
    mixed = td.Table(columns, interventions=which)
    assert td.best_network(mixed, td.MixedBIC()).proved


def test_bic_beyond_twelve_variables_leaves_out_hopeless_sets_and_says_so() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, (40, 13))
    table = td.Table(rows, interventions=[["V0"] if i < 5 else [] for i in range(40)])
    scores = td.score(table, td.BIC())
    plain = td.score(td.Table(rows), td.BIC())
    assert (scores.cutoff == math.inf) == (plain.cutoff == math.inf)
    assert td.best_network(scores).proved


# ---- What it tells apart


def test_an_experiment_tells_direction() -> None:
    """b follows a; a was set in half of the rows, at random. Without a word of that, both directions score the same."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    noise = rng.random(200) < 0.1
    b = np.where(noise, 1 - a, a)
    columns = {"a": a.tolist(), "b": b.tolist()}
    seen = td.best_network(td.Table(columns))
    assert seen.network is not None and seen.network.reversible
    edges = td.edge_posteriors(td.Table(columns))
    assert edges["a", "b"] == pytest.approx(edges["b", "a"])
    # b was set too, whatever a was: then a tells nothing of b
    set_b = rng.integers(0, 2, 200)
    both = {"a": [*a.tolist(), *rng.integers(0, 2, 200).tolist()], "b": [*b.tolist(), *set_b.tolist()]}
    done = td.Table(both, interventions=[None] * 200 + ["b"] * 200)
    assert td.edge_posteriors(done)["a", "b"] > 0.999


# ---- Reading


def test_a_column_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("a,b,c,set\n0,1,0,\n1,0,1,b\n0,1,1,none\n1,1,0,b;c\n0,0,0,b|a\n")
    table = td.read_table(path, interventions="set")
    assert table.names == ("a", "b", "c")
    assert table.was_set == {"a": 1, "b": 3, "c": 1}
    assert "'b' (3 rows)" in " ".join(table.notes)
    assert table.reading["interventions"] == "set"
    assert table == td.Table(
        {"a": [0, 1, 0, 1, 0], "b": [1, 0, 1, 1, 0], "c": [0, 1, 1, 0, 0]},
        interventions=["", {"b"}, None, ["c", "b"], ("a", "b")],
    )
    assert td.best_network(path, interventions="set").proved


def test_equal_rows_stay_apart_where_others_were_set() -> None:
    table = td.Table({"a": [0, 0, 1], "b": [0, 0, 1]}, interventions=[None, "a", None])
    assert table.n_distinct == 3 and table.n_rows == 3
    plain = td.Table({"a": [0, 0, 1], "b": [0, 0, 1]}, interventions=[None, None, ""])
    assert plain.targets == () and plain == td.Table({"a": [0, 0, 1], "b": [0, 0, 1]})


def test_frames_with_gaps_and_weights() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0, 1, None, 1], "b": [0, 1, 1, 0], "w": [2, 1, 1, 0], "do": ["a", None, "b", "a"]})
    table = td.Table(frame, interventions="do", weights="w", missing="drop")
    assert table.was_set == {"a": 2} and table.n_rows == 3


def test_mistakes() -> None:
    columns = {"a": [0, 1], "b": [1, 0]}
    with pytest.raises(td.TableError, match=r"'bb' was set in row 1 .*close to it are 'b'"):
        td.Table(columns, interventions=["", "bb"])
    with pytest.raises(td.TableError, match="has 1 entries, but there are 2 rows"):
        td.Table(columns, interventions=["a"])
    with pytest.raises(td.TableError, match="'a' was set in every row"):
        td.Table(columns, interventions=["a", "a"])
    with pytest.raises(td.TableError, match="interventions= names a column 'do'"):
        td.Table(columns, interventions="do")
    with pytest.raises(td.TableError, match="a Table is coded already"):
        td.best_network(td.Table(columns), interventions=["a", ""])
    done = td.Table(columns, interventions=["a", ""])
    with pytest.raises(td.ScoreError, match=r"needs a score-equivalent score.*K2"):
        td.k_best_classes(done, 3, "k2")
    with pytest.raises(td.ScoreError, match="predictive_log_density would take rows of experiments"):
        td.features.predictive_log_density(td.Network(["a", "b"], {}), done, [{"a": 0, "b": 0}])
    with pytest.raises(td.ScoreError, match="parent_bounds would take"):
        td.parent_bounds(done, td.BIC(), "best")
    known = td.Constraints(parameters=[td.probabilities.influence("a", "b", "+")])
    with pytest.raises(td.ScoreError, match=r"interventions=|Parameter constraints"):
        td.best_network(done, "bic", constraints=known)


# ---- What is estimated


def test_fits_and_effects_take_the_rows_that_tell() -> None:
    """x follows z, y follows both; x was set in half of the rows: what follows is what was seen there."""
    rng = np.random.default_rng(8)
    z = rng.integers(0, 2, 4000)
    x = np.where(rng.random(4000) < 0.1, 1 - z, z)
    was_set = np.arange(4000) >= 2000
    x[was_set] = rng.integers(0, 2, 2000)
    y = (rng.random(4000) < 0.1 + 0.3 * x + 0.4 * z).astype(int)
    set_y = np.arange(4000) % 10 == 0
    y[set_y] = 1  # whatever x was
    sets = [["x"] * bool(a) + ["y"] * bool(b) for a, b in zip(was_set, set_y, strict=True)]
    columns = {"z": z.tolist(), "x": x.tolist(), "y": y.tolist()}
    table = td.Table(columns, interventions=sets)
    found = td.causal_effects(table, "x", draws=200)
    told = ~set_y & was_set
    seen = y[told & (x == 1)].mean() - y[told & (x == 0)].mean()
    assert found["x", "y"].value == pytest.approx(0.3, abs=0.05) and seen == pytest.approx(0.3, abs=0.07)
    assert found["x", "y"].lower < 0.3 < found["x", "y"].upper
    assert "nothing else was set" in found.estimated
    fitted = td.Network(["z", "x", "y"], {"x": ["z"], "y": ["x", "z"]}).fit(table, ess=0)
    assert fitted.tables["x"][1, 1] == pytest.approx(x[~was_set & (z == 1)].mean())
    assert fitted.tables["y"][0, 0, 1] == pytest.approx(y[~set_y & (x == 0) & (z == 0)].mean())
    with pytest.raises(td.ScoreError, match="In every row something other than 'z' was set"):
        td.causal_effects(td.Table(columns, interventions=["x" if i % 2 else "y" for i in range(4000)]), "z")


def test_a_bootstrap_draws_rows_with_what_was_set_in_them() -> None:
    table, _, _ = experiment(5)
    known = dict(zip(zip(*table.codes.tolist(), table.targets, strict=True), table.weights.tolist(), strict=True))
    drawn = resampled(table, 1, 0)
    rows = list(zip(*drawn.codes.tolist(), drawn.targets, strict=True))
    assert set(rows) <= set(known) and len(rows) < len(known) and drawn.n_rows == table.n_rows
    found = td.bootstrap(table, 3, seed=1)
    assert found.matrix.shape == (N, N)


# ---- From a shell, in files, on a page


CELLS = "a,b,c,set\n" + "".join(
    f"{i % 2},{i // 2 % 2},{(i + i // 3) % 2},{['', 'b', '', 'a;c'][i % 4]}\n" for i in range(60)
)


def test_from_a_shell(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(CELLS)
    answer = td.best_network(path, interventions="set")
    ran = topdag("best", path, "--interventions", "set", "--json", "-o", tmp_path / "answer.json")
    content = json.loads(ran.out)
    assert (ran.code, content["score"]) == (0, answer.score)
    assert content["reading"]["interventions"] == "set" and content["kind"] == {"name": "BIC"}
    assert topdag("check", tmp_path / "answer.json", path).code == 0
    local = td.score(path, interventions="set").local("b", ["a"])
    ran = topdag("score", path, "--interventions", "set", "--family", "b", "a")
    assert f"{local:.6f}" in ran.out
    ran = topdag("list", path, "--interventions", "set", "--classes", "-k", "3")
    assert (ran.code, ran.err) == (0, "") and len(td.k_best_classes(path, 3, interventions="set")) == 3
    assert topdag("effects", path, "--interventions", "set", "--draws", "0").code == 0
    assert topdag("report", path, "--interventions", "set", "-o", tmp_path / "page.html", "-k", "3").code == 0
    assert "Set by experiment" in (tmp_path / "page.html").read_text()


def test_in_files(tmp_path: Path) -> None:
    table = experiment(1)[0]
    scores = td.score(table)
    td.io.write_scores(tmp_path / "scores.npz", scores)
    again = td.io.read_scores(tmp_path / "scores.npz")
    assert again.table is None and again.kind is None  # the rows would not tell what was set
    assert td.best_network(again).score == pytest.approx(td.best_network(scores).score, abs=1e-6)
    assert pickle.loads(pickle.dumps(table)) == table


def test_what_was_set_may_be_left_out() -> None:
    """As the refusal of a variable that was set in every row advises."""
    columns = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 0, 1, 1]}
    said: list[Any] = ["a", ["a", "b"], "a", "a"]
    with pytest.raises(td.TableError, match="leave it out with leave_out="):
        td.Table(columns, interventions=said)
    table = td.Table(columns, interventions=said, leave_out=["a"])
    assert table.names == ("b", "c") and table.was_set == {"b": 1}
    with pytest.raises(td.TableError, match="'d' was set"):
        td.Table(columns, interventions=["a", "d", "", ""], leave_out=["a"])


def test_a_plan_knows_how_long_experiments_take() -> None:
    columns = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 0, 1, 1]}
    planned = td.plan(td.Table(columns, interventions=["a", "b", "", ""]))
    assert planned.seconds is not None and planned.seconds < 1 and planned.advice == ""


def test_what_experiments_settle_is_not_shown_as_reversible(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    rows = [(0, 0, ""), (1, 1, ""), (0, 1, "b"), (1, 0, "b"), (0, 0, "b"), (1, 1, "b")] * 10
    path.write_text("a,b,set\n" + "".join(f"{a},{b},{was_set}\n" for a, b, was_set in rows))
    plain, told = td.best_network(path, leave_out=["set"]).network, td.best_network(path, interventions="set").network
    assert plain is not None and told is not None and told.edges == (("a", "b"),)
    assert plain.told_apart == () and told.told_apart == (("b",),)
    assert plain.reversible == plain.edges and told.reversible == ()
    for same in (pickle.loads(pickle.dumps(told)), td.Network.from_dict(told.to_dict()), told.plain_names()):
        assert same.reversible == () and same.told_apart == told.told_apart
    for own in (
        td.k_best_networks(path, 1, interventions="set")[0],
        td.best_network(path, interventions="set", time_limit=0, start=told).network,
    ):
        assert own is not None and own.reversible == ()
    assert "reversible" in str(plain) and "reversible" not in str(told) + told.to_dot() + told.to_svg()
    ran = topdag("best", path, "--interventions", "set", "-o", tmp_path / "answer.json")
    assert ran.code == 0 and "reversible" not in ran.out
    assert "reversible" not in topdag("show", tmp_path / "answer.json").out


def test_a_chain_is_settled_as_far_as_follows() -> None:
    chain = {"b": ["a"], "c": ["b"]}
    assert td.Network(list("abc"), chain, told_apart=[["c"]]).reversible == (("a", "b"),)
    assert td.Network(list("abc"), chain, told_apart=[["a"]]).reversible == ()
    assert td.Network(list("abc"), chain, told_apart=[["b", "c"], ["c", "b"]]).told_apart == (("b", "c"),)


def test_columns_of_both_kinds_settle_edges_between_them() -> None:
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, 200)
    x = state + rng.normal(size=200)
    table = td.Table({"state": state.tolist(), "x": x.tolist(), "y": (x + rng.normal(size=200)).tolist()})
    network = td.best_network(table, "mixed-bic").network
    assert network is not None and ("state", "x") in network.edges
    assert network.told_apart == (("x", "y"),)
    assert not [edge for edge in network.reversible if "state" in edge]


def costly_table(n: int, n_rows: int, n_states: int) -> td.Table:
    cells = np.random.default_rng(0).integers(0, n_states, (n_rows, n))
    states = {f"V{v}": range(n_states) for v in range(n)}
    return td.Table(cells, states=states, interventions=[["V1"] if i % 4 == 0 else [] for i in range(n_rows)])


@pytest.mark.parametrize(
    ("kind", "table", "least"),
    [(td.BIC(), costly_table(13, 40, 4), 5), (td.NAL(0.05), costly_table(5, 200, 3), 3)],
    ids=["bic", "nal"],
)
def test_parents_that_must_be_have_a_score_however_much_they_cost(kind: Any, table: td.Table, least: int) -> None:
    """Families that are hopeless beside one without parents are not scored with the others; here there is no such."""
    known = td.Constraints(min_parents={"V0": least}, max_parents={"V0": least})
    own = kind_for(table, kind)
    every = {mask: own.local(table, 0, mask) for mask in combinations(range(1, table.n_variables), least)}
    assert max(every.values()) < own.local(table, 0, ()) - table.n_rows * math.log(len(table.states[0])) - 1000
    answer = td.best_network(table, kind, constraints=known)
    assert answer.proved and answer.network.local_scores is not None
    assert answer.network.local_scores["V0"] == pytest.approx(max(every.values()), rel=1e-12)
    assert check_network(answer.network, table, own).is_fine
