"""Constraints from TOML files and from other libraries' objects.

pgmpy and causal-learn are read by their attributes; here stand objects of the same shape (of pgmpy 1.1.2 and
causal-learn 0.1.4.8).
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topdag as td

WHOLE = """
required_edges = ["smoke->lung", ["tub", "either"]]
forbidden_edges = [["*", "asia"]]
required_adjacencies = ["bronc--dysp"]
forbidden_adjacencies = [["xray", "dysp"]]
roots = ["smoke"]
leaves = ["xray"]
min_parents = { dysp = 1 }
tiers = [["asia", "smoke"], ["dysp"]]
edges_within_tiers = false
precedence = [["tub", "xray"]]
ancestors = [["asia", "dysp"]]
not_ancestors = [["smoke", "tub"]]
rules = ["if tub->either then lung->either", "parents(lungs) <= 2"]

[max_parents]
"*" = 3

[groups]
lungs = ["lung", "bronc"]

[allowed_parents]
lung = ["smoke", "tub"]

[fixed_parents]
asia = []

[allowed_parent_sets]
xray = [["either"], ["either", "tub"]]
"""


def test_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(WHOLE)
    assert td.io.read_constraints(path) == td.Constraints(
        required_edges=["smoke->lung", "tub->either"],
        forbidden_edges=["*->asia"],
        required_adjacencies=["bronc--dysp"],
        forbidden_adjacencies=["xray--dysp"],
        roots=["smoke"],
        leaves=["xray"],
        max_parents=3,
        min_parents={"dysp": 1},
        tiers=[["asia", "smoke"], ["dysp"]],
        edges_within_tiers=False,
        precedence=[("tub", "xray")],
        allowed_parents={"lung": ["smoke", "tub"]},
        fixed_parents={"asia": []},
        allowed_parent_sets={"xray": [["either"], ["either", "tub"]]},
        ancestors=[("asia", "dysp")],
        not_ancestors=[("smoke", "tub")],
        rules=["if tub->either then lung->either", "parents(bronc) <= 2 and parents(lung) <= 2"],
        groups={"lungs": ["lung", "bronc"]},
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("required_edge = []", "did you mean 'required_edges'"),
        ("colour = 1", "'colour' is no kind of constraint"),
        ("required_edges = 3", "required_edges: give a list"),
        ("max_parents = -1", "max_parents: a number of parents"),
        ('rules = ["a->"]', "Rule, character 4"),
        ("required_edges = [[1, 2]]", "required_edges: [1, 2] is no pair of names"),
        ('required_edges = ["a->b"]\nforbidden_edges = ["a->b"]', "a->b is required, but a->b is forbidden"),
        ("version = 2", "no constraints in format"),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(td.ConstraintError) as caught:
        td.io.read_constraints(path)
    assert str(caught.value).startswith(str(path)) and part in str(caught.value)


def test_a_mark_of_utf_8_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('roots = ["größe"]', encoding="utf-8-sig")
    assert td.io.read_constraints(path) == td.Constraints(roots=["größe"])


def test_what_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    with pytest.raises(td.FileError, match="there is no such file"):
        td.io.read_constraints(path)
    for content, message in ((b"a = [", "this is not TOML"), (b"\xff\xfe", "byte 0; save it as UTF-8")):
        path.write_bytes(content)
        with pytest.raises(td.FileError, match=message):
            td.io.read_constraints(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["a", "b", "a->b", "*"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "levels"]), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "required_edges",
                "tiers",
                "max_parents",
                "groups",
                "rules",
                "roots",
                "allowed_parents",
                "allowed_parent_sets",
                "edges_within_tiers",
            ]
        ),
        json_values,
    )
)
def test_any_content_is_read_or_refused(content: dict[str, Any]) -> None:
    try:
        known = td.Constraints.from_dict(content)
    except td.ConstraintError:
        return
    assert td.Constraints.from_dict(known.to_dict()) == known


def test_pgmpy() -> None:
    knowledge = SimpleNamespace(
        required_edges={("a", "b")},
        forbidden_edges={("c", "a")},
        temporal_order=[["a"], ["b", "c"]],
        search_space=set(),
    )
    wanted = {"required_edges": ["a->b"], "forbidden_edges": ["c->a"], "tiers": [["a"], ["b", "c"]]}
    assert td.io.constraints_from(knowledge) == td.Constraints(**wanted)
    assert td.io.constraints_from(SimpleNamespace(**{**vars(knowledge), "temporal_order": [[]]})) == td.Constraints(
        required_edges=["a->b"], forbidden_edges=["c->a"]
    )
    knowledge.search_space = {("a", "b"), ("a", "c"), ("c", "a")}
    space = td.Constraints(allowed_parents={"a": ["c"], "b": ["a"], "c": ["a"], "d": []})
    assert td.io.constraints_from(knowledge, "abcd") == td.Constraints(**wanted) & space
    with pytest.raises(td.ConstraintError, match="give the variables too"):
        td.io.constraints_from(knowledge)


class Node:
    """A node as causal-learn has it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_name(self) -> str:
        return self.name


def test_causal_learn() -> None:
    a, b, c, d = (Node(name) for name in ("a1", "b1", "b2", "d"))
    knowledge = SimpleNamespace(
        required_rules_specs={(a, b)},
        forbidden_rules_specs={(d, c)},
        required_pattern_rules_specs=set(),
        forbidden_pattern_rules_specs={("b.*", "b")},
        tier_map={0: {a}, 1: set(), 2: {b, c}},
        forbidden_within_tiers={0, 2},
    )
    assert td.io.constraints_from(knowledge, ["a1", "b1", "b2", "d"]) == td.Constraints(
        required_edges=["a1->b1"],
        forbidden_edges=["d->b2", "b1->b2", "b2->b1"],
        forbidden_adjacencies=["b1--b2"],
        tiers=[["a1"], ["b1", "b2"]],
    )
    with pytest.raises(td.ConstraintError, match="patterns of names: give the variables too"):
        td.io.constraints_from(knowledge)
    with pytest.raises(td.ConstraintError, match="not from dict"):
        td.io.constraints_from({})
