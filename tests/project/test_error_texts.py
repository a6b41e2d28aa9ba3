"""What a newcomer is told when something is wrong: what, where, and what to do. A table of cases for each way in.

Every fault that other packages have with such input (NaN, constants, strings, one row, none, equal names, floats,
unknown scores, unknown variables in knowledge) has a case here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli import main as cli
from topdag.cli.command import Exit

ODD_FILES: list[tuple[str, bytes, dict[str, object], str]] = [
    ("empty", b"", {}, "the file is empty; a table has names in its first line and a row in each further one"),
    ("blank", b"\n \n\n", {}, "the file is empty"),
    ("header only", b"a,b\n", {}, "a header but no rows; if its only line is a row, read it with header=False"),
    ("one column", b"a\n1\n2\n", {}, "only one column: 'a'; a table needs two or more. If there are more, separator="),
    (
        "short line",
        b"a,b,c\n1,2,3\n1\n",
        {},
        "line 3 of the file has 1 cell, but the first line has 3; cells are taken",
    ),
    (
        "row names",
        b"a,b\nx,1,2\n",
        {},
        "line 2 of the file has 3 cells, but the first line has 2; .* row names needs a n",
    ),
    ("equal names", b"a,b,a\n1,2,3\n", {}, "columns 0 and 2 (counted from 0) are both called 'a'; rename one"),
    (
        "no name",
        b"a,,b\n0,1,2\n",
        {},
        "column 1 (counted from 0) has no name; name it, or leave it out with leave_out=['']",
    ),
    (
        "no header",
        b"1,0,1\n0,1,1\n",
        {},
        "the first line holds only numbers (1, 0, 1), some of them more than once, so ",
    ),
    (
        "latin-1",
        "größe,b\n1,2\n".encode("latin-1"),
        {},
        "not a text in UTF-8: see line 1, after 'gr'; .* encoding=\"lat",
    ),
    ("encoding", b"a,b\n1,2\n", {"encoding": "latn"}, 'encoding= is a name such as "utf-8" or "latin-1", not \'latn\''),
    ("zero bytes", b"a,b\n1,\x002\n", {}, "this is not a file of text: it has zero bytes, the first in line 2"),
    ("Excel", b"PK\x03\x04\0\0", {}, "this looks like an Excel workbook or a zip file; save the sheet as CSV"),
    ("old Excel", b"\xd0\xcf\x11\xe0\0", {}, "this looks like an old Excel or Word file; save the sheet as CSV"),
    ("web page", b"<html>\n<body>not found\n", {}, "this looks like a web page or XML, perhaps an error page"),
    ("JSON", b'[{"a": 1},\n{"a": 2}]', {}, "this looks like JSON; read it with pandas or Polars and give that to"),
    ("comment", b"# by me\na,b\n1,2\n", {}, "begins with a comment; delete the lines above the header"),
    ("gzip", b"\x1f\x8b12", {}, "the gzip file is damaged"),
    ("Parquet", b"PAR1 not", {}, "the Parquet file cannot be read"),
    ("open quote", b'a,b\n"1,2\n3,4\n', {}, 'line 2 of the file: a quote (") opens in or after this line and is never'),
    ("quote in quote", b'a,b\n"x"y,2\n', {}, 'line 2 of the file: a quote (") inside a quoted cell must be doubled'),
    (
        "no variable",
        b"a,b\n2020-01-01,x\n2021-01-01,y\n2022-01-01,x\n",
        {},
        "this one has 'b', beside columns that are no variables, 'a' (date: ",
    ),
    ("types", b"a,b\n1,2\n2,1\n", {"types": {"b": "number"}}, "types=: 'number' of column 'b' is no type; the na"),
    ("types of", b"a,b\n1,2\n2,1\n", {"types": {"c": "count"}}, "types= names a column 'c' that is not there; the "),
    ("types=", b"a,b\n1,2\n2,1\n", {"types": "count"}, "types= maps names of columns to types, not 'count'"),
    (
        "text as numbers",
        b"a,b\nx,2\ny,1\n",
        {"types": {"a": "continuous"}},
        "column 'a' cannot be continuous: it holds 'x', which is no number; types={'a': 'categorical'}, or leave_out=",
    ),
    (
        "two weights",
        b"a,b,c,d\n1,2,1,1\n",
        {"types": {"c": "weight", "d": "weight"}},
        "types=: a row has one weight, and 'c' and 'd' are both named",
    ),
    (
        "decimal commas",
        b"a;b\n1,5;0\n2;1\n",
        {},
        "column 'a' holds numbers with commas, such as '1,5': decimal=\",\" r",
    ),
    ("decimal", b"a;b\n1,5;0\n", {"decimal": "'"}, 'decimal= is "." or ",", not "\'"'),
    (
        "missing",
        b"a,b\nNA,1\n2,\n",
        {"missing": "error"},
        "missing values in 2 columns: 'a' (1 row, the first is line 2 of the file), 'b' ",
    ),
    (
        "only missing",
        b"a,b\nNA,1\n2,\n",
        {"missing": "drop"},
        "no row is left: all 2 were dropped because of missing v",
    ),
    (
        "missing=",
        b"a,b\n1,1\n",
        {"missing": "ignore"},
        'missing= is "auto", "drop", "state", "keep" or "error", not \'ignore\'',
    ),
    (
        "infinite",
        b"a,b\ninf,1\n1.5,2\n",
        {},
        "column 'a' is infinite in line 2 of the file; put a number there or leave",
    ),
    ("weights", b"a,b,n\n0,1,2\n", {"weights": "m"}, "weights= names a column 'm' that is not there; the names are"),
    (
        "weight",
        b"a,b,n\n0,1,-2\n",
        {"weights": "n"},
        "the weight in line 2 of the file is -2; weights are whole numbers",
    ),
    ("leave_out", b"id,a,b\n1,0,1\n", {"leave_out": ["di"]}, "leave_out names a column 'di' .*; close to it are 'id'"),
    ("leave_out=", b"a,b\n1,0\n", {"leave_out": "a"}, "leave_out lists names of columns, such as ['id'], not 'a'"),
    ("separator", b"a,b\n1,0\n", {"separator": 5}, "separator= is one character such as , ; | tab or space, not 5"),
    (
        "missing_values",
        b"a,b\n1,0\n",
        {"missing_values": 3},
        "missing_values lists the texts that mean missing, not 3",
    ),
    (
        "states",
        b"a,b\n1,0\n2,1\n",
        {"states": {"a": [1]}},
        "column 'a' has 2 in line 3 of the file, which is not one of",
    ),
    (
        "2048 columns",
        b",".join(b"v%d" % v for v in range(2049)) + b"\n" + b",".join([b"1"] * 2049) + b"\n",
        {},
        "2,049 variables are too many: at most 2,048 can be used",
    ),
]


def same_words(text: str, told: str) -> bool:
    """Whether the message says this; `` .* `` stands for some words."""
    return re.search(".*".join(map(re.escape, text.split(".*"))), told) is not None


@pytest.mark.parametrize("ending", ["jkl", "PSS"])
def test_scores_given_as_a_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores.{ending}"
    path.write_bytes(b"2\na 1\n-1.0 0\nb 1\n-2.0 0\n")
    with pytest.raises(td.TableError, match=r"a file of scores by its name; topdag\.io\.read_scores\(\) reads it"):
        td.best_network(path)


@pytest.mark.parametrize(
    ("content", "options", "text"), [case[1:] for case in ODD_FILES], ids=[c[0] for c in ODD_FILES]
)
def test_odd_files(tmp_path: Path, content: bytes, options: dict[str, object], text: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(td.TableError) as caught:
        td.read_table(path, **options)  # type: ignore[arg-type]
    told = str(caught.value)
    assert told.startswith(f"{path}: ") or re.match(r"\w+=:? |(leave_out|missing_values) lists", text)
    assert same_words(text, told), told


def test_files_that_are_odd_but_plain(tmp_path: Path) -> None:
    """What can be read without guessing is read; what may be a mistake gets a note."""
    path = tmp_path / "plain.csv"
    for content, options, names in [
        (b"\xef\xbb\xbfa,b\n1,2\n2,1\n", {}, ("a", "b")),
        ("a;b\n1;2\n2;1\n".encode("utf-16"), {}, ("a", "b")),
        (
            "größe;b\n1,5;2\n2;1\n".encode("latin-1"),
            {"encoding": "latin-1", "decimal": ",", "discretize": "mean"},
            None,
        ),
        (b"id,a,b\n7,0,1\n8,1,0\n", {"leave_out": ["id"]}, ("a", "b")),
    ]:
        path.write_bytes(content)
        table = td.read_table(path, **options)  # type: ignore[arg-type]
        assert table.names == (names or ("größe", "b"))
        assert table.arities.tolist() == [2, 2]
    path.write_bytes(b"1,0\n0,1\n1,1\n")
    assert "if it is a row, it takes header=False" in td.read_table(path).notes[0]
    path.write_bytes(b"id,a,b\n" + b"".join(b"%d,%d,%d\n" % (i, i % 2, i % 3) for i in range(30)))
    assert td.read_table(path).notes == ("Left out: 'id' (row names).",)
    path.write_bytes(b",a,b\n0,x,2\n1,y,2\n2,x,3\n")
    table = td.read_table(path)
    assert (table.names, table.notes) == (("a", "b"), ("Left out: the row names.",))


def test_one_row_and_constants_make_no_edges() -> None:
    """Where others answer with a complete network, or not at all."""
    for source in ({"a": [0], "b": [1], "c": [1]}, {"a": [0] * 9, "b": [1] * 9, "c": [1] * 9}):
        answer = td.best_network(td.Table(source))
        assert answer.network is not None and answer.network.n_edges == 0
        assert answer.notes[0] == "Columns 'a', 'b', 'c' are constant: they have one state."


@pytest.fixture(scope="module")
def world() -> dict[str, object]:
    """What the calls below are made with."""
    table = td.example_table(100)
    scores = td.score(table, td.BDeu())
    return {
        "td": td,
        "np": np,
        "pd": pd,
        "table": table,
        "scores": scores,
        "pruned": td.score(table, td.BDeu(), keep="best"),
        "found": td.k_best_networks(scores, 3),
        "wide": td.random_network(28, seed=1).sample(50, seed=1),
        "too_wide": td.random_network(70, seed=1).sample(50, seed=1),
        "many_numbers": td.Table(np.random.default_rng(1).normal(size=(20, 70)), types={"*": "continuous"}),
        "same_numbers": td.Table({"a": [1.5, 2.5, 3.0], "b": [3.0, 5.0, 6.0]}, types={"*": "continuous"}),
    }


KEEP_ALL = (
    'more families than these scores hold: they were pruned for the best network only. Score again with keep="all"'
)
CALLS = [
    ("td.causal_effects(td.example_table(), 'smok')", "There is no variable 'smok'; did you mean 'smoke'?"),
    ("td.causal_effects(td.example_table(), share=99)", "share= is a share above 0 and at most 1, not 99."),
    (
        "td.Table({'a': [0, 1], 'b': [1, 0]}, interventions=['', 'B'])",
        "interventions= says that 'B' was set in row 1 (counted from 0), which is no variable; the names are 'a', 'b'.",
    ),
    (
        "td.Table({'a': [0, 1], 'b': [1, 0]}, interventions=['b', 'b'])",
        "'b' was set in every row, so that nothing tells of its causes; leave it out with leave_out=['b'], or add rows",
    ),
    (
        "td.Table({'a': [0, 1], 'b': [1, 0]}, interventions=['', 5])",
        "interventions= gives a name, several or none for each row, not 5 as for row 1 (counted from 0)",
    ),
    (
        "td.bootstrap(td.Table({'a': [0, 1] * 9, 'b': [1, 0] * 9}, interventions=['b'] * 17 + ['']), 9)",
        "has no row in which 'b' was not set, so that nothing tells of its causes: the table has 1 row of them,",
    ),
    (
        "td.io.write_list('x.jsonl', td.k_best_classes(td.Table([[0, 1], [1, 0]], interventions=['', 'V1']), 2))",
        "A list of classes that experiments tell apart is not written: the file would not tell which. Write the list",
    ),
    ("td.Table(5)", "a table cannot be made of this int; it takes a frame, an array of rows and columns, a dict of c"),
    ("td.best_network(found[0])", "a table cannot be made of this Network; it takes a frame"),
    ("td.Table('x.csv')", "Table() takes what is in memory; read_table() reads files"),
    ("td.Table(np.zeros(3))", "an array must have two dimensions, not 1: rows and columns"),
    ("td.Table(np.zeros((0, 2), int))", "the table has no rows"),
    ("td.Table([[1, 2], [1]])", "row 1 (counted from 0) has 1 cells, the first one 2"),
    ("td.Table({'a': [1, 2], 'b': [1]})", "column 'b' has 1 row, but 'a' has 2"),
    ("td.Table({'a': [1, 2]})", "a table needs two or more variables; this one has 'a'"),
    (
        "td.Table({'a': [1.5, None], 'b': [0, 1]}, missing='error', discretize='mean')",
        "missing values in 1 column: 'a' (1 row, the",
    ),
    (
        "td.Table(pd.DataFrame({'a': [1, np.nan], 'b': [0, 1]}), missing='error')",
        'missing="drop" leaves such rows out, missing="state"',
    ),
    (
        "td.Table({'a': [1.5, 2.5], 'b': ['x', 'y']}, types={'*': 'continuous'})",
        "column 'b' cannot be continuous: it holds 'x', which is no number; types={'b': 'categorical'}, or leave_out=",
    ),
    ("td.Table({'a': [1, 2], 'b': [1, 2]}, types={'b': 'numeric'})", "types=: 'numeric' of column 'b' is no type; "),
    (
        "td.best_network({'a': [1, 2]}, continuous='all')",
        "there is no argument 'continuous'; it is called 'types' here",
    ),
    (
        "td.Table({'a': range(30), 'b': [0, 1] * 15})",
        "'b', beside columns that are no variables, 'a' (identifier: numbers the rows). If one is a variable after all",
    ),
    ("td.Table(pd.DataFrame([[1, 2], [2, 1]], columns=['a', 'a']))", "'a'"),
    (
        "td.Table({'a': [1.5, 2.5], 'b': [0, 1]}, discretize='thirds')",
        "unknown rule 'thirds'; discretize= takes \"mean\"",
    ),
    ("td.Table({'a': [1, 2], 'b': [0, 1]}, discretize={'c': 'mean'})", "discretize= names a column 'c' that is not th"),
    (
        "td.Table({'a': range(70_000), 'b': [0, 1] * 35_000}, types={'a': 'categorical'})",
        "column 'a' has 70,000 states, more than 65,535; leave it out",
    ),
    ("td.read_table(5)", "read_table() takes the name of a file, not 5; Table() takes what is in memory"),
    ("td.read_table('none.csv')", "none.csv: there is no such file"),
    ("td.read_table('.')", ".: this is a folder, not a file"),
    ("td.score(table, 5)", 'kind must be a score such as BDeu() or BIC(), or its name, such as "bic", not 5.'),
    ("td.score(table, 'bicc')", "kind='bicc' is not known; close to it are 'bic', 'aic', 'rank-bic'."),
    (
        "td.best_network(table, time_limt=5)",
        "best_network(): there is no argument 'time_limt'; close to it are 'time_l",
    ),
    ("td.best_network(table, score='bic')", "best_network(): there is no argument 'score'; it is called 'kind' here"),
    (
        "td.edge_posteriors(table, required_edges=[])",
        "there is no argument 'required_edges'; 'constraints' takes it, as Constraints(required_edges=...)",
    ),
    ("td.best_network(table, n_jobs=2)", "there is no argument 'n_jobs'; it is called 'threads' here"),
    ("td.bootstrap(table, k=9)", "bootstrap(): there is no argument 'k'; it is called 'n' here"),
    ("td.bootstrap(table, draws=9)", "there is no argument 'draws'; it is called 'n' here"),
    (
        "td.Constraints(blacklist=[])",
        "Constraints(): there is no argument 'blacklist'; it is called 'forbidden_edges' here",
    ),
    (
        "td.best_network(table, constraints={})",
        "not dict; io.constraints_from makes them of what pgmpy and causal-learn",
    ),
    ("td.best_network(table, dropna=True)", "there is no argument 'dropna'; it is called 'missing' here"),
    (
        "td.best_network(table, zzz=1)",
        "best_network(): there is no argument 'zzz'; the names are 'bound', 'checkpoint', 'columns', 'constraints',",
    ),
    (
        "td.Constraints(required_edges=('asia', 'tub'))",
        "required_edges: 'asia' is no pair; write 'a->b', or give two names: [('a', 'b')].",
    ),
    ("td.score(table, discretise=5)", "score(): there is no argument 'discretise'; close to it are 'discretize'"),
    ("td.best_network(td.score(table), 'bic', missing='drop')", "kind=, missing= goes with a table; these scores were"),
    ("td.best_network(table, missing='drop')", "a Table is coded already: give missing= when it is made"),
    ("td.best_network({'a': [0, 1], 'b': [0, 1]}, separator=',')", "separator= is for files, and this is a dict"),
    ("td.score(table, td.BIC)", "; write BIC()."),
    ("td.BDeu(-1)", "BDeu: ess must be a positive number (1e-100 to 1e12), not -1."),
    ("td.score(table, td.BIC(), max_parents='3')", "max_parents must be a whole number from 0 on, or None, not '3'."),
    ("td.score(table, td.BIC(), keep='most')", 'keep must be "all", "best" or Within(factor) or KBest(k), not'),
    ("td.score(table, td.BIC(), threads=0)", "threads must be a whole number from 1 to 1024, not 0."),
    ("td.best_network(table, time_limit='10')", "time_limit must be a number of seconds, not '10'."),
    ("td.best_network(table, memory_limit='8 apples')", "a number of bytes or a text such as \"8GB\", not '8 apples'."),
    (
        "td.best_network(table, on_progress='yes')",
        "on_progress must be True, False or a function of a Progress, such as",
    ),
    ("td.best_network(scores, prior='fair')", "prior must be OrderModular(), EdgePrior(...), FairPrior() or None, not"),
    ("td.best_network(scores, prior=td.FairPrior)", "prior must be an object: write FairPrior() with brackets."),
    ("td.best_network(scores, start=5)", "start must be a Network, not int."),
    ("td.best_network(scores, engine='fast')", "There is no engine 'fast'; there are 'dense lattice', 'block lattice'"),
    (
        "td.best_network(scores, engine='order search', bound='loose')",
        "There is no bound 'loose'; there are 'simple', 'static', 'dynamic', 'cluster'.",
    ),
    (
        "td.best_network(scores, bound='static')",
        "The bound 'static' is for the engine 'order search': ask for that, too.",
    ),
    (
        "td.best_network(pruned, engine='order search', bound='static', checkpoint='state')",
        "bound does not go with checkpoint, which is for the search that topdag chooses. Leave out one.",
    ),
    ("td.best_network(scores, checkpoint=5)", "checkpoint must be the name of a file, not 5."),
    ("td.k_best_networks(scores, 0)", "k must be a whole number from 1 to 1,000,000,000, not 0."),
    ("td.networks_within(scores, 0.5)", "A Bayes factor is a number from 1 on, at most 1e+300, not 0.5."),
    ("td.k_best_networks(pruned, 5)", f"k_best_networks needs {KEEP_ALL}"),
    ("td.edge_posteriors(pruned)", f"A sum over all networks needs {KEEP_ALL}"),
    ("td.sample_networks(pruned, 5)", f"sample_networks needs {KEEP_ALL}"),
    ("td.sample_networks(scores, 'ten')", "n_samples must be a whole number from 0 to 1,000,000,000, not 'ten'."),
    ("td.parent_set_posteriors(scores, 'lunk')", "There is no variable 'lunk'; did you mean 'lung'?"),
    ("scores.local('lung', 'smoke')", "parents must be a list of names, such as ['smoke'], not a text."),
    (
        "scores.local('zzz')",
        "There is no variable 'zzz'; the variables are asia, tub, smoke, lung, bronc, either, xray, dysp.",
    ),
    ("scores.of(5)", "Scores are those of a Network, not of int; see Network.from_edges."),
    ("td.Network(['a', 'b'], {'a': ['b'], 'b': ['a']})", "The edges form a cycle: a -> b -> a. Drop one of them."),
    ("td.Network(['a', 'b'], [])", "Parents should be a dict from names to lists of names, not []."),
    ("td.Network(['a', 'b'], {'a': 5})", "The parents of 'a' should be a list of names, not 5."),
    ("td.Network(5, {})", "Names should be a list of non-empty strings, not 5."),
    ("td.Network.from_edges(['a', 'b'], 5)", "Edges should be a list of pairs of names (parent, child), not 5."),
    ("td.Network.from_edges(['a', 'b'], ['ab'])", "'ab' is not an edge; give pairs of names (parent, child)."),
    ("td.write_network('/none/x.json', found[0])", "/none/x.json: not written: there is no folder /none"),
    ("td.write_network('x.json', 5)", "x.json: write_network writes a Network, not int"),
    ("td.read_network('none.json')", "none.json: there is no such file"),
    ("td.io.write_scores('x.npz.gz', scores)", "x.npz.gz: a .npz file is never gzipped; its name must end in .npz"),
    ("td.io.read_scores('x.npz.gz')", "x.npz.gz: a .npz file is never gzipped; its name must end in .npz"),
    ("td.io.read_scores('none.txt')", "none.txt: the name must end in .jkl, .pss, .npz to hold scores"),
    ("td.io.read_list('none.json')", "none.json: the name must end in .jsonl or .jsonl.gz to hold a list"),
    (
        "td.features.feature(len, between=5)",
        "between= takes the least and the most that a feature can be, such as between=(0, 3)",
    ),
    ("td.features.feature(len, between='nonsense')", "such as between=(0, 3), not 'nonsense'."),
    ("td.features.feature(5)", "A feature is a function of a network, not 5."),
    (
        "td.features.posterior(found, td.features.edge('lunk', 'asia'))",
        "There is no variable 'lunk'; did you mean 'lung'?",
    ),
    (
        "td.features.posterior(found, td.features.edge('lung', 'lung'))",
        "This takes different variables, not 'lung', 'lung'.",
    ),
    ("td.summary(5)", "summary takes a list of networks or classes, not int."),
    ("found['a']", "a list is asked by place, such as [0] for the best, not 'a'"),
    ("found[100]", "the list has 3 items, counted from 0"),
    ("td.best_netwrok", "module 'topdag' has no attribute 'best_netwrok'; did you mean best_network?"),
    ("td.score(table, td.BIC(), constraints=5)", "constraints must be Constraints, such as Constraints(required_edges"),
    ("td.score(table, td.BIC(), constraints=td.Constraints(required_edges=[('asia', 'tob')]))", "did you mean 'tub'?"),
    (
        "td.Constraints(required_edges=[('a', 'b'), ('b', 'a')])",
        "This cannot all hold: a->b is required, but b->a is re",
    ),
    ("td.Constraints(required_edges=['a->b'], forbidden_edges=['a->b'])", "cannot all hold: .* Drop one of them."),
    ("td.Constraints(tiers=['a', 'b'])", "tiers: give a list of names, not 'a'."),
    ("td.rules.parse_rule('a ->')", "Rule, character 5: expected a name, but the text ends."),
    ("td.random_network(5, seed='x')", "seed should be a whole number from 0 on, not 'x'."),
    ("td.example_table('x')", "rows should be a whole number from 1 on, not 'x'."),
    (
        "td.best_network(wide, 'bdeu', memory_limit='1GB')",
        "The lattice on 28 variables needs .* are allowed by memory_limit. Each",
    ),
    (
        "td.best_network(too_wide, 'bdeu')",
        "With BDeu(ess=1.0) nothing proves that parent sets of 70 variables can be left out. Give max_parents",
    ),
    (
        "td.k_best_networks(too_wide, 3, 'bdeu')",
        "With BDeu(ess=1.0) nothing proves that parent sets of 70 variables can be left out. Give max_parents",
    ),
    (
        "td.edge_posteriors(too_wide)",
        "70 variables: a sum over all networks takes at most 64. With more, up to 2,048, the best networks and",
    ),
    (
        "td.edge_posteriors(wide, memory_limit='8GB')",
        "The sum over all networks of 28 variables needs .* are allowed by memory_limit. 24 variables would fit; or",
    ),
    (
        "td.best_network(td.score(many_numbers, td.GaussianBIC(), max_parents=2))",
        "70 variables: GaussianBIC() takes at most 64, and no more than memory holds. Leave out 6 columns, or cut the "
        'numbers into states (discretize="quantile(3)"); with BIC or AIC up to 2,048',
    ),
    (
        "td.score(many_numbers, td.MixedBIC())",
        "70 variables: MixedBIC() takes at most 64, and no more than memory holds. Leave out 6 columns, or cut",
    ),
    ("td.score(same_numbers, td.MixedBIC())", "MixedBIC(): the covariance of 'a', 'b' is degenerate: b = 2 a. Leave"),
    ("td.score(same_numbers, td.GaussianAIC())", "GaussianAIC(): the covariance of 'a', 'b' is degenerate: b = 2 a."),
    (
        "td.sample_networks(wide, 1, memory_limit='8GB')",
        "Sampling networks of 28 variables needs .* Use fewer variables",
    ),
]


@pytest.mark.parametrize(("call", "text"), CALLS, ids=[call for call, _ in CALLS])
def test_calls(world: dict[str, object], call: str, text: str) -> None:
    with pytest.raises(Exception) as caught:
        eval(call, world)
    assert same_words(text, str(caught.value)), caught.value


WORDS: list[tuple[list[str], Exit, str]] = [
    (["bst"], Exit.WRONG_USE, "there is no command 'bst'; there are look, best, list,"),
    (["bst"], Exit.WRONG_USE, "did you mean best?"),
    (["FILE"], Exit.WRONG_USE, "did you mean topdag best "),
    (["best", "FILE", "--scor", "bic"], Exit.WRONG_USE, "unrecognized arguments: --scor bic; did you mean --score?"),
    (["best", "FILE", "--max-parent=3"], Exit.WRONG_USE, "did you mean --max-parents?"),
    (["best", "none.csv"], Exit.BAD_INPUT, "none.csv: there is no such file"),
    (["best", "none.csv", "--leave-out", "id"], Exit.BAD_INPUT, "there is no such file"),
    (
        ["best", "FILE", "--leave-out", "asa"],
        Exit.BAD_INPUT,
        "--leave-out names a column 'asa' that is not there; close",
    ),
    (["best", "FILE", "--require", "asia->tob"], Exit.BAD_INPUT, "There is no variable 'tob'; did you mean 'tub'?"),
    (
        ["best", "FILE", "--memory-limit", "1kB"],
        Exit.TOO_LARGE,
        "1 kB are allowed by --memory-limit. 4 variables would fit",
    ),
    (
        ["best", "FILE", "--interventions", "sat"],
        Exit.BAD_INPUT,
        "--interventions names a column 'sat' that is not there; the names",
    ),
    (["effects", "FILE", "--cause", "smok"], Exit.BAD_INPUT, "There is no variable 'smok'; did you mean 'smoke'?"),
    (["check", "FILE", "FILE"], Exit.BAD_INPUT, "this is not JSON"),
    (["list", "PRUNED"], Exit.BAD_INPUT, "--keep all"),
    (["score", "none.csv", "-o", "x.npz.gz"], Exit.BAD_INPUT, "x.npz.gz: a .npz file is never gzipped"),
    (
        ["best", "JUNK"],
        Exit.BAD_INPUT,
        "this is no Parquet file, though its name says so; if it holds text, name it .csv",
    ),
    (
        ["fit", "FLOATS", "NET", "--types", "*=text"],
        Exit.BAD_INPUT,
        "this one has none, beside columns that are no variables, 'a', 'b' (text: as given). If one is a variable "
        "after all, say so: --types a=categorical",
    ),
]


@pytest.mark.parametrize(("words", "code", "text"), WORDS)
def test_commands(topdag: Topdag, asia: Path, tmp_path: Path, words: list[str], code: Exit, text: str) -> None:
    td.io.write_scores(tmp_path / "pruned.jkl", td.score(td.example_table(50), td.BIC(), keep="best"))
    td.write_network(tmp_path / "net.json", td.Network(["a", "b"], {"b": ["a"]}))
    (tmp_path / "junk.parquet").write_text("a,b\n1,2\n2,1\n")
    (tmp_path / "floats.csv").write_text("a,b\n1.5,2.0\n2.5,1.0\n")
    places = {
        "FILE": asia,
        "PRUNED": tmp_path / "pruned.jkl",
        "NET": tmp_path / "net.json",
        "FLOATS": tmp_path / "floats.csv",
        "JUNK": tmp_path / "junk.parquet",
    }
    ran = topdag(*(places.get(word, word) for word in words))
    assert (ran.code, ran.out) == (code, "")
    assert same_words(text, ran.err), ran.err


def test_messages_speak_of_options(topdag: Topdag, tmp_path: Path) -> None:
    """Words of the library, such as header=False, become options of the command line."""
    path = tmp_path / "odd.csv"
    for content, options, advice in [
        (b"1,0,1\n0,1,1\n", [], "read the file with --no-header"),
        (b"a;b\n1,5;0\n", [], "--decimal , reads decimal commas"),
        ("größe,b\n1,2\n".encode("latin-1"), [], "try --encoding latin-1"),
        (b"a,b\n1,\n2,1\n", ["--missing", "error"], "--missing drop leaves such rows out"),
    ]:
        path.write_bytes(content)
        ran = topdag("best", path, *options)
        assert ran.code == Exit.BAD_INPUT
        assert advice in ran.err


def test_a_fault_of_ours_is_no_traceback(topdag: Topdag, asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> Callable[[], None]:
        raise AssertionError("this cannot be")

    monkeypatch.setattr(cli, "run", broken)
    ran = topdag("best", asia)
    assert ran.code == Exit.FAULT
    assert ran.err.startswith("topdag: AssertionError: this cannot be\nThis is a fault in topdag, not in what you did.")
    assert "Traceback" not in ran.err
    monkeypatch.setenv("TOPDAG_TRACEBACK", "1")
    with pytest.raises(AssertionError):
        topdag("best", asia)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MemoryError(), "the system gave no more memory; topdag plan says what would fit"),
        (MemoryError("no 2 GiB"), "the system gave no more memory: no 2 GiB; topdag plan says what would fit"),
        (td.TooLarge("Leave out 3 columns."), "Leave out 3 columns."),
    ],
)
def test_memory_that_runs_out(
    topdag: Topdag, asia: Path, monkeypatch: pytest.MonkeyPatch, error: MemoryError, text: str
) -> None:
    def refused(_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "run", refused)
    ran = topdag("best", asia)
    assert (ran.code, ran.err) == (Exit.TOO_LARGE, f"topdag: {text}\n")


def test_help_is_given_to_who_asks_for_it(topdag: Topdag) -> None:
    assert topdag("help").out == topdag("--help").out
    assert topdag("help", "best").out == topdag("best", "--help").out
    assert topdag("help", "bst").code == Exit.WRONG_USE
