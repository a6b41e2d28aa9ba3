"""What tests of tables share: columns of numbers of every kind, and how an error is asked for and its message read."""

import pytest

from topdag.data.table import Table
from topdag.errors import TableError

CUT, LEFT = ["float", "whole", "whole_floats", "above_it"], ["at_the_limit", "codes"]


def numbers_of_all_kinds(n: int = 60) -> dict[str, list[object]]:
    """Columns that a rule for all cuts, and others that it leaves."""
    mixed = [(7 * i) % n for i in range(n)]
    return {
        "float": [i + 0.5 for i in mixed],
        "whole": [3 * i for i in mixed],
        "whole_floats": [3.0 * i for i in mixed],
        "at_the_limit": [i % 20 for i in mixed],
        "above_it": [i % 21 for i in mixed],
        "codes": [float(i % 3) for i in mixed],
        "binary": [i % 2 for i in mixed],
        "row": list(mixed),
        "word": [f"w{i % 30}" for i in mixed],
        "flag": [i % 2 > 0 for i in mixed],
    }


def refused(source, *parts, **options):
    """Checks that no table can be made of the source, for reasons in which every part occurs."""
    with pytest.raises(TableError) as caught:
        Table(source, **options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)
