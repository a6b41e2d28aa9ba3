"""A bootstrap as a file: .json, with what each table drawn gave, so that it is read back whole but for the table.

``format``, ``version``, ``names``, ``question``, ``asked_for``, ``seed``, ``limit``, ``by_class``, ``about_table``;
``notes``, ``edges`` and ``adjacency``, which follow from the rest, for other programs; ``draws``: for each table drawn
whether its answer is ``proved``, and ``parents`` of the best network, by variable with any, or where the question was
another one ``edges``, a matrix.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.atomic_write import FilePath, ending_of, write_whole
from topdag.answers.bootstrap import FORMAT, VERSION, BootstrapFrequencies, Draw, draw_of_network
from topdag.errors import FileError, why_not_opened
from topdag.networks.network import Network

ROUNDING = 1e-9


def write_bootstrap(path: FilePath, found: BootstrapFrequencies) -> None:
    """Writes all frequencies, and what each table drawn gave, to a .json file, whole or not at all."""
    if not isinstance(found, BootstrapFrequencies):
        raise TypeError(f"Only what bootstrap gave is written, not {type(found).__name__}.")
    ending_of(path, (".json",), "a bootstrap")
    text = json.dumps(found.to_dict(), allow_nan=False) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def read_bootstrap(path: FilePath) -> BootstrapFrequencies:
    """What ``write_bootstrap`` wrote; ``table``, ``kind``, ``answer`` and ``stats`` are None, for a file does not keep
    them."""
    ending_of(path, (".json",), "a bootstrap")
    try:
        with open(path, encoding="utf-8") as file:
            return _read(json.load(file))
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
    except Exception as error:  # there is no end to what a damaged file makes the readers raise
        raise FileError(f"{path}: this is not a file of a bootstrap that topdag wrote ({error})") from error


def _read(content: Any) -> BootstrapFrequencies:
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise ValueError(f"format {content['format']!r}, version {content['version']!r}")
    names = Network(_texts(content["names"], "names"), {}).names
    by_class, draws, limit = content["by_class"], content["draws"], content["limit"]
    if not isinstance(by_class, bool) or not isinstance(draws, list) or not draws:
        raise ValueError("by_class or draws are of another kind")
    found = BootstrapFrequencies(
        names=names,
        draws=tuple(_draw(names, draw, by_class=by_class) for draw in draws),
        asked_for=_whole(content["asked_for"], len(draws)),
        seed=_whole(content["seed"], 0),
        question=_text(content["question"]),
        answer=None,
        limit=None if limit is None else _text(limit),
        stats=None,
        about_table=_texts(content["about_table"], "notes on the table"),
        by_class=by_class,
    )
    if (found.limit is None) != (len(draws) == found.asked_for):
        raise ValueError("whether all draws were done is said in two ways")
    for name, matrix in (("edges", found.matrix), ("adjacency", found.adjacency)):
        if not np.allclose(_matrix(content[name], len(names)), matrix, atol=ROUNDING):
            raise ValueError(f"{name} are not those of the draws")
    return found


def _draw(names: tuple[str, ...], content: Any, *, by_class: bool) -> Draw:
    is_proved = content["proved"]
    if not isinstance(is_proved, bool):
        raise ValueError("proved is neither true nor false")
    if "parents" not in content:
        return Draw(_matrix(content["edges"], len(names)), is_proved)
    parents = {child: _texts(own, "parents") for child, own in content["parents"].items()}
    return draw_of_network(Network(names, parents), is_proved, by_class=by_class)


def _matrix(content: Any, n: int) -> Floats:
    found = np.array(content, dtype=np.float64)
    if found.shape != (n, n) or not ((found >= 0) & (found <= 1 + ROUNDING)).all() or found.diagonal().any():
        raise ValueError("a matrix is not one of frequencies of edges")
    return found


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise ValueError(f"{content!r} is no text")
    return content


def _texts(content: Any, what: str) -> tuple[str, ...]:
    if not isinstance(content, list):
        raise ValueError(f"the {what} are no list")
    return tuple(map(_text, content))


def _whole(content: Any, least: int) -> int:
    if not isinstance(content, int) or isinstance(content, bool) or content < least:
        raise ValueError(f"{content!r} is no whole number from {least} on")
    return content
