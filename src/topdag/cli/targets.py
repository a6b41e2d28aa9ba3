"""What commands write with -o: the ending of a name says what, and all names are looked at before any work is done."""

from __future__ import annotations

from argparse import Action, ArgumentError
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from topdag._util.atomic_write import FITTED
from topdag.cli.command import UsageError
from topdag.cli.options import writable

ABOUT_NETWORKS = ".dot (Graphviz), .svg, .png or .pdf (a picture), .bif, .xml, .net, .xdsl or .uai (with probabilities)"


class Once(Action):
    """A second name would be written in place of the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest) != self.default:
            raise ArgumentError(self, "one file is written here; give it once")
        setattr(namespace, self.dest, values)


class OptionHolder(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> Any: ...


def add_output(parser: OptionHolder, what: str, *, several: bool = False, required: bool = False) -> None:
    """``-o OUT``; ``what``: which endings there are, and what each holds."""
    again = "; may be repeated" if several else ""
    parser.add_argument(
        "-o",
        dest="output",
        metavar="OUT",
        action="append" if several else Once,
        required=required,
        help=f"a file to write; its ending says what: {what}{again}",
    )


def add_json(parser: OptionHolder, *, quiet: str | None = None) -> None:
    """``quiet``: what --quiet, if there is one, leaves of the text."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of the text")
    if quiet is not None:
        parser.add_argument("--quiet", action="store_true", help=quiet)


def target(name: str, endings: tuple[str, ...], inputs: tuple[str, ...], *, packed: bool = False) -> Path:
    """Where to write, known to be writable as far as that can be known; ``packed``: whether .gz may follow."""
    if name == "-":
        raise UsageError("-o needs the name of a file; --json prints JSON")
    found = writable(name, inputs=inputs)
    plain = name.lower().removesuffix(".gz") if packed else name.lower()
    if not plain.endswith(endings):
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"-o {name}: the name must end in {allowed}")
    return found


def targets(names: Sequence[str] | None, endings: tuple[str, ...], inputs: tuple[str, ...]) -> list[Path]:
    found = [target(name, endings, inputs, packed=True) for name in names or ()]
    if len(set(found)) < len(found):
        raise UsageError("-o: give each file once")
    return found


def is_fitted(path: Path) -> bool:
    """Whether such a file holds probabilities."""
    return path.name.lower().removesuffix(".gz").endswith(FITTED)
