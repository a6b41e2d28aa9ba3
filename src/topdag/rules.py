"""What rules of ``Constraints`` are made of, and structures of classifiers that are made of such rules.

Rules: ``edge``, ``adjacent`` and ``n_parents`` make a ``Rule``, ``parse_rule`` reads one. They are joined by ``&``,
``|`` and ``~``, or by ``topdag.any_of``, ``all_of``, ``none_of``, ``if_then`` and ``not_``, which take texts too.

In place of a name may stand ``"*"`` or the name of a group. An edge with it holds when some such edge is there; a
number of parents holds when it does for every one. A rule with ``"?"`` holds for each variable put in its place
throughout, but for those that the rule names.

Ready ``Constraints``: ``naive_bayes``, ``tan`` (tree-augmented naive Bayes) and ``k_dependence``.

>>> import topdag as td
>>> print(td.any_of([td.rules.edge("a", "b"), "c->d", td.rules.n_parents("e") <= 2]))
a->b or c->d or parents(e) <= 2
"""

from __future__ import annotations

from topdag.knowledge.classifiers import k_dependence, naive_bayes, tan
from topdag.knowledge.rule_builders import adjacent, edge, n_parents
from topdag.knowledge.rule_parser import parse_rule
from topdag.knowledge.rules import Rule

__all__ = [
    "Rule",
    "adjacent",
    "edge",
    "k_dependence",
    "n_parents",
    "naive_bayes",
    "parse_rule",
    "tan",
]
