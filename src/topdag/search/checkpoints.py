"""How a search stands, in a file: written whole every few seconds, so that a search that was killed can go on.

The file belongs to one list of families: the search of another table, score or limit refuses it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.atomic_write import write_whole
from topdag._util.bitsets import masks_in, set_array
from topdag.errors import FileError, why_not_opened
from topdag.search.open_nodes import OpenParts
from topdag.search.relaxation import Incumbent, Relaxation
from topdag.search.stores import ListStore

FORMAT, VERSION = "topdag-checkpoint", 1
SECONDS_BETWEEN = 5.0


@dataclass(frozen=True)
class State:
    """A search after its root: the relaxation, the best network met, and the parts still open; None: none was made."""

    root: Relaxation
    incumbent: Incumbent
    bound: float
    parts: OpenParts | None


class Checkpoint:
    """A file for the state of one search."""

    def __init__(self, path: Path, store: ListStore) -> None:
        self.path = path
        self.fingerprint = fingerprint_of(store)
        self.size = len(store.rounded)
        self.n = store.n
        self.written_at = -SECONDS_BETWEEN

    def is_due(self, seconds: float) -> bool:
        return seconds >= self.written_at + SECONDS_BETWEEN

    def write(self, state: State, seconds: float) -> None:
        """``seconds``: the clock of the run, for ``is_due``."""
        arrays: dict[str, Any] = {
            "format": np.array(FORMAT),
            "version": np.array(VERSION),
            "families": np.array(self.fingerprint),
        }
        arrays |= _arrays_of(state, self.n)
        write_whole(self.path, lambda file: np.savez(file, **arrays))
        self.written_at = seconds

    def read(self) -> State | None:
        """None when there is no such file yet."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{self.path}: {why_not_opened(error)}") from error
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            self._require_mine(arrays)
            return _state_of(arrays, self.n, self.size)
        except (ValueError, KeyError, TypeError, EOFError, IndexError, zipfile.BadZipFile) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self.path}: this is no checkpoint that can be used; remove it to begin anew.") from error

    def _require_mine(self, arrays: dict[str, Any]) -> None:
        if str(arrays["format"]) != FORMAT:
            raise FileError(f"{self.path}: this is no checkpoint; give another name.")
        if int(arrays["version"]) != VERSION:
            raise FileError(f"{self.path}: written by another version of topdag; remove it to begin anew.")
        if str(arrays["families"]) != self.fingerprint:
            raise FileError(
                f"{self.path}: this checkpoint belongs to another table, score or parent limit; give another name, or "
                "remove it to begin anew."
            )


def fingerprint_of(store: ListStore) -> str:
    """The same for the same names, families and scores only."""
    digest = hashlib.sha256("\0".join(store.lists.names).encode())
    for array in (store.lists.offsets, store.lists.masks, store.rounded):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _arrays_of(state: State, n: int) -> dict[str, NDArray[Any]]:
    root, parts = state.root, state.parts
    arrays: dict[str, NDArray[Any]] = {
        "members": set_array([members for members, _ in root.clusters], n),
        "ks": np.array([k for _, k in root.clusters], dtype=np.int64),
        "multipliers": root.multipliers,
        "family_bounds": root.family_bounds,
        "costs": np.array([root.bound, root.threshold, state.incumbent.cost, state.bound]),
        "counts": np.array([root.rounds, root.cuts]),
        "masks": set_array(state.incumbent.masks, n),
    }
    return arrays if parts is None else arrays | {f"part_{name}": value for name, value in parts.arrays().items()}


def _state_of(arrays: dict[str, Any], n: int, size: int) -> State:
    root_bound, threshold, cost, bound = arrays["costs"].tolist()
    rounds, cuts = arrays["counts"].tolist()
    if len(arrays["masks"]) != n or arrays["family_bounds"].shape != (size,):
        raise ValueError("sizes differ")
    incumbent = Incumbent(tuple(masks_in(arrays["masks"])), cost)
    clusters = list(zip(masks_in(arrays["members"]), arrays["ks"].tolist(), strict=True))
    root = Relaxation(
        bound=root_bound,
        threshold=threshold,
        clusters=clusters,
        multipliers=arrays["multipliers"],
        family_bounds=arrays["family_bounds"],
        rounds=rounds,
        cuts=cuts,
        incumbent=incumbent,
    )
    own = {name.removeprefix("part_"): value for name, value in arrays.items() if name.startswith("part_")}
    return State(root, incumbent, bound, OpenParts.from_arrays(own, size) if own else None)
