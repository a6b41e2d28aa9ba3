"""Feeds changed files to every reader: it reads them or refuses them with topdag's own errors, and quickly.

``make fuzz`` runs it for a minute on the seed of the day, ``make fuzz SECONDS=600 SEED=20270101`` for longer and on a
seed of your own. A case depends on seed, reader and number only. What goes wrong is written to a file, with the
command that repeats it; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import datetime
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from slow.mutations import mutated
from slow.readers import OWN_ERRORS, Reader, all_readers

import topdag

MOST_SECONDS = 5  # of the processor, for one case
MOST_BYTES = 8 << 30
PACKAGE = Path(topdag.__file__).parent


class TooSlow(BaseException):
    """Not an Exception, so that no reader takes it for a damaged file."""


@dataclass(frozen=True)
class Case:
    """A changed file: ``options`` seeds what else the reader is given."""

    name: str
    content: bytes
    options: str


def case_of(reader: Reader, seed: int, number: int) -> Case:
    words = f"{seed}/{reader.name}/{number}"
    draw = random.Random(words)
    name = draw.choice(sorted(reader.files))
    return Case(name, mutated(reader.kind, reader.files[name], draw), words)


def is_read(reader: Reader, case: Case, folder: Path) -> bool:
    """False: refused with one of topdag's own errors. Any other error comes out."""
    for old in folder.iterdir():
        old.unlink()
    path = folder / case.name
    path.write_bytes(case.content)
    try:
        reader.read(path, random.Random(case.options))
    except OWN_ERRORS:
        return False
    return True


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Of the processor; then TooSlow."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} seconds of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Counts:
    seconds: float = 0.0
    read: int = 0
    refused: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def cases(self) -> int:
        return self.read + self.refused + self.wrong.total()

    def __str__(self) -> str:
        wrong = f"  {self.wrong.total():,} WRONG" if self.wrong else ""
        return f"{self.cases:9,} cases {self.read:9,} read {self.refused:9,} refused{wrong}"


def kind_of(error: BaseException) -> str:
    """What went wrong and where, so that each kind is written down once."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)] or frames
    return f"{type(error).__name__} in {Path(own[-1].filename).name}, line {own[-1].lineno}"


class Fuzzing:
    """The readers, what became of their cases, and a folder for what went wrong."""

    def __init__(self, readers: Sequence[Reader], seed: int, findings: Path) -> None:
        self.seed = seed
        self.findings = findings
        self.counts = {reader.name: Counts() for reader in readers}
        self._readers = {reader.name: reader for reader in readers}

    def run(self, seconds: float, folder: Path) -> None:
        """Each reader gets as much of the processor as the others."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name = min(self.counts, key=lambda name: self.counts[name].seconds)
            self.try_next(self._readers[name], folder)

    def try_next(self, reader: Reader, folder: Path) -> None:
        counts = self.counts[reader.name]
        case = case_of(reader, self.seed, counts.cases)
        begin = time.process_time()
        try:
            with within_seconds(MOST_SECONDS):
                is_fine = is_read(reader, case, folder)
            counts.read += is_fine
            counts.refused += not is_fine
        except (Exception, TooSlow) as error:
            kind = kind_of(error)
            counts.wrong[kind] += 1
            if counts.wrong[kind] == 1:
                self._write_down(reader, case, kind, error)
        counts.seconds += time.process_time() - begin

    def _write_down(self, reader: Reader, case: Case, kind: str, error: BaseException) -> None:
        folder = self.findings / case.options.replace("/", "_").replace(" ", "_").replace(",", "")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / case.name).write_bytes(case.content)
        command = (
            f"PYTHONPATH=tests:tests/support python -m slow.fuzz --reader {reader.name!r} --options {case.options!r}"
        )
        print(f"\n{reader.name}: {kind}: {str(error)[:200]}\n  {command} --file {folder / case.name}", flush=True)

    def __str__(self) -> str:
        width = max(map(len, self.counts))
        lines = [f"{name:{width}} {counts}" for name, counts in self.counts.items()]
        kinds = [f"{name}: {kind}: {n:,}" for name, own in self.counts.items() for kind, n in own.wrong.items()]
        total = sum(counts.cases for counts in self.counts.values())
        return "\n".join([*lines, *kinds, f"{total:,} cases, {len(kinds)} kinds of findings, seed {self.seed}"])

    @property
    def is_fine(self) -> bool:
        return not any(counts.wrong for counts in self.counts.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(datetime.date.today().strftime("%Y%m%d")))
    parser.add_argument("--reader", help="one of them only")
    parser.add_argument("--file", type=Path, help="feed this file to the reader, and show what comes out")
    parser.add_argument("--options", default="", help="the words that its options are drawn from")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="a folder for what goes wrong")
    args = parser.parse_args()
    warnings.simplefilter("error")  # a reader has nothing to warn of
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, most))
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as folder:
        readers = [reader for reader in all_readers(Path(made)) if args.reader in (None, reader.name)]
        if args.file is not None:
            found = is_read(readers[0], Case(args.file.name, args.file.read_bytes(), args.options), Path(folder))
            print("read" if found else "refused")
            return 0
        print(f"seed {args.seed}, {len(readers)} readers, {args.seconds:g} seconds", flush=True)
        fuzzing = Fuzzing(readers, args.seed, args.findings)
        fuzzing.run(args.seconds, Path(folder))
    print(fuzzing)
    return 0 if fuzzing.is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
