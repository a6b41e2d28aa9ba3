"""The text form of parameter constraints: ``"P(lung=yes | smoke=no) <= 0.1"``, ``"influence(smoke, lung, +)"``.

    influence(PARENT, CHILD, SIGN)  |  synergy(PARENT, PARENT, CHILD, SIGN)     SIGN: + - 0
    SUM <= SUM  |  SUM >= SUM  |  SUM = SUM
    SUM:   numbers and probabilities, such as 2 P(x=yes | a=1, b=low) - P(x=yes | a=0, b=low) + 0.1

In ``influence`` and ``synergy`` a name may be followed by its states from low to high, ``dose: low < mid < high``; else
they stand as in the table. Names and states of letters, digits, ``_`` and ``.`` stand as they are, others in double
quotes.
"""

from __future__ import annotations

import re

from topdag._util.tokens import TokenReader
from topdag.errors import ConstraintError, ScoreError
from topdag.knowledge.probabilities import SIGNS, ParameterConstraint, Probabilities, influence, probability, synergy

_TOKENS = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<compare><=|>=|==|=|<)"""
    r"""|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))|(?P<name>\w[\w.]*)|(?P<sign>[-+*])|(?P<bracket>[(),|:])""",
    re.DOTALL,
)
EXAMPLES = "'P(lung=yes | smoke=no) <= 0.1' or 'influence(smoke, lung, +)'"
Ordered = tuple[str, tuple[str, ...] | None]


def parse_parameter(text: str) -> ParameterConstraint:
    """The parameter constraint that a text states; ConstraintError points at what is wrong.

    >>> print(parse_parameter("P(lung=yes | smoke=yes) >= 2 P(lung=yes | smoke=no)"))
    2 P(lung=yes | smoke=no) - P(lung=yes | smoke=yes) <= 0
    """
    if not isinstance(text, str):
        raise ConstraintError(
            f"A parameter constraint is made by influence, synergy or probability, or a text such as {EXAMPLES}."
        )
    return _ConstraintReader(text, "Parameter constraint").whole()


class _ConstraintReader(TokenReader):
    TOKENS = _TOKENS

    def whole(self) -> ParameterConstraint:
        try:
            said = self._constraint()
        except ScoreError as error:
            raise ConstraintError(f"{self.what} {self.text!r}: {error}") from None
        if self._next.kind != "end":
            raise self._wrong("the end")
        return said

    def _constraint(self) -> ParameterConstraint:
        if self._begins("influence"):
            (parent, child), sign = self._arguments(2)
            return influence(parent[0], child[0], sign, parent_order=parent[1], child_order=child[1])
        if self._begins("synergy"):
            named, sign = self._arguments(3)
            orders = {name: order for name, order in named if order is not None}
            return synergy([name for name, _ in named[:2]], named[2][0], sign, orders=orders)
        return self._comparison()

    def _begins(self, word: str) -> bool:
        is_next = self._next.text == word and self.tokens[min(self.at + 1, len(self.tokens) - 1)].text == "("
        self.at += 2 * is_next
        return is_next

    def _arguments(self, many: int) -> tuple[list[Ordered], str]:
        named = []
        for _ in range(many):
            named.append(self._ordered())
            self._require(",")
        sign = self._next.text
        if sign not in SIGNS:
            raise self._wrong("a sign: +, - or 0")
        self._take()
        self._require(")")
        return named, sign

    def _ordered(self) -> Ordered:
        name = self._word("a name")
        if not self._takes(":"):
            return name, None
        states = [self._word("a state")]
        while self._next.text == "<" and self._next.kind == "compare":
            self._take()
            states.append(self._word("a state"))
        return name, tuple(states)

    def _comparison(self) -> ParameterConstraint:
        left = self._sum()
        comparison = self._next
        if comparison.kind != "compare" or comparison.text == "<":
            raise self._wrong("<=, >= or =")
        self._take()
        difference = left - self._sum()
        if comparison.text == "<=":
            return difference <= 0
        return difference >= 0 if comparison.text == ">=" else difference.equals(0)

    def _sum(self) -> Probabilities:
        total = self._signed()
        while self._next.kind == "sign" and self._next.text in "+-":
            total = total + self._signed()
        return total

    def _signed(self) -> Probabilities:
        minus = self._takes("-")
        if not minus:
            self._takes("+")
        term = self._term()
        return -term if minus else term

    def _term(self) -> Probabilities:
        if self._next.kind != "number":
            return self._probability()
        number = float(self._take().text)
        if self._takes("*") or self._next.text == "P":
            return self._probability() * number
        return Probabilities((), number)

    def _probability(self) -> Probabilities:
        if not self._takes("P"):
            raise self._wrong("a number or a probability such as P(lung=yes | smoke=no)")
        self._require("(")
        child, state = self._assigned()
        given: dict[str, str] = {}
        if self._takes("|"):
            given.update([self._assigned()])
            while self._takes(","):
                given.update([self._assigned()])
        self._require(")")
        return probability(child, state, given)

    def _assigned(self) -> tuple[str, str]:
        name = self._word("a name")
        if self._next.text not in ("=", "=="):
            raise self._wrong("'=' and a state")
        self._take()
        return name, self._word("a state")

    def _word(self, expected: str) -> str:
        if self._next.kind == "quoted":
            return self._unquoted()
        if self._next.kind not in ("name", "number"):
            raise self._wrong(expected)
        return self._take().text

    def _require(self, text: str) -> None:
        if not self._takes(text):
            raise self._wrong(f"'{text}'")
