"""Cutting numbers: where rules cut, what states are called, and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from table_checks import CUT, LEFT, numbers_of_all_kinds, refused

from topdag.data.discretize import CutPoints, Mean, Quantile, Uniform, interval_labels, parse_rule, weighted_quantile
from topdag.data.table import Table
from topdag.errors import TableError

untimed = settings(deadline=None)
numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
columns = st.lists(numbers, min_size=2, max_size=30)
rules = st.sampled_from(["mean", "median", "quantile(3)", "uniform(4)", [-10.0, 0.0, 10.0]])


def cut(values, rule, **options):
    """The table of a column cut by the rule, beside one that keeps its rows apart."""
    columns = {"x": list(map(float, values)), "row": list(range(len(values)))}
    return Table(columns, discretize={"x": rule}, types={"row": "categorical"}, **options)


def states_by_row(table):
    return [state for (state, _), _ in sorted(table.rows(), key=lambda row: row[0][1])]


def test_mean_and_median():
    assert states_by_row(cut([1, 2, 3, 10], "mean")) == ["<= 4", "<= 4", "<= 4", "> 4"]
    assert states_by_row(cut([1, 2, 3, 10], "median")) == ["<= 2.5", "<= 2.5", "> 2.5", "> 2.5"]


def test_values_equal_to_the_mean_go_below():
    assert states_by_row(cut([1, 2, 3], "mean")) == ["<= 2", "<= 2", "> 2"]


def test_uniform_and_quantile():
    values = [0, 1, 2, 3, 30, 60]
    assert states_by_row(cut(values, Uniform(3))) == [*["<= 20"] * 4, "(20, 40]", "> 40"]
    assert states_by_row(cut(values, Quantile(3))) == [
        "<= 1.66667",
        "<= 1.66667",
        "(1.66667, 12]",
        "(1.66667, 12]",
        "> 12",
        "> 12",
    ]


def test_cut_points_count_even_without_rows():
    table = cut([1, 2, 3], [0, 2, 5])
    assert table.states[0] == ("<= 0", "(0, 2]", "(2, 5]", "> 5")
    assert states_by_row(table) == ["(0, 2]", "(0, 2]", "(2, 5]"]


@untimed
@given(columns, rules, st.randoms())
def test_order_of_rows_does_not_matter(values, rule, random):
    table = Table({"x": values, "y": [0] * len(values)}, discretize=rule)
    shuffled = random.sample(values, len(values))
    assert Table({"x": shuffled, "y": [0] * len(values)}, discretize=rule) == table


@untimed
@given(columns, rules, st.data())
def test_weights_stand_for_repeated_rows(values, rule, data):
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    repeated = np.repeat(values, weights)
    expected = Table({"x": repeated, "y": np.zeros(len(repeated), int)}, discretize=rule)
    assert Table({"x": values, "y": [0] * len(values)}, discretize=rule, weights=weights) == expected


@untimed
@given(columns, rules)
def test_larger_values_are_in_later_states_and_all_states_occur(values, rule):
    table = cut(values, rule)
    places = [table.states[0].index(state) for state in states_by_row(table)]
    assert [places[i] for i in np.argsort(values, kind="stable")] == sorted(places)
    assert isinstance(rule, list) or set(places) == set(range(table.arities[0]))


@untimed
@given(columns, st.data())
def test_weighted_quantile_is_that_of_numpy(values, data):
    distinct = np.unique(values)
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(distinct), max_size=len(distinct)))
    p = data.draw(st.floats(0, 1))
    found = weighted_quantile(distinct, np.array(counts, float), p)
    assert found == pytest.approx(np.quantile(np.repeat(distinct, counts), p), rel=1e-9, abs=1e-9)


@untimed
@given(columns, st.integers(2, 5))
def test_cuts_are_where_numpy_has_them(values, k):
    low, high = min(values), max(values)
    assume(high > low)
    inner = np.arange(1, k) / k
    for rule, points in ((Uniform(k), low + (high - low) * inner), (Quantile(k), np.quantile(values, inner))):
        assume(min(abs(v - p) for v in values for p in points) > 1e-6)
        expected = np.unique(np.searchsorted(points, values), return_inverse=True)[1]
        table = cut(values, rule)
        assert [table.states[0].index(state) for state in states_by_row(table)] == expected.tolist()


@untimed
@given(st.lists(st.floats(-1e280, 1e280), min_size=1, max_size=8, unique=True))
def test_labels_differ(points):
    labels = interval_labels(sorted(set(points)))
    assert len(set(labels)) == len(set(points)) + 1


def test_labels_are_readable():
    assert interval_labels([0.1 + 0.2, 1e6]) == ("<= 0.3", "(0.3, 1000000]", "> 1000000")
    assert interval_labels([1.0000001, 1.0000002]) == ("<= 1.0000001", "(1.0000001, 1.0000002]", "> 1.0000002")


def test_notes_tell_what_was_done():
    assert cut([1, 2, 3], "mean").notes == ("Column 'x' was cut at its mean into 2 states: '<= 2', '> 2'.",)
    (note,) = cut([0, 0, 0, 0, 1], Quantile(3)).notes
    assert note == (
        "Column 'x' was cut at its quantiles into 2 states instead of 3, because of equal values "
        "or empty intervals: '<= 0', '> 0'."
    )
    assert "2 states instead of 3" in cut([0, 0, 9], Uniform(3)).notes[0]
    constant = cut([4, 4], "median")
    assert constant.constant == ("x",)
    assert "into 1 state instead of 2" in constant.notes[0]


def test_a_dict_cuts_only_what_it_names():
    columns = {"x": [0.5, 1.5], "n": [3, 8], "m": [1, 2]}
    table = Table(columns, discretize={"x": "mean", "n": [5]})
    assert table.states == (("<= 1", "> 1"), ("<= 5", "> 5"), (1, 2))
    assert Table(columns, discretize={"n": "mean"}).states == ((0.5, 1.5), ("<= 5.5", "> 5.5"), (1, 2))
    refused(columns, "'z' that is not there", discretize={"z": "mean"})


def test_one_rule_cuts_numbers_with_many_values_and_says_which():
    columns = {name: cells for name, cells in numbers_of_all_kinds().items() if name != "row"}
    table = Table(columns, discretize="median")
    was_cut = [name for name, states in zip(table.names, table.states, strict=True) if str(states[0]).startswith("<=")]
    assert was_cut == CUT
    assert [note.split("'")[1] for note in table.notes if "was cut" in note] == CUT
    (left,) = (note for note in table.notes if "not cut" in note)
    assert left == f"Whole numbers with few values were left as states, not cut: {', '.join(map(repr, LEFT))}."


def test_a_dict_has_a_rule_for_all_others_too():
    columns = {name: numbers_of_all_kinds()[name] for name in ("float", "whole", "above_it", "codes")}
    table = Table(columns, discretize={"*": "median", "whole": "uniform(3)", "above_it": None, "codes": [1]})
    assert [len(states) for states in table.states] == [2, 3, 0, 2] and table.continuous == ("above_it",)
    assert Table(columns, discretize={"*": "median", "float": None}).continuous == ("float",)


def test_floats_that_are_all_whole_numbers_are_integers():
    table = Table({"x": [1.0, 3.0, None], "y": [0, 1, 1]}, missing="drop")
    assert table.states[0] == (1, 3)
    assert table == Table({"x": [1, 3, None], "y": [0, 1, 1]}, missing="drop")
    assert [*map(type, table.states[0])] == [int, int]
    assert [*map(type, Table({"x": [1.0, 2.0**54], "y": [0, 1]}).states[0])] == [float, float]  # which may be rounded


NAMES, NUMBERS = "'x' (a name of its own in most rows)", "'x' (numbers the rows)"


@pytest.mark.parametrize(
    ("column", "rows", "said"),
    [
        ([3 * i for i in range(25)], 100, ""),
        ([f"w{i}" for i in range(25)], 100, "'x' (25 states). Join states that are alike, or leave such columns out."),
        ([7 * i % 43 for i in range(40)], 40, ""),
        ([f"w{i}" for i in range(40)], 40, NAMES),
        ([f"w{i}" for i in range(32)], 40, NAMES),
        ([f"w{i}" for i in range(26)], 40, "'x' (26 states). Join states that are alike"),
        (list(range(40)), 40, NUMBERS),
        ([i * i for i in range(40)], 40, NUMBERS),  # numbers of patients in the order of the rows
        ([7 * i % 40 for i in range(40)], 40, ""),
        ([3 * i for i in range(25)], 250, ""),
        ([3 * i for i in range(20)], 100, ""),
    ],
)
def test_columns_with_many_states_for_their_rows_are_remarked_on(column, rows, said):
    columns = {"x": (column * rows)[:rows], "y": [0, 1] * (rows // 2), "z": [*"aab"] * (rows // 3) + ["c"] * (rows % 3)}
    table = Table(columns)
    assert said in " ".join(table.notes)
    assert bool(table.notes) == bool(said)


def test_whole_numbers_taken_for_states_are_remarked_on():
    columns = {"x": [3 * i for i in range(25)] * 4, "y": [0, 1] * 50}
    assert Table(columns).continuous == ("x",)
    (note,) = Table(columns, types={"x": "categorical"}).notes
    assert "'x' (25 states)." in note and "types={'x': 'continuous'}" in note


def test_declared_states_come_before_a_rule():
    table = Table({"x": [0.5, 1.5], "y": [0, 1]}, discretize="mean", states={"x": [0.5, 1.5]})
    assert table.states[0] == (0.5, 1.5)
    refused(
        {"x": [0.5, 1.5], "y": [0, 1]},
        "'x', which does not hold numbers",
        discretize={"x": "mean"},
        states={"x": [0.5, 1.5]},
    )


def test_missing_numbers():
    columns = {"x": [0.5, None, 1.5, 5.5], "y": [0, 1, 1, None]}
    dropped = Table(columns, discretize="mean", missing="drop")
    assert dropped.states[0] == ("<= 1", "> 1")
    kept = Table(columns, discretize="mean", missing="state")
    assert kept.states == (("<= 2.5", "> 2.5", "missing"), (0, 1, "missing"))
    nothing = {"x": np.full(2, np.nan), "y": [0, 1], "z": [1, 0]}
    assert Table(nothing, discretize="mean", missing="state").names == ("y", "z")


def test_floats_stay_numbers_without_a_rule():
    table = Table({"x": [0.5, 1, 2], "y": [0, 1, 1], "z": [0.25, 0.5, 4.0]})
    assert table.continuous == ("x", "z") and table.states == ((), (0, 1), ())
    assert Table({"x": [0.5, 1.0], "y": [1.5, 2.0]}).states == ((0.5, 1.0), (1.5, 2.0))  # two values are categories


def test_infinite_and_huge_numbers_are_refused():
    refused({"x": [0.5, -np.inf], "y": [0, 1]}, "column 'x' is infinite in row 1 (counted from 0)", discretize="mean")
    refused({"x": [0.5, 1e300], "y": [0, 1]}, "column 'x' has numbers beyond 1e+290", discretize="mean")
    refused({"n": [1, 10**400], "y": [0, 1]}, "column 'n' has numbers beyond 1e+290", discretize={"n": "mean"})


@pytest.mark.parametrize("column", [["a", "b"], [True, False]])
def test_only_numbers_are_cut(column):
    refused({"x": column, "y": [0, 1]}, "'x', which does not hold numbers", discretize={"x": "mean"})


def test_rules_are_parsed():
    assert parse_rule("mean") == Mean()
    assert parse_rule(" Median ") == Quantile(2)
    assert parse_rule("quantile(3)") == Quantile(3)
    assert parse_rule("uniform( 4 )") == Uniform(4)
    assert parse_rule("-1, 2.5") == CutPoints((-1.0, 2.5))
    assert parse_rule(np.array([1, 2])) == CutPoints((1.0, 2.0))


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("mode", "unknown rule 'mode'"),
        ("quantile(1)", "from 2 to 65,535, not 1"),
        ("uniform(999999)", "from 2 to 65,535"),
        ("quantile(x)", "unknown rule"),
        ([], "one or more finite numbers"),
        ([1, float("nan")], "finite"),
        ([2, 1], "must increase"),
        ([1, 1], "must increase"),
        (["a"], "are numbers"),
        ([None], "are numbers"),
        ([10**400], "are numbers"),
        (3, "not 3"),
        (list(range(65_535)), "more than 65,535 states"),
    ],
)
def test_rules_refused(rule, part):
    with pytest.raises(TableError) as caught:
        parse_rule(rule)
    assert part in str(caught.value)


@pytest.mark.parametrize("k", [1, 2.0, True, "3"])
@pytest.mark.parametrize("rule", [Quantile, Uniform])
def test_numbers_of_states_refused(rule, k):
    with pytest.raises(TableError, match="number of states"):
        rule(k)


@pytest.mark.parametrize(
    "options",
    [
        *({"discretize": rule} for rule in ("mean", Quantile(3), Uniform(3), {"a": "median"}, {"a": [1.5]})),
        *({"types": {name: "continuous"}} for name in ("*", "a")),
        {"types": {"a": "categorical"}},
        {"columns": ["a", "b"]},
        {"states": {"a": [1, 2]}},
        {"weights": "a"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_larger_than_any_float(options: dict[str, object], sign: int) -> None:
    """They are states, or refused in words."""
    rows = {"a": [sign * (10**400 + i) for i in range(30)], "b": [i % 3 for i in range(30)]}
    try:
        states = Table(rows, **options).states[0]
    except TableError as error:
        states = str(error)
    assert states == tuple(sorted(rows["a"])) or "'a'" in states or "weight" in states
    assert ("'a' (identifier: numbers too large" in states) == (
        options == {} or not isinstance(options.get("discretize", {}), dict)
    )


def test_many_columns_cut_alike_are_told_of_once():
    """A table of genes has thousands, and what matters would be lost among as many notes."""
    few = {f"g{i}": [i + 0.5, i + 1.5, i + 2.5] for i in range(4)}
    many = few | {f"h{i}": [i + 0.5, i + 1.5, i + 2.5] for i in range(9)}
    assert sum("was cut at its median" in note for note in Table(few, discretize="median").notes) == 4
    (note,) = Table(many | {"y": [0, 1, 1]}, discretize="median").notes
    assert note.startswith("13 columns were cut, each at its median into 2 states: 'g0' at 1.5; 'g1' at 2.5; ")
    assert note.endswith("; 'h5' at 6.5; and 3 more.")
