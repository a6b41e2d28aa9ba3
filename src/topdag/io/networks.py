"""Files of networks, told by their endings: .json, .bif, .xml, .net, .xdsl, .uai; .dot and pictures only to write."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from topdag._util.atomic_write import NETWORKS, PICTURES, READ, XMLBIF, FilePath, ending_of, write_as_named
from topdag._util.options import worded
from topdag.errors import FileError, NetworkError, why_not_opened
from topdag.io.formats.bif import bif_text, read_bif_text
from topdag.io.formats.hugin_net import net_text, read_net_text
from topdag.io.formats.parts import ReadVariable, fitted_of, network_of
from topdag.io.formats.uai import read_uai_text, uai_text
from topdag.io.formats.xdsl import read_xdsl, xdsl_text
from topdag.io.formats.xmlbif import read_xmlbif, xmlbif_text
from topdag.networks.fitted import FITTED_FORMAT, FittedNetwork
from topdag.networks.network import Network

WITH_TABLES: dict[str, Callable[[FittedNetwork], str]] = {
    ".bif": bif_text,
    ".net": net_text,
    ".xdsl": xdsl_text,
    ".uai": uai_text,
}
TEXTS = {".bif": read_bif_text, ".net": read_net_text, ".uai": read_uai_text}
GZIP = b"\x1f\x8b"
BEGINNINGS = {
    ".json": rb"\{",
    ".xdsl": rb"<(?=[\s\S]*<smile\b)",
    ".xml": rb"<",
    ".uai": rb"(BAYES|MARKOV)\b",
    ".net": rb"(%[^\n]*\s*)*+(net|(discrete\s+)?node|potential)\b",
    ".bif": rb"",
}
"""By which a network without a file name is told: the first that fits."""
Made = TypeVar("Made")


@dataclass(frozen=True)
class Unnamed:
    """What a file of a network would hold, read from elsewhere; no name says its format, but its beginning does."""

    content: bytes
    called: str

    def __str__(self) -> str:
        return self.called


Source = FilePath | Unnamed


def write_network(path: FilePath, network: Network | FittedNetwork) -> None:
    """Writes a network, fitted or not, as the ending of the name says; a further .gz compresses.

    .json, .xml (XMLBIF; also .xmlbif, .bifxml) and .dot (for Graphviz) hold networks without probabilities too;
    .bif, .net (HUGIN), .xdsl (GeNIe) and .uai need a fitted one; .svg, .png and .pdf are pictures. What a format
    cannot hold is refused; .uai holds no names at all, only places of variables and states.
    """
    ending = ending_of(path, NETWORKS, "a network")
    if not isinstance(network, Network | FittedNetwork):
        raise FileError(f"{path}: write_network writes a Network, not {type(network).__name__}")
    try:
        content = picture(network, ending) if ending in PICTURES else network_text(network, ending).encode()
    except (ValueError, ImportError) as error:  # a name or a state that the format cannot hold; matplotlib is missing
        raise FileError(f"{path}: {error}") from error
    write_as_named(path, lambda file: file.write(content))


def picture(network: Network | FittedNetwork, ending: str) -> bytes:
    """The network drawn; .png and .pdf by matplotlib."""
    drawn = network if isinstance(network, Network) else network.network
    if ending == ".svg":
        return drawn.to_svg().encode()
    from topdag.networks.drawing.plots import saved

    return saved(drawn.plot(), ending[1:])


def network_text(network: Network | FittedNetwork, ending: str) -> str:
    """What a file with this ending holds."""
    if ending == ".json":
        return json.dumps(network.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if ending in XMLBIF:
        return xmlbif_text(network)
    if ending == ".dot":
        return (network if isinstance(network, Network) else network.network).to_dot()
    if isinstance(network, FittedNetwork):
        return WITH_TABLES[ending](network)
    raise NetworkError(
        f"{ending} holds probabilities, which network.fit(table) or topdag fit gives; .json and .xml hold bare networks"
    )


def read_network(path: Source) -> Network:
    """Reads the structure of a network; from .json also of one inside an answer. See ``read_fitted`` for the rest."""
    return _from_json(path, _network_in) if is_json(path) else _read(path, _format(path), network_of)


def read_fitted(path: Source) -> FittedNetwork:
    """Reads a network with its states and probabilities: .json, .bif, .xml (XMLBIF), .net, .xdsl, .uai, also gzipped.

    States that are all whole numbers become integers, as in ``read_table``. Rows that sum to 1 but for the rounding of
    their decimals are divided by their sum; others are refused, with their line.
    """
    return _from_json(path, FittedNetwork.from_dict) if is_json(path) else _read(path, _format(path), fitted_of)


def read_either(path: Source) -> Network | FittedNetwork:
    """A fitted network if the file has probabilities, else the structure alone."""
    if is_json(path):
        return _from_json(path, _fitted_or_network_in)
    return _read(path, _format(path), _fitted_or_network_of)


def read_bif(path: FilePath) -> FittedNetwork:
    """``read_fitted`` for BIF in a file of any name."""
    return _read(path, ".bif", fitted_of)


def is_json(path: Source) -> bool:
    return _format(path) == ".json"


def read_json(path: Source) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        content = json.loads(_content(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"{path}: this is not JSON ({error}); {worded('write_network writes', 'topdag best -o writes')} such files"
        ) from error
    if not isinstance(content, dict):
        raise FileError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content


ANSWERS = ("topdag-answer", "topdag-structural-em")
READ_BY = {
    "topdag-bootstrap": "read_bootstrap",
    "topdag-posteriors": "read_posteriors",
    "topdag-list": "read_list",
}
"""What reads files that look alike and hold no single network."""


def _network_in(content: Mapping[str, Any]) -> Network:
    if content.get("format") == FITTED_FORMAT:
        return FittedNetwork.from_dict(content).network
    reader = READ_BY.get(str(content.get("format")))
    if reader is not None:
        raise NetworkError(f"this is no network or answer with one; in Python, topdag.io.{reader} reads it")
    if content.get("format") not in ANSWERS:
        return Network.from_dict(content)
    if not isinstance(content.get("network"), dict):
        raise NetworkError("the answer holds no network")
    return Network.from_dict(content["network"])


def _fitted_or_network_in(content: Mapping[str, Any]) -> Network | FittedNetwork:
    return FittedNetwork.from_dict(content) if content.get("format") == FITTED_FORMAT else _network_in(content)


def _fitted_or_network_of(variables: Mapping[str, ReadVariable]) -> Network | FittedNetwork:
    has_tables = any(variable.numbers is not None for variable in variables.values())
    return fitted_of(variables) if has_tables else network_of(variables)


def _from_json(path: Source, made_of: Callable[[Mapping[str, Any]], Made]) -> Made:
    try:
        return made_of(read_json(path))
    except NetworkError as error:
        raise FileError(f"{path}: {error}") from error


def _read(path: Source, ending: str, made_of: Callable[[Mapping[str, ReadVariable]], Made]) -> Made:
    content = _content(path)
    try:
        variables = _variables(content, ending)
        if not variables:
            raise FileError("there is no variable in it")
        return made_of(variables)
    except (FileError, NetworkError) as error:
        raise FileError(f"{path}: {error}") from error


def _variables(content: bytes, ending: str) -> dict[str, ReadVariable]:
    if ending in XMLBIF:
        return read_xmlbif(content)
    if ending == ".xdsl":
        return read_xdsl(content)
    return TEXTS[ending](_decoded(content))


def _decoded(content: bytes) -> str:
    """UTF-8, or else Latin-1, in which older programs wrote; with or without its mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _format(path: Source) -> str:
    """The ending that the name has; or that it would have, going by what it holds."""
    if not isinstance(path, Unnamed):
        return ending_of(path, READ, "a network")
    content = _content(path).removeprefix(codecs.BOM_UTF8).lstrip()
    return next(ending for ending, beginning in BEGINNINGS.items() if re.match(beginning, content))


def _content(path: Source) -> bytes:
    try:
        content = path.content if isinstance(path, Unnamed) else Path(path).read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path}: the gzip file is damaged: {error}") from error
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
