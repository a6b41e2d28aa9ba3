"""Every reader of topdag, with valid files that it reads and cheap checks of what it gives."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from slow.mutations import Mutate, of_arrays, of_bytes, of_checkpoint, of_gzip, of_json, of_json_lines, of_text

import topdag as td
from topdag import errors
from topdag.answers.results import Stats
from topdag.cli import main as cli
from topdag.cli.commands.demo import csv_text
from topdag.data import discretize
from topdag.data.files import delimited as text_cells
from topdag.io.networks import read_either
from topdag.search import checkpoints
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.stores import ListStore

OWN_ERRORS = tuple(
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == errors.__name__
)
Read = Callable[[Path, random.Random], None]
Files = dict[str, bytes]


@dataclass(frozen=True)
class Reader:
    """``files``: valid ones by name; ``read`` takes one in a folder of its own, and draws to choose options with."""

    name: str
    kind: Mutate
    files: Files
    read: Read


class Unlike(Exception):
    """A read went well, but what came of it is not what it should be."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Unlike(what)


def all_readers(folder: Path) -> list[Reader]:
    """The files are made in this folder."""
    return [
        *table_readers(),
        *network_readers(folder),
        *score_readers(folder),
        *answer_readers(folder),
        *text_readers(),
    ]


# ---- Tables

NUMBERS = "height;weight;sex\n1,5;60;m\n1,75;70,5;f\n1,6;61;f\n1,9;90;m\n"
QUOTED = 'sep=,\n"a ""b""",c,d\n"x, y",1,\n"line\nbreak",2,NA\nz,3,w\n'
PLAIN = "a b  c\n0 1 2\n1\t0 2\n\n1 1 0\n0 0 1\n"


def small_table(rows: int = 30) -> td.Table:
    return td.example_table(rows, seed=3)


def table_readers() -> Iterator[Reader]:
    example = csv_text(small_table(12))
    texts = {"plain.csv": example, "numbers.csv": NUMBERS, "quoted.csv": QUOTED, "white.txt": PLAIN}
    files = {name: text.encode() for name, text in texts.items()}
    yield Reader("table", of_text, files, read_table)
    packed = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in files.items()}
    yield Reader("table, gzipped", of_gzip(of_text), packed, read_table)
    if find_spec("polars") is None:
        print("left out: table, Parquet, which needs polars")
    else:
        yield Reader("table, Parquet", of_bytes, {"table.parquet": parquet()}, read_table)
    yield Reader("table, by topdag best", of_text, {"plain.csv": files["plain.csv"]}, ask_best)


def parquet() -> bytes:
    import polars

    packed = io.BytesIO()
    columns = {"a": ["x", "y", None, "x"], "b": [1, 2, 1, 2], "c": [0.5, 1.5, 2.5, 3.5]}
    polars.DataFrame(columns).write_parquet(packed)
    return packed.getvalue()


def read_table(path: Path, draw: random.Random) -> None:
    options: dict[str, Any] = {
        "separator": draw.choice([None, None, None, ",", ";", " "]),
        "header": draw.choice([True, True, False]),
        "decimal": draw.choice([".", ","]),
        "encoding": draw.choice([None] * 6 + ["latin-1", "utf-16", "utf-7", "punycode", "idna", "rot13"]),
        "missing": draw.choice(["auto", "auto", "error", "drop", "state", "keep"]),
        "discretize": draw.choice([None, "mean", "quantile(3)", "uniform(2)", [0.5], {"*": "median", "weight": None}]),
        "types": draw.choice(
            [None, None, None, None, {"*": "categorical"}, {"weight": "continuous"}, {"weight": "weight"}]
        ),
        "keep_constant": draw.random() < 0.5,
        "leave_out": draw.choice([(), (), (), ["weight"]]),
    }
    agree_on_cells(path)
    table = td.read_table(path, **options)
    require(table.n_rows >= 1 and len(set(table.names)) == len(table.names), "a table of rows and names")
    for states in table.states:
        require(len(set(map(repr, states))) == len(states), "each state once")
    str(table), repr(table)


def agree_on_cells(path: Path) -> None:
    """What is read fast is what the reader of quoted cells reads."""
    content = path.read_bytes()
    if not content.strip():
        return
    try:
        content = text_cells.text_content(content, None)
        separator = text_cells.sniffed_separator(content)
    except td.TableError:
        return
    quick = text_cells.quick_cells(content, separator, header=True)
    if quick is not None:
        slow = rows_of(text_cells.quoted_cells(content, separator, header=True))
        require(rows_of(quick) == slow, "the same cells, read fast and slowly")


def rows_of(found: text_cells.Cells) -> Any:
    first, columns, lines = found
    if not len(lines):
        return [text.strip() for text in first]
    cells = [[texts[code].strip() for code in codes] for texts, codes in (column() for column in columns)]
    return [text.strip() for text in first], cells, list(lines)


def ask_best(path: Path, draw: random.Random) -> None:
    told("best", path, "--score", "bic", "--max-parents", "2", "--quiet", "--threads", "1", "--missing", "drop")


def told(*words: object) -> None:
    """A command; its own errors are messages, any other comes out."""
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        cli.run_or_explain([str(word) for word in words])


# ---- Networks


DIALECTS = {  # as other programs write
    "bif": """network x { property author me; property "a;b" ; }
variable a { type discrete [ 2 ] { yes, no }; property "position = (1, 2)" ; }
variable b { type discrete[3]{0 1 2}; } // a comment
probability ( c | a, b ) { default 0.5, 0.5; ( no, 1 ) 0.25, 0.75; }
probability ( b | a ) { table 0.1, 0.3, 0.2, 0.3, 0.7, 0.4; /* more */ }
variable c { type discrete [ 2 ] { very high, low }; }
probability ( "a" ) { table 0.2, .8; }
""",
    "net": """net { name = "x"; node_size = (50 50); }  % a comment
node a { label = "A; the first"; position = (1 2); states = ("yes" "no way"); }
discrete node b { states = (0 1 2 ); HR_Group = "0"; }
potential (a) { data = ( 0.2 0.8 ); }
potential ( b | a ) { data = ((0.1 0.2 0.7)  % yes
                             (0.3 0.3 0.4)); }
""",
    "xml": """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ENTITY e "0.5"> ]>
<BIF VERSION="0.3"><NETWORK><NAME>x</NAME>
<VARIABLE TYPE="nature"><NAME> a </NAME><OUTCOME>yes</OUTCOME><OUTCOME> no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><VALUE>0</VALUE><VALUE>1</VALUE><PROPERTY>position = (0,0)</PROPERTY></VARIABLE>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.1 0.9 <!-- no --> 0.4 0.6</TABLE></DEFINITION>
<PROBABILITY><FOR>a</FOR><TABLE>0.5 0.5</TABLE></PROBABILITY>
</NETWORK></BIF>
""",
}


def fitted_networks() -> Iterator[td.FittedNetwork]:
    yield td.example_network()
    network = td.Network(["a b", "é", "c"], {"c": ["a b", "é"]})
    table = td.Table({"a b": [0, 1, 2, 1], "é": ["x y", "z", "z", "x y"], "c": [0.5, 1.5, 0.5, 1.5]}, discretize="mean")
    yield network.fit(table)


def network_readers(folder: Path) -> Iterator[Reader]:
    names = td.Network(["rain", "wet", "cold"], {"wet": ["rain", "cold"]})
    scored = td.Network(["rain", "wet"], {"wet": ["rain"]}, {"rain": -1.5, "wet": -2.25})
    for ending in ("json", "bif", "xml", "net", "xdsl", "uai"):
        kind = of_json if ending == "json" else of_text
        files = {f"dialect.{ending}": DIALECTS[ending].encode()} if ending in DIALECTS else {}
        made = [*fitted_networks(), *([names, scored] if ending in ("json", "xml") else [])]
        for place, network in enumerate(made):
            path = folder / f"{place}.{ending}"
            try:
                td.write_network(path, network)
            except td.FileError:  # a name that the format cannot hold
                continue
            files[path.name] = path.read_bytes()
        yield Reader(f"network .{ending}", kind, files, read_network)
        packed = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in files.items()}
        yield Reader(f"network .{ending}, gzipped", of_gzip(kind), packed, read_network)
    texts = [network.to_bnlearn() for network in (names, scored)]
    files = {f"{place}.txt": text.encode() for place, text in enumerate(texts)}
    yield Reader("network of bnlearn", of_text, files, read_bnlearn)


def read_network(path: Path, draw: random.Random) -> None:
    with contextlib.suppress(td.FileError):
        td.read_network(path)
    with contextlib.suppress(td.FileError):
        td.io.read_fitted(path)
    found = read_either(path)
    str(found), repr(found)
    again = path.with_name(f"again.{path.name}")
    try:
        td.write_network(again, found)
    except td.FileError:  # what was read may hold what this format cannot, such as other names
        return
    back = read_either(again)
    if isinstance(found, td.Network) or isinstance(back, td.Network):
        require(found == back, "the network, written and read again")
        return
    require(found.network == back.network and found.states == back.states, "the network, written and read again")
    for name in found.names:
        require(np.allclose(found.tables[name], back.tables[name], atol=1e-9), f"the table of {name}, read again")


def read_bnlearn(path: Path, draw: random.Random) -> None:
    network = td.Network.from_bnlearn(as_text(path))
    with contextlib.suppress(td.NetworkError):
        back = td.Network.from_bnlearn(network.to_bnlearn())
        require(set(back.edges) == set(network.edges), "the model string, read again")


# ---- Scores, lists, posteriors, checkpoints


def score_readers(folder: Path) -> Iterator[Reader]:
    table = small_table()
    some = td.Table.from_codes(table.names[:4], np.array(table.codes)[:4])
    numbers = td.Table({"x": [0.5, 1.5, 2.0, 4.0, 3.5], "y": [1.0, 2.5, 2.0, 4.5, 3.0]})
    known = td.Constraints(rules=[f"{table.names[0]}->{table.names[1]} or parents({table.names[2]}) >= 1"])
    made = {
        "joint": td.score(some, td.BDeu()),
        "listed": td.score(some, td.BIC(), keep="best"),
        "k": td.score(some, td.BDs(), keep=td.KBest(3)),
        "known": td.score(some, td.BIC(), constraints=known),
        "continuous": td.score(numbers, td.BGe()),
    }
    for ending, kind in {"npz": of_arrays, "jkl": of_text, "pss": of_text, "jkl.gz": of_gzip(of_text)}.items():
        files = {}
        for name, scores in made.items():
            if name == "known" and ending != "npz":  # which a list of families cannot say
                continue
            path = folder / f"{name}.{ending}"
            td.io.write_scores(path, scores)
            files[path.name] = path.read_bytes()
        yield Reader(f"scores .{ending}", kind, files, read_scores)
    yield list_reader(folder, made["joint"])
    yield from posterior_readers(folder, made["joint"])
    yield bootstrap_reader(folder, made["joint"])
    yield checkpoint_reader(folder, td.score(some, td.BIC(), keep="best"))


def read_scores(path: Path, draw: random.Random) -> None:
    scores = td.io.read_scores(path)
    repr(scores), str(scores)
    again = path.with_name(f"again.{path.name}")
    td.io.write_scores(again, scores)
    require(td.io.read_scores(again).names == scores.names, "the scores, written and read again")
    if len(scores.columns) > 12:
        return
    answer = td.best_network(scores, threads=1)
    if answer.network is not None:
        total = sum(scores.local(name, own) for name, own in answer.network.parents.items())
        require(bool(np.isclose(total, answer.score, rtol=1e-6, atol=1e-3)), "the score of the best network")


def list_reader(folder: Path, scores: td.types.Scores) -> Reader:
    """Without seconds and bytes, which change from day to day."""
    stats = Stats(0.0, {}, 1, 0, 0, 0, 0, "x")
    odds = td.EdgePrior({(scores.names[0], scores.names[1]): 0.5})
    made = [td.k_best_networks(scores, 5), td.k_best_classes(scores, 4), td.k_best_networks(scores, 3, prior=odds)]
    files = {}
    for place, found in enumerate(made):
        for ending in ("jsonl",) if place else ("jsonl", "jsonl.gz"):
            path = folder / f"list{place}.{ending}"
            td.io.write_list(path, replace(found, stats=stats))
            files[path.name] = path.read_bytes()
    return Reader("list", of_list, files, read_list)


def of_list(content: bytes, draw: random.Random) -> bytes:
    return (of_gzip(of_json_lines) if content.startswith(b"\x1f\x8b") else of_json_lines)(content, draw)


def read_list(path: Path, draw: random.Random) -> None:
    found = td.io.read_list(path)
    repr(found), str(found)
    again = path.with_name(f"again.{path.name}")
    td.io.write_list(again, found)
    back = td.io.read_list(again)
    require(np.array_equal(back.scores, found.scores), "the scores of a list, read again")
    require(np.array_equal(back.parents, found.parents), "the parents of a list, read again")


def posterior_readers(folder: Path, scores: td.types.Scores) -> Iterator[Reader]:
    whole = td.network_posteriors(scores, threads=1)
    for ending, kind in {"json": of_json, "npz": of_arrays}.items():
        files = {}
        for name, found in {"all": whole, "edges": whole.edges, "paths": whole.paths}.items():
            assert found is not None
            path = folder / f"{name}.{ending}"
            td.io.write_posteriors(path, found)
            files[path.name] = path.read_bytes()
        yield Reader(f"posteriors .{ending}", kind, files, read_posteriors)


def read_posteriors(path: Path, draw: random.Random) -> None:
    found = td.io.read_posteriors(path)
    repr(found)
    again = path.with_name(f"again.{path.name}")
    td.io.write_posteriors(again, found)
    require(type(td.io.read_posteriors(again)) is type(found), "the posteriors, written and read again")


def bootstrap_reader(folder: Path, scores: td.types.Scores) -> Reader:
    files = {}
    for name, question in {"networks": td.best_network, "sums": td.edge_posteriors}.items():
        path = folder / f"{name}.json"
        td.io.write_bootstrap(path, td.bootstrap(scores, 3, question=question, threads=1))
        files[path.name] = path.read_bytes()
    return Reader("bootstrap", of_json, files, read_bootstrap)


def read_bootstrap(path: Path, draw: random.Random) -> None:
    found = td.io.read_bootstrap(path)
    repr(found), str(found), found.heatmap()
    again = path.with_name(f"again.{path.name}")
    td.io.write_bootstrap(again, found)
    require(td.io.read_bootstrap(again).to_dict() == found.to_dict(), "a bootstrap, written and read again")


def checkpoint_reader(folder: Path, scores: td.types.Scores) -> Reader:
    """A search goes on from what was read; where the digests were made anew, its answer may be worse, but is one."""
    path, store = folder / "whole", scores.store
    assert isinstance(store, ListStore)
    best = td.best_network(scores, engine="search", checkpoint=path).score
    checkpoint = checkpoints.Checkpoint(folder / "open", store)
    state = checkpoints.Checkpoint(path, store).read()
    assert state is not None
    every = np.ones(store.n_families, dtype=np.bool_)
    part = Node(state.root.bound, 1, np.packbits(every).tobytes(), (0, 1))
    checkpoint.write(replace(state, parts=OpenParts(every, (part, replace(part, edge=(2, 1))), 2)), 0.0)

    def read(path: Path, draw: random.Random) -> None:
        answer = td.best_network(scores, engine="search", checkpoint=path)
        require(answer.network is not None and answer.score <= best + 1e-9, "a network, not better than the best")

    files = {name: (folder / name).read_bytes() for name in ("whole", "open")}
    return Reader("checkpoint", of_checkpoint, files, read)


# ---- Answers and options

OPTIONS = {
    **{"memory-limit": "8GB", "time-limit": "10.5", "threads": "2", "max-parents": "3", "ess": "1.5", "score": "bdeu"},
    **{"discretize": "quantile(3)", "separator": ",", "decimal": ".", "encoding": "utf-8", "missing": "drop"},
    **{"require": "smoke->lung", "forbid": "*->asia", "rule": "if smoke->lung then not tub->lung", "leave-out": "asia"},
    **{"parameter": "P(lung=yes | smoke=no) <= 0.1", "prior": "fair", "weights": "asia", "types": "asia=categorical"},
}


def answer_readers(folder: Path) -> Iterator[Reader]:
    table = small_table()
    (folder / "table.csv").write_text(csv_text(table))
    files = {}
    for name, kind in {"bic": td.BIC(), "bdeu": td.BDeu(2.0), "bde": td.BDe(3.0, td.example_network())}.items():
        answer = replace(td.best_network(td.score(table, kind)), stats=Stats(0.0, {}, 1, 0, 0, 0, 0, "x"))
        files[f"{name}.json"] = json.dumps(answer.to_dict()).encode()
    rows = (folder / "table.csv").read_bytes()

    def check(path: Path, draw: random.Random) -> None:
        beside = path.with_name("table.csv")
        beside.write_bytes(rows)
        told("check", path, beside)

    def ask_with(path: Path, draw: random.Random) -> None:
        beside = path.with_name("table.csv")
        beside.write_bytes(rows)
        told("best", beside, "--quiet", f"--{path.stem}={as_text(path)}")

    yield Reader("answer, by topdag check", of_json, files, check)
    options = {f"{name}.option": text.encode() for name, text in OPTIONS.items()}
    yield Reader("option, by topdag best", of_text, options, ask_with)


# ---- Knowledge and rules

RULES = (
    'if a->b then not b--c or parents("lung cancer") <= 2',
    "(a->b and b->c) or not (*->d) and parents(a) != 0",
    "*--a",
)
PARAMETERS = (
    "influence(smoke, lung, +)",
    "influence(dose: low < mid < high, pain: no < yes, -)",
    "synergy(a, b, x, 0)",
    '2 P(tub=yes | asia=no, b="x y") + P(tub=no | asia=yes, b=z) >= 0.125',
    "P(a=1) <= 0.3",
)
KNOWLEDGE = """\
required_edges = ["a->b", ["b", "c"]]
forbidden_edges = ["c->a", ["*", "a"]]
required_adjacencies = ["a--b"]
forbidden_adjacencies = [["a", "d"]]
roots = ["a"]
leaves = ["d"]
tiers = [["a"], ["b", "c"], ["d"]]
edges_within_tiers = true
precedence = ["a->d"]
ancestors = ["a->c"]
not_ancestors = ["d->a"]
min_parents = { c = 1 }
rules = ["if a->b then b->c", "parents(d) <= 1", "parents(some) <= 2"]
parameters = ["P(a=1) <= 0.3", "influence(a, b, +)"]

[max_parents]
"*" = 3
d = 2

[groups]
some = ["b", "c"]

[allowed_parents]
d = ["a", "b"]

[fixed_parents]
a = []

[allowed_parent_sets]
b = [["a"], []]
"""


def text_readers() -> Iterator[Reader]:
    yield Reader("constraints", of_text, {"known.toml": KNOWLEDGE.encode()}, read_constraints)
    rules = {f"{place}.txt": text.encode() for place, text in enumerate(RULES)}
    yield Reader("rule", of_text, rules, lambda path, draw: same_text(td.rules.parse_rule, as_text(path)))
    said = {f"{place}.txt": text.encode() for place, text in enumerate(PARAMETERS)}
    yield Reader(
        "parameter constraint",
        of_text,
        said,
        lambda path, draw: same_text(td.probabilities.parse_parameter, as_text(path)),
    )
    cuts = {f"{place}.txt": text for place, text in enumerate([b"quantile(3)", b"uniform( 4 )", b"mean", b"median"])}
    yield Reader("discretisation", of_text, cuts, lambda path, draw: discretize.parse_rule(as_text(path)) and None)


def as_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def same_text(parse: Callable[[str], Any], text: str) -> None:
    found = parse(text)
    require(parse(str(found)) == found, "the text, written and read again")


def read_constraints(path: Path, draw: random.Random) -> None:
    known = td.io.read_constraints(path)
    str(known), repr(known)
    require(td.Constraints.from_dict(known.to_dict()) == known, "the constraints, written and read again")
    td.best_network(td.score(KNOWN_TABLE, td.BIC(), constraints=known), threads=1)


KNOWN_TABLE = td.Table({name: [0, 1, 1, 0, place % 2] for place, name in enumerate("abcd")})
