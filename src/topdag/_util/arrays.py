"""Kinds of arrays, by what stands in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]
Masks = NDArray[np.uint64]
"""Sets of variables as bits; beyond 64 variables, two to a row."""
