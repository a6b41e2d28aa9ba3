"""Files of scores (.npz, .jkl, .pss). Written whole or not at all; nothing is unpickled."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from topdag._util.atomic_write import SCORES, FilePath, ending_of, write_whole
from topdag._util.bitsets import masks_in, sizes_of, sort_keys
from topdag._util.options import option
from topdag.data.table import Table
from topdag.errors import FileError, ScoreError, why_not_opened
from topdag.io.equivalence import checked_equivalence
from topdag.io.score_text import read_jkl, read_pss, require_names_fit, write_jkl, write_pss
from topdag.knowledge.constraints import Constraints
from topdag.networks.network import Network
from topdag.scoring.keep import KBest, Keep, Within, keep_epsilon
from topdag.scoring.kinds.discrete import kind_from_dict, kind_to_dict
from topdag.scoring.probability_losses import together
from topdag.scoring.rounding import require_exact_sums
from topdag.scoring.score import check_max_parents, scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import FamilyStore, ListStore, ParentLimits, SetStore, Store

FORMAT, VERSION = "topdag-scores", 1
FINEST_GRID = 40


def write_scores(path: FilePath, scores: Scores) -> None:
    """Writes scores: .npz keeps everything, .jkl (GOBNILP) and .pss (URLearning) list the families; a further .gz
    compresses these two."""
    kind = ending_of_scores(path)
    if kind != ".npz" and scores.rest is not None:
        said = "; ".join(scores.rest.lines(scores.scored_names))
        raise FileError(f"{os.fspath(path)}: a list of families cannot say this; write .npz: {said}")
    if kind == ".npz":
        write_whole(path, lambda file: np.savez(file, **_arrays_of(scores)))
    elif kind == ".jkl":
        write_jkl(path, scores.names, _blocks(scores))
    else:
        write_pss(path, scores.names, _blocks(scores), _information(scores))


def read_scores(path: FilePath, *, keep: Keep = "best", score_equivalent: bool = False) -> Scores:
    """Reads what ``write_scores`` or another program wrote.

    A .jkl or .pss file does not say what it was pruned for: it counts as kept for the best network only, unless
    ``keep`` says more ("all", KBest(k) or Within(factor)). Nor does it say what the score is: with ``score_equivalent``
    you say that networks of a class have the same one, as by BDeu or BIC, so that classes can be listed; it is checked
    where families allow it, and told with every proof. A .npz file says all that itself.
    """
    keep_epsilon(keep)
    kind = ending_of_scores(path)
    if kind == ".npz":
        if score_equivalent:
            raise ScoreError(f"{option('score_equivalent')}: a .npz file says itself what its score is.")
        return _read_npz(path)
    lists = read_jkl(path) if kind == ".jkl" else read_pss(path)
    try:
        claim = checked_equivalence(lists) if score_equivalent else None
        return scores_from_lists(lists, keep=keep, said_equivalent=claim)
    except ScoreError as error:
        raise FileError(f"{path}: {error}") from error


def require_names_for(path: FilePath, names: Sequence[str]) -> None:
    """Raises FileError where the file that is to be written cannot hold them, before anything is scored."""
    if (kind := ending_of_scores(path)) != ".npz":
        require_names_fit(path, names, by_urlearning=kind == ".pss")


def ending_of_scores(path: FilePath) -> str:
    """What the name says that the file holds; an error if that is no scores."""
    kind = ending_of(path, SCORES, "scores")
    if kind == ".npz" and os.fspath(path).lower().endswith(".gz"):
        raise FileError(f"{os.fspath(path)}: a .npz file is never gzipped; its name must end in .npz")
    return kind


def _blocks(scores: Scores) -> Iterator[tuple[int, Iterator[tuple[float, tuple[str, ...]]]]]:
    """Per variable its families, best first, as the writers of score files take them."""
    for column, name in enumerate(scores.names):
        if column not in scores.columns:
            yield 1, iter([(0.0, ())])
            continue
        masks, values = scores.store.families_of(scores.columns.index(column))
        if not len(values):
            raise FileError(f"{name!r} has no allowed parent set, which a score file cannot say")
        yield len(values), _families(scores, masks, values)


def _families(scores: Scores, masks: Any, values: Any) -> Iterator[tuple[float, tuple[str, ...]]]:
    names = list(scores.scored_names)
    numbers = masks_in(masks)
    for at in np.lexsort((*sort_keys(masks), sizes_of(masks), -values)).tolist():
        mask = numbers[at]
        yield float(values[at]), tuple(name for i, name in enumerate(names) if mask >> i & 1)


def _information(scores: Scores) -> Iterator[tuple[str, str]]:
    kind = kind_to_dict(scores.kind)
    if scores.table is not None:
        yield "num_records", str(scores.table.n_rows)
    if scores.max_parents is not None:
        yield "parent_limit", str(scores.max_parents)
    if kind is not None:
        yield "score_type", str(kind["name"])
        if "ess" in kind:
            yield "ess", str(kind["ess"])


def _arrays_of(scores: Scores) -> dict[str, Any]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "names": scores.names,
        "kind": kind_to_dict(scores.kind and scores.kind.unconstrained),  # its constraints stand with the others
        "max_parents": scores.max_parents,
        "keep": scores.keep if isinstance(scores.keep, str) else asdict(scores.keep),
        "columns": scores.columns,
        "grid": scores.grid,
        "notes": scores.notes,
    }
    if scores.constraints is not None:
        header["constraints"] = scores.constraints.to_dict()
    if scores.left_out:
        header["left_out"] = True
    arrays: dict[str, Any] = {}
    if scores.table is not None and header["kind"] is not None:
        header["states"] = [[_plain_state(s) for s in states] for states in scores.table.states]
        header["keep_constant"] = scores.table.keep_constant
        arrays |= {"codes": scores.table.codes, "weights": scores.table.weights}  # missing: the code after the last
        if scores.table.continuous:
            arrays["numbers"] = scores.table.numbers
    store = scores.store
    if isinstance(store, SetStore):
        below = store.arrays[1:]
        header["below"] = [None if b is None else next(i for i, c in enumerate(below) if c is b) for b in store.below]
        header["limits"] = store.limits
        arrays |= {"joint": store.joint} | {f"below{i}": b for i, b in enumerate(below)}
    elif isinstance(store, FamilyStore):
        arrays["families"] = store.families
    else:
        lists = store.listed.lists
        arrays |= {"offsets": lists.offsets, "masks": lists.masks, "scores": lists.scores}
    return {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays}


def _plain_state(state: object) -> object:
    return state if isinstance(state, (str, int, float, bool)) or state is None else str(state)


def _read_npz(path: FilePath) -> Scores:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        return _scores_of(_checked_header(json.loads(arrays.pop("header").tobytes())), arrays)
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
    except (FileError, ScoreError) as error:
        raise FileError(f"{path}: {error}") from error
    except Exception as error:  # there is no end to what a damaged file makes the readers of zip and npy raise
        raise FileError(f"{path}: this is not a file of scores that topdag wrote ({error})") from error


def _checked_header(header: dict[str, Any]) -> dict[str, Any]:
    """A header of the known format whose entries are of the right kind; that they fit the arrays is checked later."""
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        raise FileError(f"format {header['format']!r}, version {header['version']!r} is not known here")
    names, notes, grid = header["names"], header["notes"], header["grid"]
    if not isinstance(names, list) or not all(isinstance(note, str) for note in notes):
        raise FileError("names and notes must be lists of texts")
    Network(names, {})  # different texts
    check_max_parents(header["max_parents"])
    if type(grid) is not int or not -1000 <= grid <= FINEST_GRID:
        raise FileError(f"the grid must be a whole number up to {FINEST_GRID}, not {grid!r}")
    return header


def _scores_of(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Scores:
    names, columns = tuple(header["names"]), tuple(header["columns"])
    if sorted(set(columns)) != list(columns) or not all(0 <= c < len(names) for c in columns):
        raise FileError("the scored columns do not fit the names")
    keep = header["keep"]
    if not isinstance(keep, str):
        keep = KBest(keep["k"]) if "k" in keep else Within(keep["factor"])
    keep_epsilon(keep)
    kind = kind_from_dict(header["kind"])
    table = None
    if "codes" in arrays:
        table = Table.from_codes(
            names,
            _codes_with_gaps(arrays["codes"], header["states"]),
            weights=arrays["weights"],
            states=header["states"],
            keep_constant=bool(header["keep_constant"]),
            numbers=arrays.get("numbers", ()),
        )
    known = Constraints.from_dict(header["constraints"]) if "constraints" in header else None
    if kind is not None:
        kind, known = together(kind, known)
    store = _store_of(tuple(names[c] for c in columns), header, arrays)
    require_exact_sums(store, header["grid"], only_best=keep == "best" and known is None)
    compiled = None if known is None else known.compiled(names, columns)
    # Such constraints may need what was pruned, so it was pruned for the table, and a question may score again.
    is_automatic = compiled is not None and keep != "all" and not compiled.rest.is_closed_under_removal
    return Scores(
        names=names,
        kind=kind,
        table=table,
        max_parents=header["max_parents"],
        keep=keep,
        columns=columns,
        store=store,
        grid=header["grid"],
        notes=tuple(header["notes"]),
        constraints=known,
        compiled=compiled,
        automatic=is_automatic and table is not None,
        left_out=bool(header.get("left_out", False)),
    )


def _codes_with_gaps(codes: Any, states: Sequence[Sequence[Any]]) -> Any:
    """A file has the code after the last state for a missing cell, as a table has."""
    arities = np.array([len(of) for of in states])[:, None]
    return np.where((codes == arities) & (arities > 0), -1, codes.astype(np.int64))


def _store_of(names: tuple[str, ...], header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Store:
    n = len(names)
    if "joint" in arrays:
        below = [None if i is None else _checked(arrays[f"below{i}"], 2**n) for i in header["below"]]
        if len(below) != n:
            raise FileError("one function of parents is needed for each variable")
        limits = tuple(ParentLimits(*own) for own in header.get("limits", ()))
        if len(limits) not in (0, n) or any(own.must & ~own.may or own.may >> n for own in limits):
            raise FileError("limits of parents are needed for each variable, or for none")
        return SetStore(n, _checked(arrays["joint"], 2**n), tuple(below), limits)
    if "families" in arrays:
        return FamilyStore(n, _checked(arrays["families"], n << n - 1))
    lists = FamilyLists(names, arrays["offsets"], arrays["masks"], arrays["scores"])
    return ListStore.on_grid(lists, header["grid"])


def _checked(array: Any, size: int) -> Any:
    """Scores below infinity; minus infinity marks what is not allowed."""
    if array.dtype != np.float64 or array.shape != (size,):
        raise FileError(f"expected {size} scores")
    if not (array < math.inf).all():
        raise FileError("a score is not a number")
    return array
