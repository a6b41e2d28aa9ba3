"""The reference itself, checked against published counts, hand arithmetic and second definitions."""

import math
import random
from itertools import product

import pytest
import reference as ref

# Four rows with weight 1, 1, 2, 1 over the binary variables 0 and 1: the counts of variable 0 are 2 and 3,
# of variable 1 given 0: (1, 1) when 0 is in state 0 and (0, 3) when it is in state 1.
ROWS = [(0, 0), (0, 1), (1, 1), (1, 1)]
WEIGHTS = [1, 1, 2, 1]
ARITIES = [2, 2]
HAND = (ROWS, WEIGHTS, ARITIES)


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def random_table(seed, arities=(2, 3, 2, 2), n_rows=40):
    """Each variable copies the previous one in part, so that scores favour some edges."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        row = []
        for arity in arities:
            row.append(row[-1] % arity if row and rng.random() < 0.6 else rng.randrange(arity))
        rows.append(tuple(row))
    return rows, [rng.randint(1, 3) for _ in rows], list(arities)


def random_prior(seed, arities):
    rng = random.Random(seed)
    mass = {cell: rng.random() + 0.05 for cell in product(*map(range, arities))}
    return {cell: value / sum(mass.values()) for cell, value in mass.items()}


def random_local(seed, n):
    """Scores without any structure, from a few values so that there are ties."""
    rng = random.Random(seed)
    values = {(x, parents): rng.randint(-6, 0) for x in range(n) for parents in range(2**n)}
    return lambda x, parents: values[x, parents]


# ---- Counts of things


def test_subsets_and_members():
    assert ref.all_subsets([0, 2]) == [0b000, 0b001, 0b100, 0b101]
    assert ref.members(0b101) == (0, 2)
    assert sorted(ref.all_subsets(range(5))) == list(range(32))


@pytest.mark.parametrize(
    ("n", "networks", "classes"), [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185), (5, 29281, 8782)]
)
def test_numbers_of_networks_and_classes(n, networks, classes):
    """[Robinson 1973; Gillispie & Perlman 2001]"""
    assert len(set(ref.all_networks(n))) == len(ref.all_networks(n)) == networks
    assert len(ref.equivalence_classes(n)) == classes


def test_networks_by_trying_every_tuple():
    tuples = product(*([mask for mask in range(16) if not mask & 1 << x] for x in range(4)))
    assert set(ref.all_networks(4)) == {masks for masks in tuples if ref.linear_extensions(masks) > 0}


def test_equivalent_networks():
    """The chain in either direction and the fork are one class; the collider is another."""
    right, left, fork = (0b000, 0b001, 0b010), (0b010, 0b100, 0b000), (0b010, 0b000, 0b010)
    collider = (0b000, 0b101, 0b000)
    assert ref.equivalence_key(right) == ref.equivalence_key(left) == ref.equivalence_key(fork)
    assert ref.equivalence_key(collider) != ref.equivalence_key(fork)


@pytest.mark.parametrize(
    ("masks", "orders"),
    [((0, 0, 0, 0), 24), ((0, 1, 2, 4), 1), ((0, 0, 3, 3), 4), ((0, 1, 0, 4), 6), ((2, 1), 0)],
)
def test_linear_extensions(masks, orders):
    """No edges 4!; a chain 1; two above two 2!2!; two chains of two 4!/(2!2!); a cycle none."""
    assert ref.linear_extensions(masks) == orders


# ---- Scores by hand


def test_family_counts():
    assert ref.family_counts(*HAND, 0, ()) == {(): [2, 3]}
    assert ref.family_counts(*HAND, 1, (0,)) == {(0,): [1, 1], (1,): [0, 3]}


def test_only_rows_with_weight_are_observed():
    assert ref.family_counts([(0, 0), (1, 0)], [2, 0], [2, 2], 1, (0,)) == {(0,): [2, 0]}


def test_bic_and_aic_by_hand():
    alone = 2 * math.log(2 / 5) + 3 * math.log(3 / 5)
    given = 1 * math.log(1 / 2) + 1 * math.log(1 / 2) + 3 * math.log(3 / 3)
    assert ref.bic(*HAND, 0, ()) == close(alone - math.log(5) / 2 * 1)
    assert ref.bic(*HAND, 1, (0,)) == close(given - math.log(5) / 2 * 2)
    assert ref.aic(*HAND, 0, ()) == close(alone - 1)
    assert ref.aic(*HAND, 1, (0,)) == close(given - 2)


def test_declared_states_count_as_parameters():
    """With 3 states of variable 0 and 4 of variable 1: 3 parameters for each of 3 parent states."""
    likelihood = ref.log_likelihood(*HAND, 1, (0,))
    assert ref.bic(ROWS, WEIGHTS, [3, 4], 1, (0,)) == close(likelihood - math.log(5) / 2 * 9)


def test_k2_by_hand():
    """(r-1)!/(N+r-1)! times the product of N_k!: 1!·2!·3!/6! = 1/60; and 1/3! times 3!/4! = 1/24."""
    assert ref.k2(*HAND, 0, ()) == close(math.log(1 / 60))
    assert ref.k2(*HAND, 1, (0,)) == close(math.log(1 / 24))


def test_bdeu_by_hand():
    """Predict row after row, as from an urn: alone each state starts at 1/2, given the parent at 1/4."""
    alone = 0.5 / 1 * 1.5 / 2 * 0.5 / 3 * 1.5 / 4 * 2.5 / 5
    first = 0.25 / 0.5 * 0.25 / 1.5
    second = 0.25 / 0.5 * 1.25 / 1.5 * 2.25 / 2.5
    assert ref.bdeu(*HAND, 0, ()) == close(math.log(alone))
    assert ref.bdeu(*HAND, 1, (0,)) == close(math.log(first * second))


def test_bds_by_hand():
    """One of two parent states occurs, with three rows: q is 1 and states start at 1/2; with BDeu at 1/4."""
    table = ([(1, 1)], [3], [2, 2])
    assert ref.bds(*table, 1, (0,)) == close(math.log(0.5 / 1 * 1.5 / 2 * 2.5 / 3))
    assert ref.bdeu(*table, 1, (0,)) == close(math.log(0.25 / 0.5 * 1.25 / 1.5 * 2.25 / 2.5))


def test_bde_by_hand():
    """With ess 2 the states start at 1 and .5 given parent state 0, at 0 and .5 given 1. A state without
    prior mass that does not occur is no trouble: the counts 0, 3 have chance 1."""
    prior = {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.0, (1, 1): 0.25}
    assert ref.bde(*HAND, 1, (0,), 2.0, prior) == close(math.log(1 / 1.5 * 0.5 / 2.5))
    with pytest.raises(ValueError, match="prior mass"):
        ref.bde([(1, 0)], [1], [2, 2], 1, (0,), 2.0, prior)


def test_normalised_likelihoods_by_hand():
    """C(2,2) = 1 + 2·(1/2)(1/2) + 1 = 5/2, C(3,2) = 2 + 2·3·(1/3)(2/3)^2 = 26/9, C(5,2) = 2194/625,
    C(5,4) = C(5,3) + (5/2) C(5,2) with C(5,3) = C(5,2) + 5."""
    five = 2194 / 625
    assert [ref.complexity(n, 2) for n in (2, 3, 5)] == close([5 / 2, 26 / 9, five])
    assert ref.fnml(*HAND, 0, ()) == close(2 * math.log(2 / 5) + 3 * math.log(3 / 5) - math.log(five))
    assert ref.fnml(*HAND, 1, (0,)) == close(2 * math.log(1 / 2) - math.log(5 / 2) - math.log(26 / 9))
    assert ref.qnml(*HAND, 0, ()) == close(ref.fnml(*HAND, 0, ()))
    four_states = math.log(five + 5 + 5 / 2 * five)
    assert ref.qnml(*HAND, 1, (0,)) == close(2 * math.log(1 / 2) - four_states + math.log(five))


# ---- The regret


def complexity_by_definition(n, k):
    """The sum of the maximal likelihoods of all k^n sequences."""
    sequences = product(range(k), repeat=n)
    return sum(math.prod(drawn.count(state) / n for state in drawn) for drawn in sequences)


def regret_by_log_sum(n, k):
    """ln Σ_j [n falling j][(k-1) rising j] / (n^j j!), by the ratio of neighbouring terms, in logs."""
    logs = [0.0]
    for j in range(n):
        if k > 1:
            logs.append(logs[-1] + math.log((n - j) * (k - 1 + j) / (n * (j + 1))))
    return max(logs) + math.log(math.fsum(math.exp(term - max(logs)) for term in logs))


def test_known_regrets():
    assert ref.regret(50, 10) == pytest.approx(13.2376, abs=5e-5)
    assert ref.regret(500, 100) == pytest.approx(144.029, abs=5e-4)
    assert ref.regret(0, 7) == ref.regret(9, 1) == 0.0


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 2), (5, 4), (7, 3), (9, 2)])
def test_regret_by_definition(n, k):
    assert ref.regret(n, k) == close(math.log(complexity_by_definition(n, k)))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 9), (3, 2), (50, 10), (200, 2), (60, 1024), (500, 100)])
def test_regret_by_log_sum(n, k):
    assert ref.regret(n, k) == pytest.approx(regret_by_log_sum(n, k), rel=1e-11, abs=1e-11)


# ---- Properties of scores

PLAIN = {"bic": ref.bic, "aic": ref.aic, "k2": ref.k2, "fnml": ref.fnml, "qnml": ref.qnml}


def all_local_scores(table, seed=0):
    """Name -> local(x, parent mask) of every score on one table."""
    local = {name: ref.local_of(score, *table) for name, score in PLAIN.items()}
    local["bdeu"] = ref.local_of(ref.bdeu, *table, 2.5)
    local["bds"] = ref.local_of(ref.bds, *table, 2.5)
    local["bde"] = ref.local_of(ref.bde, *table, 2.5, random_prior(seed, table[2]))
    return local


def largest_spread(local, n):
    """The largest difference of scores within one equivalence class."""
    spreads = []
    for networks in ref.equivalence_classes(n).values():
        scores = [ref.network_score(local, masks) for masks in networks]
        spreads.append(max(scores) - min(scores))
    return max(spreads)


@pytest.mark.parametrize("seed", range(3))
def test_score_equivalence(seed):
    """Few rows, so that some parent configurations do not occur and BDs differs from BDeu."""
    scores = all_local_scores(random_table(seed, n_rows=9))
    spread = {name: largest_spread(local, 4) for name, local in scores.items()}
    assert all(spread[name] < 1e-9 for name in ("bdeu", "bic", "aic", "qnml", "bde"))
    assert all(spread[name] > 1e-3 for name in ("k2", "fnml", "bds"))


def test_weights_are_repeated_rows():
    rows, weights, arities = random_table(1)
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    one_by_one = all_local_scores((repeated, [1] * len(repeated), arities))
    for name, local in all_local_scores((rows, weights, arities)).items():
        assert local(2, 0b1011) == close(one_by_one[name](2, 0b1011)), name


def test_uniform_bde_is_bdeu():
    table = random_table(2)
    uniform = dict.fromkeys(product(*map(range, table[2])), 1 / 24)
    for x, parents in ((0, ()), (1, (3,)), (2, (0, 1, 3))):
        assert ref.bde(*table, x, parents, 3.0, uniform) == close(ref.bdeu(*table, x, parents, 3.0))


def test_bds_is_bdeu_when_every_parent_configuration_occurs():
    table = random_table(3, n_rows=400)
    assert len(ref.family_counts(*table, 2, (0, 1))) == 6
    assert ref.bds(*table, 2, (0, 1), 3.0) == ref.bdeu(*table, 2, (0, 1), 3.0)


def test_bayesian_scores_predict_row_after_row():
    """The marginal likelihood is the product of the chances of each row given the earlier ones."""
    rows, _, arities = random_table(4)
    table = (rows, [1] * len(rows), arities)
    start = {ref.k2: 1.0, ref.bdeu: 1 / (3 * 4), ref.bds: 1 / (3 * len(ref.family_counts(*table, 1, (0, 3))))}
    for score, alpha in start.items():
        seen, total = {}, 0.0
        for row in rows:
            counts = seen.setdefault((row[0], row[3]), [alpha] * arities[1])
            total += math.log(counts[row[1]] / sum(counts))
            counts[row[1]] += 1
        assert score(*table, 1, (0, 3)) == close(total)


# ---- Best networks


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_best_by_networks_is_best_by_orders(n, seed):
    local = random_local(seed, n)
    best, networks = ref.best_networks(local, n)
    assert best == ref.best_score_by_orders(local, n)
    assert len(networks) >= 1
    assert all(ref.network_score(local, masks) == best for masks in networks)


def test_best_by_networks_is_best_by_orders_for_every_score():
    for name, local in all_local_scores(random_table(5)).items():
        assert ref.best_networks(local, 4)[0] == close(ref.best_score_by_orders(local, 4)), name


def test_best_networks_form_whole_classes():
    """With a score-equivalent score the optimum is attained by all members of its classes."""
    _, networks = ref.best_networks(ref.local_of(ref.bdeu, *random_table(6)), 4)
    classes = ref.equivalence_classes(4)
    best_keys = set(map(ref.equivalence_key, networks))
    assert sorted(networks) == sorted(masks for key in best_keys for masks in classes[key])


@pytest.mark.parametrize("most", range(4))
def test_at_most_so_many_parents(most):
    local = random_local(0, 4)

    def capped(x, parents):
        return local(x, parents) if parents.bit_count() <= most else -math.inf

    assert ref.best_networks(local, 4, max_parents=most)[0] == ref.best_score_by_orders(capped, 4)


def test_best_parents():
    local = random_local(1, 4)
    score, sets = ref.best_parents(local, 4, 2, 0b1111)
    assert score == max(local(2, parents) for parents in (0, 1, 2, 3, 8, 9, 10, 11))
    assert sets == [parents for parents in (0, 1, 2, 3, 8, 9, 10, 11) if local(2, parents) == score]
    assert ref.best_parents(local, 4, 2, 0) == (local(2, 0), [0])


def test_networks_within():
    local = random_local(2, 4)
    near = ref.networks_within(local, 4, 2.0)
    best = ref.best_networks(local, 4)[0]
    assert [score for score, _ in near] == sorted((score for score, _ in near), reverse=True)
    assert {m for _, m in near} == {m for m in ref.all_networks(4) if ref.network_score(local, m) >= best - 2}
    assert len(ref.networks_within(local, 4, math.inf)) == 543


def test_seven_variables_by_orders():
    """Each variable wants exactly the variables before it in one hidden order: that order costs nothing."""
    hidden = (3, 0, 6, 2, 5, 1, 4)
    earlier = {x: sum(1 << y for y in hidden[:place]) for place, x in enumerate(hidden)}
    assert ref.best_score_by_orders(lambda x, parents: -(parents ^ earlier[x]).bit_count(), 7) == 0
