"""``topdag show``: a network or an answer in a file, as text or as a picture."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from topdag._util.atomic_write import NETWORKS
from topdag.cli.command import Command, Exit
from topdag.cli.options import network_source
from topdag.cli.output import about_table, as_json, labelled, network_text
from topdag.cli.streams import say
from topdag.cli.targets import ABOUT_NETWORKS, add_json, add_output, targets
from topdag.io.networks import ANSWERS, Source, is_json, read_either, read_json, write_network
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="NET", help="an answer, or the network: .json, .bif, .xml, .net, .xdsl, .uai")
    add_output(parser, f".json, {ABOUT_NETWORKS}", several=True)
    add_json(parser)


def show(args: Namespace) -> Exit:
    outputs = targets(args.output, NETWORKS, (args.file,))
    source = network_source(args.file)
    found = read_either(source)
    for target in outputs:
        write_network(target, found)
    network = found.network if isinstance(found, FittedNetwork) else found
    say(as_json(found.to_dict()) if args.json else "\n".join([network_text(network), *_about(source, found)]))
    return Exit.FINE


def _about(path: Source, found: Network | FittedNetwork) -> list[str]:
    network = found.network if isinstance(found, FittedNetwork) else found
    lines = [labelled("size", f"{len(network.names)} variables, {network.n_edges} edges")]
    if isinstance(found, FittedNetwork):
        cells = sum(table.size for table in found.tables.values())
        lines.append(labelled("tables", f"{cells:,} probabilities"))
    return [*lines, *(_about_answer(read_json(path)) if is_json(path) else [])]


def _about_answer(content: Mapping[str, Any]) -> list[str]:
    """What an answer says beside its network."""
    proof, kind, notes = content.get("proof"), content.get("kind"), content.get("notes", [])
    if content.get("format") not in ANSWERS or not isinstance(proof, dict | str):
        return []
    name = kind["name"] if isinstance(kind, dict) and "name" in kind else "as in the file"
    said = proof if isinstance(proof, str) else f"{str(proof.get('status')).lower()}, among {proof.get('space')}"
    return [
        labelled("score", f"{content.get('score')} nats, {name}"),
        labelled("proof", said),
        *about_table(None, [str(note) for note in notes] if isinstance(notes, list) else []),
    ]


COMMAND = Command(
    name="show",
    usage="topdag show NET [-o OUT] [--json]",
    page="""\
Prints a network: each variable with its parents, and local scores where the file has them. Of an
answer of topdag best it says score, proof and notes too.""",
    ending="""\
costs:
  Reading the file.

examples:
  topdag show best.json
  topdag show alarm.bif -o alarm.svg

What is proved: nothing is searched here; the proof is the one that the file holds.""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=show,
    partial=False,
)
