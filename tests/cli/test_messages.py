"""Options that messages name: an argument of a function for Python, an option of the command for a shell."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td
from topdag._util.options import COMMANDS, in_shell, option, question, worded
from topdag.cli.commands import SUMMARIES
from topdag.cli.main import option_for, options_of
from topdag.data.convert import Reading

PACKAGE = Path(td.__file__).parent


@cache
def of_commands() -> set[str]:
    return {name for command in SUMMARIES for name in options_of(command)}


@cache
def of_functions() -> set[str]:
    """The arguments of all that is public: functions, classes and their methods."""
    found = set(Reading.__annotations__)
    for module in [td, td.io, td.rules, td.features, td.probabilities, td.types, td.estimators]:
        for thing in [getattr(module, name) for name in dir(module) if not name.startswith("_")]:
            members = [getattr(thing, name) for name in dir(thing) if not name.startswith("_")]
            for each in (thing, *(members if inspect.isclass(thing) else [])):
                with suppress(TypeError, ValueError):  # it takes no arguments, or does not say
                    found |= set(inspect.signature(each).parameters)
    return found


@cache
def sources() -> dict[Path, ast.Module]:
    paths = [path for path in PACKAGE.rglob("*.py") if "cli" not in path.parts and path.name != "options.py"]
    return {path.relative_to(PACKAGE): ast.parse(path.read_text()) for path in paths}


def calls(tree: ast.Module, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def texts(node: ast.AST) -> list[ast.Constant]:
    """All constant text in it."""
    return [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def test_an_option_in_a_message_is_one() -> None:
    named = [call.args[0] for tree in sources().values() for call in calls(tree, "option")]
    for name in {argument.value for argument in named if isinstance(argument, ast.Constant)}:
        assert name in of_functions() or name == "plain_names"  # a method
        assert {f"--{name.replace('_', '-')}", f"--no-{name}"} & of_commands(), name


def test_both_writings_name_what_there_is() -> None:
    for call in [call for tree in sources().values() for call in calls(tree, "worded")]:
        python, shell = (" ".join(str(text.value) for text in texts(argument)) for argument in call.args)
        assert set(re.findall(r"(\w+)=", python)) <= of_functions()
        assert set(re.findall(r"--[-a-z]+", shell)) <= of_commands()
        assert "--" not in python and not re.search(r"\w=|\w\(\)", shell)


def test_no_message_names_an_option_by_itself() -> None:
    """Outside of `option` and `worded`: what is written for one reader only."""
    both = [name for name in of_functions() if {f"--{name.replace('_', '-')}", f"--no-{name}"} & of_commands()]
    one_word = "|".join(name for name in both if "_" in name)
    named = re.compile(rf"(?<![\w-])(?:(?:{'|'.join(both)})=(?!=)|(?:{one_word})(?=[ .,;)])|--[a-z]{{2}})")
    found = []
    for path, tree in sources().items():
        docs = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
        apart = {id(text) for node in (*docs, *calls(tree, "option", "worded")) for text in texts(node)}
        alone = [text for text in texts(tree) if id(text) not in apart and not re.search("<| title=", text.value)]
        found += [f"{path}:{text.lineno}: {text.value}" for text in alone if named.search(text.value)]
    assert found == []


@pytest.mark.parametrize("command", SUMMARIES)
def test_a_command_is_told_of_its_own_options(command: str) -> None:
    for written in of_commands():
        *other, last = option_for(command, written).split()
        assert last == written
        assert written in options_of(other[1] if other else command)
        assert not other or written not in options_of(command)


@pytest.mark.parametrize("function", COMMANDS)
def test_a_question_is_a_function_and_a_command(topdag: Topdag, function: str) -> None:
    assert callable(getattr(td, function)) and question(function) == function
    with in_shell(str):
        name, command, *options = question(function).split()
    assert name == "topdag" and set(options) <= set(options_of(command))


@pytest.mark.parametrize("command", ["edges", "paths", "evidence", "sample"])
def test_who_does_not_understand_a_rule_is_told_who_does(topdag: Topdag, asia: Path, command: str) -> None:
    ran = topdag(command, asia, "--rule", "asia->tub or smoke->lung")
    assert ran.code == 4
    assert "topdag best, topdag list and topdag within do" in ran.err and not re.search(r"\w_\w", ran.err)


def test_names_that_a_format_cannot_hold(topdag: Topdag, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("a b,c\n0,x\n1,z\n0,z\n")
    refused = topdag("best", tmp_path / "odd.csv", "-o", tmp_path / "odd.net")
    assert refused.code == 4 and "topdag fit --plain-names gives such names" in refused.err


def test_values() -> None:
    said = [
        ("missing", "drop", 'missing="drop"', "--missing drop"),
        ("weights", None, "weights=", "--weights"),
        ("max_parents", None, "max_parents", "--max-parents"),
        ("max_parents", 3, "max_parents=3", "--max-parents 3"),
        ("keep_constant", True, "keep_constant=True", "--keep-constant"),
        ("header", False, "header=False", "--no-header"),
        ("leave_out", [""], "leave_out=['']", '--leave-out ""'),
        ("leave_out", ["a b", "it's"], """leave_out=['a b', "it's"]""", """--leave-out "a b" --leave-out 'it'"'"'s'"""),
        ("discretize", {"a b": "median"}, "discretize={'a b': 'median'}", '--discretize "a b=median"'),
    ]
    for name, value, python, shell in said:
        assert option(name, value) == python
        with in_shell(str):
            assert option(name, value) == shell
    with in_shell(str):
        assert worded("python", "shell") == "shell"
    assert worded("python", "shell") == "python"


@pytest.mark.parametrize("name", ["max_parents", "time_limit", 'missing="drop"', "header=False", "BGe(), or so"])
def test_names_of_the_user_stay_as_they_are(topdag: Topdag, tmp_path: Path, name: str) -> None:
    quoted = name.replace('"', '""')
    (tmp_path / "holes.csv").write_text(f'"{quoted}",b\n1,2\n,3\n')
    ran = topdag("best", tmp_path / "holes.csv", "--missing", "error")
    assert ran.code == 4
    assert f"{name!r} (1 row" in ran.err and "--missing drop leaves such rows out" in ran.err
