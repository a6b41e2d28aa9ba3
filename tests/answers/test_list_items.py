"""A list as a sequence: its networks, factors, shares, rows and frames."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topdag as td


def test_a_list_is_a_sequence() -> None:
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 12)
    networks = list(found)
    assert len(found) == len(networks) == 12
    assert networks[0] == found[0] == found[-12] == found.network(0)
    assert found[-1] == networks[11]
    assert found[2:5] == networks[2:5]
    assert found[::-1] == networks[::-1]
    assert found[20:] == []
    assert networks[3] in found
    assert found.index(networks[3]) == 3
    for place in (12, -13):
        with pytest.raises(IndexError, match="12 items"):
            found[place]


def test_networks_of_a_list_carry_their_scores() -> None:
    scores = td.score(td.example_table(), td.BIC())
    found = td.networks_within(scores, 50)
    for network, on_grid in zip(found, found.scores, strict=True):
        assert network.score == pytest.approx(on_grid, abs=1e-9)
        assert network.score == pytest.approx(scores.of(network), rel=1e-12)
        assert dict(network.local_scores) == dict(scores.breakdown(network))


def test_factors_and_shares() -> None:
    found = td.networks_within(td.score(td.example_table(), td.BDeu()), 50)
    assert found.factors[0] == 1
    assert np.allclose(np.log(found.factors), found.scores[0] - found.scores)
    assert found.factors.max() <= 50
    assert found.shares.sum() == pytest.approx(1)
    assert np.allclose(found.shares * found.factors, found.shares[0])


def test_rows_of_a_list() -> None:
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 5)
    rows = list(found.to_dicts())
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    for place, row in enumerate(rows):
        network = found[place]
        assert row["score"] == network.score
        assert row["factor"] == found.factors[place]
        assert row["share"] == found.shares[place]
        assert {name: row[f"parents of {name}"] for name in network.names} == {
            name: ", ".join(parents) for name, parents in network.parents.items()
        }
    assert json.loads(json.dumps(rows)) == rows


def test_frames_of_a_list() -> None:
    pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 5)
    rows = list(found.to_dicts())
    assert found.to_frame().to_dict("records") == rows
    assert isinstance(found.to_arrow(), pyarrow.Table)
    assert found.to_arrow().to_pylist() == rows


def test_a_list_says_what_it_is() -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=2)
    found = td.k_best_networks(scores, 3, threads=2)
    assert repr(found).startswith("<NetworkList: 3, scores -")
    assert "PROVED" in repr(found)
    lines = str(found).splitlines()
    assert lines[0] == str(found[0]).splitlines()[0]
    for rank, score in enumerate(found.scores, 1):
        assert any(line.split()[:2] == [str(rank), f"{score:.6f}"] for line in lines)
    assert str(found.proof) in lines
    assert "size" in str(td.k_best_classes(td.example_table(), 2, "bic"))
    assert "all networks on 8 variables with at most 2 parents each" in found.proof.space
    assert found.stats.threads == 2
    assert found.stats.memory > 0
    assert found.stats.seconds >= found.stats.phases["listing"] >= 0
    assert found.names == td.example_table().names
