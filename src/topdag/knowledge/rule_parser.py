"""The text form of rules: ``"smoke->lung or not asia->dysp"``.

    rule:  if RULE then RULE  |  RULE or RULE  |  RULE and RULE  |  not RULE  |  ( RULE )
           a->b  |  a<-b  |  a--b  |  parents(a) <= 2     (also < >= > = == !=)

``not`` binds closest, then ``and``, then ``or``; ``if`` inside another rule stands in brackets. Names of letters,
digits, ``_`` and ``.`` stand as they are, others in double quotes; for ``*`` and ``?`` see ``topdag.rules``.
"""

from __future__ import annotations

import re

from topdag._util.tokens import TokenReader
from topdag.errors import ConstraintError
from topdag.knowledge.rules import (
    ANY_NAME,
    COMPARISONS,
    KEYWORDS,
    MOST_PARENTS,
    WILD_NAMES,
    Adjacent,
    AllOf,
    AnyOf,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
)

_TOKENS = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<arrow>->|<-|--)|(?P<compare><=|>=|==|!=|<|>|=)"""
    r"""|(?P<number>\d+(?![\w.]))|(?P<name>[^\W\d][\w.]*|\*|\?)|(?P<bracket>[()])""",
    re.DOTALL,
)
ARROWS = ("->", "<-", "--")


def parse_rule(text: str, what: str = "Rule") -> Rule:
    """The rule that a text states; ConstraintError points at what is wrong. ``what``: where it stands, as errors say.

    >>> parse_rule("if a->b then parents(c) <= 2") == parse_rule("(if (a->b) then parents(c)<=2)")
    True
    """
    if not isinstance(text, str):
        raise ConstraintError(f"A rule is a text such as 'a->b or not c->d', not {text!r}.")
    return _RuleReader(text, what).whole()


class _RuleReader(TokenReader):
    TOKENS = _TOKENS

    def whole(self) -> Rule:
        rule = self._rule()
        if self._next.kind != "end":
            raise self._wrong("'and', 'or' or the end")
        return rule

    def _rule(self) -> Rule:
        self._enter()
        rule = self._if_then() if self._takes("if") else self._any_of()
        self.depth -= 1
        return rule

    def _if_then(self) -> Rule:
        condition = self._rule()
        if not self._takes("then"):
            raise self._wrong("'then'")
        return IfThen(condition, self._rule())

    def _any_of(self) -> Rule:
        parts = [self._all_of()]
        while self._takes("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self) -> Rule:
        parts = [self._not()]
        while self._takes("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _not(self) -> Rule:
        if not self._takes("not"):
            return self._simple()
        self._enter()
        rule = Not(self._not())
        self.depth -= 1
        return rule

    def _simple(self) -> Rule:
        if self._takes("("):
            rule = self._rule()
            if not self._takes(")"):
                raise self._wrong("')'")
            return rule
        if self._takes("parents"):
            return self._number_of_parents()
        return self._edge()

    def _number_of_parents(self) -> Rule:
        if not self._takes("("):
            raise self._wrong("'(' and a name")
        variable = self._name("a name")
        if not self._takes(")"):
            raise self._wrong("')'")
        if self._next.kind != "compare":
            raise self._wrong("a comparison such as <=")
        comparison = self._take().text
        if self._next.kind != "number" or len(self._next.text) > 9 or int(self._next.text) > MOST_PARENTS:
            raise self._wrong(f"a whole number up to {MOST_PARENTS:,}")
        comparison = "==" if comparison == "=" else comparison
        assert comparison in COMPARISONS
        return NumberOfParents(variable, comparison, int(self._take().text))

    def _edge(self) -> Rule:
        begin = self._next
        one = self._name("an edge such as a->b, 'parents(', 'not', 'if' or '('")
        if self._next.text not in ARROWS or self._next.kind != "arrow":
            raise self._wrong("'->', '<-' or '--'")
        arrow = self._take().text
        other = self._name("a name")
        if one == other != ANY_NAME:
            raise self._error(begin.place, f"an edge joins two variables, not {one!r} with itself")
        if arrow == "--":
            return Adjacent(one, other)
        return Edge(one, other) if arrow == "->" else Edge(other, one)

    def _name(self, expected: str) -> str:
        token = self._next
        if token.kind == "quoted":
            name = self._unquoted()
            if not name:
                raise self._error(token.place, "a name has at least one letter")
            if name in WILD_NAMES:
                raise self._error(token.place, f"no variable can be called {name!r} here; it stands for others")
            return name
        if token.kind != "name" or token.text in KEYWORDS:
            raise self._wrong(expected)
        return self._take().text
