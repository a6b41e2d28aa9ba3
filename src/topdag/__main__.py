"""``topdag`` and ``python -m topdag``: the command line, opened so that Ctrl-C is heard from the first moment on."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Runs the command line and returns its exit code."""
    try:
        from topdag.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("topdag: interrupted before anything was known", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
