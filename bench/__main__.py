"""python -m bench [best|scaling|lists|network_search|ad_tree|pruning|order_search]"""

import sys

from bench import ad_tree, best, lists, network_search, order_search, pruning, scaling

PARTS = {
    "best": best.main,
    "scaling": scaling.main,
    "lists": lists.main,
    "network_search": network_search.main,
    "ad_tree": ad_tree.main,
    "pruning": pruning.main,
    "order_search": order_search.main,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or ["best", "scaling", "lists"]:
        if part not in PARTS:
            sys.exit(f"no benchmark is called {part!r}; there are {', '.join(PARTS)}")
        PARTS[part]()
