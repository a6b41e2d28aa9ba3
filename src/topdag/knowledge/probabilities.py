"""What a user can say about the probabilities of a variable given named parents, as linear rows over named cells.

Naming parents makes them parents of the child. With further parents, what is said holds for each of their
configurations [de Campos, Zeng & Ji 2009, section 3.1]. All that is said is immutable and speaks of names and states;
codes appear only in ``rows``, once the states of a table are known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

from topdag._util.messages import closest, listing
from topdag.errors import ScoreError, is_finite

SIGNS = ("+", "-", "0")
_BARE = re.compile(r"\w[\w.]*")
Cell = tuple[int, ...]
States = Mapping[str, Sequence[Hashable]]


@dataclass(frozen=True)
class Restriction:
    """The sum of coefficient times probability over some cells is at most ``bound``, or equal to it.

    A cell has the code of each named parent, in their order, and last that of the child.
    """

    terms: tuple[tuple[Cell, float], ...]
    bound: float = 0.0
    is_equal: bool = False


@dataclass(frozen=True)
class ParameterConstraint:
    """Something known about the probabilities of ``child`` given ``parents``; made by the functions of this room."""

    child: str
    parents: tuple[str, ...]

    def rows(self, states: States) -> list[Restriction]:
        """What is said as linear rows, for variables with these states."""
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise ScoreError(
            "A parameter constraint is neither true nor false; for 0.1 <= p <= 0.3 write two: p >= 0.1 and p <= 0.3."
        )


@dataclass(frozen=True)
class Influence(ParameterConstraint):
    """See ``influence``."""

    sign: str
    parent_order: tuple[Hashable, ...] | None = None
    child_order: tuple[Hashable, ...] | None = None

    def rows(self, states: States) -> list[Restriction]:
        (parent,) = self.parents
        above = ordered_codes(parent, self.parent_order, states, self)
        own = ordered_codes(self.child, self.child_order, states, self)
        if self.sign == "0":
            return [
                Restriction((((low, k), 1.0), ((high, k), -1.0)), is_equal=True)
                for low, high in itertools.pairwise(above)
                for k in own
            ]
        sign = 1.0 if self.sign == "+" else -1.0
        return [
            Restriction(
                tuple(((state, k), weight) for k in own[start:] for state, weight in ((low, sign), (high, -sign)))
            )
            for low, high in itertools.pairwise(above)
            for start in range(1, len(own))
        ]

    def __str__(self) -> str:
        ordered = [_ordered(self.parents[0], self.parent_order), _ordered(self.child, self.child_order)]
        return f"influence({', '.join(ordered)}, {self.sign})"


@dataclass(frozen=True)
class Synergy(ParameterConstraint):
    """See ``synergy``."""

    sign: str
    orders: tuple[tuple[str, tuple[Hashable, ...]], ...] = ()

    def rows(self, states: States) -> list[Restriction]:
        orders = dict(self.orders)
        first, second, own = (
            ordered_codes(name, orders.get(name), states, self) for name in (*self.parents, self.child)
        )
        sign = -1.0 if self.sign == "-" else 1.0
        return [
            Restriction(tuple(_square(a, b, own[start:], sign)), is_equal=self.sign == "0")
            for a in itertools.pairwise(first)
            for b in itertools.pairwise(second)
            for start in range(1, len(own))
        ]

    def __str__(self) -> str:
        orders = dict(self.orders)
        ordered = [_ordered(name, orders.get(name)) for name in (*self.parents, self.child)]
        return f"synergy({', '.join(ordered)}, {self.sign})"


def _square(a: Cell, b: Cell, upper: Sequence[int], sign: float) -> Iterator[tuple[Cell, float]]:
    """Raising one parent does less when the other is low: mixed corners less equal corners is at most 0."""
    for i, j in itertools.product(range(2), repeat=2):
        yield from (((a[i], b[j], k), sign if i != j else -sign) for k in upper)


@dataclass(frozen=True)
class Linear(ParameterConstraint):
    """A linear inequality, or equality, between probabilities: terms (coefficient, child's state, parents' states)."""

    terms: tuple[tuple[float, Hashable, tuple[Hashable, ...]], ...]
    bound: float
    is_equal: bool = False

    def rows(self, states: States) -> list[Restriction]:
        codes = tuple((self._cell(own, given, states), weight) for weight, own, given in self.terms)
        return [Restriction(codes, self.bound, self.is_equal)]

    def _cell(self, own: Hashable, given: tuple[Hashable, ...], states: States) -> Cell:
        above = (code_of(name, state, states, self) for name, state in zip(self.parents, given, strict=True))
        return (*above, code_of(self.child, own, states, self))

    def __str__(self) -> str:
        turned = -1.0 if self.terms[0][0] < 0 else 1.0  # the greatest comes first, so all are negative
        shown = _shown_sum(self.child, self.parents, [(turned * weight, *cell) for weight, *cell in self.terms])
        compared = "=" if self.is_equal else "<=" if turned > 0 else ">="
        return f"{shown} {compared} {shortest(turned * self.bound + 0.0)}"


Term = tuple[str, Hashable, tuple[tuple[str, Hashable], ...]]


@dataclass(frozen=True)
class Probabilities:
    """A weighted sum of probabilities of one variable and a number. Add, subtract, multiply by numbers, compare."""

    terms: tuple[tuple[float, Term], ...]
    constant: float = 0.0

    def __add__(self, other: Probabilities | float) -> Probabilities:
        more = _as_sum(other)
        return Probabilities(self.terms + more.terms, self.constant + more.constant)

    __radd__ = __add__

    def __mul__(self, factor: float) -> Probabilities:
        by = _number(factor)
        return Probabilities(tuple((by * weight, term) for weight, term in self.terms), by * self.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Probabilities:
        return self * -1.0

    def __sub__(self, other: Probabilities | float) -> Probabilities:
        return self + -_as_sum(other)

    def __rsub__(self, other: float) -> Probabilities:
        return -self + other

    def __le__(self, other: Probabilities | float) -> Linear:
        return _linear(self - other, is_equal=False)

    def __ge__(self, other: Probabilities | float) -> Linear:
        return _linear(_as_sum(other) - self, is_equal=False)

    def equals(self, other: Probabilities | float) -> Linear:
        """The constraint that both are the same. (``==`` compares what is written, as for any value.)"""
        return _linear(self - other, is_equal=True)


def influence(
    parent: str,
    child: str,
    sign: str,
    *,
    parent_order: Sequence[Hashable] | None = None,
    child_order: Sequence[Hashable] | None = None,
) -> Influence:
    """Raising the parent moves the child up ("+"), down ("-"), or changes nothing ("0") [Wellman 1990].

    "Up" is first-order stochastic dominance: no P(child >= state) falls. States are in the order in which the table
    declares them, which for undeclared texts is that of the alphabet; ``parent_order`` and ``child_order`` say
    another.

    >>> print(influence("smoke", "lung", "+"))
    influence(smoke, lung, +)
    """
    _check_names(parent, child)
    orders = (None if order is None else tuple(order) for order in (parent_order, child_order))
    return Influence(child, (parent,), _checked_sign(sign), *orders)


def synergy(
    parents: Sequence[str], child: str, sign: str, *, orders: Mapping[str, Sequence[Hashable]] | None = None
) -> Synergy:
    """Two parents add more together than alone ("+"), less ("-"), or just the sum ("0") [Wellman 1990].

    "+": P(child >= state) gains at least as much by raising one parent when the other is higher. ``orders``: by name,
    states from low to high where that is not the table's order.
    """
    if isinstance(parents, str) or len(parents) != 2:
        raise ScoreError(f"A synergy is of two parents, such as ['smoke', 'asia'], not {parents!r}.")
    _check_names(*parents, child)
    given = {} if orders is None else dict(orders)
    if odd := [name for name in given if name not in (*parents, child)]:
        raise ScoreError(
            f"orders names {odd[0]!r}, which this synergy is not about; {closest(odd[0], [*parents, child])}."
        )
    return Synergy(
        child, tuple(parents), _checked_sign(sign), tuple((name, tuple(order)) for name, order in given.items())
    )


def probability(child: str, state: Hashable, given: Mapping[str, Hashable] | None = None) -> Probabilities:
    """P(child = state | given), to be compared: bounds, orderings and linear inequalities are constraints.

    >>> ill, well = probability("lung", "yes", {"smoke": "yes"}), probability("lung", "yes", {"smoke": "no"})
    >>> print(ill >= 2 * well)
    2 P(lung=yes | smoke=no) - P(lung=yes | smoke=yes) <= 0
    >>> print(ill <= 0.3)
    P(lung=yes | smoke=yes) <= 0.3
    """
    parents = {} if given is None else dict(given)
    _check_names(*parents, child)
    return Probabilities(((1.0, (child, state, tuple(sorted(parents.items(), key=lambda pair: pair[0])))),))


def ordered_codes(
    name: str, order: tuple[Hashable, ...] | None, states: States, said: ParameterConstraint
) -> list[int]:
    """The codes of a variable's states from low to high."""
    if order is None:
        return list(range(len(states[name])))
    codes = [code_of(name, state, states, said) for state in order]
    if sorted(codes) != list(range(len(states[name]))):
        raise ScoreError(f"{said}: the order of {name!r} must have each of its states once: {listing(states[name])}.")
    return codes


def code_of(name: str, state: Hashable, states: States, said: ParameterConstraint) -> int:
    own = list(states[name])
    same = [code for code, known in enumerate(own) if isinstance(state, str) and str(known) == state]
    if state not in own and len(same) == 1:
        return same[0]  # a number or truth value that was written
    if state not in own:
        hint = (
            closest(state, [str(s) for s in own]) if all(isinstance(s, str) for s in own) else f"it has {listing(own)}"
        )
        raise ScoreError(f"{said}: {name!r} has no state {state!r}; {hint}.")
    return own.index(state)


def _linear(difference: Probabilities, *, is_equal: bool) -> Linear:
    """``difference`` at most 0, or 0."""
    weights: dict[Term, float] = {}
    for weight, term in difference.terms:
        weights[term] = weights.get(term, 0.0) + weight
    if not weights:
        raise ScoreError("A constraint needs a probability, such as probability('lung', 'yes', {'smoke': 'no'}).")
    children = sorted({child for child, _, _ in weights})
    if len(children) > 1:
        raise ScoreError(f"A constraint is about the probabilities of one variable, not of {listing(children)}.")
    named = {tuple(name for name, _ in given) for _, _, given in weights}
    if len(named) > 1:
        raise ScoreError(
            f"The probabilities of {children[0]!r} in one constraint must be given the same parents, not once "
            + " and once ".join(f"({', '.join(names)})" for names in sorted(named))
            + "."
        )
    terms = [(weight, own, tuple(state for _, state in given)) for (_, own, given), weight in weights.items()]
    terms.sort(key=lambda term: (-term[0], str(term[1:])))
    made = Linear(children[0], named.pop(), tuple(terms), -difference.constant + 0.0, is_equal)
    if not is_equal and len(terms) == 1 and made.bound > max(terms[0][0], 0.0):
        raise ScoreError(f"{made} says nothing: a probability is a number from 0 to 1, such as 0.1 for ten percent.")
    return made


def _as_sum(value: Probabilities | float) -> Probabilities:
    return value if isinstance(value, Probabilities) else Probabilities((), _number(value))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise ScoreError(f"Probabilities are compared with and multiplied by finite numbers, not {value!r}.")
    return float(value)


def _checked_sign(sign: str) -> str:
    if sign not in SIGNS:
        raise ScoreError(f'A sign is "+", "-" or "0", not {sign!r}.')
    return sign


def _check_names(*names: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ScoreError(f"Variables are named by texts, not {name!r}.")
    if len(set(names)) < len(names):
        raise ScoreError(f"A constraint names each variable once, not {', '.join(names)}.")


def word(value: Hashable) -> str:
    """A name or state as texts write it: in double quotes when it is odd."""
    text = str(value)
    if _BARE.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def shortest(number: float) -> str:
    """All its digits, but no more."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _ordered(name: str, order: tuple[Hashable, ...] | None) -> str:
    return word(name) if order is None else f"{word(name)}: {' < '.join(map(word, order))}"


def _shown_sum(child: str, parents: tuple[str, ...], terms: Sequence[Sequence[Any]]) -> str:
    text = ""
    for weight, own, given in terms:
        at = ", ".join(f"{word(name)}={word(state)}" for name, state in zip(parents, given, strict=True))
        size = "" if abs(weight) == 1 else f"{shortest(abs(weight))} "
        sign = (" - " if text else "-") if weight < 0 else (" + " if text else "")
        text += f"{sign}{size}P({word(child)}={word(own)}{' | ' if at else ''}{at})"
    return text
