"""Files changed at random: as bytes, as lines and words, as JSON, as arrays. The same draws give the same file."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from topdag.search import checkpoints

Mutate = Callable[[bytes, random.Random], bytes]

HUGE = ("1" + "0" * 400, "9" * 5000, "-" + "7" * 30, "18446744073709551616", "-9223372036854775809")
NUMBERS = (
    *HUGE,
    "1e999",
    "-1e308",
    "1e-400",
    "nan",
    "-inf",
    "Infinity",
    "-0",
    "0",
    "-1",
    "0.5",
    "2",
    "1_0",
    "0x1",
    "٣",
    "²",
)
MARKS = ("", " ", "\n", "\r", "\t", "\0", "\ufeff", '"', "'", ",", ";", "|", "#", "//", "/*", "\\", "{", "}", "[", "]")
WORDS = (
    *MARKS,
    "(",
    ")",
    "<",
    ">",
    "</",
    "&",
    "&#0;",
    "&x;",
    "->",
    "=",
    ":",
    "not ",
    "and",
    "null",
    "true",
    "é",
    "\u2028",
)
NESTED = ("[" * 3000, "(" * 3000, "{" * 3000, "not " * 3000, '{"a":' * 3000, "<a>" * 3000, "- " * 3000)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, 1.5, -2.5, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
    *(10**400, -(10**400), 2**63, 2**64, -(2**63) - 1, "", "x", "a", "inf", "-inf", "nan", "\0", "\ud800", "é", "1"),
    *([], {}, [[]], [1], ["a"], ["a", "a"], [None], {"a": 1}, {"": []}, [[0.5, 0.5]], [0.5, 0.5], {"format": "x"}),
)
TOKEN = re.compile(r"\w+|[^\w\s]|\s+")


def mutated(kind: Mutate, content: bytes, draw: random.Random) -> bytes:
    """One to three changes."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        content = kind(content, draw)
    return content


def of_bytes(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content) + 1)
    end = min(len(content), start + draw.choice([1, 1, 2, 4, 16, 100]))
    piece = content[start:end]
    other = draw.randrange(len(content) + 1)
    changed = draw.choice(
        [
            lambda: bytes(byte ^ 1 << draw.randrange(8) for byte in piece),
            lambda: b"",
            lambda: piece * draw.choice([2, 3, 50]),
            lambda: draw.randbytes(len(piece)),
            lambda: bytes(len(piece)),
            lambda: content[other : other + 20],
            lambda: piece[::-1],
        ]
    )()
    whole = [content[:start], content[start:], content[:start] + changed + content[end:]]
    return draw.choices(whole, [1, 1, 10])[0]


def of_text(content: bytes, draw: random.Random) -> bytes:
    """Words, lines, encodings; or bytes."""
    text = content.decode("utf-8", "surrogateescape")
    change = draw.choices([_words, _lines, _encoded, None], [8, 3, 1, 3])[0]
    if change is None or not text:
        return of_bytes(content, draw)
    found = change(text, draw)
    return found if isinstance(found, bytes) else found.encode("utf-8", "surrogateescape")


def _words(text: str, draw: random.Random) -> str:
    words = TOKEN.findall(text)
    place, other = draw.randrange(len(words)), draw.randrange(len(words))
    new = draw.choices([NUMBERS, WORDS, NESTED, (words[other],), (words[place] * 2,)], [4, 4, 1, 4, 1])[0]
    words[place] = draw.choice(new)
    return "".join(words)


def _lines(text: str, draw: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    place, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    new = draw.choice(
        [[], [lines[place]] * 2, [lines[other]], [lines[place].rstrip("\n")], ["\n"], [lines[place]] * 40]
    )
    return "".join([*lines[:place], *new, *lines[place + 1 :]])


def _encoded(text: str, draw: random.Random) -> bytes:
    encoding = draw.choice(["utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32", "utf-7", "cp1252"])
    return text.encode(encoding, "ignore")


def of_json(content: bytes, draw: random.Random) -> bytes:
    """A value changed in kind, dropped, doubled or moved; or text."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return of_text(content, draw)
    if draw.random() < 0.2:
        return of_text(content, draw)
    return json.dumps(_json_changed(whole, draw)).encode()


def of_json_lines(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    if draw.random() < 0.3:
        return of_text(content, draw)
    place = draw.choice([0, draw.randrange(len(lines))])
    lines[place] = of_json(lines[place], draw)
    return b"\n".join(lines)


def _json_changed(node: Any, draw: random.Random) -> Any:
    """Goes down at random and changes what it comes to."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if not keys or draw.random() < 0.15:
        return draw.choice([*VALUES, [node], {"a": node}, str(node)[:50], node])
    key = draw.choice(keys)
    change = draw.choices(["deeper", "drop", "add", "swap"], [10, 1, 1, 1])[0]
    if change == "deeper":
        node[key] = _json_changed(node[key], draw)
    elif change == "drop":
        del node[key]
    elif change == "swap":
        other = draw.choice(keys)
        node[key], node[other] = node[other], node[key]
    elif isinstance(node, dict):
        node[draw.choice(["a", "", "x", "\ud800", "é"])] = draw.choice(VALUES)
    else:
        node.insert(key, draw.choice([*VALUES, node[key]]))
    return node


def of_gzip(inner: Mutate) -> Mutate:
    """What is inside, packed again; or the packed bytes."""

    def change(content: bytes, draw: random.Random) -> bytes:
        try:
            plain = gzip.decompress(content)
        except Exception:  # already damaged
            return of_bytes(content, draw)
        return gzip.compress(inner(plain, draw), 1, mtime=0) if draw.random() < 0.7 else of_bytes(content, draw)

    return change


def of_arrays(content: bytes, draw: random.Random) -> bytes:
    """Arrays swapped, cut, of another kind or with another value, a header changed as JSON; or bytes."""
    arrays = _loaded(content)
    if arrays is None or draw.random() < 0.2:
        return of_bytes(content, draw)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _packed(_arrays_changed(arrays, draw))
    except (AttributeError, OverflowError, TypeError, ValueError):  # numpy does not make this array of that
        return of_bytes(content, draw)


def of_checkpoint(content: bytes, draw: random.Random) -> bytes:
    """Bytes; or arrays, with digests that are right."""
    first, scores, _, packed = (*content.split(b"\n", 3), b"", b"", b"")[:4]
    arrays = _loaded(packed)
    if arrays is None or draw.random() < 0.3:
        return of_bytes(content, draw)
    fingerprint = scores.removeprefix(b"scores ").decode("latin-1")
    return checkpoints.content_of(_arrays_changed(arrays, draw), fingerprint) if first else content


def _loaded(packed: bytes) -> dict[str, Any] | None:
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:  # already damaged
        return None


def _packed(arrays: dict[str, Any]) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def _extremes(kind: np.dtype[Any]) -> list[Any]:
    if kind.kind == "f":
        return [0.0, -1.0, np.finfo(kind).max, -np.inf, np.inf, np.nan, np.finfo(kind).tiny]
    return [0, 1] if kind.kind == "b" else [0, 1, np.iinfo(kind).max, np.iinfo(kind).min]


def _arrays_changed(arrays: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    if not arrays:
        return {"a": np.zeros(1)}
    if "header" in arrays and draw.random() < 0.5:
        changed = of_json(np.asarray(arrays["header"]).tobytes(), draw)
        return arrays | {"header": np.frombuffer(changed, dtype=np.uint8)}
    name, other = draw.choice(list(arrays)), draw.choice(list(arrays))
    array = np.asarray(arrays[name])  # what is no array any more, numpy gives as bytes
    change = draw.choice(["swap", "drop", "add", "cut", "value", "value", "fill", "kind", "shape", "more", "shuffle"])
    if change == "swap":
        return arrays | {name: arrays[other], other: array}
    if change == "drop":
        return {key: value for key, value in arrays.items() if key != name}
    if change == "add":
        return arrays | {draw.choice(["codes", "joint", "families", "weights", "numbers", "x"]): array}
    new = array
    if change == "cut":
        new = array[: draw.randrange(len(array) + 1)] if array.ndim else array
    elif change == "value" and array.size and array.dtype.kind in "biuf":
        new = array.copy()
        new.reshape(-1)[draw.randrange(array.size)] = draw.choice(_extremes(array.dtype))
    elif change == "fill" and array.dtype.kind in "biuf":
        new = np.full(array.shape, draw.choice(_extremes(array.dtype)), array.dtype)
    elif change == "kind":
        with np.errstate(all="ignore"):
            new = (array.real if array.dtype.kind == "c" else array).astype(
                draw.choice([np.float32, np.int8, np.uint64, np.bool_, np.complex128, "U3", "S2", ">f8"])
            )
    elif change == "shape":
        new = draw.choice([array.reshape(-1), array[np.newaxis], array.T, np.zeros((), array.dtype)])
    elif change == "more":
        new = np.concatenate([array, array]) if array.ndim else array
    elif change == "shuffle" and array.size:
        new = array.reshape(-1)[draw.sample(range(array.size), array.size)].reshape(array.shape)
    return arrays | {name: new}
