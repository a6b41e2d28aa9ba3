"""Lists of networks or classes as files: JSON lines, .jsonl or .jsonl.gz.

The first line says what the list is: ``format``, ``version``, ``what`` ("networks" or "classes"), ``items`` (how many
follow), ``names``, ``columns`` (those that were scored), ``kind``, ``max_parents``, ``prior``, ``grid``, ``floor``,
``proof``, ``stats``, ``notes``, and ``families``: for each scored variable the families that occur, [local score,
parent, ...]. Infinite numbers are the texts "inf" and "-inf".

Every further line is an item, best first: its ``score`` (under a prior with its log weight) and, for variables that
have any, its ``parents``. A class is written as one of its networks, with its ``size``. So a program that wants only
the structures can skip the first line.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

import numpy as np

from topdag._util.atomic_write import FilePath, write_as_named
from topdag.answers.lists import BestList, ClassList, NetworkList
from topdag.errors import FileError, ScoreError
from topdag.io.lists_read import FORMAT, KINDS_OF_LIST, VERSION, ListFile
from topdag.knowledge.priors import OrderModular, prior_to_dict
from topdag.scoring.kinds.discrete import kind_to_dict
from topdag.scoring.scores import Scores

LIST_SUFFIXES = (".jsonl", ".jsonl.gz")


def write_list(path: FilePath, found: NetworkList | ClassList) -> None:
    """Writes a list of networks or classes as JSON lines, whole or not at all; a name ending in .gz compresses."""
    require_suffix(path)
    lines = list_lines(found)

    def write(file: IO[bytes]) -> None:
        for line in lines:
            file.write(f"{line}\n".encode())

    write_as_named(path, write)


def read_list(path: FilePath) -> NetworkList | ClassList:
    """The list that ``write_list`` wrote: the same items, scores, floor and proof.

    Its ``source`` holds the local scores of the families that occur in the list, and no others. Anything that is not
    such a file is a FileError that names the line.
    """
    require_suffix(path)
    return ListFile(path).read()


def require_suffix(path: FilePath) -> None:
    if not os.fspath(path).lower().endswith(LIST_SUFFIXES):
        raise FileError(f"{os.fspath(path)}: the name must end in {' or '.join(LIST_SUFFIXES)} to hold a list")


def list_lines(found: NetworkList | ClassList) -> Iterator[str]:
    """The lines of the file, plain ASCII, one by one."""
    what = next((name for name, kind in KINDS_OF_LIST.items() if isinstance(found, kind)), None)
    if what is None:
        raise TypeError(f"A list of networks or classes is needed, not {type(found).__name__}.")
    return chain([json.dumps(_header(found, what), allow_nan=False)], _item_lines(found))


def _header(found: BestList[Any], what: str) -> dict[str, Any]:
    source, proof = found.source, found.proof
    if isinstance(found, ClassList) and found.interventions:
        raise ScoreError(
            "A list of classes that experiments tell apart is not written: the file would not tell which. Write the "
            "list of networks."
        )
    if isinstance(source.prior, OrderModular) and source.orders_are_limited:
        raise ScoreError(
            "A list under an order-modular prior whose orders agree with a precedence is not written: the file would "
            "not tell which orders count."
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "what": what,
        "items": len(found),
        "names": list(source.names),
        "columns": list(source.columns),
        "kind": kind_to_dict(source.kind),
        "max_parents": source.max_parents,
        "prior": prior_to_dict(source.prior),
        "grid": source.grid,
        "floor": _plain(found.floor),
        "proof": {**vars(proof), "status": proof.status.name, "bound": _plain(proof.bound), "gap": _plain(proof.gap)},
        "stats": found.stats.to_dict(),
        "notes": list(source.notes),
        "families": {name: _families(found, x) for x, name in enumerate(found.scored_names)},
    }


def _families(found: BestList[Any], x: int) -> list[list[float | str]]:
    """The local score and the parents of each family of a variable that occurs; of an empty list, of any family."""
    name, source = found.scored_names[x], found.source
    occurring = [_named(found, mask) for mask in np.unique(found.parents[:, x]).tolist()]
    return [[source.local(name, parents), *parents] for parents in occurring or [_any_parents(source, name)]]


def _any_parents(source: Scores, name: str) -> tuple[str, ...]:
    try:
        source.local(name)
    except ScoreError:  # listed scores need not have the family without parents
        return next(parents for parents, _ in source.families(name))
    return ()


def _named(found: BestList[Any], mask: int) -> tuple[str, ...]:
    return tuple(name for i, name in enumerate(found.scored_names) if mask >> i & 1)


def _item_lines(found: BestList[Any]) -> Iterator[str]:
    texts = [_FamilyTexts(found, name) for name in found.scored_names]
    sizes = found.sizes if isinstance(found, ClassList) else None
    for place, (score, masks) in enumerate(zip(found.scores.tolist(), found.parents.tolist(), strict=True)):
        parents = ", ".join([known[mask] for known, mask in zip(texts, masks, strict=True) if mask])
        size = "" if sizes is None else f', "size": {sizes[place]}'
        yield f'{{"score": {score!r}, "parents": {{{parents}}}{size}}}'


class _FamilyTexts(dict[int, str]):
    """A variable and its parents by mask, as they stand in a line; families come again and again."""

    def __init__(self, found: BestList[Any], name: str) -> None:
        self._found, self._name = found, name

    def __missing__(self, mask: int) -> str:
        self[mask] = f"{json.dumps(self._name)}: {json.dumps(_named(self._found, mask))}"
        return self[mask]


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
