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


def plain_words(command: Command, asia: Path, folder: Path) -> list[object]:
    """What the command needs at least."""
    if command.name == "demo":
        return []
    if command.name == "check":
        td.write_network(folder / "net.json", td.example_network().network)
        return [folder / "net.json", asia, "--score", "bic"]
    return [asia, *(["-o", folder / "scores.jkl"] if command.name == "score" else [])]


@pytest.mark.parametrize("command", [command_named(name) for name in SUMMARIES], ids=lambda command: command.name)
def test_odd_values(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = plain_words(command, asia, tmp_path)
    for action in options_of(command):
        for value in ODD if action.nargs != 0 else (None,):
            words = [command.name, *plain, action.option_strings[-1], *([] if value is None else [value])]
            ran = topdag(*words)
            assert ran.code in ENDINGS, (words, ran.err)
            assert ran.code in (Exit.FINE, Exit.FAILED, Exit.STOPPED) or len(ran.err.strip()) > 20, words
            assert "Traceback" not in ran.err
