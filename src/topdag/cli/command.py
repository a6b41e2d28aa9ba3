"""What a sub-command is, and what all of them share: exit codes, costs, the error of wrong use."""

from __future__ import annotations

import enum
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass

SIZES_SHOWN = (17, 20, 23, 25, 27, 29)


class Exit(enum.IntEnum):
    """How a command ends, for scripts."""

    FINE = 0
    FAILED = 1
    WRONG_USE = 2
    STOPPED = 3
    BAD_INPUT = 4
    TOO_LARGE = 5
    FAULT = 70
    INTERRUPTED = 130
    NO_READER = 141


MEANING = {
    Exit.FINE: "proved, or fine",
    Exit.FAILED: "the check failed, or no network is allowed",
    Exit.WRONG_USE: "wrong use of the command line",
    Exit.STOPPED: "stopped by a limit of time or memory; an answer with a bound was printed",
    Exit.BAD_INPUT: "a file, table, score, network or cluster cannot be used, or a file cannot be written",
    Exit.TOO_LARGE: "too large for the memory there is or that is allowed",
    Exit.FAULT: "a fault in topdag itself; please report it",
    Exit.INTERRUPTED: "Ctrl-C; what was known was printed",
    Exit.NO_READER: "whoever read the output stopped reading",
}
NO_PARTIAL_ANSWER = {
    Exit.STOPPED: "stopped by the time limit; nothing was printed",
    Exit.INTERRUPTED: "Ctrl-C; nothing was printed",
}
"""Of commands that answer in full or not at all."""


class UsageError(Exception):
    """Options that do not go together; the message says which would."""


@dataclass(frozen=True)
class Command:
    """``page`` stands above the options in the help; ``costs``, ``ending`` and the exit codes below them.

    ``partial``: whether it prints what is known when it is stopped.
    """

    name: str
    usage: str
    page: str
    ending: str
    exits: tuple[Exit, ...]
    add_options: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Exit]
    partial: bool = True
    costs: Callable[[], str] | None = None

    def epilog(self) -> str:
        costs = [] if self.costs is None else [self.costs()]
        return "\n\n".join([*costs, self.ending, exit_codes(self.exits, partial=self.partial)])


def exit_codes(exits: tuple[Exit, ...], *, partial: bool = True) -> str:
    meaning = MEANING if partial else MEANING | NO_PARTIAL_ANSWER
    return "exit codes:\n" + "\n".join(f"  {code.value:<5}{meaning[code]}" for code in exits)


def search_costs() -> str:
    from topdag._util.memory import shown_bytes
    from topdag.questions.plan import bytes_for_all_sets
    from topdag.search.engines import SEARCH_LIMIT, WIDE_LIMIT, sizes

    shown = ", ".join(f"{n}: {shown_bytes(bytes_for_all_sets(n, 'best', 2))}" for n in SIZES_SHOWN)
    small = sizes().small
    return f"""\
costs:
  Tables over all sets take time like n*2^n for n variables: each further one a little more than
  doubles it. With 1,000 rows on two cores 20 variables take about half a second, 23 three; many
  distinct rows take longer. Memory, by number of variables:
    {shown}
  As many variables as memory holds: 30 on 24 GB, 32 on 128 GB, 36 on 2 TB. k2 and fnml take 8*2^n bytes
  more for each number of states that occurs, bds 8*n*2^(n-1).
  With bic or aic, or a small --max-parents, more than {small} variables, up to {SEARCH_LIMIT}, are searched on lists of
  the families that can matter: seconds for most tables, no one can say beforehand. The best networks and
  classes, without a prior, up to {WIDE_LIMIT:,} (beyond {SEARCH_LIMIT} other scores need --max-parents). topdag plan
  says what will be done. Constant columns do not count. What cannot fit is refused at once."""
