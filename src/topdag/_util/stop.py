"""Why a search ended before it was done. What users read of it is made where answers are (``answers.results``)."""

from __future__ import annotations

import enum


class TimeIsUp(Exception):
    """Raised where work that has no partial result is left."""


class Stop(enum.Enum):
    """The first three end a whole run, and are named as the argument that asked for it where there is one; the others
    end one search, and another may go on."""

    TIME_LIMIT = enum.auto()
    INTERRUPT = enum.auto()
    ON_PROGRESS = enum.auto()
    MEMORY_LIMIT = enum.auto()
    STEPS = enum.auto()  # as many as were allowed
    PARTS = enum.auto()  # as many as were allowed
    WEAK_RELAXATION = enum.auto()  # seen at a first look: the relaxation without constraints is far from a network
    NOTHING_FOUND = enum.auto()  # no network that satisfies the constraints; tables over all sets can still be split
    FAR_BEHIND_BEST = enum.auto()  # families are not looked for further behind
    TOO_FAR = enum.auto()  # the same, behind the best network without constraints
    CUT_OFF = enum.auto()  # families that score so little have no scores
