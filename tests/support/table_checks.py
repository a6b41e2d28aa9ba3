"""What tests of tables share: columns of numbers of every kind, how an error is asked for and its message read, and
random tables with missing cells, with what the reference says of them."""

import math

import numpy as np
import pytest
import reference

import topdag as td
from topdag.data.table import Table
from topdag.errors import TableError

CUT, LEFT = ["float", "whole", "whole_floats", "above_it"], ["at_the_limit", "codes"]


def numbers_of_all_kinds(n: int = 60) -> dict[str, list[object]]:
    """Columns that a rule for all cuts, and others that it leaves."""
    mixed, other, third, fourth = ([(k * i) % n for i in range(n)] for k in (7, 11, 13, 17))
    return {
        "float": [i + 0.5 for i in mixed],
        "whole": [3 * i for i in other],
        "whole_floats": [3.0 * i for i in third],
        "at_the_limit": [i % 20 for i in mixed],
        "above_it": [i % 21 for i in mixed],
        "codes": [float(i % 3) for i in mixed],
        "binary": [i % 2 for i in mixed],
        "row": list(fourth),
        "word": [f"w{i % 30}" for i in mixed],
        "flag": [i // 2 % 2 > 0 for i in mixed],
    }


def refused(source, *parts, **options):
    """Checks that no table can be made of the source, for reasons in which every part occurs."""
    with pytest.raises(TableError) as caught:
        Table(source, **options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)


NAMES = "abcdefgh"


class Incomplete:
    """Rows of states 0, 1, ... and None, with weights; small, so that families tie and some have no complete row."""

    def __init__(self, seed, n=4, n_rows=40, share=0.3, most_states=3):
        rng = np.random.default_rng(seed)
        self.n, self.names = n, tuple(NAMES[:n])
        self.arities = rng.integers(2, most_states + 1, n).tolist()
        cells = rng.integers(0, self.arities, (n_rows, n))
        cells[:, -1] = np.where(rng.random(n_rows) < 0.8, cells[:, 0] % self.arities[-1], cells[:, -1])
        gaps = rng.random((n_rows, n)) < share
        if seed % 3 == 0:
            gaps[: n_rows // 2, 0] = gaps[n_rows // 2 :, 1] = True  # never known together
        if seed % 4 == 0:
            gaps[0] = True  # a row of which nothing is known
        if seed % 5 == 0:
            gaps[:, 2] = True  # nor is anything of a column
        self.rows = [
            tuple(None if gap else int(cell) for cell, gap in zip(*pair, strict=True))
            for pair in zip(cells, gaps, strict=True)
        ]
        self.weights = rng.integers(1, 4, n_rows).tolist()

    @property
    def table(self):
        columns = {name: [row[v] for row in self.rows] for v, name in enumerate(self.names)}
        states = {name: range(arity) for name, arity in zip(self.names, self.arities, strict=True)}
        return td.Table(columns, missing="keep", weights=self.weights, states=states)

    def penalty(self, kind):
        n_rows = sum(self.weights)
        if kind.penalty is None:
            return n_rows ** (1 - kind.alpha)
        return math.log(n_rows) / 2 if kind.penalty == "bic" else kind.penalty

    def local(self, kind):
        """local(x, parent mask) by the reference."""
        score, penalty = reference.node_average_likelihood, self.penalty(kind)
        return reference.local_of(score, self.rows, self.weights, self.arities, penalty)
