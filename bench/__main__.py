"""python -m bench [PART ...]: every file of this folder with a main() is a part; without any, the usual three run.

Options after a part are for it: ``python -m bench tables --only iris``.
"""

import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

USUAL = ["best", "scaling", "lists"]
PARTS = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if "def main(" in file.read_text())

if __name__ == "__main__":
    words = sys.argv[1:]
    of_options = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    parts, options = words[:of_options] or USUAL, words[of_options:]
    for part in parts:
        if part not in PARTS:
            sys.exit(f"no benchmark is called {part!r}; there are {', '.join(PARTS)}")
        run = import_module(f"bench.{part}").main
        run(options) if signature(run).parameters else run()  # some read options such as --quick by themselves
