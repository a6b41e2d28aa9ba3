"""The sub-commands of ``topdag``, one file each. Their help is the page docs/commands.md (see docs.py)."""

from topdag.cli.command import Command
from topdag.cli.commands import (
    best,
    check,
    convert,
    demo,
    edges,
    evidence,
    fit,
    list,
    paths,
    plan,
    report,
    sample,
    score,
    within,
)

ALL: tuple[Command, ...] = (
    best.COMMAND,
    list.COMMAND,
    within.COMMAND,
    edges.COMMAND,
    paths.COMMAND,
    evidence.COMMAND,
    sample.COMMAND,
    fit.COMMAND,
    convert.COMMAND,
    score.COMMAND,
    plan.COMMAND,
    report.COMMAND,
    check.COMMAND,
    demo.COMMAND,
)
