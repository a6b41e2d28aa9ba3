"""Reports: what a page says, that it needs nothing else, that names stay text, and that one always comes out."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag
from nasty_names import NASTY
from report_pages import Page

import topdag as td
from topdag.drawing import shown
from topdag.list_averaging import path_matrix
from topdag.report.best_section import networks_on
from topdag.report.gathering import Missing, gather
from topdag.report.markup import Html, percent, safe_json, tag

SECTIONS = ("data", "best", "list", "sure", "assumed", "run", "cite")


def page_of(tmp_path: Path, *content: Any, **options: Any) -> Page:
    path = tmp_path / "page.html"
    td.write_report(path, *content, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def scores() -> td.Scores:
    return td.score(td.example_table(), td.BDeu())


@pytest.fixture(scope="module")
def asia_page(scores: td.Scores, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(tmp_path_factory.mktemp("asia"), scores, k=12, title="Chest clinic")


# ---- What it says


def test_all_sections_are_there(asia_page: Page) -> None:
    assert [own["id"] for own in asia_page.all("section")] == list(SECTIONS)
    links = [own["href"] for own in asia_page.all("a") if own.get("href") != "#main"]
    assert links == [f"#{key}" for key in SECTIONS]


def test_the_best_network_and_its_proof(asia_page: Page, scores: td.Scores) -> None:
    best = td.best_network(scores)
    assert asia_page.values["best"]["edges"] == [list(edge) for edge in best.network.edges]  # type: ignore[union-attr]
    assert asia_page.values["best"]["score"] == best.score
    assert "Proved. Of all 783,702,329,343 networks on 8 variables, none scores higher" in asia_page.text
    assert f"{best.score:,.6f}".replace("-", "−") in asia_page.text


def test_the_classes_with_shares_and_sizes(asia_page: Page, scores: td.Scores) -> None:
    classes, evidence = td.k_best_classes(scores, 12), td.log_evidence(scores)
    assert np.allclose(asia_page.values["scores"], classes.scores)
    assert len(asia_page.all("input", name="item")) == 12
    for place, own in enumerate(classes):
        share = own.size * np.exp(classes.scores[place] - evidence)
        assert percent(float(share)) in asia_page.text
    assert f"Together they hold {percent(td.coverage(classes, evidence))} of the whole posterior" in asia_page.text


def test_what_differs_is_told_and_drawn(asia_page: Page, scores: td.Scores) -> None:
    classes = list(td.k_best_classes(scores, 12))
    roles = asia_page.values["roles"]
    assert [role for _, role in roles[0]] == ["same"] * len(roles[0])
    for place, own in enumerate(classes):
        changed = td.compare(classes[0], own)
        counts = {role: sum(1 for _, other in roles[place] if other == role) for role in ("added", "dropped", "turned")}
        turned = len(changed.reversed) + len(changed.directed) + len(changed.undirected)
        assert counts == {"added": len(changed.added), "dropped": len(changed.dropped), "turned": turned}
        for a, b in changed.added:
            assert f"added {a} " in asia_page.text and b in asia_page.text
    assert "added" in asia_page.text and "removed" in asia_page.text


def test_probabilities_are_exact(asia_page: Page, scores: td.Scores) -> None:
    edges, paths = td.edge_posteriors(scores), td.path_posteriors(scores)
    assert np.allclose(asia_page.values["edges"], edges.matrix, atol=1e-6)
    assert np.allclose(asia_page.values["paths"], paths.matrix, atol=1e-6)
    assert "averages over all networks, all networks equally likely before" in asia_page.text
    drawn = [own for own in asia_page.all("g", class_="fading") if float(own["data-p"] or 0) >= 0.02]
    assert len(drawn) == int((edges.matrix >= 0.02).sum() + (paths.matrix >= 0.02).sum())
    assert len(asia_page.all("td", data_i="0", data_j="1")) == 2


def test_data_at_a_glance(tmp_path: Path) -> None:
    frame = {"age": [1.5, 2.5, 30.0, 40.0], "sick": ["no", "no", "yes", "yes"], "here": [1, 1, 1, 1]}
    table = td.Table(frame, discretize="median")
    page = page_of(tmp_path, table)
    assert table.notes
    for note in table.notes:
        assert " ".join(note.split()) in page.text
    assert "3 variables, 4 rows, 2 distinct rows" in page.text
    assert "no 50.0%, yes 50.0%" in page.text


def test_assumptions_are_stated(tmp_path: Path) -> None:
    known = td.Constraints(required_edges=[("smoke", "lung")], tiers=[["asia", "smoke"], ["xray", "dysp"]])
    page = page_of(tmp_path, td.score(td.example_table(), td.BIC(), constraints=known, max_parents=3), k=5)
    assert "required edges: smoke->lung" in page.text
    assert "at most 3 for each variable" in page.text
    assert "and of them those with at most 3 parents each and that obey the constraints" in page.text
    assert ["smoke", "lung"] in page.values["best"]["edges"]


@pytest.mark.parametrize("prior", [td.OrderModular(), td.FairPrior(), td.EdgePrior({("smoke", "lung"): 2.0}, -1.0)])
def test_under_a_prior_networks_are_listed(tmp_path: Path, scores: td.Scores, prior: Any) -> None:
    page = page_of(tmp_path, scores, k=4, prior=prior)
    assert np.allclose(page.values["scores"], td.k_best_networks(scores, 4, prior=prior).scores)
    assert np.allclose(page.values["edges"], td.edge_posteriors(scores, prior=prior).matrix, atol=1e-6)
    assert "4 best networks" in page.text
    assert f"by the {prior}" in page.text


def test_a_score_without_classes(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.score(td.example_table(), td.K2()), k=3)
    assert "3 best networks" in page.text


def test_answers_that_are_there_are_not_asked_again(tmp_path: Path, scores: td.Scores) -> None:
    """The form of the design: the page shows just these."""
    best, classes, edges = td.best_network(scores), td.k_best_classes(scores, 3), td.edge_posteriors(scores)
    page = page_of(tmp_path, best, classes, edges)
    assert len(page.values["scores"]) == 3
    assert np.allclose(page.values["edges"], edges.matrix, atol=1e-6)
    assert "Probabilities of paths are left out, because they were not asked for" in page.text
    assert "500 rows" in page.text
    alone = page_of(tmp_path, best)
    assert "There is no list of the best classes, because it was not asked for" in alone.text


def test_a_class_counts_with_its_allowed_members(tmp_path: Path) -> None:
    """With a limit on parents some members of a class are outside the space that is summed."""
    scores = td.score(td.example_table(), td.BDeu(), max_parents=1)
    page = page_of(tmp_path, scores, k=40)
    evidence = td.log_evidence(scores)
    found = sorted((round(network.score - evidence, 9) for network in td.k_best_networks(scores, 4000)), reverse=True)
    best = page.values["scores"][0]
    allowed = sum(score > best - evidence - 1e-6 for score in found)
    size = td.k_best_classes(scores, 1)[0].size
    assert allowed <= size
    assert percent(allowed * float(np.exp(best - evidence))) in page.text


def test_how_many_networks_there_are() -> None:
    assert [networks_on(n) for n in range(7)] == [1, 1, 3, 25, 543, 29281, 3781503]


def test_paths_by_a_list(scores: td.Scores) -> None:
    classes = td.k_best_classes(scores, 9)
    found = path_matrix(classes)
    for a, b in (("smoke", "dysp"), ("tub", "xray"), ("xray", "tub"), ("asia", "tub")):
        place = classes.names.index(a), classes.names.index(b)
        assert found[place] == pytest.approx(td.posterior(classes, td.path(a, b)).value)
    networks = td.k_best_networks(scores, 30)
    assert path_matrix(networks)[2, 7] == pytest.approx(td.posterior(networks, td.path("smoke", "dysp")).value)


# ---- It needs nothing else, and names stay text


def test_the_page_is_whole(asia_page: Page) -> None:
    for kind, own in asia_page.elements:
        assert "src" not in own and "style" not in own and not any(name.startswith("on") for name in own), kind
        assert (own.get("href") or "#").startswith(("#", "data:"))
    assert "http://" not in asia_page.html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "https://" not in asia_page.html


def test_the_policy_lets_only_its_own_script_run(asia_page: Page) -> None:
    policy = next(own["content"] for own in asia_page.all("meta") if own.get("http-equiv")) or ""
    assert "default-src 'none'" in policy
    for kind in ("script", "style"):
        text = re.findall(rf"<{kind}>(.*?)</{kind}>", asia_page.html, re.DOTALL)
        assert len(text) == 1
        digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_nasty_names_stay_text(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 2, (len(NASTY), 60))
    states = np.array(["<i>no", "yes</td>"])
    table = td.Table({name: states[column] for name, column in zip(NASTY, columns, strict=True)})
    page = page_of(tmp_path, table, title="</title><script>alert(2)</script>")
    assert len(page.all("script")) == 2
    assert not page.all("i")
    assert page.values["names"] == list(NASTY)
    for name in NASTY:
        assert shown(name) in " ".join(page.text.split())
    assert "</title><script>alert(2)</script>" in page.words


def test_json_cannot_end_its_element() -> None:
    text = safe_json(["</script><!--", "\u2028", "&amp;", "\udc80"])
    assert not set("<>&\u2028") & set(text)


def test_markup_escapes_what_is_not_markup() -> None:
    assert tag("p", "<b>", Html("<i></i>"), title='"') == '<p title="&quot;">&lt;b&gt;<i></i></p>'


# ---- A report always comes out


def test_no_time(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.example_table(), time_limit=0)
    assert "Not proved." in page.text
    assert "There is no list of the best classes" in page.text
    assert "There are no probabilities here" in page.text


def test_no_memory(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.example_table(), memory_limit="1KB")
    assert "There is no best network here, because" in page.text


def test_too_many_variables_for_sums(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {f"v{i}": rng.integers(0, 2, 40) for i in range(24)}
    page = page_of(tmp_path, td.score(td.Table(columns), td.BIC(), max_parents=2), k=5)
    assert "Not exact. These are averages over the 5 best classes only" in page.text
    assert len(page.values["edges"]) == 24


def test_constraints_that_sums_do_not_understand(tmp_path: Path) -> None:
    known = td.Constraints(ancestors=[("asia", "dysp")])
    page = page_of(tmp_path, td.score(td.example_table(), td.BDeu(), constraints=known), k=3)
    assert "Not exact." in page.text and "does not yet understand" in page.text
    assert page.values["paths"][0][7] == pytest.approx(1.0)


def test_no_network_is_possible(tmp_path: Path) -> None:
    """What contradicts itself is an error, not a page."""
    with pytest.raises(td.ConstraintError):
        page_of(tmp_path, td.score(td.example_table(), td.BDeu(), constraints=td.Constraints(min_parents=1)))


@pytest.mark.parametrize("is_empty", [True, False])
def test_an_interruption_keeps_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: td.Scores, is_empty: bool
) -> None:
    from topdag.asking import Asked
    from topdag.report import gathering, write_page
    from topdag.runs import Run

    def interrupted(*_: object, **__: object) -> None:
        raise td.Interrupted("", td.k_best_classes(scores, 3, time_limit=0 if is_empty else None))

    monkeypatch.setattr(gathering, "list_of", interrupted)
    found = gather(Asked.about(td.example_table()), 5, Run())
    assert found.is_interrupted and not isinstance(found.best, Missing)
    write_page(tmp_path / "page.html", found, "asia")
    page = Page((tmp_path / "page.html").read_text())
    assert "because it was interrupted" in page.text or "since it was interrupted" in page.text
    assert len(page.values.get("scores", [])) == (0 if is_empty else 3)


def test_only_constant_columns(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.Table({"a": [1, 1], "b": ["x", "x"]}))
    assert [own["id"] for own in page.all("section")] == list(SECTIONS)


def test_scores_from_a_file(tmp_path: Path, scores: td.Scores) -> None:
    td.write_scores(tmp_path / "asia.jkl", scores)
    page = page_of(tmp_path, td.read_scores(tmp_path / "asia.jkl"), k=2)
    assert "The scores were read from a file" in page.text


# ---- Wrong use


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ((td.example_table(), "page.html"), {}, "The first argument names the page"),
        (("page.html",), {}, "Give one table or scores"),
        (("page.html", td.example_table(), "asia.csv"), {}, "Give one table or scores"),
        (("page.html", td.example_table()), {"k": 0}, "k must be a whole number"),
        (("page.txt", td.example_table()), {}, "ends in .html"),
    ],
)
def test_wrong_use(content: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(td.ScoreError, match=message):
        td.write_report(*content, **options)


def test_parts_of_different_tables(tmp_path: Path, scores: td.Scores) -> None:
    other = td.best_network(td.Table({"a": [0, 1], "b": [1, 0]}))
    with pytest.raises(td.ScoreError, match="same variables"):
        page_of(tmp_path, other, td.edge_posteriors(scores))


# ---- The command


def test_command(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "-k", 5)
    assert ran.code == 0 and "out.html" in ran.out
    page = Page((tmp_path / "out.html").read_text())
    assert len(page.values["scores"]) == 5
    assert "asia.csv" in page.words and str(asia.parent) not in page.html


def test_command_under_limits(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "--time-limit", 0)
    assert ran.code == 3 and "lacks" in ran.out
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "--memory-limit", "1KB")
    assert ran.code == 5 and (tmp_path / "out.html").exists()


def test_command_with_options(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    options = ("--score", "bic", "--require", "smoke->lung", "--prior", "fair", "--title", "Mine", "--quiet", "-k", 2)
    ran = topdag("report", asia, "-o", tmp_path / "out.html", *options)
    assert (ran.code, ran.out) == (0, "")
    page = Page((tmp_path / "out.html").read_text())
    assert "Mine" in page.words and "required edges: smoke->lung" in page.text


def test_command_refuses(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    """What is wrong with the input is an error, not a page without answers."""
    for words in (("--require", "smok->lung"), ("--require", "smoke->lung", "--forbid", "smoke->lung")):
        assert topdag("report", asia, "-o", tmp_path / "out.html", *words).code == 4
    assert not (tmp_path / "out.html").exists()
    assert topdag("report", asia, "-o", tmp_path / "out.pdf").code == 2
    assert topdag("report", asia, "-o", tmp_path / "no" / "out.html").code == 4
    assert topdag("report", tmp_path / "missing.csv", "-o", tmp_path / "out.html").code == 4
