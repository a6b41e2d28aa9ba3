"""Posteriors as files: .json for people and other programs, .npz with parent sets too. Nothing is unpickled."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from topdag._util.atomic_write import MATRICES, FilePath, write_whole
from topdag.answers.posteriors import (
    FORMAT,
    VERSION,
    Averaged,
    EdgePosteriors,
    NetworkPosteriors,
    ParentSetPosteriors,
    PathPosteriors,
    file_header,
)
from topdag.errors import FileError, why_not_opened

KINDS: dict[str, type[EdgePosteriors] | type[PathPosteriors]] = {"edges": EdgePosteriors, "paths": PathPosteriors}
ROUNDING = 1e-9
Posteriors = EdgePosteriors | PathPosteriors | NetworkPosteriors


def write_posteriors(path: FilePath, posteriors: Posteriors) -> None:
    """Writes edges, paths, or all that ``network_posteriors`` gave; parent sets go into .npz only."""
    if not isinstance(posteriors, Posteriors):
        raise TypeError(f"Only what a function for posteriors gave is written, not {type(posteriors).__name__}.")
    header, arrays = _header(posteriors), _matrices(posteriors)
    if _suffix(path) == ".json":
        content = header | {name: matrix.tolist() for name, matrix in arrays.items()}
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))
        return
    if isinstance(posteriors, NetworkPosteriors):
        kept = list(posteriors.by_parents.values())
        header["parent_sets"] = [[own.variable, list(own.candidates)] for own in kept]
        arrays |= {f"parents_{place}": own.probabilities for place, own in enumerate(kept)}
    words = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    write_whole(path, lambda file: np.savez_compressed(file, header=words, **arrays))


def read_posteriors(path: FilePath) -> Posteriors:
    """What ``write_posteriors`` wrote; ``stats`` is None, for what it cost is not kept."""
    try:
        header, arrays = _read_json(path) if _suffix(path) == ".json" else _read_npz(path)
        return _posteriors(header, arrays)
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
    except FileError:
        raise
    except Exception as error:  # there is no end to what a damaged file makes the readers raise
        raise FileError(f"{path}: this is not a file of posteriors that topdag wrote ({error})") from error


def _suffix(path: FilePath) -> str:
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in MATRICES:
        raise FileError(f"{path}: the name of a file of posteriors ends in .json or .npz.")
    return suffix


def _header(posteriors: Posteriors) -> dict[str, Any]:
    what = "all" if isinstance(posteriors, NetworkPosteriors) else posteriors.WHAT + "s"
    return file_header(what, posteriors.names, posteriors.averaged)


def _matrices(posteriors: Posteriors) -> dict[str, Any]:
    if not isinstance(posteriors, NetworkPosteriors):
        return {posteriors.WHAT + "s": posteriors.matrix}
    paths = {} if posteriors.paths is None else {"paths": posteriors.paths.matrix}
    return {"edges": posteriors.edges.matrix} | paths


def _read_json(path: FilePath) -> tuple[dict[str, Any], dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    arrays = {name: np.array(content.pop(name), dtype=np.float64) for name in KINDS if name in content}
    return content, arrays


def _read_npz(path: FilePath) -> tuple[dict[str, Any], dict[str, Any]]:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
        arrays = {name: content[name] for name in content.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def _posteriors(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Posteriors:
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        raise ValueError(f"format {header['format']!r}, version {header['version']!r}")
    names = _names(header["names"])
    words, numbers = ("prior", "space"), ("log_evidence", "cancellation", "defect")
    known = {word: str(header[word]) for word in words} | {name: float(header[name]) for name in numbers}
    if not all(math.isfinite(known[name]) for name in numbers):  # type: ignore[arg-type]
        raise ValueError("a number is not finite")
    notes = header.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError("the notes are no list of texts")
    averaged = Averaged(**known, stats=None, notes=tuple(notes))  # type: ignore[arg-type]
    found = {name: KINDS[name](names, _checked(arrays[name], len(names)), averaged) for name in KINDS if name in arrays}
    if header["what"] != "all":
        return found[header["what"]]
    edges, paths = found["edges"], found.get("paths")
    assert isinstance(edges, EdgePosteriors) and isinstance(paths, PathPosteriors | None)
    return NetworkPosteriors(edges, paths, _parent_sets(names, header, arrays, averaged), averaged)


def _names(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError("the names are no list of texts")
    if len(set(found)) < len(found):
        raise ValueError("a name occurs twice")
    return tuple(found)


def _checked(matrix: Any, n: int) -> Any:
    if _probabilities(matrix, (n, n)).diagonal().any():
        raise ValueError("a variable has an edge or path to itself")
    return matrix


def _probabilities(array: Any, shape: tuple[int, ...], slack: float = 0.0) -> Any:
    if array.shape != shape or array.dtype != np.float64 or not ((array >= 0) & (array <= 1 + slack)).all():
        raise ValueError("an array is not one of probabilities")
    return array


def _parent_sets(
    names: tuple[str, ...], header: Mapping[str, Any], arrays: Mapping[str, Any], averaged: Averaged
) -> dict[str, ParentSetPosteriors]:
    found = {}
    for place, (variable, candidates) in enumerate(header.get("parent_sets", ())):
        if {variable, *candidates} - {*names} or len({variable, *candidates}) <= len(candidates):
            raise ValueError(f"the parents of {variable!r} are not other variables, each once")
        probabilities = _probabilities(arrays[f"parents_{place}"], (1 << len(candidates),), ROUNDING)
        if not math.isclose(probabilities.sum(), 1.0, abs_tol=ROUNDING):
            raise ValueError(f"the parent sets of {variable!r} do not add up")
        found[variable] = ParentSetPosteriors(variable, tuple(candidates), probabilities, averaged)
    return found
