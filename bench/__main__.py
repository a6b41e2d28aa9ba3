"""python -m bench [best|scaling|ad_tree]"""

import sys

from bench import ad_tree, best, scaling

PARTS = {"best": best.main, "scaling": scaling.main, "ad_tree": ad_tree.main}

if __name__ == "__main__":
    for part in sys.argv[1:] or ["best", "scaling"]:
        if part not in PARTS:
            sys.exit(f"no benchmark is called {part!r}; there are {', '.join(PARTS)}")
        PARTS[part]()
