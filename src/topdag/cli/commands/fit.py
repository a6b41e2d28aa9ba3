"""``topdag fit``: a network with probabilities from a table, for other programs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from topdag._util.atomic_write import NETWORKS
from topdag.cli.command import Command, Exit, UsageError
from topdag.cli.commands.convert import FORMATS, add_plain_names, plain_if_asked
from topdag.cli.options import (
    add_memory_for_reading,
    add_reading,
    network_source,
    require_order,
    said_about,
    table_from,
)
from topdag.cli.output import as_json, mention_notes
from topdag.cli.streams import say
from topdag.cli.targets import ABOUT_NETWORKS, add_json, add_output, target
from topdag.cli.values import number
from topdag.io.formats.bif import bif_text
from topdag.io.networks import read_network, write_network
from topdag.networks.fit import fit_network


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="TABLE", help="a table, as for topdag best")
    parser.add_argument("network", metavar="NET", help="a file with a network or an answer")
    add_output(parser, f".json, {ABOUT_NETWORKS}")
    add_json(parser)
    parser.add_argument("--ess", type=number, default=1.0, metavar="ROWS", help="weight of the prior; default 1")
    add_plain_names(parser)
    add_reading(parser)
    add_memory_for_reading(parser)
    parser.add_argument("--quiet", action="store_true", help="no notes")


def fit(args: Namespace) -> Exit:
    require_order(args.network, args.file, COMMAND.usage)
    to = None if args.output is None else target(args.output, NETWORKS, (args.file, args.network), packed=True)
    if not args.ess >= 0:
        raise UsageError("--ess is a number of rows, from 0 on")
    source = network_source(args.network, args.file)
    table = table_from(args, said_about(source))
    fitted = fit_network(read_network(source), table, args.ess)
    made = plain_if_asked(fitted, args)
    if not args.quiet:
        mention_notes((*table.notes, *fitted.notes))
    if to is not None:
        write_network(to, made)
    if args.json:
        say(as_json(made.to_dict()))
    else:
        say(bif_text(made).rstrip() if to is None else f"{args.output}: {made!r}")
    return Exit.FINE


COMMAND = Command(
    name="fit",
    usage="topdag fit TABLE NET [-o OUT] [options]",
    page=f"""\
Gives a network probabilities from a table and writes it for programs that reason with networks:
pgmpy, pyAgrum, bnlearn, HUGIN, GeNIe and others. The probabilities are those expected after the
table when --ess imaginary rows are spread evenly over the cells of each family, the prior of BDeu;
with --ess 0 they are frequencies. Parent states that do not occur get equal probabilities, which a
note mentions.

NET is the answer of topdag best -o, which says how its table is read, or a network in any format
that can be read; its own probabilities, if any, are not used. {FORMATS}

Without -o, BIF is printed.""",
    ending="""\
costs:
  A pass over the rows for each variable, and a number for each cell: a variable of 3 states with
  parents of 4 and 5 has 60. At most 67 million cells for a variable.

example:
  topdag best asia.csv -o best.json && topdag fit asia.csv best.json -o asia.bif

What is proved: nothing is searched here. That the network is the best is what topdag best proves.""",
    exits=(Exit.FINE, Exit.WRONG_USE, Exit.BAD_INPUT, Exit.TOO_LARGE, Exit.INTERRUPTED, Exit.NO_READER),
    add_options=add_options,
    run=fit,
    partial=False,
)
