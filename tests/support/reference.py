"""The truth that every engine is tested against: slow, obvious, and independent of topdag.

A table is ``rows`` (tuples of states 0, 1, ...), ``weights`` (one whole number per row) and ``arities``
(states per variable). A set of variables is a bit mask; a network is a tuple with the parent mask of each
variable; ``local`` is any function local(x, parent mask) -> float. Scores are natural logs; larger is better.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

TINY = 1e-9

# ---- Sets


def only(x):
    return 1 << x


def members(mask):
    return tuple(x for x in range(mask.bit_length()) if mask & only(x))


def all_subsets(variables):
    """The masks of all subsets of some variables, e.g. of ``range(n)``, by size."""
    variables = list(variables)
    sizes = range(len(variables) + 1)
    return [sum(map(only, subset)) for size in sizes for subset in combinations(variables, size)]


# ---- Local scores of a family: variable x with a tuple of parents
#
# j runs over parent configurations, k over the r states of x. N_jk are counts, N_j their sums over k, N the
# total weight; alpha_jk are the parameters of Dirichlet priors.


def family_counts(rows, weights, arities, x, parents):
    """Parent configuration -> counts of the states of x, for the configurations that occur."""
    counts = {}
    for row, weight in zip(rows, weights, strict=True):
        if weight > 0:
            configuration = tuple(row[p] for p in parents)
            counts.setdefault(configuration, [0] * arities[x])[row[x]] += weight
    return counts


def parent_states(arities, parents):
    """q: the number of parent configurations, whether they occur or not."""
    return math.prod(arities[p] for p in parents)


def free_parameters(arities, x, parents):
    return (arities[x] - 1) * parent_states(arities, parents)


def log_likelihood(rows, weights, arities, x, parents):
    """The sum over j and k of N_jk ln(N_jk / N_j): the log likelihood at its maximum."""
    return sum(
        count * math.log(count / sum(counts))
        for counts in family_counts(rows, weights, arities, x, parents).values()
        for count in counts
        if count > 0
    )


def bic(rows, weights, arities, x, parents):
    """[Schwarz 1978]"""
    penalty = math.log(sum(weights)) / 2 * free_parameters(arities, x, parents)
    return log_likelihood(rows, weights, arities, x, parents) - penalty


def aic(rows, weights, arities, x, parents):
    """[Akaike 1974]"""
    return log_likelihood(rows, weights, arities, x, parents) - free_parameters(arities, x, parents)


def dirichlet_multinomial(alphas, counts):
    """ln of Γ(A)/Γ(A+N) · Π_k Γ(alpha_k+N_k)/Γ(alpha_k), A and N the sums over k [Cooper & Herskovits 1992]

    A state that does not occur has factor 1, even with alpha_k = 0.
    """
    if any(count > 0 and alpha <= 0 for alpha, count in zip(alphas, counts, strict=True)):
        raise ValueError("a state that occurs needs prior mass")
    total = math.lgamma(sum(alphas)) - math.lgamma(sum(alphas) + sum(counts))
    for alpha, count in zip(alphas, counts, strict=True):
        if count > 0:
            total += math.lgamma(alpha + count) - math.lgamma(alpha)
    return total


def bdeu(rows, weights, arities, x, parents, ess=1.0):
    """alpha_jk = ess / (r q) [Buntine 1991; Heckerman, Geiger & Chickering 1995]"""
    r, q = arities[x], parent_states(arities, parents)
    counts = family_counts(rows, weights, arities, x, parents)
    return sum(dirichlet_multinomial([ess / (r * q)] * r, c) for c in counts.values())


def bds(rows, weights, arities, x, parents, ess=1.0):
    """BDeu with q the number of parent configurations that occur [Scutari 2016]"""
    counts = family_counts(rows, weights, arities, x, parents)
    r, q = arities[x], len(counts)
    return sum(dirichlet_multinomial([ess / (r * q)] * r, c) for c in counts.values())


def k2(rows, weights, arities, x, parents):
    """alpha_jk = 1 [Cooper & Herskovits 1992]"""
    counts = family_counts(rows, weights, arities, x, parents)
    return sum(dirichlet_multinomial([1.0] * arities[x], c) for c in counts.values())


def bde(rows, weights, arities, x, parents, ess, prior):
    """alpha_jk = ess · P(x = k, parents = j) under a prior [Heckerman, Geiger & Chickering 1995]

    ``prior[cell]`` is the probability of a tuple of states of all variables: a dict or an array.
    """
    alphas = {}
    for cell in product(*map(range, arities)):
        configuration = tuple(cell[p] for p in parents)
        alphas.setdefault(configuration, [0.0] * arities[x])[cell[x]] += ess * prior[cell]
    counts = family_counts(rows, weights, arities, x, parents)
    return sum(dirichlet_multinomial(alphas[j], c) for j, c in counts.items())


@cache
def complexity(n, k):
    """C(n, k), exactly: the sum of the maximal likelihoods of all sequences of n draws from k states.

    C(n, 1) = 1, C(n, 2) by definition, C(n, k+2) = C(n, k+1) + (n/k) C(n, k) [Kontkanen & Myllymäki 2007]
    """
    two = Fraction(sum(math.comb(n, h) * h**h * (n - h) ** (n - h) for h in range(n + 1)), n**n)
    values = [None, Fraction(1), two]
    for i in range(1, k - 1):
        values.append(values[i + 1] + Fraction(n, i) * values[i])
    return values[k]


def regret(n, k):
    """reg(n, k) = ln C(n, k)"""
    return math.log(complexity(n, k).numerator) - math.log(complexity(n, k).denominator)


def fnml(rows, weights, arities, x, parents):
    """[Silander, Roos, Kontkanen & Myllymäki 2008]"""
    counts = family_counts(rows, weights, arities, x, parents)
    penalty = sum(regret(sum(c), arities[x]) for c in counts.values())
    return log_likelihood(rows, weights, arities, x, parents) - penalty


def qnml(rows, weights, arities, x, parents):
    """[Silander, Leppä-aho, Jääsaari & Roos 2018]"""
    n, r, q = sum(weights), arities[x], parent_states(arities, parents)
    return log_likelihood(rows, weights, arities, x, parents) - regret(n, q * r) + regret(n, q)


def node_average_likelihood(rows, weights, arities, x, parents, penalty):
    """N times the average log likelihood of the rows in which x and its parents are known (None: they are not), less
    ``penalty`` for each free parameter; where there is no such row, each state is equally likely [Balov 2013]."""
    family = (*parents, x)
    known = [(row, weight) for row, weight in zip(rows, weights, strict=True) if None not in [row[v] for v in family]]
    n_known = sum(weight for _, weight in known)
    if n_known == 0:
        average = -math.log(arities[x])
    else:
        average = log_likelihood(*zip(*known, strict=True), arities, x, parents) / n_known
    return sum(weights) * average - penalty * free_parameters(arities, x, parents)


def local_of(score, rows, weights, arities, *settings):
    """local(x, parent mask) of one of the scores above on one table; each family is computed once."""

    @cache
    def local(x, parents):
        return score(rows, weights, arities, x, members(parents), *settings)

    return local


def local_where_not_set(score, rows, weights, arities, targets, *settings):
    """The same, where ``targets`` has for each row the variables set by experiment, as a mask: a family counts the
    rows in which its variable was not set [Cooper & Yoo 1999]"""

    @cache
    def local(x, parents):
        kept = [i for i, mask in enumerate(targets) if not mask & only(x)]
        own_rows, own_weights = [rows[i] for i in kept], [weights[i] for i in kept]
        return score(own_rows, own_weights, arities, x, members(parents), *settings)

    return local


# ---- Networks


def is_acyclic(masks):
    """Place variables whose parents are all placed, until none is left or none can be placed."""
    placed, waiting = 0, set(range(len(masks)))
    while ready := {x for x in waiting if masks[x] & ~placed == 0}:
        placed |= sum(map(only, ready))
        waiting -= ready
    return not waiting


@cache
def all_networks(n):
    """Every network on n variables: one on the first n-1, with any parents and any children of the last."""
    if n == 0:
        return ((),)
    last, others = n - 1, all_subsets(range(n - 1))
    candidates = (
        (*(mask | only(last) if children & only(x) else mask for x, mask in enumerate(smaller)), parents)
        for smaller in all_networks(n - 1)
        for parents in others
        for children in others
    )
    return tuple(filter(is_acyclic, candidates))


def network_score(local, masks):
    return sum(local(x, parents) for x, parents in enumerate(masks))


def networks_within(local, n, epsilon, max_parents=None):
    """All (score, network) that score at least the best minus epsilon, best first."""
    most = n if max_parents is None else max_parents
    allowed = [masks for masks in all_networks(n) if all(parents.bit_count() <= most for parents in masks)]
    scored = sorted(((network_score(local, masks), masks) for masks in allowed), reverse=True)
    return [(score, masks) for score, masks in scored if score >= scored[0][0] - epsilon - TINY]


def best_networks(local, n, max_parents=None):
    """The best score and all networks that attain it."""
    best = networks_within(local, n, 0.0, max_parents)
    return best[0][0], [masks for _, masks in best]


def best_parents(local, n, x, available):
    """The best local score of x with parents among the available, and all parent sets that attain it."""
    allowed = [parents for parents in range(2**n) if parents & ~available == 0 and not parents & only(x)]
    best = max(local(x, parents) for parents in allowed)
    return best, [parents for parents in allowed if local(x, parents) >= best - TINY]


def best_score_by_orders(local, n):
    """The best network score, in another way: each order gives its variables the best earlier parents."""

    @cache
    def best(x, earlier):
        return best_parents(local, n, x, earlier)[0]

    return max(
        sum(best(x, sum(map(only, order[:place]))) for place, x in enumerate(order)) for order in permutations(range(n))
    )


def linear_extensions(masks):
    """How many orders of all variables put every parent before its child."""
    return sum(
        all(masks[x] & ~sum(map(only, order[:place])) == 0 for place, x in enumerate(order))
        for order in permutations(range(len(masks)))
    )


# ---- Effects of setting a variable
#
# ``mass[cell]``: rows counted and imaginary in each tuple of states of all variables, the parameters of a Dirichlet
# distribution. Sums of its cells are independent shares of each other, so that means of products are products of means.


def mass_of_cells(rows, weights, arities, ess, prior=None):
    """With ``ess`` imaginary rows, spread evenly or as ``prior[cell]`` says."""
    cells = list(product(*map(range, arities)))
    mass = {cell: ess * (1 / len(cells) if prior is None else prior[cell]) for cell in cells}
    for row, weight in zip(rows, weights, strict=True):
        mass[tuple(row)] += weight
    return mass


def response(mass, arities, x, parents, y):
    """P(y | do(x = i)), a list for each i: the sum over z of P(z) P(y | i, z), z the states of the parents of x; that
    of y alone where y is among them [Pearl 2009, section 3.3]"""

    def total(**states):
        fixed = {int(v[1:]): state for v, state in states.items()}
        return sum(m for cell, m in mass.items() if all(cell[v] == state for v, state in fixed.items()))

    if y in members(parents):
        alone = [total(**{f"v{y}": k}) / total() for k in range(arities[y])]
        return [alone for _ in range(arities[x])]
    found = [[0.0] * arities[y] for _ in range(arities[x])]
    for z in product(*(range(arities[p]) for p in members(parents))):
        given = {f"v{p}": state for p, state in zip(members(parents), z, strict=True)}
        for i in range(arities[x]):
            below = total(**given, **{f"v{x}": i})
            for k in range(arities[y]):
                found[i][k] += total(**given) / total() * total(**given, **{f"v{x}": i, f"v{y}": k}) / below
    return found


def parent_set_shares(weighed_networks, x):
    """Parents of x -> share of the weight; ``weighed_networks``: pairs of a network and its weight."""
    total = sum(weight for _, weight in weighed_networks)
    shares = {}
    for masks, weight in weighed_networks:
        shares[masks[x]] = shares.get(masks[x], 0.0) + weight / total
    return shares


def descendants(masks, x):
    """All that a directed path leads to from x, as a mask."""
    found, grown = 0, {v for v, parents in enumerate(masks) if parents & only(x)}
    while grown:
        found |= sum(map(only, grown))
        grown = {v for v, parents in enumerate(masks) if parents & found and not found & only(v)}
    return found


# ---- Equivalence classes


def equivalence_key(masks):
    """Skeleton and v-structures: the same for two networks iff they are equivalent [Verma & Pearl 1990]"""
    edges = [(p, x) for x, parents in enumerate(masks) for p in members(parents)]
    skeleton = frozenset(frozenset(edge) for edge in edges)
    v_structures = frozenset(
        (a, x, b)
        for x, parents in enumerate(masks)
        for a, b in combinations(members(parents), 2)
        if frozenset((a, b)) not in skeleton
    )
    return skeleton, v_structures


def equivalence_classes(n):
    """Key -> the networks with that key."""
    classes = {}
    for masks in all_networks(n):
        classes.setdefault(equivalence_key(masks), []).append(masks)
    return classes


def equivalent_networks(masks):
    """All networks of the same class: those reached by reversing covered edges, one at a time [Chickering 1995]"""
    found, waiting = {masks}, [masks]
    while waiting:
        network = waiting.pop()
        for x, parents in enumerate(network):
            for p in members(parents):
                if network[p] == parents & ~only(p):  # p -> x is covered: x has p's parents, and p
                    reversed_edge = list(network)
                    reversed_edge[x], reversed_edge[p] = network[p], network[p] | only(x)
                    if tuple(reversed_edge) not in found:
                        found.add(tuple(reversed_edge))
                        waiting.append(tuple(reversed_edge))
    return found
