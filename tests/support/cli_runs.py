"""What a command of the command line gave back; the fixtures ``topdag`` and ``asia`` are in conftest.py."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass

TIMEOUT = 60  # seconds; generous, nothing is timed


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        return " ".join(self.out.split())


Topdag = Callable[..., Ran]
Start = Callable[..., subprocess.Popen[str]]
