"""How a search stands, in a file: written whole every few seconds, so that a search that was killed can go on.

The file belongs to one list of families: the search of another table, score or limit refuses it. It begins with lines
of text (format and version, digest of the families and their scores, digest of all the rest); arrays (.npz) follow,
which are looked at only when both digests are right. What they claim is checked again where that is cheap.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.atomic_write import write_whole
from topdag._util.bitsets import is_acyclic, masks_in, set_array
from topdag.errors import FileError, why_not_opened
from topdag.search.open_nodes import OpenParts
from topdag.search.relaxation import Incumbent, Relaxation, cost_in, gives_its_bound
from topdag.search.stores import ListStore

FORMAT, VERSION = "topdag-checkpoint", 2
LONGEST_HEAD = 100
SECONDS_BETWEEN = 5.0
ANEW = "delete the file to begin anew"
ARRAYS = {  # of array: what numbers, how many axes
    "members": (np.uint64, None),
    "ks": (np.int64, 1),
    "multipliers": (np.float64, 1),
    "family_bounds": (np.float64, 1),
    "costs": (np.float64, 1),
    "counts": (np.int64, 1),
    "masks": (np.uint64, None),
}
KINDS_OF_PARTS = {
    "part_kept": (np.uint8, 1),
    "part_bounds": (np.float64, 1),
    "part_numbers": (np.int64, 1),
    "part_edges": (np.int64, 2),
    "part_allowed": (np.uint8, 2),
}


@dataclass(frozen=True)
class State:
    """A search after its root: the relaxation, the best network found, and the parts still open, if any were made."""

    root: Relaxation
    incumbent: Incumbent
    bound: float
    parts: OpenParts | None


class _Refused(Exception):
    """Why the file is refused; what to do is added by who reads it."""


class Checkpoint:
    """A file for the state of one search."""

    def __init__(self, path: Path, store: ListStore) -> None:
        self.path = path
        self.store = store
        self.fingerprint = fingerprint_of(store)
        self.written_at = -SECONDS_BETWEEN

    def is_due(self, seconds: float) -> bool:
        return seconds >= self.written_at + SECONDS_BETWEEN

    def write(self, state: State, seconds: float) -> None:
        """``seconds``: the clock of the run, for ``is_due``."""
        content = content_of(_arrays_of(state, self.store.n), self.fingerprint)
        write_whole(self.path, lambda file: file.write(content))
        self.written_at = seconds

    def read(self) -> State | None:
        """None when there is no such file yet."""
        try:
            with open(self.path, "rb") as file:
                first, scores, digest = (file.readline(LONGEST_HEAD) for _ in range(3))
                self._require_mine(first, scores)
                packed = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{self.path}: {why_not_opened(error)}") from error
        if digest != _digest_line(first, scores, packed):
            raise FileError(f"{self.path}: this checkpoint is damaged; {ANEW}.")
        try:
            return _state_of(_arrays_in(packed), self.store)
        except _Refused as wrong:
            raise FileError(f"{self.path}: this checkpoint claims what is not so: {wrong}; {ANEW}.") from None

    def _require_mine(self, first: bytes, scores: bytes) -> None:
        if not first.startswith(f"{FORMAT} ".encode()):
            raise FileError(
                f"{self.path}: this is no checkpoint that this version of topdag wrote; give another name, or {ANEW}."
            )
        if first != _first_line():
            raise FileError(f"{self.path}: written by another version of topdag, or damaged; {ANEW}.")
        if scores != _scores_line(self.fingerprint):
            raise FileError(
                f"{self.path}: this checkpoint belongs to another table, score or parent limit, or is damaged; give "
                f"what it was made for, or another name, or {ANEW}."
            )


def content_of(arrays: dict[str, NDArray[Any]], fingerprint: str) -> bytes:
    """A whole file."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)  # type: ignore[arg-type]
    first, scores = _first_line(), _scores_line(fingerprint)
    return b"".join([first, scores, _digest_line(first, scores, packed.getvalue()), packed.getvalue()])


def _first_line() -> bytes:
    return f"{FORMAT} {VERSION}\n".encode()


def _scores_line(fingerprint: str) -> bytes:
    return f"scores {fingerprint}\n".encode()


def _digest_line(first: bytes, scores: bytes, packed: bytes) -> bytes:
    return f"content {hashlib.sha256(first + scores + packed).hexdigest()}\n".encode()


def fingerprint_of(store: ListStore) -> str:
    """The same for the same names, families and scores only."""
    digest = hashlib.sha256(json.dumps(store.lists.names).encode())
    for array in (store.lists.offsets, store.lists.masks, store.rounded):
        digest.update(f"{array.dtype.str} {array.shape}".encode())
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
        "counts": np.array([root.rounds, root.cuts], dtype=np.int64),
        "masks": set_array(state.incumbent.masks, n),
    }
    return arrays if parts is None else arrays | {f"part_{name}": value for name, value in parts.arrays().items()}


def _arrays_in(packed: bytes) -> dict[str, NDArray[Any]]:
    """The arrays, all of their kinds."""
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # there is no end to what the readers of zip and npy raise
        raise _Refused(f"that arrays follow ({error})") from None
    kinds = ARRAYS | KINDS_OF_PARTS if KINDS_OF_PARTS.keys() & arrays.keys() else ARRAYS
    if arrays.keys() != kinds.keys():
        raise _Refused(f"that its arrays are those of a search ({', '.join(arrays)})")
    for name, (numbers, n_axes) in kinds.items():
        if arrays[name].dtype != numbers or arrays[name].ndim != (n_axes or arrays[name].ndim):
            raise _Refused(f"that its {name} are of the right kind")
    return arrays


def _state_of(arrays: dict[str, NDArray[Any]], store: ListStore) -> State:
    _require_shapes(arrays, store)
    root_bound, threshold, cost, bound = arrays["costs"].tolist()
    rounds, cuts = arrays["counts"].tolist()
    incumbent = Incumbent(tuple(masks_in(arrays["masks"])), cost)
    root = Relaxation(
        bound=root_bound,
        threshold=threshold,
        clusters=list(zip(masks_in(arrays["members"]), arrays["ks"].tolist(), strict=True)),
        multipliers=arrays["multipliers"],
        family_bounds=arrays["family_bounds"],
        rounds=rounds,
        cuts=cuts,
        incumbent=incumbent,
    )
    _require_network(incumbent, root, store)
    if not 0.0 <= root.bound <= bound <= cost <= threshold < math.inf or not gives_its_bound(root, store):
        raise _Refused("a bound")
    own = {name.removeprefix("part_"): value for name, value in arrays.items() if name.startswith("part_")}
    parts = OpenParts.from_arrays(own, store.n_families) if own else None
    if parts is not None:
        _require_parts(parts, root, store)
    return State(root, incumbent, bound, parts)


def _require_shapes(arrays: dict[str, NDArray[Any]], store: ListStore) -> None:
    n_cuts, n_parts = len(arrays["ks"]), len(arrays.get("part_edges", ()))
    expected = {
        "members": set_array([0] * n_cuts, store.n).shape,
        "multipliers": (n_cuts,),
        "family_bounds": (store.n_families,),
        "costs": (4,),
        "counts": (2,),
        "masks": set_array([0] * store.n, store.n).shape,
    }
    if "part_kept" in arrays:
        n_kept = int(np.unpackbits(arrays["part_kept"]).sum())
        expected |= {
            "part_kept": (-(-store.n_families // 8),),
            "part_bounds": (n_parts,),
            "part_numbers": (n_parts + 1,),
            "part_edges": (n_parts, 2),
            "part_allowed": (n_parts, -(-n_kept // 8)),
        }
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            raise _Refused(f"that its {name} have the size {arrays[name].shape}")


def _require_network(incumbent: Incumbent, root: Relaxation, store: ListStore) -> None:
    """An acyclic network of listed families, at its cost, that the relaxation does not rule out."""
    places = [store.find(x, mask) for x, mask in enumerate(incumbent.masks)]
    listed = [place for place in places if place is not None]
    if len(listed) < store.n or not is_acyclic(incumbent.masks):
        raise _Refused("a network")
    if incumbent.cost != cost_in(store, listed) or not (root.family_bounds[listed] <= incumbent.cost).all():
        raise _Refused("the cost of its network")


def _require_parts(parts: OpenParts, root: Relaxation, store: ListStore) -> None:
    """Every variable has a family left; those left are the ones with the least bounds; splits are at edges."""
    left, gone = root.family_bounds[parts.kept], root.family_bounds[~parts.kept]
    n_left = np.add.reduceat(parts.kept.astype(np.int64), store.lists.offsets[:-1])
    if not n_left.all() or not left.max() < gone.min(initial=math.inf):
        raise _Refused("the families left")
    for part in parts.parts:
        is_edge = part.edge[0] != part.edge[1] and all(0 <= x < store.n for x in part.edge)
        if not is_edge or not 1 <= part.number <= parts.n_parts or not root.bound <= part.bound < math.inf:
            raise _Refused(f"the open part {part.number}")
