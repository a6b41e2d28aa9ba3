"""Repeats the big comparisons on new random inputs for as long as it is given.

    python tests/slow/compare.py --seconds 3600 [--seed N] [--kinds lists,classes] [--out FOLDER]

Every question is compared with brute force on few variables, engines with each other on more, and answers stopped at
counted places with the true optimum (tests/support/comparisons.py, tests/support/stop_cases). Prints how many of each
kind agreed. What does not agree is written as a small Python file with its inputs; the exit status is then 1. Without
``--seed`` the seed is made of the day and time; start several with different seeds to use several cores. Needs numpy
and topdag alone.
"""

from __future__ import annotations

import argparse
import itertools
import pprint
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import numpy as np
from comparisons import KINDS
from random_inputs import Inputs

REPRODUCER = '''"""{kind}: does not agree. Seed {seed}, case {number}.

Run with the folder "tests/support" of topdag as its argument: python {name} path/to/tests/support

{trace}
"""

import sys

sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else "tests/support")
from comparisons import KINDS

inputs = {inputs}

make, check = KINDS[{kind!r}]
check(**inputs)
print("agrees")
'''


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 1 when something does not agree."""
    given = _options().parse_args(arguments)
    kinds = _chosen(given.kinds)
    seed = given.seed if given.seed is not None else int(time.strftime("%Y%m%d%H%M%S"))
    print(f"seed {seed}, {len(kinds)} kinds", flush=True)
    agreed, findings = Counter[str](), list[Path]()
    for kind, number in _cases(kinds, given.cases, given.seconds):
        inputs = inputs_of(kind, seed, number)
        try:
            KINDS[kind][1](**inputs)
        except Exception:
            findings.append(_written(kind, seed, number, inputs, Path(given.out)))
            print(f"does not agree: {kind}, written to {findings[-1]}", flush=True)
        else:
            agreed[kind] += 1
    for kind in kinds:
        print(f"{agreed[kind]:>9,} agreed: {kind}")
    print(f"{agreed.total():>9,} agreed in all, {len(findings)} did not")
    return 1 if findings else 0


def inputs_of(kind: str, seed: int, number: int) -> Inputs:
    """The same for the same seed, whatever other kinds are asked for."""
    return KINDS[kind][0](np.random.default_rng([seed, zlib.crc32(kind.encode()), number]))


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = options.add_mutually_exclusive_group(required=True)
    length.add_argument("--seconds", type=float, help="go on for so long")
    length.add_argument("--cases", type=int, help="so many of each kind")
    options.add_argument("--seed", type=int)
    options.add_argument("--kinds", help="by commas; the beginning of a name will do")
    options.add_argument("--out", default=".", help="where reproducers go")
    return options


def _chosen(wanted: str | None) -> list[str]:
    if wanted is None:
        return list(KINDS)
    begins = [begin.strip() for begin in wanted.split(",")]
    for begin in begins:
        if not any(kind.startswith(begin) for kind in KINDS):
            raise SystemExit(f"no kind begins with {begin!r}; there are: {', '.join(KINDS)}")
    return [kind for kind in KINDS if kind.startswith(tuple(begins))]


def _cases(kinds: list[str], cases: int | None, seconds: float | None) -> Iterator[tuple[str, int]]:
    """One of each kind after another."""
    end = None if seconds is None else time.monotonic() + seconds
    for number in itertools.count():
        if cases is not None and number >= cases:
            return
        for kind in kinds:
            if end is not None and time.monotonic() >= end:
                return
            yield kind, number


def _written(kind: str, seed: int, number: int, inputs: Inputs, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    name = "disagrees_" + "".join(c if c.isalnum() else "_" for c in kind) + f"_{seed}_{number}.py"
    trace = traceback.format_exc(limit=-3).replace("\\", "/").replace('"""', "'''").strip()
    shown = pprint.pformat(inputs, width=110, compact=True, sort_dicts=False)
    text = REPRODUCER.format(kind=kind, seed=seed, number=number, name=name, trace=trace, inputs=shown)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


if __name__ == "__main__":
    sys.exit(main())
