"""``topdag evidence``: the log of the sum over all networks."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from typing import Any

from topdag._util.run import Run
from topdag.cli.averaging import ABOUT_FILES, ABOUT_PRIORS, COSTS, add_averaging, ask_all
from topdag.cli.command import Command, Exit
from topdag.cli.output import about_reading, about_table, as_json, labelled
from topdag.cli.streams import say
from topdag.questions.request import Request
from topdag.questions.sum_sizes import TOTAL
from topdag.questions.sums import UNIFORM, log_total, scored_for, without_data


def print_evidence(args: Namespace) -> Exit:
    found, table = ask_all(args, TOTAL, _evidence)
    if found is None:
        return Exit.STOPPED
    if args.json:
        say(as_json(found))
    elif args.quiet:
        say(f"{found['log_evidence']:.6f}")
    else:
        say("\n".join([*about_reading(table), *_lines(found), *about_table(table, found["notes"])]))
    return Exit.FINE


def _evidence(request: Request, run: Run) -> dict[str, Any]:
    prior, scores = request.prior, scored_for(request, TOTAL, run)
    value, total = log_total(scores, prior, run), log_total(without_data(scores, run), prior, run)
    return {
        "format": "topdag-evidence",
        "version": 1,
        "log_evidence": value,
        "log_prior_total": total,
        "log_evidence_normalised": value - total,
        "prior": UNIFORM if prior is None else str(prior),
        "space": scores.describe_space(),
        "notes": list(scores.notes),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    return [
        f"log evidence  {found['log_evidence']:.6f} nats, weights not normalised",
        f"              {found['log_evidence_normalised']:.6f} nats with a prior that sums to one",
        "",
        labelled("prior", str(found["prior"])),
        labelled("summed", f"over {found['space']}"),
    ]


COMMAND = Command(
    name="evidence",
    usage="topdag evidence FILE [--prior NAME] [options]",
    page=f"""\
Prints the evidence: the natural log of the sum, over all networks, of exp(score), each network with
weight one or that of --prior; and beside it the same under the prior that sums to one. The
probability of a network given the data is exp(its score + log weight - evidence).

{ABOUT_PRIORS}

{ABOUT_FILES}""",
    ending=f"""\
{COSTS}

examples:
  topdag evidence asia.csv
  topdag evidence asia.csv --prior fair --json

The answer goes to stdout, all else to stderr; on a terminal a line there shows how it stands.""",
    exits=tuple(code for code in Exit if code is not Exit.FAILED),
    add_options=partial(add_averaging, pairs=False),
    run=print_evidence,
    partial=False,
)
