"""What was assumed, what it cost, and how to cite it."""

from __future__ import annotations

from topdag._util.run import shown_bytes
from topdag.answers.results import Stats
from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular, Prior
from topdag.report.gathered import Gathered, Missing
from topdag.report.markup import Html, details, joined, named, number, paragraph, rows, section, table, tag
from topdag.scoring.kinds.discrete import BDeu

CITATION = "The topdag developers ({year}). topdag: exact structure learning of Bayesian networks, version {version}."
YEAR = 2026
BIBTEX = """\
@software{{topdag,
  title   = {{topdag: exact structure learning of Bayesian networks}},
  author  = {{{{The topdag developers}}}},
  year    = {{{year}}},
  version = {{{version}}}
}}"""


def assumptions_section(found: Gathered) -> Html:
    facts: list[tuple[str, str | Html]] = [("Score", _score_in_words(found))]
    facts.append(("Prior over networks", _prior_in_words(found.prior)))
    limit = "any number" if found.max_parents is None else f"at most {found.max_parents} for each variable"
    facts.append(("Parents", limit))
    known = [paragraph("No constraints were given: every network was possible.")]
    if found.constraints:
        lines = str(found.constraints).splitlines()
        known = [paragraph("Only networks that satisfy these constraints count, everywhere on this page:")]
        known.append(tag("ul", *(tag("li", line) for line in lines), class_="notes"))
    return section("assumed", "What was assumed", rows(*facts), *known, *_odds(found.prior))


def _score_in_words(found: Gathered) -> str:
    if found.kind is None:
        return "local scores from a file"
    extra = ""
    if isinstance(found.kind, BDeu):
        seen = f"{found.kind.ess:g} further row{'s' * (found.kind.ess != 1)}"
        extra = f": the probability of the table, with Dirichlet priors that weigh as much as {seen}"
    return f"{found.kind}{extra}. Natural logarithms, larger is better."


def _prior_in_words(prior: Prior | None) -> str:
    if prior is None:
        return "none: all networks are equally likely before the data"
    if isinstance(prior, FairPrior):
        return "fair: every number of parents is equally likely before the data"
    if isinstance(prior, OrderModular):
        return f"{prior}: a network counts once for every order of the variables that agrees with it"
    return str(prior)


def _odds(prior: Prior | None) -> list[Html]:
    if not isinstance(prior, EdgePrior) or not prior.log_odds:
        return []
    lines = [tag("li", named(a), " → ", named(b), f": {value:g}") for (a, b), value in prior.log_odds.items()]
    return [details("Log odds of edges before the data", tag("ul", *lines, class_="notes"))]


def run_section(found: Gathered) -> Html:
    head = ("Question", "Answered by", "Seconds", "Threads", "Memory")
    body = []
    for question, stats in _runs(found):
        memory = stats.memory or stats.peak_memory
        cells = (stats.engine, number(stats.seconds, 3), str(stats.threads), shown_bytes(memory))
        body.append(tag("tr", tag("th", question, scope="row"), *(tag("td", text) for text in cells)))
    whole = table("Runs", head, body) if body else paragraph("Nothing is known about how it was computed.")
    return section("run", "How it was computed", whole, *_more(found))


def _runs(found: Gathered) -> list[tuple[str, Stats]]:
    runs = []
    if not isinstance(found.best, Missing):
        runs.append(("The best network", found.best.stats))
    if not isinstance(found.listed, Missing):
        runs.append((f"The list of {'classes' if found.what == 'class' else 'networks'}", found.listed.stats))
    if found.sums is not None:
        runs.append(("Probabilities of edges and paths", found.sums))
    if not isinstance(found.effects, Missing):
        runs.append(("Effects", found.effects.stats))
    return runs


def _more(found: Gathered) -> list[Html]:
    lines = []
    for question, stats in _runs(found):
        phases = ", ".join(f"{phase} {seconds:.3f} s" for phase, seconds in stats.phases.items())
        counted = [f"{stats.sets:,} sets", f"{stats.families:,} families"] if stats.sets else []
        counted += [f"{name} {amount:,}" for name, amount in stats.work.items()]
        said = "; ".join(part for part in (stats.reason, phases, ", ".join(counted)) if part)
        lines.append(tag("li", tag("strong", f"{question}: "), said))
    return [details("In detail", tag("ul", *lines, class_="notes"))] if lines else []


def cite_section(version: str) -> Html:
    text = CITATION.format(year=YEAR, version=version)
    entry = tag("pre", BIBTEX.format(year=YEAR, version=version), tabindex=0)
    advice = paragraph(
        "For others to repeat this, give the table, the score and its parameters, the constraints and the prior as "
        "they stand above: the answers are exact, so anyone must get the same."
    )
    return section("cite", "How to cite", joined([paragraph(text), entry, advice]))
