"""The edges of an equivalence class, how many networks it has and which, for any number of variables; sets are bits.

The undirected edges of a class fall into connected parts, chordal graphs that are directed independently of each other:
each so that it has one source and no v-structure. Once the source is chosen, some edges are implied and the rest falls
into smaller parts of the same kind [He, Jia & Yu 2015, JMLR 16].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, combinations
from operator import or_
from random import Random

from topdag import _core
from topdag._util.bitsets import NARROW, bits, parents_first

ChordalPart = tuple[int, ...]
"""A connected chordal graph: the neighbours of each of its vertices, as bits."""
ClassGraph = tuple[tuple[int, ...], tuple[int, ...]]
"""The parents of each variable by directed edges, and its neighbours by undirected ones."""


def class_graph(masks: Sequence[int]) -> ClassGraph:
    """The class of an acyclic network with these parents: an edge is directed where all members agree on it."""
    if 0 < len(masks) <= NARROW:
        graph = _core.class_of(masks)
        return tuple(graph.parents), tuple(graph.neighbours)
    directed, undirected, adjacent = [0] * len(masks), [0] * len(masks), [0] * len(masks)
    for x in parents_first(masks):
        fixed = _compelled(masks[x], directed, undirected, adjacent)
        directed[x], undirected[x], adjacent[x] = fixed, masks[x] & ~fixed, masks[x]
        for p in bits(masks[x]):
            adjacent[p] |= 1 << x
            undirected[p] |= (undirected[x] >> p & 1) << x
    return tuple(directed), tuple(undirected)


def interventional_graph(masks: Sequence[int], targets: Sequence[int]) -> ClassGraph:
    """The same, where networks are told apart by experiments too, which set the variables of a target [Hauser &
    Bühlmann 2012]: an edge with one end in a target is directed, and what follows from that and from the directed edges
    of the class, without a new v-structure or a cycle [Meek 1995]."""
    parents, neighbours = map(list, class_graph(masks))
    for x, mask in enumerate(masks):
        for p in bits(mask & neighbours[x]):
            if any((target >> x ^ target >> p) & 1 for target in targets):
                _direct(p, x, parents, neighbours)
    while _direct_what_follows(parents, neighbours):
        pass
    return tuple(parents), tuple(neighbours)


def _direct(p: int, x: int, parents: list[int], neighbours: list[int]) -> None:
    parents[x] |= 1 << p
    neighbours[x] &= ~(1 << p)
    neighbours[p] &= ~(1 << x)


def _direct_what_follows(parents: list[int], neighbours: list[int]) -> bool:
    """Whether an edge b - c became b -> c."""
    n = len(parents)
    children = [sum((parents[c] >> v & 1) << c for c in range(n)) for v in range(n)]
    adjacent = [parents[v] | children[v] | neighbours[v] for v in range(n)]
    for b in range(n):
        for c in bits(neighbours[b]):
            makes_a_collider = parents[b] & ~adjacent[c]  # a -> b - c without a - c
            makes_a_cycle = children[b] & parents[c]  # b -> a -> c
            between = bits(neighbours[b] & parents[c])  # a - b - d, a -> c <- d without a - d
            is_pulled = any(not adjacent[a] >> d & 1 for a, d in combinations(between, 2))
            if makes_a_collider or makes_a_cycle or is_pulled:
                _direct(b, c, parents, neighbours)
                return True
    return False


def _compelled(parents: int, directed: list[int], undirected: list[int], adjacent: list[int]) -> int:
    """Of the parents of a new leaf those whose edges to it are directed; old edges stay as they are [Chen, Choi &
    Darwiche 2016]. The least set with u in it if u is not adjacent to another parent, if a directed edge comes to u
    from elsewhere, if one goes from u into the set, or if two members not adjacent to each other neighbour u."""
    fixed = 0
    for u in bits(parents):
        if parents & ~(1 << u) & ~adjacent[u] or directed[u] & ~parents:
            fixed |= 1 << u
    grown = -1
    while grown != fixed:
        grown = fixed
        for u in bits(parents & ~fixed):
            into = any(directed[w] >> u & 1 for w in bits(fixed))
            if into or any(not adjacent[v] >> w & 1 for v, w in combinations(bits(fixed & undirected[u]), 2)):
                fixed |= 1 << u
    return fixed


def class_size(undirected: Sequence[int]) -> int:
    """How many networks the class with these undirected edges has."""
    return math.prod(_ways(part_among(undirected, bits(component))) for component in components(undirected))


@lru_cache(1 << 14)
def _ways(part: ChordalPart) -> int:
    """To direct a part. Wide ones become narrow by choosing their source; narrow ones the core counts."""
    if len(part) <= NARROW:
        return _core.class_size(_core.MixedGraph([0] * len(part), part))
    return sum(class_size(directed_from(part, source)[1]) for source in range(len(part)))


def class_members(graph: ClassGraph) -> Iterator[tuple[int, ...]]:
    """The parents of each variable in the networks of a class, one by one, each once, always in the same order."""
    directed, undirected = graph
    if 0 < len(directed) <= NARROW:
        walk = _core.Members(_core.MixedGraph(directed, undirected))
        while (masks := walk.next()) is not None:
            yield tuple(masks)
        return
    for parents in directions(undirected):
        yield tuple(map(or_, directed, parents))


def directions(undirected: Sequence[int]) -> Iterator[list[int]]:
    """The parents by these edges in each member of their class, one by one: each part has its source."""
    parts = list(components(undirected))
    walks = [_parts_directions(undirected, part) for part in parts]
    chosen = [next(walk) for walk in walks]
    while True:
        parents = [0] * len(undirected)
        for own in chosen:
            for v, mask in own.items():
                parents[v] = mask
        yield parents
        for place in reversed(range(len(parts))):  # the last part turns first, as the last digit of a number does
            turned = next(walks[place], None)
            if turned is not None:
                chosen[place] = turned
                break
            walks[place] = _parts_directions(undirected, parts[place])
            chosen[place] = next(walks[place])
        else:
            return


def _parts_directions(undirected: Sequence[int], component: int) -> Iterator[dict[int, int]]:
    """The parents of its variables, by the edges of one connected part."""
    vertices = bits(component)
    part = part_among(undirected, vertices)
    for source in range(len(part)):
        parents, left = directed_from(part, source)
        for others in directions(left):
            both = map(or_, parents, others)
            yield {v: sum(1 << vertices[p] for p in bits(mask)) for v, mask in zip(vertices, both, strict=True)}


def drawn_member(graph: ClassGraph, chance: Random) -> list[int]:
    """The parents in a member of the class, each member as likely as any: a part's source by how many have it."""
    directed, undirected = graph
    parents, left = list(directed), list(undirected)
    while component := next(components(left), 0):
        own = [its if component >> v & 1 else 0 for v, its in enumerate(left)]
        ways = {source: class_size(directed_from(own, source)[1]) for source in bits(component)}
        place = chance.randrange(sum(ways.values()))
        source = next(v for v, before in zip(ways, accumulate(ways.values()), strict=True) if place < before)
        more, rest = directed_from(own, source)
        parents = [a | b for a, b in zip(parents, more, strict=True)]
        left = [rest[v] if component >> v & 1 else its for v, its in enumerate(left)]
    return parents


def directed_from(part: Sequence[int], source: int) -> tuple[list[int], list[int]]:
    """Parents and remaining neighbours when all edges leave the source: a -> b - c without a - c makes b -> c."""
    parents, undirected = [0] * len(part), list(part)
    waiting = [(source, v) for v in bits(part[source])]
    while waiting:
        a, b = waiting.pop()
        if parents[b] >> a & 1:
            continue
        parents[b] |= 1 << a
        undirected[a] &= ~(1 << b)
        undirected[b] &= ~(1 << a)
        waiting += [(b, c) for c in bits(undirected[b] & ~part[a])]
    return parents, undirected


def part_among(neighbours: Sequence[int], vertices: Sequence[int]) -> ChordalPart:
    """The graph on these vertices, with numbers of its own."""
    return tuple(sum((neighbours[v] >> u & 1) << i for i, u in enumerate(vertices)) for v in vertices)


def connected(neighbours: Sequence[int], start: int) -> int:
    """All vertices that a walk from this one reaches."""
    reached, waiting = 1 << start, [start]
    while waiting:
        fresh = neighbours[waiting.pop()] & ~reached
        reached |= fresh
        waiting += bits(fresh)
    return reached


def components(neighbours: Sequence[int]) -> Iterator[int]:
    """The connected parts with an edge in them."""
    left = sum(1 << v for v, its in enumerate(neighbours) if its)
    while left:
        component = connected(neighbours, (left & -left).bit_length() - 1)
        left &= ~component
        yield component


def is_complete(part: ChordalPart) -> bool:
    everything = (1 << len(part)) - 1
    return all(its | 1 << v == everything for v, its in enumerate(part))
