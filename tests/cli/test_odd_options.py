"""No option of any command, whatever it is given, leads to a fault or a traceback."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Command, Exit
from topdag.cli.commands import SUMMARIES, command_named

ODD = ("nan", "-1", "", "/none/x", "smoke->lung")
ENDINGS = {Exit.FINE, Exit.FAILED, Exit.WRONG_USE, Exit.STOPPED, Exit.BAD_INPUT, Exit.TOO_LARGE}
WRITE = {"-o"}  # these would write such a file


def options_of(command: Command) -> list[argparse.Action]:
    parser = argparse.ArgumentParser(add_help=False)
    command.add_options(parser)
    return [action for action in parser._actions if action.option_strings and action.option_strings[-1] not in WRITE]


def plain_words(command: Command, folder: Path) -> list[object]:
    """What the command needs at least; a small table, since most options are tried on the whole way to an answer."""
    table, network = folder / "small.csv", folder / "net.json"
    table.write_text("smoke,lung,dysp\n" + "yes,no,yes\nno,no,no\nyes,yes,yes\n" * 4)
    td.write_network(network, td.Network(["smoke", "lung", "dysp"], {"lung": ["smoke"]}))
    words: dict[str, list[object]] = {
        "demo": [],
        "score": [table, "-o", folder / "scores.jkl"],
        "bootstrap": [table, "-k", "3"],
        "effects": [table, "--draws", "3"],
        "check": [network, table, "--score", "bic"],
        "fit": [table, network],
        "show": [network],
        "convert": [network, "-o", folder / "net.dot"],
    }
    return words.get(command.name, [table])


@pytest.mark.parametrize("command", [command_named(name) for name in SUMMARIES], ids=lambda command: command.name)
def test_odd_values(topdag: Topdag, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    plain = plain_words(command, tmp_path)
    ran = topdag(command.name, *plain)
    assert ran.code == Exit.FINE, ran.err
    for action in options_of(command):
        for value in ODD if action.nargs != 0 else (None,):
            words = [command.name, *plain, action.option_strings[-1], *([] if value is None else [value])]
            ran = topdag(*words)
            assert ran.code in ENDINGS, (words, ran.err)
            assert ran.code in (Exit.FINE, Exit.FAILED, Exit.STOPPED) or len(ran.err.strip()) > 20, words
            assert "Traceback" not in ran.err
