"""``topdag convert``: a network from one file format to another."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag._util.atomic_write import NETWORKS
from topdag.cli.command import Command, Exit
from topdag.cli.options import network_source
from topdag.cli.streams import say
from topdag.cli.targets import ABOUT_NETWORKS, add_output, target
from topdag.io.networks import read_either, write_network
from topdag.networks.fitted import FittedNetwork

FORMATS = """\
Endings say what is written: .bif; .xml, .xmlbif or .bifxml
(XMLBIF); .net (HUGIN); .xdsl (GeNIe); .uai (without names); .json (topdag's own); .dot (Graphviz,
without probabilities); .svg, .png and .pdf (pictures, the last two by matplotlib). All may be
followed by .gz."""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="NET", help="a network: .json, .bif, .xml, .xmlbif, .bifxml, .net, .xdsl, .uai")
    add_output(parser, f".json, {ABOUT_NETWORKS}", required=True)
    add_plain_names(parser)


def add_plain_names(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--plain-names",
        action="store_true",
        help="names and states of letters, digits and underscores only, a letter first: '<= 1' becomes le_1",
    )


def convert(args: Namespace) -> Exit:
    to = target(args.output, NETWORKS, (args.file,), packed=True)
    found = read_either(network_source(args.file))
    if isinstance(found, FittedNetwork):
        found = plain_if_asked(found, args)
    elif args.plain_names:
        found = found.plain_names()
    write_network(to, found)
    say(f"{args.output}: {found!r}")
    return Exit.FINE


def plain_if_asked(fitted: FittedNetwork, args: Namespace) -> FittedNetwork:
    return fitted.plain_names() if args.plain_names else fitted


COMMAND = Command(
    name="convert",
    usage="topdag convert NET -o OUT [--plain-names]",
    page=f"""\
Reads a network in one format and writes it in another. {FORMATS}

Names with blanks, quotes, commas and the like stand in .json, .xml and .bif, there in quotes, which
pyAgrum does not read and pgmpy reads in part. .net takes such states but no such names, .xdsl
neither. What a format cannot hold is refused; --plain-names makes names that all of them hold.""",
    ending="""\
costs:
  Time and memory like the number of probabilities: about a second for 500,000.

examples:
  topdag convert alarm.bif -o alarm.xml
  topdag convert survey.json -o survey.net --plain-names

What is proved: nothing. Numbers are written so that the same doubles are read back. Rows that sum
to 1 but for the rounding of their decimals are divided by their sum.""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=convert,
    partial=False,
)
