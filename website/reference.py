"""The page of all public names, from their docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

import topdag

SECTIONS = {
    "Tables": "Table read_table example_table example_network Quantile Uniform random_network FittedNetwork",
    "Scores": "score Scores BDeu BIC AIC K2 fNML qNML BDs BDe CustomScore Family KBest Within parent_bounds "
    "ParentBound",
    "Questions": "best_network k_best_networks networks_within iter_networks_within count_networks_within "
    "k_best_classes classes_within count_classes_within search_networks edge_alternatives plan",
    "Averages": "edge_posteriors path_posteriors parent_set_posteriors network_posteriors log_evidence "
    "log_prior_total sample_networks posterior edge_matrix coverage predictive_log_density",
    "Features": "edge adjacency compelled_edge path v_structure in_markov_blanket d_separation feature Feature",
    "What you know": "Constraints read_constraints constraints_from tan naive_bayes k_dependence Rule parse_rule "
    "all_of any_of none_of if_then not_ EdgePrior FairPrior OrderModular Constrained constrained_fit "
    "ParameterConstraint influence synergy probability",
    "Networks and classes": "Network EquivalenceClass compare Comparison summary ListSummary",
    "Answers": "Answer Proof Status Stats Progress Plan NetworkList ClassList ListPosterior EdgePosteriors "
    "PathPosteriors ParentSetPosteriors NetworkPosteriors Consensus NetworkSample EdgeFrequencies "
    "EdgeAlternatives",
    "Files": "read_network write_network read_scores write_scores read_list write_list read_posteriors "
    "write_posteriors",
    "Errors": "TableError ScoreError NetworkError ConstraintError FileError TooLarge OutOfTime Interrupted",
}
REST = "More"
WIDTH = 100
ABOUT = """\
# All public names

Made from the docstrings: `help(topdag.best_network)` says the same. Everything here is used as `topdag.NAME`; names
that are not here may change without notice."""


def reference() -> str:
    """The page, in Markdown."""
    named = {name for names in SECTIONS.values() for name in names.split()}
    rest = [name for name in topdag.__all__ if name not in named]
    sections = {title: [name for name in names.split() if name in topdag.__all__] for title, names in SECTIONS.items()}
    parts = [ABOUT]
    for title, names in {**sections, **({REST: rest} if rest else {})}.items():
        parts += [f"## {title}", *(entry(name) for name in names)]
    return "\n\n".join(parts) + "\n"


def entry(name: str) -> str:
    """One name: how it is called, what its docstring says, and what its objects offer."""
    thing = getattr(topdag, name)
    lines = [f"### {name}", f"```python\n{signature(name, thing)}\n```", text_of(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        members = [f"- **`{member}`** {text}" for member, text in members_of(thing)]
        lines += ["\n".join(members)] if members else []
    return "\n\n".join(line for line in lines if line)


def signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        return f"{name}: " + ", ".join(member.name for member in thing)
    try:
        shown = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parts = list(_parameters(shown))
    returns = "" if inspect.isclass(thing) or not shown.return_annotation else f" -> {_plain(shown.return_annotation)}"
    one_line = f"{name}({', '.join(parts)}){returns}"
    return (
        one_line if len(one_line) <= WIDTH else "\n    ".join([f"{name}(", *(f"{p}," for p in parts)]) + f"\n){returns}"
    )


def _parameters(shown: inspect.Signature) -> Iterator[str]:
    """Each parameter as it is written, with the star that keyword-only ones stand behind."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    is_starred = False
    for parameter in shown.parameters.values():
        is_starred |= parameter.kind is inspect.Parameter.VAR_POSITIONAL
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not is_starred:
            is_starred = True
            yield "*"
        kind = "" if parameter.annotation is parameter.empty else f": {_plain(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else f" = {_value(parameter.default)}"
        yield f"{stars.get(parameter.kind, '')}{parameter.name}{kind}{default}"


def _value(default: Any) -> str:
    """A default as it is written; objects that have no such form by their class."""
    text = repr(default)
    return f"{type(default).__name__}(...)" if text.startswith("<") else text


def _plain(annotation: Any) -> str:
    """Without the names of modules."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return text.replace("topdag.", "")


def text_of(thing: Any) -> str:
    """A docstring as Markdown: names in code marks, examples in blocks."""
    text = inspect.cleandoc(thing.__doc__ or "")
    text = re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)
    return _blocks(_escaped(text))


def _escaped(text: str) -> str:
    """Angle brackets and the like outside of code would be taken for markup."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else p.replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_") for p in pieces
    )


def _blocks(text: str) -> str:
    """Examples, which run to the next blank line, become blocks of code."""
    parts = text.split("\n\n")
    shown = [f"```pycon\n{_unescaped(part)}\n```" if part.lstrip().startswith(">>>") else part for part in parts]
    return "\n\n".join(shown)


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace(r"\*", "*").replace(r"\_", "_")


def members_of(thing: type) -> Iterator[tuple[str, str]]:
    """Public methods and properties with the first sentence of each; fields are told by the class."""
    fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    for name in dir(thing):
        if name.startswith("_") or name in fields:
            continue
        member = inspect.getattr_static(thing, name)
        function = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
        doc = getattr(function, "__doc__", None)
        if doc and callable(function) and not str(getattr(function, "__module__", "")).startswith(("builtins", "enum")):
            first = " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
            text = _escaped(re.sub(r"``(.+?)``", r"`\1`", first))
            is_method = not isinstance(member, property) and not hasattr(member, "func")
            yield f"{name}()" if is_method else name, text


if __name__ == "__main__":
    print(reference())
