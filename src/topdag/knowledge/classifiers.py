"""Structures of classifiers as ready constraints: the best network that satisfies them is the best such classifier.

All of them choose features too: a variable may stay without edges [de Campos, Zeng & Ji 2009, section 3.2].
"""

from __future__ import annotations

from topdag.errors import ConstraintError
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.rule_builders import any_of, edge, n_parents
from topdag.knowledge.rules import ANY_NAME, EACH_NAME, WILD_NAMES, checked_count


def naive_bayes(class_: str) -> Constraints:
    """Every variable has the class as its only parent, or none; the class has none.

    >>> print(naive_bayes("disease"))
    max parents: disease 0
    allowed parents of *: (disease)
    """
    return Constraints(max_parents={_class_name(class_): 0}, allowed_parents={ANY_NAME: [class_]})


def tan(class_: str) -> Constraints:
    """Tree-augmented naive Bayes: the class and at most one other variable as parents, or none at all.

    A variable with any parent has the class among them; the class has no parents.
    """
    return k_dependence(class_, 1)


def k_dependence(class_: str, k: int) -> Constraints:
    """At most k parents beside the class; a variable with any parent has the class among them [Sahami 1996]."""
    class_, most = _class_name(class_), checked_count(k, "k_dependence") + 1
    with_class = any_of([n_parents(EACH_NAME) == 0, edge(class_, EACH_NAME)])
    return Constraints(max_parents={class_: 0, ANY_NAME: most}, rules=[with_class])


def _class_name(class_: object) -> str:
    if not isinstance(class_, str) or not class_ or class_ in WILD_NAMES:
        raise ConstraintError(f"class_ is the name of the class variable, not {class_!r}.")
    return class_
