"""How a search stands, in a file: written whole every few seconds, so that a search that was killed can go on.

The file belongs to one question and one list of families: the search of another table, score or limit refuses it. It
begins with lines of text (format and version, digest of the question, the families and their scores, digest of all the
rest); arrays (.npz) follow, which are looked at only when both digests are right. What they claim is checked again
where that is cheap.

A list of networks first searches the best, then what is within reach of it, on lists of families that reach as far:
then their digest stands among the arrays.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.atomic_write import write_whole
from topdag._util.bitsets import is_acyclic, masks_in, set_array
from topdag.errors import FileError, why_not_opened
from topdag.search.costs import costs_of
from topdag.search.open_nodes import OpenParts
from topdag.search.relaxation import Incumbent, Relaxation, gives_its_bound
from topdag.search.stores import ListStore

FORMAT, VERSION = "topdag-checkpoint", 3
LONGEST_HEAD = 100
SECONDS_BETWEEN = 5.0
BEST = "the best network"  # what is searched, unless another question is asked
ANEW = "delete the file to begin anew"
Kinds: TypeAlias = dict[str, tuple[type[Any], int | None]]
ARRAYS: Kinds = {  # of array: what numbers, how many axes
    "members": (np.uint64, None),
    "ks": (np.int64, 1),
    "multipliers": (np.float64, 1),
    "family_bounds": (np.float64, 1),
    "costs": (np.float64, 1),
    "counts": (np.int64, 1),
    "masks": (np.uint64, None),
}
KINDS_OF_PARTS: Kinds = {
    "part_kept": (np.uint8, 1),
    "part_bounds": (np.float64, 1),
    "part_numbers": (np.int64, 1),
    "part_edges": (np.int64, 2),
    "part_joined": (np.int64, 2),
    "part_allowed": (np.uint8, 2),
}
KINDS_OF_A_LIST: Kinds = {
    "list_reach": (np.float64, 1),
    "list_families": (np.uint8, 1),
    "list_networks": (np.uint64, None),
}


@dataclass(frozen=True)
class State:
    """A search after its root: the relaxation, the best network found, and the parts still open, if any were made."""

    root: Relaxation
    incumbent: Incumbent
    bound: float
    parts: OpenParts | None


@dataclass(frozen=True)
class ListState(State):
    """Of a list, once its best network is proved: the networks listed, in the order in which they were found, from the
    best on, of the families of ``store``. It is to have all within ``reach`` nats of the best, infinite: all
    there are; none that is missing costs less than ``bound``."""

    reach: float
    store: ListStore
    networks: Sequence[Incumbent]


class _Refused(Exception):
    """Why the file is refused; what to do is added by who reads it."""


class Checkpoint:
    """A file for the state of one search. ``question``: in words, what is searched."""

    def __init__(self, path: Path, store: ListStore, question: str = BEST) -> None:
        self.path = path
        self.store = store
        self.fingerprint = fingerprint_of(store, question)
        self.written_at = -SECONDS_BETWEEN

    def is_due(self, seconds: float) -> bool:
        return seconds >= self.written_at + SECONDS_BETWEEN

    def write(self, state: State, seconds: float) -> None:
        """``seconds``: the clock of the run, for ``is_due``."""
        content = content_of(_arrays_of(state, self.store.n), self.fingerprint)
        write_whole(self.path, lambda file: file.write(content))
        self.written_at = seconds

    def read(self, store_within: Callable[[float], ListStore | None] | None = None) -> State | None:
        """None when there is no such file yet. ``store_within``: of a list, the families that networks so far behind
        the best may have; None, as there, when the time is up."""
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
            arrays = _arrays_in(packed)
            if "list_reach" not in arrays:
                return _state_of(arrays, self.store, None)
            assert store_within is not None  # the question is in the fingerprint
            reach = _reach_in(arrays)
            store = store_within(reach)
            return None if store is None else _state_of(arrays, store, reach)
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
                f"{self.path}: this checkpoint belongs to another question, table, score or parent limit, or is "
                f"damaged; give what it was made for, or another name, or {ANEW}."
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


def fingerprint_of(store: ListStore, question: str = BEST) -> str:
    """The same for the same question, names, families and scores only."""
    digest = hashlib.sha256(json.dumps([question, *store.lists.names]).encode())
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
    if parts is not None:
        arrays |= {f"part_{name}": value for name, value in parts.arrays().items()}
    if isinstance(state, ListState):
        arrays |= {
            "list_reach": np.array([state.reach]),
            "list_families": np.frombuffer(bytes.fromhex(fingerprint_of(state.store)), dtype=np.uint8),
            "list_networks": set_array([mask for network in state.networks for mask in network.masks], n),
        }
    return arrays


def _arrays_in(packed: bytes) -> dict[str, NDArray[Any]]:
    """The arrays, all of their kinds."""
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # there is no end to what the readers of zip and npy raise
        raise _Refused(f"that arrays follow ({error})") from None
    kinds = dict(ARRAYS)
    for more in (KINDS_OF_PARTS, KINDS_OF_A_LIST):
        kinds |= more if more.keys() & arrays.keys() else {}
    if arrays.keys() != kinds.keys():
        raise _Refused(f"that its arrays are those of a search ({', '.join(arrays)})")
    for name, (numbers, n_axes) in kinds.items():
        if arrays[name].dtype != numbers or arrays[name].ndim != (n_axes or arrays[name].ndim):
            raise _Refused(f"that its {name} are of the right kind")
    return arrays


def _reach_in(arrays: dict[str, NDArray[Any]]) -> float:
    reach = arrays["list_reach"].tolist()
    if len(reach) != 1 or not reach[0] >= 0.0 or "part_kept" not in arrays:
        raise _Refused("how far the list reaches")
    return float(reach[0])


def _state_of(arrays: dict[str, NDArray[Any]], store: ListStore, reach: float | None) -> State:
    """``reach``: of a list."""
    _require_shapes(arrays, store, is_list=reach is not None)
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
    known = _Families(store)
    if known.network(incumbent.masks, root) != incumbent:
        raise _Refused("the cost of its network")
    costs = (root.bound, bound, cost, threshold) if reach is None else (root.bound, cost, threshold)
    is_ordered = all(0.0 <= low <= high < math.inf for low, high in pairwise(costs)) and root.bound <= bound < math.inf
    if not is_ordered or not gives_its_bound(root, store):
        raise _Refused("a bound")
    own = {name.removeprefix("part_"): value for name, value in arrays.items() if name.startswith("part_")}
    parts = OpenParts.from_arrays(own, store.n_families) if own else None
    if parts is not None:
        _require_parts(parts, root, store)
    if reach is None:
        return State(root, incumbent, bound, parts)
    networks = _listed_in(arrays, root, known)
    if networks[0] != incumbent or any(network.cost < cost for network in networks):
        raise _Refused("the networks listed")
    return ListState(root, incumbent, bound, parts, reach, store, networks)


def _listed_in(arrays: dict[str, NDArray[Any]], root: Relaxation, known: _Families) -> list[Incumbent]:
    if arrays["list_families"].tobytes() != bytes.fromhex(fingerprint_of(known.store)):
        raise _Refused("which families there are within reach")
    masks, n = masks_in(arrays["list_networks"]), known.store.n
    return [known.network(tuple(masks[at : at + n]), root) for at in range(0, len(masks), n)]


def _require_shapes(arrays: dict[str, NDArray[Any]], store: ListStore, *, is_list: bool) -> None:
    n_cuts, n_parts = len(arrays["ks"]), len(arrays.get("part_bounds", ()))
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
            "part_numbers": (n_parts + 1,),
            "part_edges": (0 if is_list else n_parts, 2),
            "part_joined": (len(arrays["part_joined"]) if is_list else 0, 3),
            "part_allowed": (n_parts, -(-n_kept // 8)),
        }
    if is_list:
        network = set_array([0] * store.n, store.n)
        n_listed = max(1, arrays["list_networks"].size // network.size)
        expected |= {"list_families": (32,), "list_networks": (n_listed * store.n, *network.shape[1:])}
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            raise _Refused(f"that its {name} have the size {arrays[name].shape}")
    owners = arrays["part_joined"][:, 0] if "part_joined" in arrays else np.zeros(0)
    if not ((owners >= 0) & (owners < n_parts)).all():
        raise _Refused("what is decided of its parts")


class _Families:
    """The families of a store, by what they are."""

    def __init__(self, store: ListStore) -> None:
        self.store = store
        self._costs = costs_of(store)
        masks, offsets = masks_in(store.parents), store.lists.offsets.tolist()
        self._places = [dict(zip(masks[begin:end], range(begin, end), strict=True)) for begin, end in pairwise(offsets)]

    def network(self, masks: tuple[int, ...], root: Relaxation) -> Incumbent:
        """With its cost; refused unless it is acyclic, of these families, and not ruled out by the relaxation."""
        places = [own.get(mask) for own, mask in zip(self._places, masks, strict=True)]
        listed = [place for place in places if place is not None]
        cost = float(self._costs[listed].sum())
        if len(listed) < self.store.n or not is_acyclic(masks) or not (root.family_bounds[listed] <= cost).all():
            raise _Refused("a network")
        return Incumbent(masks, cost)


def _require_parts(parts: OpenParts, root: Relaxation, store: ListStore) -> None:
    """Every variable has a family left; those left are the ones with the least bounds; splits and what is decided are
    edges."""
    left, gone = root.family_bounds[parts.kept], root.family_bounds[~parts.kept]
    n_left = np.add.reduceat(parts.kept.astype(np.int64), store.lists.offsets[:-1])
    if not n_left.all() or not left.max() < gone.min(initial=math.inf):
        raise _Refused("the families left")
    for part in parts.parts:
        edges = [*(() if part.edge is None else (part.edge,)), *part.decisions]
        are_edges = all(x != y and 0 <= x < store.n and 0 <= y < store.n for x, y, *_ in edges)
        is_numbered = 1 <= part.number <= (math.inf if part.edge is None else parts.n_parts)
        if not are_edges or not is_numbered or not root.bound <= part.bound < math.inf:
            raise _Refused(f"the open part {part.number}")
