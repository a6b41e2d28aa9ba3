"""Files told by the endings of their names, and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from topdag.errors import FileError, why_not_opened

# What files are called: commands look at names before any format is loaded.
XMLBIF = (".xml", ".xmlbif", ".bifxml")
FITTED = (".bif", *XMLBIF, ".net", ".xdsl", ".uai")
"""Files of networks that are written with probabilities."""
READ = (".json", *FITTED)
PICTURES = (".svg", ".png", ".pdf")
NETWORKS = (*READ, ".dot", *PICTURES)
"""All that networks are written to."""
SCORES = (".jkl", ".pss", ".npz")
MATRICES = (".json", ".npz")
"""Probabilities of pairs."""

FilePath = str | os.PathLike[str]


def is_score_file(path: object) -> bool:
    """By its name."""
    return str(path).lower().removesuffix(".gz").endswith(SCORES)


def write_whole(path: FilePath, write: Callable[[IO[bytes]], object]) -> None:
    """Writes beside the file first, so that a failure leaves what stood there before."""
    target = Path(os.path.realpath(path))  # a link stays one
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        with draft.open("xb") as file:
            write(file)
        draft.replace(target)
    except OSError as error:
        raise FileError(f"{path}: not written: {why_not_opened(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def write_as_named(path: FilePath, write: Callable[[IO[bytes]], object]) -> None:
    """Like ``write_whole``; what a name ending in .gz promises to be gzipped is."""
    if not os.fspath(path).lower().endswith(".gz"):
        return write_whole(path, write)
    import gzip

    def write_packed(file: IO[bytes]) -> None:
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # no time: the same content makes the same file
            write(cast(IO[bytes], packed))

    return write_whole(path, write_packed)


def ending_of(path: FilePath, allowed: tuple[str, ...], what: str) -> str:
    """Which of these endings the name has; one of gzip may follow it."""
    name = os.fspath(path).lower().removesuffix(".gz")
    for ending in allowed:
        if name.endswith(ending):
            return ending
    raise FileError(f"{os.fspath(path)}: the name must end in {', '.join(allowed)} to hold {what}")
