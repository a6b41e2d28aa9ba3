"""Files of networks, told by their endings: .json, .bif, .xml, .net, .xdsl, .uai; .dot and pictures only to write."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from topdag._util.atomic_write import FilePath, ending_of, write_as_named
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

XMLBIF = (".xml", ".xmlbif", ".bifxml")
READ = (".json", ".bif", *XMLBIF, ".net", ".xdsl", ".uai")
PICTURES = (".svg", ".png", ".pdf")
WRITTEN = (*READ, ".dot", *PICTURES)
WITH_TABLES: dict[str, Callable[[FittedNetwork], str]] = {
    ".bif": bif_text,
    ".net": net_text,
    ".xdsl": xdsl_text,
    ".uai": uai_text,
}
TEXTS = {".bif": read_bif_text, ".net": read_net_text, ".uai": read_uai_text}
GZIP = b"\x1f\x8b"
Made = TypeVar("Made")


def write_network(path: FilePath, network: Network | FittedNetwork) -> None:
    """Writes a network, fitted or not, as the ending of the name says; a further .gz compresses.

    .json, .xml (XMLBIF; also .xmlbif, .bifxml) and .dot (for Graphviz) hold networks without probabilities too;
    .bif, .net (HUGIN), .xdsl (GeNIe) and .uai need a fitted one; .svg, .png and .pdf are pictures. What a format
    cannot hold is refused; .uai holds no names at all, only places of variables and states.
    """
    ending = ending_of(path, WRITTEN, "a network")
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


def read_network(path: FilePath) -> Network:
    """Reads the structure of a network; from .json also of one inside an answer. See ``read_fitted`` for the rest."""
    if ending_of(path, READ, "a network") == ".json":
        return _from_json(path, _network_in)
    return _read(path, ending_of(path, READ, "a network"), network_of)


def read_fitted(path: FilePath) -> FittedNetwork:
    """Reads a network with its states and probabilities: .json, .bif, .xml (XMLBIF), .net, .xdsl, .uai, also gzipped.

    States that are all whole numbers become integers, as in ``read_table``. Rows that sum to 1 but for the rounding of
    their decimals are divided by their sum; others are refused, with their line.
    """
    if ending_of(path, READ, "a network") == ".json":
        return _from_json(path, FittedNetwork.from_dict)
    return _read(path, ending_of(path, READ, "a network"), fitted_of)


def read_either(path: FilePath) -> Network | FittedNetwork:
    """A fitted network if the file has probabilities, else the structure alone."""
    if ending_of(path, READ, "a network") == ".json":
        return _from_json(path, _fitted_or_network_in)
    return _read(path, ending_of(path, READ, "a network"), _fitted_or_network_of)


def read_bif(path: FilePath) -> FittedNetwork:
    """``read_fitted`` for BIF in a file of any name."""
    return _read(path, ".bif", fitted_of)


def read_json(path: FilePath) -> dict[str, Any]:
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


def _network_in(content: Mapping[str, Any]) -> Network:
    if content.get("format") == FITTED_FORMAT:
        return FittedNetwork.from_dict(content).network
    if content.get("format") != "topdag-answer":
        return Network.from_dict(content)
    if not isinstance(content.get("network"), dict):
        raise NetworkError("the answer holds no network")
    return Network.from_dict(content["network"])


def _fitted_or_network_in(content: Mapping[str, Any]) -> Network | FittedNetwork:
    return FittedNetwork.from_dict(content) if content.get("format") == FITTED_FORMAT else _network_in(content)


def _fitted_or_network_of(variables: Mapping[str, ReadVariable]) -> Network | FittedNetwork:
    has_tables = any(variable.numbers is not None for variable in variables.values())
    return fitted_of(variables) if has_tables else network_of(variables)


def _from_json(path: FilePath, made_of: Callable[[Mapping[str, Any]], Made]) -> Made:
    try:
        return made_of(read_json(path))
    except NetworkError as error:
        raise FileError(f"{path}: {error}") from error


def _read(path: FilePath, ending: str, made_of: Callable[[Mapping[str, ReadVariable]], Made]) -> Made:
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


def _content(path: FilePath) -> bytes:
    try:
        content = Path(path).read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path}: the gzip file is damaged: {error}") from error
    except OSError as error:
        raise FileError(f"{path}: {why_not_opened(error)}") from error
