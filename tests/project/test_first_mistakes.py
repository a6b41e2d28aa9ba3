"""What new users got wrong, and what they are told: a sentence that names the way out, before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Topdag
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table

import topdag as td
from topdag._util.stop import Stop
from topdag.answers.results import limit_text
from topdag.cli.command import Exit

NUMBERS = {"x": [v + 0.5 for v in range(9)], "y": [2.0 * v + 0.25 for v in range(9)], "s": list("abcabcabc")}


def fitted() -> Any:
    return td.Network(["a", "b"], {"b": ["a"]}).fit({"a": list("xyxy"), "b": list("uuvv")})


MISTAKES: dict[str, tuple[Callable[[], Any], type[BaseException], str]] = {
    "a threshold": (lambda: td.edge_posteriors(td.example_table(20)).above("x"), td.ScoreError, "a number from 0 to 1"),
    "too many rows": (lambda: fitted().sample(10**13), td.TooLarge, "draw fewer at a time"),
    "far too many rows": (lambda: td.example_table(10**400), td.TooLarge, "draw fewer at a time"),
    "an argument of constraints": (
        lambda: td.Constraints(required_edge=[("a", "b")]),
        TypeError,
        r"Constraints\(\): there is no argument 'required_edge'; close to it are 'required_edges'",
    ),
    "the score of a report": (
        lambda: td.write_report("r.html", td.example_table(20), "bic"),
        td.ScoreError,
        "kind='bic'",
    ),
    "time for scoring": (lambda: td.score(td.example_table(20), time_limit=3), TypeError, "give it to a question"),
    "a folder that is not there": (
        lambda: td.best_network(td.example_table(20), checkpoint="/no/such/place"),
        td.FileError,
        "checkpoint: /no/such/place",
    ),
    "a prior for probabilities": (lambda: fitted().network.fit({"a": [0], "b": [1]}, ess=-1), td.ScoreError, "0 or a"),
    "BDs of many": (
        lambda: td.best_network(sampled_table(32, 9, 1), "bds", max_parents=2),
        td.TooLarge,
        "use BDeu or BIC",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_way_out(mistake: str) -> None:
    do, error, words = MISTAKES[mistake]
    with pytest.raises(error, match=words):
        do()


def test_a_limit_is_told_in_whole_numbers() -> None:
    assert limit_text(Stop.TOO_FAR) == "1,073,741,824 nats behind the best network without constraints"


def test_samples_are_the_same_without_a_seed() -> None:
    assert fitted().sample(9).codes.tolist() == fitted().sample(9, seed=0).codes.tolist()


def test_a_column_that_its_parents_tell_exactly_is_noted() -> None:
    network = td.Network(["x", "y"], {"y": ["x"]})
    assert "'y': its parents tell it exactly" in str(network.fit(NUMBERS))
    rough = {**NUMBERS, "y": [v + 0.1 * (v % 3) + 0.25 for v in range(9)]}
    assert "exactly" not in str(network.fit(rough))


def test_columns_outside_the_network_are_nobodys_concern() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": list("xyxy"), "b": list("uuvv"), "gaps": [None, 1, 2, 3], "id": list("abcd")})
    assert td.Network(["a", "b"], {"b": ["a"]}).fit(frame).names == ("a", "b")


@pytest.mark.parametrize("ask", [td.best_network, lambda scores, **o: td.k_best_networks(scores, 3, **o)])
def test_scores_made_for_the_best_network_are_made_anew_for_a_prior(monkeypatch: pytest.MonkeyPatch, ask: Any) -> None:
    table = sampled_table(7, 60, seed=2)
    truth = ask(table, prior=td.FairPrior())
    give_sizes(monkeypatch, **AS_LISTS)
    scores = td.score(table)
    assert scores.automatic
    found = ask(scores, prior=td.FairPrior())
    assert found.proof.status is td.types.Status.PROVED
    assert found.proof.bound == pytest.approx(truth.proof.bound, abs=1e-6)


def test_what_was_interrupted_without_a_partial_answer_has_none() -> None:
    def press(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as stopped:
        td.edge_posteriors(sampled_table(16, 100, seed=1), on_progress=press)
    assert stopped.value.answer is None
    with pytest.raises(td.OutOfTime) as over:
        td.log_evidence(sampled_table(6, 30, seed=1), time_limit=0)
    assert over.value.answer is None


def test_statements_that_contradict_each_other_allow_no_network(topdag: Topdag, asia: Path) -> None:
    ran = topdag("best", asia, "--require", "smoke->lung", "--require", "lung->smoke")
    assert ran.code == Exit.FAILED and "lung" in ran.err
    assert topdag("best", asia, "--rule", "smoke->").code == Exit.BAD_INPUT


def test_few_samples_that_agree_claim_no_precision(topdag: Topdag, asia: Path) -> None:
    assert "+- 0.0000" not in topdag("sample", asia, "-k", 3).out


UAI = "BAYES\n1\n2\n1\n1 0\n\n2\n0.5 0.5\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (UAI + "0.3\n", 9, "something follows"),
        (UAI.replace("\n1 0\n", "\n1 4\n"), 5, "different variables"),
        (UAI.replace("2\n0.5 0.5", "3\n0.5 0.5 0"), 7, "has 3 numbers"),
        (UAI.replace("2\n1\n1 0", "2\n7\n1 0"), 4, "need 1 tables"),
        (UAI.replace("BAYES", "MARKOV"), 1, "MARKOV"),
    ],
)
def test_uai_files_are_refused_at_their_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "n.uai"
    path.write_text(UAI)
    path.write_text(text)
    with pytest.raises(td.FileError, match=rf"line {line}: .*{words}"):
        td.read_network(path)
