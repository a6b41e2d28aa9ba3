"""``topdag`` and ``python -m topdag``: the command line, opened so that Ctrl-C is heard from the first moment on."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def main() -> int:
    """Runs the command line, as the last thing that a process does, and returns its exit code."""
    try:
        code = loaded()()
    except KeyboardInterrupt:
        print("topdag: interrupted before anything was known", file=sys.stderr)
        code = INTERRUPTED
    import signal

    # All is said: what comes while Python ends would only hide the exit code.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def loaded() -> Callable[[], int]:
    """The command line, with the command that is asked for.

    Ctrl-C waits until it is loaded: in the middle, NumPy makes an ImportError of it.
    """
    import signal

    heard = []
    before = signal.getsignal(signal.SIGINT)
    if callable(before):  # else Ctrl-C is ignored, as in the background of a script
        signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    from topdag.cli.commands import SUMMARIES, command_named
    from topdag.cli.main import main as run

    for name in SUMMARIES.keys() & set(sys.argv[1:]):
        command_named(name)
    signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt
    return run


if __name__ == "__main__":
    sys.exit(main())
