"""Reading a file of networks or classes: understood to its last line, or refused with the number of the bad one."""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np

from topdag._util.arrays import Floats, Marks, Masks
from topdag._util.bitsets import MOST_VARIABLES, masks_in, network_rows
from topdag.answers.lists import ClassList, NetworkList
from topdag.answers.results import Proof, Stats, Status
from topdag.errors import FileError, NetworkError, ScoreError, why_not_opened
from topdag.knowledge.priors import log_weight_of, prior_from_dict
from topdag.networks.checks import LARGEST_SCORE
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import ScoreKind, kind_from_dict
from topdag.scoring.rounding import require_exact_sums
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore, SetStore, Store

FORMAT, VERSION = "topdag-list", 1
KINDS_OF_LIST: dict[str, type[NetworkList] | type[ClassList]] = {"networks": NetworkList, "classes": ClassList}
HEADER = (
    *("format", "version", "what", "items", "names", "columns", "kind", "max_parents", "prior", "grid", "floor"),
    *("proof", "stats", "notes", "families"),
)
LIMITS_OF_GRID = range(-1000, 65)

Content = dict[str, Any]


class _Wrong(Exception):
    """What is wrong with a line, or with the line of an item."""

    def __init__(self, message: str, item: int | None = None) -> None:
        super().__init__(message)
        self.item = item


class ListFile:
    """A file being read, line by line."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.number = 0

    def read(self) -> NetworkList | ClassList:
        lines = self._lines()
        try:
            header = next(lines, None)
            if header is None:
                raise _Wrong("expected the head of a list, found the end of the file")
            return _list_of(header, lines)
        except _Wrong as wrong:
            self._refuse(str(wrong), max(1, self.number) if wrong.item is None else wrong.item + 2)
        except (NetworkError, ScoreError) as wrong:
            self._refuse(str(wrong), self.number)

    def _lines(self) -> Iterator[Content]:
        try:
            with gzip.open(self.path) if self.path.lower().endswith(".gz") else open(self.path, "rb") as file:
                for self.number, line in enumerate(file, 1):
                    yield _object_in(line)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._refuse(f"the compressed file is damaged here: {error}", self.number + 1)
        except OSError as error:
            raise FileError(f"{self.path}: {why_not_opened(error)}") from None

    def _refuse(self, message: str, number: int) -> NoReturn:
        raise FileError(f"{self.path}, line {number}: {message}") from None


def _object_in(line: bytes) -> Content:
    try:
        content = json.loads(line.decode(), object_pairs_hook=_each_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _Wrong(f"this is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise _Wrong(f"expected a JSON object, found {_shown(content)}")
    return content


def _each_once(pairs: list[tuple[str, Any]]) -> Content:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return content


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number here")


def _list_of(header: Content, lines: Iterator[Content]) -> NetworkList | ClassList:
    if (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise _Wrong(f"expected the head of a list in format {FORMAT!r}, version {VERSION}")
    _require_keys(header, HEADER)
    make = KINDS_OF_LIST.get(str(header["what"]))
    if make is None:
        raise _Wrong(f"'what' should be one of {', '.join(KINDS_OF_LIST)}, not {_shown(header['what'])}")
    items = _Items(_source(header), with_size=make is ClassList)
    claims = _claimed(header, "floor"), _proof(header["proof"]), _stats(header["stats"])
    expected = _count(header, "items")
    for content in lines:
        if len(items) == expected:
            raise _Wrong(f"expected the end of the file after {expected} items")
        items.add(content)
    if len(items) < expected:
        raise _Wrong(f"the file ends after {len(items)} of {expected} items", len(items))
    found = make(items.source, items.scores, items.parents, *claims)
    _check_items(found, items)
    return found


def _source(header: Content) -> Scores:
    """The scores of the families that occur; they are enough to find the best network again, not to list others."""
    names = Network(_texts(header, "names"), {}).names
    columns = _checked_columns(header, len(names))
    max_parents = None if header["max_parents"] is None else _count(header, "max_parents")
    grid = header["grid"]
    if type(grid) is not int or grid not in LIMITS_OF_GRID:
        raise _Wrong(f"'grid' should be a whole number up to {LIMITS_OF_GRID[-1]}, not {_shown(grid)}")
    lists = _family_lists(header["families"], [names[c] for c in columns])
    store: Store = SetStore(0, np.zeros(1), ()) if lists is None else _list_store(lists, grid)
    return Scores(
        names=names,
        kind=_kind(header["kind"]),
        table=None,
        max_parents=max_parents,
        keep="best",
        columns=columns,
        store=store,
        grid=grid,
        notes=_texts(header, "notes"),
        prior=prior_from_dict(header["prior"]),
    )


def _checked_columns(header: Content, n_names: int) -> tuple[int, ...]:
    columns = header["columns"]
    fits = isinstance(columns, list) and all(type(c) is int and 0 <= c < n_names for c in columns)
    if not fits or sorted(set(columns)) != columns or len(columns) > MOST_VARIABLES:
        raise _Wrong(f"'columns' should be up to {MOST_VARIABLES:,} places of names, in order, not {_shown(columns)}")
    return tuple(columns)


def _family_lists(content: Any, names: list[str]) -> FamilyLists | None:
    """None without variables."""
    if not isinstance(content, dict) or list(content) != names:
        raise _Wrong("'families' should have the scored variables, in order")
    families = []
    for x, (name, rows) in enumerate(content.items()):
        for row in rows if isinstance(rows, list) else [None]:
            if not isinstance(row, list) or not row or _as_float(row[0]) is None:
                raise _Wrong(f"a family of {name!r} should be its local score and its parents, not {_shown(row)}")
            if not all(parent in names for parent in row[1:]):
                raise _Wrong(f"a family of {name!r} has a parent that was not scored: {_shown(row)}")
            families.append((x, [names.index(parent) for parent in row[1:]], float(row[0])))
    try:
        return FamilyLists.build(names, families) if names else None
    except FileError as error:
        raise _Wrong(str(error)) from None


def _list_store(lists: FamilyLists, grid: int) -> ListStore:
    with np.errstate(over="ignore", invalid="ignore"):
        store = ListStore.on_grid(lists, grid)
    if not np.isfinite(store.rounded).all():
        raise _Wrong("a local score is too large for the grid")
    require_exact_sums(store, grid)
    return store


class _Items:
    """The items read so far, as arrays that grow."""

    def __init__(self, source: Scores, *, with_size: bool) -> None:
        self.source = source
        self.sizes: list[int] = []
        self._names = list(source.scored_names)
        self._keys = ("score", "parents", "size") if with_size else ("score", "parents")
        self._scores, self._masks = array("d"), list[list[int]]()
        self._local = _local_scores(source)
        self._known: dict[str, dict[tuple[str, ...], int]] = {name: {} for name in self._names}

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def scores(self) -> Floats:
        return np.array(self._scores)

    @property
    def parents(self) -> Masks:
        return network_rows(self._masks, len(self._names))

    def sums(self) -> Floats:
        """Of each item the sum of its local scores."""
        total = np.zeros(len(self))
        for local, own in zip(self._local, self.parents.T, strict=True):
            masks, places = np.unique(own, return_inverse=True)
            total += np.array([local[mask] for mask in masks.tolist()], dtype=np.float64)[places]
        return total

    def add(self, content: Content) -> None:
        _require_keys(content, self._keys)
        score = _as_float(content["score"])
        if score is None:
            raise _Wrong(f"'score' should be a finite number, not {_shown(content['score'])}")
        parents = content["parents"]
        if not isinstance(parents, dict) or not parents.keys() <= self._known.keys():
            raise _Wrong(f"'parents' should give the parents of scored variables, not {_shown(parents)}")
        self._masks.append([self._mask(name, known, parents) for name, known in self._known.items()])
        self._scores.append(score)
        if "size" in content:
            self.sizes.append(_count(content, "size", math.factorial(len(self._names))))

    def _mask(self, name: str, known: dict[tuple[str, ...], int], parents: Content) -> int:
        """Families come again and again, so each is checked once."""
        own = parents.get(name, [])
        try:
            return known[tuple(own) if type(own) is list else None]  # type: ignore[index]
        except (KeyError, TypeError):
            mask = self._checked_mask(name, own)
        known[tuple(own)] = mask
        return mask

    def _checked_mask(self, name: str, own: Any) -> int:
        if not isinstance(own, list) or not all(parent in self._names for parent in own):
            raise _Wrong(f"the parents of {name!r} should be scored variables, not {_shown(own)}")
        mask = sum(1 << self._names.index(parent) for parent in set(own))
        if mask not in self._local[self._names.index(name)] or len(set(own)) < len(own):
            raise _Wrong(f"the first line has no such family of {name!r}: {_shown(own)}")
        return mask


def _local_scores(source: Scores) -> list[dict[int, float]]:
    """By variable and mask."""
    if not source.store.is_listed:
        return []
    lists = source.store.listed.lists
    bounds = zip(lists.offsets[:-1], lists.offsets[1:], strict=True)
    return [
        dict(zip(masks_in(lists.masks[begin:end]), lists.scores[begin:end].tolist(), strict=True))
        for begin, end in bounds
    ]


def _check_items(found: NetworkList | ClassList, items: _Items) -> None:
    """Each is a network, none comes twice, best first, with the score that its families have."""
    scores, parents = found.scores, found.parents
    _refuse_first(~is_acyclic(parents), "the edges form a cycle")
    slack = parents.shape[1] * math.ldexp(2.0, -found.source.grid) + 1e-9 * np.abs(scores)
    what = "the score is not the sum of the local scores" + " and the weight of the prior" * (found.prior is not None)
    _refuse_first(np.abs(scores - items.sums() - _log_weights(found)) > slack, what)
    _refuse_first(np.diff(scores, prepend=math.inf) > 0, "the score is above the one before; the best come first")
    edges = np.hstack(found.edge_masks) if isinstance(found, ClassList) else parents
    _refuse_first(_stands_above(edges), "this item stands above already")
    if isinstance(found, ClassList):
        wrong = [claimed != size for claimed, size in zip(items.sizes, found.sizes, strict=True)]
        _refuse_first(np.array(wrong, dtype=np.bool_), "the class has another size")


def _log_weights(found: NetworkList | ClassList) -> Floats:
    """What the prior adds to the score of each item."""
    prior = found.prior
    if prior is None:
        return np.zeros(len(found))
    networks = (Network.from_masks(found.names, found.source.all_masks(own)) for own in found.parents.tolist())
    return np.array([log_weight_of(prior, network, found.scored_names) for network in networks])


def is_acyclic(parents: Masks) -> Marks:
    """Of each item: take away variables without parents left, again and again; what remains lies on cycles."""
    n = parents.shape[1]
    everyone = (1 << n) - 1
    left = np.full(len(parents), everyone, dtype=parents.dtype)
    for _ in range(n):
        for x in range(n):
            left[parents[:, x] & left == 0] &= everyone ^ 1 << x
        if not left.any():
            break
    return np.asarray(left == 0)


def _stands_above(rows: Masks) -> Marks:
    if not rows.shape[1]:
        return np.arange(len(rows)) > 0
    if rows.dtype == object:  # numbers of any size: by which of those in its column each is
        rows = np.column_stack([np.unique(column, return_inverse=True)[1] for column in rows.T])
    whole = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}")[:, 0]
    again = np.ones(len(rows), dtype=np.bool_)
    again[np.unique(whole, return_index=True)[1]] = False
    return again


def _refuse_first(is_bad: Marks, message: str) -> None:
    for item in np.flatnonzero(is_bad)[:1].tolist():
        raise _Wrong(message, item)


def _proof(content: Any) -> Proof:
    content = {"gain": None, **content} if isinstance(content, dict) else content  # files of old have none
    _require_keys(content, [field.name for field in fields(Proof)])
    status, limit, space = content["status"], content["limit"], content["space"]
    if not isinstance(status, str) or status not in Status.__members__:
        raise _Wrong(f"'status' should be one of {', '.join(Status.__members__)}, not {_shown(status)}")
    if not isinstance(limit, str | None) or not isinstance(space, str):
        raise _Wrong("'limit' and 'space' of the proof should be texts")
    if (gain := content["gain"]) is not None and _as_float(gain) is None:
        raise _Wrong(f"'gain' should be a number, not {_shown(gain)}")
    return Proof(Status[status], _claimed(content, "bound"), _claimed(content, "gap"), limit, space, gain)


def _stats(content: Any) -> Stats:
    """Numbers and texts, or numbers by name, each of the kind that Stats has."""
    _require_keys(content, [field.name for field in fields(Stats)])
    for field in fields(Stats):
        value = content[field.name]
        if str(field.type) == "str":
            is_right = isinstance(value, str)
        elif "Mapping" in str(field.type):
            is_right = isinstance(value, dict) and None not in map(_as_float, value.values())
        else:
            is_right = _as_float(value) is not None
        if not is_right:
            raise _Wrong(f"{field.name!r} should be {field.type}, not {_shown(value)}")
    return Stats(**content)


def _kind(content: Any) -> ScoreKind | None:
    if not isinstance(content, dict | None):
        raise _Wrong(f"'kind' should be a score, not {_shown(content)}")
    return kind_from_dict(content)


def _require_keys(content: Any, expected: Sequence[str]) -> None:
    if not isinstance(content, dict) or content.keys() != set(expected):
        found = ", ".join(content) if isinstance(content, dict) else _shown(content)
        raise _Wrong(f"expected {', '.join(expected)}, found {found}")


def _texts(content: Content, key: str) -> tuple[str, ...]:
    texts = content[key]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _Wrong(f"{key!r} should be a list of texts, not {_shown(texts)}")
    return tuple(texts)


def _count(content: Content, key: str, most: int = 2**64 - 1) -> int:
    value = content[key]
    if type(value) is not int or not 0 <= value <= most:
        raise _Wrong(f"{key!r} should be a whole number, not {_shown(value)}")
    return value


def _claimed(content: Content, key: str) -> float:
    """A number that may be infinite."""
    value = content[key]
    number = float(value) if value in ("inf", "-inf") else _as_float(value)
    if number is None:
        raise _Wrong(f"{key!r} should be a number, not {_shown(value)}")
    return number


def _as_float(value: object) -> float | None:
    """A finite number, but none that is too large for sums."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= LARGEST_SCORE else None  # type: ignore[arg-type]


def _shown(content: object) -> str:
    text = json.dumps(content)
    return text if len(text) <= 60 else text[:57] + "..."
