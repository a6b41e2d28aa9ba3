"""Memory: sizes as texts, how much there is, how much is held."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

from topdag._util.options import option
from topdag.errors import ScoreError, TooLarge

UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
}


def parse_bytes(size: int | str) -> int:
    """Bytes from a whole number or a text such as "8GB"."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(size))
    unit = None if match is None or isinstance(size, bool) else UNITS.get(match[2].upper())
    found = math.inf if match is None or unit is None else float(match[1]) * unit
    if found == math.inf:
        raise ScoreError(f'{option("memory_limit")} must be a number of bytes or a text such as "8GB", not {size!r}.')
    return int(found)


def shown_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB" if size < 1000 else f"{size:.1e} PB"


def available_memory() -> int:
    """Bytes that can be taken now, as far as the system tells; without any limit where it does not."""
    found = [_meminfo("MemAvailable"), _cgroup_left(), _address_space_left()]
    return min((size for size in found if size is not None), default=sys.maxsize)


def whole_memory() -> int:
    """Bytes that this process could take if nothing else ran, as far as the system tells; then without any limit."""
    found = [_meminfo("MemTotal"), _cgroup("memory.max"), _address_space_limit()]
    return min((size for size in found if size is not None), default=sys.maxsize)


def out_of_memory(phase: str, asked: int) -> TooLarge:
    """What to raise when the system refused the core memory, whatever was planned; ``asked``: bytes, 0 if unknown.

    The core calls it."""
    more, free = f"{shown_bytes(asked)} more" if asked else "more memory", shown_bytes(available_memory())
    return TooLarge(
        f"The system did not give {more} while {phase}; now that this is over, {free} are free. Leave out "
        f"variables, set {option('max_parents')}, or close other programs; a {option('memory_limit')} of what is free "
        "refuses at once what does not fit, and says what would."
    )


def peak_memory() -> int:
    """The most this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def held_memory() -> int:
    """What this process holds now; the most so far where the system tells no more."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return peak_memory()


def _meminfo(what: str) -> int | None:
    try:
        match = re.search(rf"{what}:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(match[1]) * 1024 if match else None


def _address_space_limit() -> int | None:
    """Of this process, such as that of ulimit -v."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit


def _address_space_left() -> int | None:
    limit = _address_space_limit()
    try:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
    return None if limit is None else max(0, limit - mapped)


def _cgroup(what: str) -> int | None:
    """Of a container that has a limit of its own."""
    try:
        return int((Path("/sys/fs/cgroup") / what).read_text())
    except (OSError, ValueError):  # no such limit
        return None


def _cgroup_left() -> int | None:
    limit, current = _cgroup("memory.max"), _cgroup("memory.current")
    return None if limit is None or current is None else limit - current
