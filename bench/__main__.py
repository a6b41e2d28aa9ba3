"""python -m bench [best|scaling|lists|network_search|ad_tree|pruning|block_lattice]"""

import sys

from bench import ad_tree, best, block_lattice, lists, network_search, pruning, scaling

PARTS = {
    "best": best.main,
    "scaling": scaling.main,
    "lists": lists.main,
    "network_search": network_search.main,
    "ad_tree": ad_tree.main,
    "pruning": pruning.main,
    "block_lattice": block_lattice.main,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or ["best", "scaling", "lists"]:
        if part not in PARTS:
            sys.exit(f"no benchmark is called {part!r}; there are {', '.join(PARTS)}")
        PARTS[part]()
