"""Which score a question takes where none is named: BIC for categories, RankBIC for numbers, NAL for many gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td


def categories() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    first = rng.choice(["a", "b"], 60)
    return pd.DataFrame({"first": first, "second": np.where(rng.random(60) < 0.8, first, "b"), "third": [0, 1, 2] * 20})


def numbers() -> pd.DataFrame:
    rows = np.random.default_rng(2).normal(size=(60, 3))
    return pd.DataFrame(rows, columns=["x", "y", "z"]).assign(y=lambda own: own.y + own.x)


def mixed() -> pd.DataFrame:
    return numbers().assign(group=lambda own: np.where(own.x > 0, "high", "low"), visits=np.arange(60) % 7)


def gaps() -> pd.DataFrame:
    frame = categories().astype(object)
    frame.loc[np.arange(60) % 2 == 0, "first"] = None
    frame.loc[np.arange(60) % 3 == 0, "second"] = None
    frame.loc[np.arange(60) % 5 == 0, "third"] = None
    return frame


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str, str]] = {
    "categories": (categories, "BIC", "BIC"),
    "numbers": (numbers, "RankBIC", "RankBIC"),
    "mixed": (mixed, "RankBIC", "RankBIC"),
    "gaps": (gaps, "NAL", "BIC"),
}
"""With the score of the best network, and that of averages, which need a likelihood or what stands for one."""
QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "best": lambda source, kind: td.best_network(source, kind).score,
    "k best": lambda source, kind: td.k_best_networks(source, 3, kind).scores.tolist(),
    "within": lambda source, kind: td.networks_within(source, 5, kind).scores.tolist(),
    "plan": lambda source, kind: str(td.plan(source, kind).kind),
    "bootstrap": lambda source, kind: td.bootstrap(source, 3, kind, seed=1).matrix.tolist(),
}
AVERAGES: dict[str, Callable[[Any, Any], Any]] = {
    "edges": lambda source, kind: td.edge_posteriors(source, kind).matrix.tolist(),
    "evidence": td.log_evidence,
    "sample": lambda source, kind: td.sample_networks(source, 3, kind, seed=1).parents.tolist(),
    "effects": lambda source, kind: td.causal_effects(source, kind=kind, draws=0).matrix.tolist(),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("question", [*QUESTIONS, *AVERAGES])
def test_the_default_is_the_named_score(question: str, name: str) -> None:
    make, of_search, of_averages = TABLES[name]
    kind = {"BIC": td.BIC(), "RankBIC": td.RankBIC(), "NAL": td.best_network(gaps()).kind}
    if question in QUESTIONS:
        ask, own = QUESTIONS[question], kind[of_search]
    else:
        ask, own = AVERAGES[question], kind[of_averages]
    assert ask(make(), None) == ask(make(), own)
    assert type(kind["NAL"]) is td.NAL


@pytest.mark.parametrize("name", TABLES)
def test_the_answer_names_its_score(name: str) -> None:
    make, of_search, _ = TABLES[name]
    answer = td.best_network(make())
    assert answer.proved and type(answer.kind).__name__ == of_search
    assert str(answer.kind) in str(answer) and td.look(make()).to_dict()["score"] == str(answer.kind)
