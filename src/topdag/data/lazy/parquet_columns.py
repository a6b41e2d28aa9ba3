"""The columns of many Parquet files as those of one table: the same names in all, and types that keep every value.

Engines have rules of their own for files that differ: some leave out columns that the first file does not have, and
some make all cells of the type of the first, 0.4 a 0, without a word. So each of them is given files that are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw

from topdag._util.messages import listing
from topdag._util.options import option
from topdag.data.build import check_names
from topdag.data.columns import Used, left_in
from topdag.errors import TableError


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file: what its engine calls it, and its type in the words of the engine and of narwhals."""

    called: str
    type_name: str
    dtype: Any

    @property
    def is_empty(self) -> bool:
        """Whether its type says that no row has a value."""
        return self.type_name.strip('"').upper() == "NULL"


Schema: TypeAlias = dict[str, FileColumn]
"""The columns of a file by name, in their order."""


def names_in_all(schemas: Mapping[str, Schema], used: Used) -> list[str]:
    """The columns that are used, which every file has."""
    everywhere = list(dict.fromkeys(chain.from_iterable(schemas.values())))
    names = [name for _, name in left_in(everywhere, used)]
    check_names([name for name in names if name not in used.about_rows])
    first, *others = schemas
    for file in others:
        if differing := sorted((schemas[first].keys() ^ schemas[file].keys()) & set(names)):
            only = "is in one of them only" if len(differing) == 1 else "are in one of them only"
            raise TableError(
                f"{file} has other columns than {first}: {listing(differing)} {only}. Write them with the same "
                "columns, or name those that have them by a pattern"
            )
    return names


def joint_type(name: str, schemas: Mapping[str, Schema]) -> Any:
    """The type to which a column is cast in all files, so that no value changes; None: it is left as it is."""
    by_type: dict[str, tuple[str, FileColumn]] = {}  # each with the first file that has it
    for file, schema in schemas.items():
        by_type.setdefault(schema[name].type_name, (file, schema[name]))
    found = [(file, column) for file, column in by_type.values() if not column.is_empty]
    kinds = [kind_of(column) for _, column in found]
    if set(kinds) == {"whole", "float"}:  # pandas makes floats of integers where cells are missing
        return nw.Float64
    for kind, other in zip(kinds, found, strict=True):
        if kind != kinds[0]:
            raise types_differ(name, (found[0], other))
    if "text" in kinds:
        return nw.String  # categories of their own in each file are those that occur in any
    if len(by_type) == 1 or not found:
        return None
    if "whole" in kinds:
        return nw.UInt64 if all(column.dtype.is_unsigned_integer() for _, column in found) else nw.Int64
    return nw.Float64 if kinds[0] in ("float", "decimal") else found[0][1].dtype


def kind_of(column: FileColumn) -> str:
    """Types of one kind have a type in common that keeps every value; as floats decimals are counted anyhow."""
    signed, unsigned = (nw.Int8, nw.Int16, nw.Int32, nw.Int64), (nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
    kinds = {
        "whole": (*signed, *unsigned),
        "float": (nw.Float32, nw.Float64),
        "decimal": (nw.Decimal,),
        "text": (nw.String, nw.Categorical, nw.Enum),
    }
    return next((kind for kind, types in kinds.items() if column.dtype in types), column.type_name)


def types_differ(name: str, found: Sequence[tuple[str, FileColumn]]) -> TableError:
    in_words = [f"{of.dtype if str(of.dtype) != 'Unknown' else of.type_name} in {at}" for at, of in found]
    return TableError(
        f"column {name!r} is {' and '.join(in_words)}: no type has the values of both. Write the files with the same "
        f"type, or leave the column out with {option('leave_out', [name])}"
    )


def why_not_duckdb(names: Sequence[str]) -> str:
    """What of these names DuckDB cannot tell apart, or find, and what to do; empty where all is well."""
    alike = alike_but_for_capitals(names)
    if alike:
        return (
            f"the names {listing(alike)} differ in capitals only, which DuckDB does not tell apart: leave out all but "
            f"one with {option('leave_out', alike[1:])}, or rename them"
        )
    dotted = [name for name in names if "." in name]  # it takes what is before the dot for a table
    return f"DuckDB cannot be asked for names with dots, such as {listing(dotted)}: rename them" if dotted else ""


def alike_but_for_capitals(names: Sequence[str]) -> list[str]:
    """Names that an engine that does not look at capitals (of ASCII) takes for one."""
    lower = [name.encode().lower() for name in names]
    return [name for name, low in zip(names, lower, strict=True) if lower.count(low) > 1]
