"""python -m bench [PART ...]: every file of this folder with a main() is a part; without any, the usual three run.

Parts read options such as --quick by themselves (``given`` in bench/measure.py).
"""

import sys
from importlib import import_module
from pathlib import Path

USUAL = ["best", "scaling", "lists"]
PARTS = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if "def main(" in file.read_text())

if __name__ == "__main__":
    for part in [word for word in sys.argv[1:] if not word.startswith("--")] or USUAL:
        if part not in PARTS:
            sys.exit(f"no benchmark is called {part!r}; there are {', '.join(PARTS)}")
        import_module(f"bench.{part}").main()
