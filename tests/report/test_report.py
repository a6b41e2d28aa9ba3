"""Reports: what a page says, that it needs nothing else, that names stay text, and that one always comes out."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_pages import NASTY, SECTIONS, Page, page_of

import topdag as td
from topdag.answers.averages import path_matrix
from topdag.networks.drawing.svg import shown
from topdag.report.best_section import networks_on
from topdag.report.markup import Html, percent, safe_json, tag


@pytest.fixture(scope="module")
def scores() -> td.types.Scores:
    return td.score(td.example_table(), td.BDeu())


@pytest.fixture(scope="module")
def asia_page(scores: td.types.Scores, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(tmp_path_factory.mktemp("asia"), scores, k=12, title="Chest clinic")


# ---- What it says


def test_all_sections_are_there(asia_page: Page) -> None:
    assert [own["id"] for own in asia_page.all("section")] == list(SECTIONS)
    links = [own["href"] for own in asia_page.all("a") if own.get("href") != "#main"]
    assert links == [f"#{key}" for key in SECTIONS]


def test_the_best_network_and_its_proof(asia_page: Page, scores: td.types.Scores) -> None:
    best = td.best_network(scores)
    assert asia_page.values["best"]["edges"] == [list(edge) for edge in best.network.edges]  # type: ignore[union-attr]
    assert asia_page.values["best"]["score"] == best.score
    assert "Proved. Of all 783,702,329,343 networks on 8 variables, none scores higher" in asia_page.text
    assert f"{best.score:,.6f}".replace("-", "−") in asia_page.text


def test_every_edge_is_told(asia_page: Page, scores: td.types.Scores) -> None:
    edges, own = td.edge_posteriors(scores), td.EquivalenceClass(td.best_network(scores).network)  # type: ignore[arg-type]
    for a, b in own.member.edges:
        is_open = (a, b) in own.undirected or (b, a) in own.undirected
        direction = "open" if is_open else "the same in the whole class"
        either = edges[a, b] + edges[b, a]
        assert f"{a}{b}{direction}{edges[a, b]:.3f}{either:.3f}" in asia_page.text


@pytest.mark.parametrize("n", [3, 64, 65, 90])
def test_reversible_edges_have_open_heads_at_any_size(scores: td.types.Scores, tmp_path: Path, n: int) -> None:
    names = [f"V{v}" for v in range(n)]
    chain = td.Network(names, {names[v]: [names[v - 1]] for v in range(1, n)}, dict.fromkeys(names, -1.0))
    page = page_of(tmp_path, replace(td.best_network(scores), network=chain))
    assert page.html.count('class="edge open"') == n - 1
    assert f"{n - 1} edges of {n - 1} have an open arrow head" in page.text


def test_the_classes_with_shares_and_sizes(asia_page: Page, scores: td.types.Scores) -> None:
    classes, evidence = td.k_best_classes(scores, 12), td.log_evidence(scores)
    assert np.allclose(asia_page.values["scores"], classes.scores)
    assert len(asia_page.all("input", name="item")) == 12
    for place, own in enumerate(classes):
        share = own.size * np.exp(classes.scores[place] - evidence)
        assert percent(float(share)) in asia_page.text
    assert (
        f"Together they hold {percent(td.features.coverage(classes, evidence))} of the whole posterior"
        in asia_page.text
    )


def test_what_differs_is_told_and_drawn(asia_page: Page, scores: td.types.Scores) -> None:
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


def test_probabilities_are_exact(asia_page: Page, scores: td.types.Scores) -> None:
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
    assert "3 variables, 4 rows (2 distinct)" in page.text
    assert "no 50.0%, yes 50.0%" in page.text


def test_assumptions_are_stated(tmp_path: Path) -> None:
    known = td.Constraints(required_edges=[("smoke", "lung")], tiers=[["asia", "smoke"], ["xray", "dysp"]])
    page = page_of(tmp_path, td.score(td.example_table(), td.BIC(), constraints=known, max_parents=3), k=5)
    assert "required edges: smoke->lung" in page.text
    assert "at most 3 for each variable" in page.text
    assert "and of them those with at most 3 parents each and that satisfy the constraints" in page.text
    assert ["smoke", "lung"] in page.values["best"]["edges"]


@pytest.mark.parametrize("prior", [td.OrderModular(), td.FairPrior(), td.EdgePrior({("smoke", "lung"): 2.0}, -1.0)])
def test_under_a_prior_networks_are_listed(tmp_path: Path, scores: td.types.Scores, prior: Any) -> None:
    page = page_of(tmp_path, scores, k=4, prior=prior)
    assert np.allclose(page.values["scores"], td.k_best_networks(scores, 4, prior=prior).scores)
    assert np.allclose(page.values["edges"], td.edge_posteriors(scores, prior=prior).matrix, atol=1e-6)
    assert "4 best networks" in page.text
    assert f"by the {prior}" in page.text


def test_a_score_without_classes(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.score(td.example_table(), td.K2()), k=3)
    assert "3 best networks" in page.text


def test_answers_that_are_there_are_not_asked_again(tmp_path: Path, scores: td.types.Scores) -> None:
    """The form of the design: the page shows just these."""
    best, classes, edges = td.best_network(scores), td.k_best_classes(scores, 3), td.edge_posteriors(scores)
    page = page_of(tmp_path, best, classes, edges)
    assert len(page.values["scores"]) == 3
    assert np.allclose(page.values["edges"], edges.matrix, atol=1e-6)
    assert "Probabilities of paths are left out, because they were not asked for" in page.text
    assert "500 rows" in page.text
    alone = page_of(tmp_path, best)
    assert "There is no list of the best classes, because it was not asked for" in alone.text


def test_tiles_read_as_sentences(asia_page: Page) -> None:
    """By a screen reader too, and when they are copied."""
    table = td.example_table()
    assert f"{table.n_rows:,} rows of 8 variables" in asia_page.text
    assert "edges in the network that is proved to be the best" in asia_page.text


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


def test_paths_by_a_list(scores: td.types.Scores) -> None:
    classes = td.k_best_classes(scores, 9)
    found = path_matrix(classes)
    for a, b in (("smoke", "dysp"), ("tub", "xray"), ("xray", "tub"), ("asia", "tub")):
        place = classes.names.index(a), classes.names.index(b)
        assert found[place] == pytest.approx(td.features.posterior(classes, td.features.path(a, b)).value)
    networks = td.k_best_networks(scores, 30)
    assert path_matrix(networks)[2, 7] == pytest.approx(
        td.features.posterior(networks, td.features.path("smoke", "dysp")).value
    )


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


def test_one_of_a_thing_is_said_as_one(tmp_path: Path) -> None:
    td.write_report(tmp_path / "one.html", {"a": [1], "b": [2]})
    told = (tmp_path / "one.html").read_text()
    assert "row of 2 variables" in told and "has 1 state." in told and "held by the best class" in told
