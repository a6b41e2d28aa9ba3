// core_check.cpp: the whole core on small random tables against naive code, for a build under sanitizers:
//
//   g++ -std=c++20 -g1 -O1 -DTOPDAG_NO_SIMD_CLONES -fsanitize=address,undefined -fno-sanitize-recover=all
//       -ffp-contract=off -Isrc/core tests/core/core_check.cpp src/core/*/*.cpp -o /tmp/core_check -pthread && /tmp/core_check
//
// The same with -fsanitize=thread shows that threads share nothing unguarded. That answers are right is tested in
// Python too, on far more tables; here every array is as short as it may be, so that a step outside is seen.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "counting/counts.h"
#include "counting/sparse_counts.h"
#include "cuts/cluster_ascent.h"
#include "cuts/clusters.h"
#include "cuts/cut_pool.h"
#include "cuts/local_cuts.h"
#include "cuts/reduced_costs.h"
#include "families/local_scores.h"
#include "families/parent_sets.h"
#include "lattice/block_lattice.h"
#include "lattice/family_bounds.h"
#include "lattice/ideal_lattice.h"
#include "lattice/lattice.h"
#include "listing/best_lists.h"
#include "listing/block_family_bounds.h"
#include "listing/class_rule.h"
#include "listing/classes.h"
#include "listing/listing.h"
#include "margins/margins.h"
#include "order_prior/order_prior.h"
#include "gaussian/gaussian_families.h"
#include "gaussian/gaussian_sets.h"
#include "gaussian/mixed_families.h"
#include "scoring/set_scores.h"

using namespace topdag;

namespace {

int passed = 0;
int failed = 0;

void check(bool holds, const char* what) {
    ++(holds ? passed : failed);
    if (!holds && failed <= 20) std::printf("failed: %s\n", what);
}

bool is_close(double a, double b) { return a == b || std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b)); }

std::mt19937_64 generator(20240607);

int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

std::vector<int> shuffled(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    return order;
}

template <class T>
T one_of(std::initializer_list<T> choices) { return choices.begin()[draw(0, static_cast<int>(choices.size()) - 1)]; }

// ---- Tables

// Rows with their own copies of everything, each in an array of exactly its size.
struct OwnTable {
    std::vector<std::vector<std::uint16_t>> codes;
    std::vector<std::uint32_t> weights;
    Table view;

    OwnTable(std::vector<int> arities, std::vector<std::vector<std::uint16_t>> columns, std::vector<std::uint32_t> row_weights)
        : codes(std::move(columns)), weights(std::move(row_weights)) {
        view.arities = std::move(arities);
        for (const auto& column : codes) view.columns.push_back(column.data());
        view.weights = weights.data();
        view.n_distinct = weights.size();
        view.n_rows = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    }
    OwnTable(const OwnTable&) = delete;
};

// Distinct rows. `follow` in 0 ... 9: how often a column repeats the one before it, so that cells differ in size.
std::unique_ptr<OwnTable> random_table(int n, int rows, int most_states, bool has_constants) {
    std::vector<int> arities(n);
    for (int& arity : arities) arity = has_constants && draw(0, 4) == 0 ? 1 : draw(2, most_states);
    const int follow = draw(0, 9);
    const int weighting = draw(0, 3);
    std::set<std::vector<std::uint16_t>> distinct;
    for (int i = 0; i < rows; ++i) {
        std::vector<std::uint16_t> row(n);
        for (int v = 0; v < n; ++v) {
            const bool repeats = v > 0 && draw(0, 9) < follow;
            row[v] = static_cast<std::uint16_t>(repeats ? row[v - 1] % arities[v] : draw(0, arities[v] - 1));
        }
        distinct.insert(row);
    }
    std::vector<std::vector<std::uint16_t>> columns(n);
    std::vector<std::uint32_t> weights;
    for (const auto& row : distinct) {
        for (int v = 0; v < n; ++v) columns[v].push_back(row[v]);
        if (weighting <= 1) weights.push_back(1);
        if (weighting == 2) weights.push_back(static_cast<std::uint32_t>(one_of({1, 2, 3, 4, 15, 16, 17})));
        if (weighting == 3) weights.push_back(static_cast<std::uint32_t>(one_of({1, 5, 4095, 4096, 5000, 100000})));
    }
    return std::make_unique<OwnTable>(std::move(arities), std::move(columns), std::move(weights));
}

std::vector<int> members(VarSet set) {
    std::vector<int> found;
    for (; set != 0; set &= set - 1) found.push_back(first_of(set));
    return found;
}

using Counts = std::map<std::vector<std::uint16_t>, std::uint64_t>;

Counts naive_counts(const Table& table, VarSet set) {
    Counts counts;
    for (std::size_t row = 0; row < table.n_distinct; ++row) {
        std::vector<std::uint16_t> cell;
        for (int v : members(set)) cell.push_back(table.columns[v][row]);
        counts[cell] += table.weights[row];
    }
    return counts;
}

double naive_cells(const Table& table, VarSet set) {
    double cells = 1.0;
    for (int v : members(set)) cells *= table.arities[v];
    return cells;
}

double naive_log_rising(double a, std::uint64_t count) {
    return static_cast<double>(std::lgamma(static_cast<long double>(a) + count) - std::lgamma(static_cast<long double>(a)));
}

// C(n, k) by the recurrence over k, from C(n, 2) by its definition.
double naive_regret(std::uint64_t n, int k) {
    if (k == 1 || n == 0) return 0.0;
    long double before = 1.0L;
    long double two = 0.0L;
    for (std::uint64_t h = 0; h <= n; ++h) {
        const long double own = static_cast<long double>(h);
        const long double other = static_cast<long double>(n - h);
        long double log_term = std::lgamma(n + 1.0L) - std::lgamma(own + 1) - std::lgamma(other + 1);
        if (h > 0) log_term += own * std::log(own / n);
        if (h < n) log_term += other * std::log(other / n);
        two += std::exp(log_term);
    }
    for (int i = 1; i + 2 <= k; ++i) {
        const long double next = two + static_cast<long double>(n) / i * before;
        before = two;
        two = next;
    }
    return static_cast<double>(std::log(two));
}

double naive_value(CellKind kind, double parameter, std::uint64_t count) {
    const double c = static_cast<double>(count);
    switch (kind) {
        case CellKind::one: return 1.0;
        case CellKind::n_log_n: return c * std::log(c);
        case CellKind::n_log_n_regret: return c * std::log(c) + regret(count, parameter);
        case CellKind::log_rising: return naive_log_rising(parameter, count);
    }
    return 0.0;
}

double naive_sum(const Table& table, VarSet set, CellKind kind, double parameter) {
    double sum = 0.0;
    for (const auto& [cell, count] : naive_counts(table, set)) sum += naive_value(kind, parameter, count);
    return sum;
}

// ---- Cell functions

void check_cell_functions() {
    for (double a : {1e-100, 1e-6, 0.3, 1.0, 9.5, 10.0, 77.0, 1e4})
        for (std::uint64_t count : {1ULL, 2ULL, 31ULL, 32ULL, 33ULL, 34ULL, 500ULL, 5000ULL, 4294967295ULL}) {
            check(is_close(log_rising(a, count), naive_log_rising(a, count)), "log_rising");
            if (count > 5000) continue;
            std::vector<double> values(count + 1);
            CellFunction{CellKind::log_rising, a}.tabulate(values.data(), values.size());
            check(values[0] == 0.0 && is_close(values[count], naive_log_rising(a, count)), "tabulated log_rising");
        }
    check(log_rising(2.5, 0) == 0.0, "an empty product");
    for (std::uint64_t n : {0, 1, 2, 3, 10, 50, 400})
        for (int k : {1, 2, 3, 7, 40}) check(is_close(regret(n, k), naive_regret(n, k)), "regret");
}

// ---- Counting

void check_sums(const Table& table, CellKind kind, double parameter, bool spread, const SetLimits& wanted) {
    const int n = table.n_variables();
    std::vector<double> first;
    for (int threads : {1, 2, 3}) {
        std::vector<double> sums(n_sets(n));
        Limits limits(threads);
        check(sum_over_cells(table, kind, parameter, spread, wanted, limits, sums.data()), "counting ends");
        if (first.empty()) first = sums;
        check(first == sums, "counting does not depend on threads");
    }
    for (VarSet set = 0; set < n_sets(n); ++set) {
        const double cells = naive_cells(table, set);
        const bool is_wanted = size_of(set) <= wanted.max_size && cells <= wanted.max_cells;
        const double expected = is_wanted ? naive_sum(table, set, kind, spread ? parameter / cells : parameter) : -infinity;
        check(is_close(first[set], expected), "sum over the cells of a set");
    }
}

void check_tallies(const Table& table, const SetLimits& wanted) {
    const int n = table.n_variables();
    for (int threads : {1, 3}) {
        std::vector<std::map<std::uint64_t, std::uint64_t>> found(n_sets(n));
        Limits limits(threads);
        tally_all_sets(table, wanted, limits, [&](VarSet set, const std::vector<Tally>& tallies) {
            for (const Tally& tally : tallies) found[set][tally.rows] += tally.cells;
        });
        for (VarSet set = 0; set < n_sets(n); ++set) {
            std::map<std::uint64_t, std::uint64_t> expected;
            if (size_of(set) <= wanted.max_size && naive_cells(table, set) <= wanted.max_cells)
                for (const auto& [cell, count] : naive_counts(table, set)) ++expected[count];
            check(found[set] == expected, "tallies of a set");
        }
    }
}

void check_counting() {
    for (int round = 0; round < 60; ++round) {
        const int n = round < 8 ? round + 1 : draw(1, 8);
        const auto own = random_table(n, one_of({1, 2, 3, 8, 40, 150}), one_of({2, 2, 3, 5}), round % 3 == 0);
        const SetLimits everything{n, infinity};
        const SetLimits some{draw(0, n), static_cast<double>(one_of({4, 30, 1000}))};
        const SetLimits& wanted = round % 2 == 0 ? everything : some;
        check_sums(own->view, CellKind::log_rising, 1.0, true, wanted);
        check_sums(own->view, one_of({CellKind::one, CellKind::n_log_n, CellKind::n_log_n_regret}), 3.0, false, wanted);
        check_tallies(own->view, wanted);
        check(counting_bytes(own->view, true, 2) > 0, "bytes are positive");
    }
    // A column too wide for a tail, and one that leaves no tail at all.
    for (int widest : {80, 81, 200, 65535}) {
        std::vector<std::vector<std::uint16_t>> columns(3);
        for (int row = 0; row < 60; ++row) {
            columns[0].push_back(static_cast<std::uint16_t>(row == 0 ? widest - 1 : draw(0, std::min(widest - 1, 50))));
            columns[1].push_back(static_cast<std::uint16_t>(draw(0, 89)));
            columns[2].push_back(static_cast<std::uint16_t>(row % 85));
        }
        const OwnTable own({widest, 90, 85}, columns, std::vector<std::uint32_t>(60, 1));
        check_sums(own.view, CellKind::log_rising, 2.0, true, {3, infinity});
        check_tallies(own.view, {3, infinity});
    }
}

// Rows in several parts, in tables of as many blocks as memory leaves.
void check_margins() {
    for (int round = 0; round < 60; ++round) {
        const int n = draw(1, 8), most = draw(1, 9);
        const auto own = random_table(n, one_of({1, 2, 3, 8, 40, 150}), one_of({2, 3, 5}), round % 3 == 0);
        const Table& table = own->view;
        Margins margins(table.arities, most, one_of({0.0, 3000.0, 1e7}));
        Limits limits(one_of({1, 3}));
        for (std::size_t begin = 0; begin < table.n_distinct; begin += 37) {
            Table part = table;
            for (auto& column : part.columns) column += begin;
            part.weights += begin;
            part.n_distinct = std::min<std::size_t>(37, table.n_distinct - begin);
            part.n_rows = std::accumulate(part.weights, part.weights + part.n_distinct, std::uint64_t{0});
            check(margins.add(part, 0, limits), "adding rows ends");
        }
        check(margins.n_rows() == table.n_rows, "all rows are counted");
        const SetLimits wanted{std::min(n, most), one_of({30.0, infinity})};
        const CellTables tables(table, CellKind::log_rising, 2.0, true);
        std::vector<double> sums(n_sets(n));
        check(margins.sums_of_all(tables, wanted, limits, sums.data()), "sums of all sets end");
        std::vector<VarSet> sets;
        for (VarSet set = 0; set < n_sets(n); ++set)
            if (size_of(set) <= wanted.max_size) sets.push_back(set);
        std::vector<std::int64_t> cells;
        check(margins.sums(count_of_cells, sets, limits, cells), "sums of listed sets end");
        for (std::size_t i = 0; i < sets.size(); ++i) {
            const double of_set = naive_cells(table, sets[i]);
            const double expected =
                of_set <= wanted.max_cells ? naive_sum(table, sets[i], CellKind::log_rising, 2.0 / of_set) : -infinity;
            check(is_close(sums[sets[i]], expected), "sum over the cells of a set in a margin");
            check(cells[i] == static_cast<std::int64_t>(naive_counts(table, sets[i]).size()), "cells of a margin");
        }
    }
}

// ---- Scores

double naive_set_score(const Table& table, const SetFormula& formula, VarSet set) {
    const double cells = naive_cells(table, set);
    const double penalty = formula.penalty == Penalty::none       ? 0.0
                           : formula.penalty == Penalty::per_cell ? formula.penalty_weight * cells
                                                                  : regret(table.n_rows, cells);
    return naive_sum(table, set, formula.kind, formula.spread ? formula.parameter / cells : formula.parameter) - penalty;
}

void check_set_scores(const Table& table) {
    const int n = table.n_variables();
    const double half_log = std::log(static_cast<double>(table.n_rows)) / 2;
    const SetFormula formulas[] = {
        {CellKind::log_rising, 1.0, true, Penalty::none, 0.0},
        {CellKind::n_log_n, 0.0, false, Penalty::per_cell, half_log},
        {CellKind::n_log_n, 0.0, false, Penalty::regret, 0.0},
    };
    for (const SetFormula& formula : formulas) {
        const int max_size = draw(0, n + 1);
        const double hope = most_cells_with_hope(table, formula);
        std::vector<double> scores(n_sets(n));
        Limits limits(draw(1, 3));
        check(score_all_sets(table, formula, max_size, limits, scores.data()), "scoring ends");
        for (VarSet set = 0; set < n_sets(n); ++set) {
            const double expected = naive_set_score(table, formula, set);
            check(is_close(score_one_set(table, formula, members(set)), expected), "score of one set");
            const bool is_wanted = size_of(set) <= max_size && naive_cells(table, set) <= hope;
            check(is_close(scores[set], is_wanted ? expected : -infinity), "score of a set among all");
        }
        check(scoring_bytes(table, formula, table.n_variables(), 3) > 0, "bytes are positive");
    }
}

double naive_bds(const Table& table, double ess, int x, VarSet parents) {
    const Counts below = naive_counts(table, parents);
    const double share = ess / static_cast<double>(below.size());
    double sum = 0.0;
    for (const auto& [cell, count] : naive_counts(table, parents | only(x)))
        sum += naive_log_rising(share / table.arities[x], count);
    for (const auto& [cell, count] : below) sum -= naive_log_rising(share, count);
    return sum;
}

void check_bds(const Table& table) {
    const int n = table.n_variables();
    const int max_parents = draw(0, n);
    std::vector<double> families(n * n_sets(n - 1));
    Limits limits(draw(1, 3));
    check(score_families_bds(table, 1.5, max_parents, limits, families.data()), "BDs ends");
    for (int x = 0; x < n; ++x)
        for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
            const VarSet parents = with_gap(slot, x);
            const double expected = size_of(parents) <= max_parents ? naive_bds(table, 1.5, x, parents) : -infinity;
            const double found = families[x * n_sets(n - 1) + slot];
            const double lost = 1e-14 * static_cast<double>(table.n_rows);  // by the naive code, where cells are heavy
            check(is_close(found, expected) || std::abs(found - expected) <= lost, "BDs");
        }
}

void check_bde(const Table& table) {
    const int n = table.n_variables();
    const auto size = static_cast<std::size_t>(naive_cells(table, n_sets(n) - 1));
    std::vector<double> prior(size);
    for (double& p : prior) p = draw(1, 20);
    const double total = std::accumulate(prior.begin(), prior.end(), 0.0);
    for (double& p : prior) p /= total;
    const int max_size = draw(0, n + 1);
    std::vector<double> scores(n_sets(n));
    Limits limits(draw(1, 3));
    check(score_all_sets_bde(table, 3.0, prior.data(), max_size, limits, scores.data()), "BDe ends");
    for (VarSet set = 0; set < n_sets(n); ++set) {
        std::map<std::vector<std::uint16_t>, double> share;
        for (std::size_t cell = 0; cell < size; ++cell) {
            std::vector<std::uint16_t> kept;
            std::size_t rest = cell;
            for (int v = n - 1; v >= 0; --v) {
                const auto arity = static_cast<std::size_t>(table.arities[v]);
                if (has(set, v)) kept.insert(kept.begin(), static_cast<std::uint16_t>(rest % arity));
                rest /= arity;
            }
            share[kept] += prior[cell];
        }
        double expected = 0.0;
        for (const auto& [cell, count] : naive_counts(table, set)) expected += naive_log_rising(3.0 * share[cell], count);
        check(is_close(scores[set], size_of(set) <= max_size ? expected : -infinity), "BDe");
    }
}

void check_scores() {
    for (int round = 0; round < 40; ++round) {
        const auto own = random_table(draw(1, 7), one_of({1, 3, 20, 100}), one_of({2, 3, 4}), round % 3 == 0);
        check_set_scores(own->view);
        check_bds(own->view);
    }
    for (int round = 0; round < 15; ++round) check_bde(random_table(draw(1, 6), one_of({1, 5, 40}), 3, round % 3 == 0)->view);
}

void check_grid() {
    for (double magnitude : {0.0, 1e-300, 0.5, 1.0, 3.7, 1e3, 123456.0, 1e12, 1e200}) {
        const int exponent = grid_exponent(20, magnitude);
        std::vector<double> values{magnitude, -magnitude, magnitude / 3, -infinity, 0.0};
        Limits limits(2);
        check(largest_magnitude(values.data(), values.size(), limits) == magnitude, "largest magnitude");
        round_to_grid(values.data(), values.size(), exponent, limits);
        const double step = std::ldexp(1.0, -exponent);
        check(values[0] == -values[1] && values[3] == -infinity && values[4] == 0.0, "rounding keeps signs and limits");
        check(std::abs(values[2] - magnitude / 3) <= step, "rounding moves by at most a step");
        const bool sums_are_exact = exponent == 40 || 40.0 * magnitude <= std::ldexp(1.0, 51 - exponent);
        check(sums_are_exact || exponent <= coarsest_exponent(20), "sums over 2n values stay exact, or the grid is needed");
        check(exponent == 40 || 2.0 * magnitude <= std::ldexp(1.0, exact_bits + 1 - exponent), "differences stay exact");
        check(magnitude > 1e6 || 80.0 * step <= 1e-6, "a proof is right to 1e-6 nats");
    }
}

// ---- Lattice

// Small whole scores, so that ties abound; some families not allowed.
std::vector<double> random_families(int n, int worst, int percent_missing) {
    std::vector<double> families(n * n_sets(n - 1));
    for (double& value : families) value = draw(0, 99) < percent_missing ? -infinity : -draw(0, worst);
    return families;
}

struct Naive {
    int n;
    std::vector<std::vector<double>> best;  // by variable, by slot
    std::vector<double> forward;            // by set
    std::vector<double> backward;           // by set

    Naive(int n_variables, const std::vector<double>& families)
        : n(n_variables), best(n), forward(n_sets(n), -infinity), backward(n_sets(n), -infinity) {
        for (int x = 0; x < n; ++x) {
            best[x].assign(families.begin() + x * n_sets(n - 1), families.begin() + (x + 1) * n_sets(n - 1));
            for (VarSet slot = 0; slot < n_sets(n - 1); ++slot)
                for (int v : members(slot)) best[x][slot] = std::max(best[x][slot], best[x][slot & ~only(v)]);
        }
        forward[0] = 0.0;
        for (VarSet set = 1; set < n_sets(n); ++set)
            for (int x : members(set)) forward[set] = std::max(forward[set], sum(x, set));
        backward.back() = 0.0;
        for (VarSet set = n_sets(n) - 1; set-- > 0;)
            for (int x : members(~set & (n_sets(n) - 1)))
                backward[set] = std::max(backward[set], best[x][without_bit(set, x)] + backward[set | only(x)]);
    }

    double sum(int x, VarSet set) const {
        const VarSet before = set & ~only(x);
        return best[x][without_bit(before, x)] + forward[before];
    }

    // The documented rule for ties, once more.
    std::vector<VarSet> network() const {
        std::vector<VarSet> parents(n, 0);
        for (VarSet placed = n_sets(n) - 1; placed != 0;) {
            const std::vector<int> in = members(placed);
            const int x = *std::find_if(in.rbegin(), in.rend(), [&](int v) { return sum(v, placed) == forward[placed]; });
            placed &= ~only(x);
            VarSet kept = placed;
            for (int v = n - 1; v >= 0; --v)
                if (has(kept, v) && best[x][without_bit(kept & ~only(v), x)] == best[x][without_bit(placed, x)]) kept &= ~only(v);
            parents[x] = kept;
        }
        return parents;
    }
};

template <class AnyLattice>
void check_orders(AnyLattice& lattice, const Naive& naive, int threads) {
    Limits limits(threads);
    check(lattice.order(limits), "ordering ends");
    check(lattice.order_backward(limits), "ordering backward ends");
    bool is_same = true;
    for (VarSet set = 0; set < n_sets(naive.n); ++set)
        is_same = is_same && lattice.forward(set) == naive.forward[set] && lattice.backward(set) == naive.backward[set];
    check(is_same, "forward and backward tables");
    const BestNetwork found = lattice.read_back(0.0);
    check(found.score == naive.forward.back(), "best score");
    if (found.score == -infinity) return;
    check(found.parents == naive.network(), "ties are broken as documented");
}

void check_same(const FamilyTable& expected, const FamilyTable& found) {
    const auto are_same = [](const ScoredFamily& a, const ScoredFamily& b) {
        return a.parents == b.parents && a.score == b.score && a.bound == b.bound;
    };
    for (std::size_t x = 0; x < expected.size(); ++x)
        check(std::ranges::equal(expected[x], found[x], are_same), "families that reach a threshold");
}

// The same tables, and the same families above a threshold, as the lattice that keeps all tables has.
void check_block_lattice_on(const LocalScores& scores, const Lattice& dense, const Naive& naive, int threads) {
    Limits limits(threads);
    BlockLattice lattice(scores, draw(1, naive.n + 1));
    check_orders(lattice, naive, threads);
    for (int x = 0; x < naive.n; ++x)
        for (VarSet slot = 0; slot < n_sets(naive.n - 1); ++slot)
            check(lattice.best(x, with_gap(slot, x)) == naive.best[x][slot], "best parents from a list");
    if (naive.n > 8) return;
    const double threshold = one_of({naive.forward.back(), naive.forward.back() - 3.0, -infinity});
    check_same(families_reaching(dense, threshold, limits), families_reaching(lattice, threshold, limits));
}

void check_lattice_on(const LocalScores& scores, const Naive& naive, int threads) {
    Limits limits(threads);
    Lattice lattice(scores);
    check(lattice.sweep(limits), "sweeping ends");
    for (int x = 0; x < naive.n; ++x) check(lattice.best_alone(x) == naive.best[x].back(), "best alone");
    check_orders(lattice, naive, threads);
    check_block_lattice_on(scores, lattice, naive, threads);
}

struct OwnLists {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> parents;
    std::vector<double> scores;

    OwnLists(int n, const std::vector<double>& families) {
        for (int x = 0; x < n; ++x) {
            for (int slot : shuffled(static_cast<int>(n_sets(n - 1)))) {
                const double score = families[x * n_sets(n - 1) + slot];
                if (score == -infinity) continue;
                parents.push_back(with_gap(static_cast<VarSet>(slot), x));
                scores.push_back(score);
            }
            offsets.push_back(static_cast<std::int64_t>(scores.size()));
        }
    }
};

void check_kept(const LocalScores& scores, const std::vector<double>& families, int n, double epsilon) {
    for (int x = 0; x < n; ++x) {
        const double* own = &families[x * n_sets(n - 1)];
        std::vector<VarSet> expected;
        for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
            double below = -infinity;
            for (VarSet inner = 0; inner < slot; ++inner)
                if (is_subset(inner, slot)) below = std::max(below, own[inner]);
            const bool is_beaten = epsilon < 0 ? below >= own[slot] : below > own[slot] + epsilon;
            if (own[slot] != -infinity && !is_beaten) expected.push_back(with_gap(slot, x));
        }
        const KeptFamilies kept = families_worth_keeping(scores, x, epsilon);
        check(kept.parents == expected, "families worth keeping");
        for (std::size_t i = 0; i < std::min(kept.scores.size(), expected.size()); ++i)
            check(kept.scores[i] == own[without_bit(kept.parents[i], x)], "scores of kept families");
    }
}

void check_fill(const LocalScores& scores, const std::vector<double>& families, int n) {
    for (int x = 0; x < n; ++x)
        for (std::size_t count = 1; count <= n_sets(n - 1); count *= 2)
            for (std::size_t begin = 0; begin < n_sets(n - 1); begin += count) {
                std::vector<double> out(count);
                scores.fill(x, begin, count, out.data());
                check(std::equal(out.begin(), out.end(), &families[x * n_sets(n - 1) + begin]), "a run of local scores");
            }
}

void check_lattice() {
    for (int round = 0; round < 60; ++round) {
        const int n = round < 8 ? round + 1 : draw(1, 8);
        const std::vector<double> families = random_families(n, one_of({0, 2, 9, 1000}), one_of({0, 0, 30, 80}));
        const Naive naive(n, families);
        const FamilyScores dense(n, families.data());
        const OwnLists lists(n, families);
        const ListedScores listed(n, lists.offsets.data(), lists.parents.data(), lists.scores.data());
        check_fill(dense, families, n);
        check_fill(listed, families, n);
        for (int threads : {1, 2, 3}) {
            check_lattice_on(dense, naive, threads);
            check_lattice_on(listed, naive, threads);
        }
        for (double epsilon : {-1.0, 0.0, 1.5, infinity}) check_kept(dense, families, n, epsilon);
    }
}

// Pairs of a random order, with what follows from them.
Precedence random_precedence(int n) {
    const std::vector<int> order = shuffled(n);
    std::vector<VarSet> before(n, 0);
    const int percent = one_of({0, 20, 60, 100});
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (draw(0, 99) < percent) before[order[i]] |= only(order[j]) | before[order[j]];
    return Precedence(before);
}

// F or H of every set by definition: variables follow sets that hold all before them.
struct Ordered {
    std::vector<double> forward, backward;

    Ordered(const Naive& naive, const Precedence& precedence)
        : forward(n_sets(naive.n), -infinity), backward(n_sets(naive.n), -infinity) {
        const VarSet everything = n_sets(naive.n) - 1;
        forward[0] = backward[everything] = 0.0;
        auto raise = [&](double& to, int x, VarSet set, double other) {
            if (precedence.can_follow(x, set)) to = std::max(to, naive.best[x][without_bit(set, x)] + other);
        };
        for (VarSet set = 0; set < everything; ++set)
            for (int x : members(everything & ~set)) raise(forward[set | only(x)], x, set, forward[set]);
        for (VarSet set = everything; set-- > 0;)
            for (int x : members(everything & ~set)) raise(backward[set], x, set, backward[set | only(x)]);
        for (VarSet set = 0; set <= everything; ++set)
            if (!precedence.is_ideal(set)) backward[set] = -infinity;
    }
};

template <class AnyLattice>
BestNetwork check_ordered(const AnyLattice& lattice, const Ordered& ordered) {
    bool is_same = true;
    for (VarSet set = 0; set < ordered.forward.size(); ++set)
        is_same = is_same && lattice.forward(set) == ordered.forward[set] && lattice.backward(set) == ordered.backward[set];
    check(is_same, "forward and backward tables under an order");
    return lattice.read_back(0.0);
}

// All lattices agree with the definition and with each other; at last with enough variables to cross pieces and blocks.
void check_precedence() {
    for (int round = 0; round < 60; ++round) {
        const int n = round < 8 ? round + 1 : round > 56 ? 15 : draw(1, 8);
        const std::vector<double> families = random_families(n, one_of({0, 2, 9, 1000}), one_of({0, 0, 30, 80}));
        const Precedence precedence = random_precedence(n);
        const Ordered ordered(Naive(n, families), precedence);
        FamilyScores scores(n, families.data());
        scores.set_precedence(precedence);
        Limits limits(2);
        Lattice dense(scores);
        check(dense.sweep(limits) && dense.order(limits) && dense.order_backward(limits), "the lattice ends");
        BlockLattice blocks(scores, draw(1, n + 1));
        check(blocks.order(limits) && blocks.order_backward(limits), "the lattice of blocks ends");
        IdealLattice ideals(scores);
        check(ideals.order(limits) && ideals.order_backward(limits), "the lattice of ideals ends");
        check(ideals.n_ideals() == Ideals::count(n, precedence, n_sets(n) + 1), "ideals are counted");
        const BestNetwork best = check_ordered(dense, ordered);
        check(best.parents == check_ordered(blocks, ordered).parents, "the same network from blocks");
        check(best.parents == check_ordered(ideals, ordered).parents, "the same network from ideals");
        check_same(families_reaching(dense, -infinity, limits), families_reaching(ideals, -infinity, limits));
    }
}

void check_limits_on_parents(const double* joint, const std::vector<const double*>& below, std::vector<double> families,
                             int n) {
    std::vector<ParentLimits> limits;
    for (int x = 0; x < n; ++x) {
        const VarSet may = static_cast<VarSet>(draw(0, static_cast<int>(n_sets(n)) - 1)) & ~only(x);
        limits.push_back({may & static_cast<VarSet>(draw(0, 15)), may, draw(0, 2), draw(1, 4)});
        for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
            const VarSet parents = with_gap(slot, x);
            const bool is_between = is_subset(limits[x].must, parents) && is_subset(parents, may);
            if (!is_between || size_of(parents) < limits[x].least || size_of(parents) > limits[x].most)
                families[x * n_sets(n - 1) + slot] = -infinity;
        }
    }
    check_fill(DifferenceScores(n, joint, below, limits), families, n);
}

// Differences of set functions; sets above a size are not allowed, as with a limit on parents.
void check_differences() {
    for (int round = 0; round < 40; ++round) {
        const int n = round < 8 ? round + 1 : draw(1, 8);
        const int largest = draw(1, n);
        std::vector<std::vector<double>> functions(3, std::vector<double>(n_sets(n)));
        for (auto& function : functions)
            for (VarSet set = 0; set < n_sets(n); ++set) function[set] = size_of(set) <= largest ? -draw(0, 9) : -infinity;
        std::vector<const double*> below;
        std::vector<double> families(n * n_sets(n - 1));
        for (int x = 0; x < n; ++x) {
            below.push_back(functions[draw(0, 2)].data());
            for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
                const VarSet parents = with_gap(slot, x);
                const double joint = functions[0][parents | only(x)];
                families[x * n_sets(n - 1) + slot] = joint == -infinity ? -infinity : joint - below[x][parents];
            }
        }
        const DifferenceScores scores(n, functions[0].data(), below);
        check_fill(scores, families, n);
        check_limits_on_parents(functions[0].data(), below, families, n);
        check_lattice_on(scores, Naive(n, families), draw(1, 3));
    }
}

// Enough variables to cross the sizes in which tables are swept and filled.
void check_larger_lattices() {
    for (int n : {12, 13, 14, 17}) {
        const std::vector<double> families = random_families(n, 50, 20);
        const Naive naive(n, families);
        for (int threads : {1, 3}) check_lattice_on(FamilyScores(n, families.data()), naive, threads);
    }
}

// ---- Lists

using Network = std::vector<VarSet>;  // parents by variable

bool is_acyclic(const Network& network) {
    VarSet placed = 0;
    for (std::size_t round = 0; round < network.size(); ++round)
        for (std::size_t x = 0; x < network.size(); ++x)
            if (is_subset(network[x], placed)) placed |= only(static_cast<int>(x));
    return placed == n_sets(static_cast<int>(network.size())) - 1;
}

// In the order of their parents, variable by variable.
const std::vector<Network>& all_networks(int n) {
    static std::map<int, std::vector<Network>> known;
    if (known.contains(n)) return known[n];
    std::vector<Network> found{Network(n, 0)};
    for (int x = 0; x < n; ++x) {
        std::vector<Network> longer;
        for (const Network& network : found)
            for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
                longer.push_back(network);
                longer.back()[x] = with_gap(slot, x);
            }
        std::erase_if(longer, [](const Network& network) { return !is_acyclic(network); });
        found = std::move(longer);
    }
    std::sort(found.begin(), found.end());
    return known[n] = found;
}

double naive_score(const std::vector<double>& families, const Network& network) {
    const int n = static_cast<int>(network.size());
    double score = 0.0;
    for (int x = 0; x < n; ++x) score += families[x * n_sets(n - 1) + without_bit(network[x], x)];
    return score;
}

using Ranked = std::vector<std::pair<double, Network>>;

// All allowed networks, best first, ties by their parents.
Ranked naive_list(int n, const std::vector<double>& families) {
    Ranked list;
    for (const Network& network : all_networks(n))
        if (naive_score(families, network) > -infinity) list.emplace_back(naive_score(families, network), network);
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return list;
}

std::unique_ptr<Lattice> whole_lattice(const LocalScores& scores, int threads) {
    auto lattice = std::make_unique<Lattice>(scores);
    Limits limits(threads);
    check(lattice->sweep(limits) && lattice->order(limits) && lattice->order_backward(limits), "a lattice");
    return lattice;
}

// The best of `list` that score at least `lowest`, at most `most`, each once; which of the ties at the end does not matter.
bool is_beginning(const BestList& found, const Ranked& list, std::size_t most, double lowest) {
    std::size_t expected = 0;
    while (expected < std::min(most, list.size()) && list[expected].first >= lowest) ++expected;
    if (!found.finished || found.scores.size() != expected) return false;
    const std::set<std::pair<double, Network>> allowed(list.begin(), list.end());
    std::set<Network> met;
    for (std::size_t i = 0; i < expected; ++i) {
        const std::size_t n = list[i].second.size();
        const Network network(&found.parents[i * n], &found.parents[i * n] + n);
        if (found.scores[i] != list[i].first || !met.insert(network).second) return false;
        if (!allowed.contains({found.scores[i], network})) return false;
    }
    return expected == list.size() || list[expected].first <= found.floor;
}

void check_lists_on(int n, const std::vector<double>& families) {
    const FamilyScores scores(n, families.data());
    const Ranked list = naive_list(n, families);
    const double best = list.empty() ? -infinity : list[0].first;
    for (int threads : {1, 2, 3}) {
        const auto lattice = whole_lattice(scores, threads);
        for (std::size_t most : {std::size_t{1}, std::size_t{2}, list.size() / 2 + 1, list.size() + 5})
            for (double lowest : {-infinity, best - draw(0, 9), best}) {
                Limits limits(threads);
                const BestList found = list_best(*lattice, {Listed::networks, most, lowest}, limits);
                check(is_beginning(found, list, most, lowest), "the best networks");
            }
        for (double lowest : {-infinity, best - draw(0, 9), best}) {
            Limits limits(threads);
            const Count count = count_above(*lattice, Listed::networks, lowest, limits);
            const auto within = [&](const auto& entry) { return entry.first >= lowest; };
            check(count.finished, "counting networks ends");
            check(count.counts.found == static_cast<std::uint64_t>(std::count_if(list.begin(), list.end(), within)), "networks counted");
        }
    }
}

void check_bounds_on(int n, const std::vector<double>& families) {
    const FamilyScores scores(n, families.data());
    const Ranked list = naive_list(n, families);
    const auto lattice = whole_lattice(scores, 2);
    const auto best_with = [&](auto&& holds) {
        for (const auto& [score, network] : list)
            if (holds(network)) return score;
        return -infinity;
    };
    Limits limits(draw(1, 3));
    const EdgeBounds edges = edge_bounds(*lattice, limits);
    const double threshold = -draw(0, 9);
    const FamilyTable reaching = families_reaching(*lattice, threshold, limits);
    for (int x = 0; x < n; ++x) {
        std::size_t n_reaching = 0;
        for (VarSet slot = 0; slot < n_sets(n - 1); ++slot) {
            const VarSet parents = with_gap(slot, x);
            const double bound = best_with([&](const Network& network) { return network[x] == parents; });
            check(family_bound(*lattice, x, parents) == bound, "the best network with a family");
            if (bound < threshold || bound == -infinity) continue;
            ++n_reaching;
            const auto is_own = [&](const ScoredFamily& family) { return family.parents == parents && family.bound == bound; };
            check(std::any_of(reaching[x].begin(), reaching[x].end(), is_own), "a family that reaches the threshold");
        }
        check(reaching[x].size() == n_reaching, "families that reach a threshold");
        for (int p = 0; p < n; ++p) {
            if (p == x) continue;
            const std::size_t at = static_cast<std::size_t>(p) * n + x;
            check(edges.with[at] == best_with([&](const Network& network) { return has(network[x], p); }), "with an edge");
            check(edges.without[at] == best_with([&](const Network& network) { return !has(network[x], p); }), "without an edge");
        }
    }
}

void check_lists() {
    for (int round = 0; round < 40; ++round) {
        const int n = round < 4 ? round + 1 : draw(2, 4);
        const std::vector<double> families = random_families(n, one_of({0, 2, 9}), one_of({0, 0, 30, 80}));
        check_lists_on(n, families);
        check_bounds_on(n, families);
    }
    check_lists_on(5, random_families(5, 3, 20));
}

// ---- Classes

// Skeleton and v-structures.
using ClassKey = std::pair<std::set<std::pair<int, int>>, std::set<std::vector<int>>>;

ClassKey naive_key(const Network& network) {
    ClassKey key;
    const int n = static_cast<int>(network.size());
    const auto are_adjacent = [&](int a, int b) { return has(network[a], b) || has(network[b], a); };
    for (int x = 0; x < n; ++x)
        for (int p : members(network[x])) {
            key.first.insert({std::min(p, x), std::max(p, x)});
            for (int q : members(network[x]))
                if (p < q && !are_adjacent(p, q)) key.second.insert({p, x, q});
        }
    return key;
}

std::vector<Network> all_members(const MixedGraph& graph) {
    std::vector<Network> found;
    Members walk(graph);
    while (walk.next()) found.push_back(walk.parents);
    std::sort(found.begin(), found.end());
    return found;
}

// Edges, size and members of the class of each of these networks, which are all those equivalent to each other.
void check_class(const std::vector<Network>& equivalent) {
    const std::size_t n = equivalent[0].size();
    for (const Network& network : equivalent) {
        const MixedGraph graph = class_of(network);
        for (std::size_t x = 0; x < n; ++x)
            for (std::size_t p = 0; p < n; ++p) {
                const auto has_edge = [&](const Network& other) { return has(other[x], static_cast<int>(p)); };
                const bool always = std::all_of(equivalent.begin(), equivalent.end(), has_edge);
                const bool sometimes = std::any_of(equivalent.begin(), equivalent.end(), has_edge);
                check(has(graph.parents[x], static_cast<int>(p)) == always, "directed edges of a class");
                if (sometimes && !always) check(has(graph.neighbours[x], static_cast<int>(p)), "undirected edges of a class");
            }
        check(class_size(graph) == equivalent.size(), "size of a class");
        if (&network == &equivalent[0]) check(all_members(graph) == equivalent, "members of a class");
    }
}

void check_classes() {
    for (int n = 1; n <= 5; ++n) {
        std::map<ClassKey, std::vector<Network>> classes;
        for (const Network& network : all_networks(n)) classes[naive_key(network)].push_back(network);
        check(classes.size() == std::vector<std::size_t>{1, 2, 11, 185, 8782}[n - 1], "number of classes");
        for (const auto& [key, networks] : classes)
            if (n < 5 || draw(0, 19) == 0) check_class(networks);
    }
}

// Random graphs without v-structures, each variable joined to part of a clique; up to 64 variables.
void check_chordal_classes() {
    for (int round = 0; round < 60; ++round) {
        const int n = round < 40 ? draw(2, 9) : one_of({20, 40, 63, 64});
        const int width = n <= 9 ? draw(1, 4) : 2;
        Network network(n, 0);
        for (int v = 1; v < n; ++v) {
            const int first = draw(0, v - 1);
            VarSet parents = only(first);
            for (int p : members(network[first]))
                if (size_of(parents) < width && draw(0, 1) == 1) parents |= only(p);
            network[v] = parents;
        }
        const MixedGraph graph = class_of(network);
        const BigCount size = class_size(graph);
        check(std::all_of(graph.parents.begin(), graph.parents.end(), [](VarSet set) { return set == 0; }), "all reversible");
        std::set<Network> found;
        Members walk(graph);
        while (found.size() < 3000 && walk.next()) {
            check(found.insert(walk.parents).second, "each member once");
            if (found.size() <= 20) check(class_of(walk.parents).neighbours == graph.neighbours, "a member of the class");
        }
        if (found.size() < 3000) check(size == found.size(), "size of a chordal graph");
    }
}

void check_class_sizes() {
    BigCount factorial = 1;
    for (int n = 1; n <= 64; ++n) {
        factorial = factorial * static_cast<std::uint64_t>(n);
        Network complete(n);
        for (int v = 0; v < n; ++v) complete[v] = only(v) - 1;
        check(class_size(class_of(complete)) == factorial, "size of a complete graph");
    }
    Network path(64, 0), star(64, 0);
    for (int v = 1; v < 64; ++v) {
        path[v] = only(v - 1);
        star[v] = only(0);
    }
    check(class_size(class_of(path)) == 64 && class_size(class_of(star)) == 64, "64 variables");
    check(class_size(class_of(Network(64, 0))) == 1 && all_members(class_of(Network(64, 0))).size() == 1, "no edges");
}

// Variables that can be last in some member: no edge is directed away from them, their neighbours form a clique.
VarSet naive_leaves(const MixedGraph& graph, VarSet placed) {
    VarSet leaves = 0;
    for (int v : members(placed)) {
        bool is_leaf = true;
        for (int w : members(placed)) is_leaf &= !has(graph.parents[w], v);
        for (int a : members(graph.neighbours[v]))
            for (int b : members(graph.neighbours[v])) is_leaf &= a == b || has(graph.adjacent(a), b);
        if (is_leaf) leaves |= only(v);
    }
    return leaves;
}

// Classes grown by one variable after another, whether the rule would go that way or not.
void check_class_rule() {
    for (int round = 0; round < 600; ++round) {
        const int n = draw(1, 10);
        const int density = draw(1, 4);
        const std::vector<int> order = shuffled(n), reference = shuffled(n);
        const std::vector<double> families(n * n_sets(n - 1), 0.0);
        const FamilyScores scores(n, families.data());
        const Lattice lattice(scores);
        const ClassRule<Lattice> rule(lattice, FamilyTable(n), reference);
        ClassRule<Lattice>::State state;
        Network network(n, 0);
        for (int x : order) {
            Step step{0, -1.0, 0.0, x};
            for (int p : members(state.placed))
                if (draw(0, 4) < density) step.parents |= only(p);
            network[x] = step.parents;
            const MixedGraph graph = class_of(network);
            const VarSet leaves = naive_leaves(graph, state.placed | only(x));
            const int last = *std::find_if(reference.rbegin(), reference.rend(), [&](int v) { return has(leaves, v); });
            check(rule.may_add(state, step) == (last == x), "a variable is added as the last leaf");
            state = rule.after(state, step);
            check(state.leaves == leaves, "leaves of a class");
            for (int v = 0; v < n; ++v) {
                check(state.compelled[v] == graph.parents[v], "compelled edges");
                check(state.reversible[v] == graph.neighbours[v], "reversible edges");
                check(state.adjacent[v] == graph.adjacent(v), "all edges");
            }
        }
        check(state.score == -n, "scores add up");
    }
}

// Any function of sets makes a score-equivalent score.
std::vector<double> equivalent_families(int n, int worst) {
    std::vector<double> joint(n_sets(n));
    for (double& value : joint) value = -draw(0, worst);
    std::vector<double> families(n * n_sets(n - 1));
    for (int x = 0; x < n; ++x)
        for (VarSet slot = 0; slot < n_sets(n - 1); ++slot)
            families[x * n_sets(n - 1) + slot] = joint[with_gap(slot, x) | only(x)] - joint[with_gap(slot, x)];
    return families;
}

// Every class is built once; the k best are those that score most.
void check_class_lists() {
    for (int round = 0; round < 25; ++round) {
        const int n = round < 5 ? round + 1 : draw(2, 4);
        const std::vector<double> families = equivalent_families(n, one_of({0, 2, 20}));
        const FamilyScores scores(n, families.data());
        std::map<ClassKey, double> classes;
        for (const auto& [score, network] : naive_list(n, families)) {
            const auto [entry, is_new] = classes.emplace(naive_key(network), score);
            check(entry->second == score, "members score the same");
        }
        std::vector<double> expected;
        for (const auto& [key, score] : classes) expected.push_back(score);
        std::sort(expected.begin(), expected.end(), std::greater<>());
        const auto lattice = whole_lattice(scores, 2);
        for (std::size_t most : {std::size_t{1}, expected.size() / 3 + 1, expected.size() + 1})
            for (int threads : {1, 3}) {
                Limits limits(threads);
                const BestList found = list_best(*lattice, {Listed::classes, most, -infinity}, limits);
                const std::size_t size = std::min(most, expected.size());
                check(found.finished && found.scores.size() == size, "as many classes as asked for");
                check(std::equal(found.scores.begin(), found.scores.end(), expected.begin()), "the best classes");
                std::set<ClassKey> keys;
                for (std::size_t i = 0; i < found.scores.size(); ++i) {
                    const ClassKey key = naive_key(Network(&found.parents[i * n], &found.parents[i * n] + n));
                    check(keys.insert(key).second && classes.at(key) == found.scores[i], "each class once, with its score");
                }
            }
    }
    const std::vector<double> tied = equivalent_families(6, 0);
    const FamilyScores scores(6, tied.data());
    Limits limits(2);
    const Count count = count_above(*whole_lattice(scores, 2), Listed::classes, 0.0, limits);
    check(count.counts.found == 1067825, "all classes of six variables");
}

// Stopped before, by the clock, or by somebody else: what is listed is right, and complete above the floor.
void check_stopped_lists() {
    const int n = 9;
    const std::vector<double> families = equivalent_families(n, 40);
    const FamilyScores scores(n, families.data());
    const auto lattice = whole_lattice(scores, 2);
    for (Listed what : {Listed::networks, Listed::classes}) {
        Limits unlimited(2);
        const BestList whole = list_best(*lattice, {what, 4000, -infinity}, unlimited);
        for (int round = 0; round < 12; ++round) {
            Limits limits(1 + round % 3);
            std::thread watcher([&] {
                std::this_thread::sleep_for(std::chrono::microseconds(round * round * 300));
                limits.stop.store(true);
            });
            if (round % 3 == 1) limits.deadline = Limits::Clock::now() + std::chrono::microseconds(round * 500);
            const BestList found = list_best(*lattice, {what, 4000, -infinity}, limits);
            watcher.join();
            const auto above = static_cast<std::size_t>(std::count_if(
                whole.scores.begin(), whole.scores.end(), [&](double score) { return score > found.floor; }));
            check(found.scores.size() >= above && found.parents.size() == found.scores.size() * n, "nothing above the floor is missing");
            if (found.scores.size() >= above) {
                check(std::equal(whole.scores.begin(), whole.scores.begin() + above, found.scores.begin()), "scores above the floor");
                check(std::equal(whole.parents.begin(), whole.parents.begin() + above * n, found.parents.begin()), "lists above the floor");
            }
            if (found.finished) check(found.parents == whole.parents, "not stopped");
        }
    }
}

// ---- Limits

void check_limits() {
    const auto own = random_table(8, 150, 3, false);
    const Table& table = own->view;
    const std::vector<double> families = random_families(8, 9, 0);
    const SetFormula formula{CellKind::n_log_n, 0.0, false, Penalty::per_cell, 1.0};
    const std::vector<double> prior(static_cast<std::size_t>(naive_cells(table, 255)), 1.0);
    std::vector<double> sets(n_sets(8));
    std::vector<double> all(8 * n_sets(7));
    for (bool by_clock : {false, true})
        for (int threads : {1, 3}) {
            const auto begin = [&](Limits& limits) -> Limits& {
                if (by_clock) limits.deadline = Limits::Clock::now();
                limits.stop.store(!by_clock);
                return limits;
            };
            Limits a(threads), b(threads), c(threads), d(threads), e(threads);
            check(!score_all_sets(table, formula, 8, begin(a), sets.data()), "stopped scoring");
            check(!score_families_bds(table, 1.0, 8, begin(b), all.data()), "stopped BDs");
            check(!score_all_sets_bde(table, 1.0, prior.data(), 8, begin(c), sets.data()), "stopped BDe");
            const FamilyScores scores(8, families.data());
            Lattice lattice(scores);
            check(!lattice.sweep(begin(d)), "stopped sweeping");
            Lattice swept(scores);
            check(swept.sweep(e), "swept");
            check(!swept.order(begin(e)), "stopped ordering");
        }
}

// Somebody else asks to stop while the work is on.
void check_stop_from_outside() {
    const auto own = random_table(14, 400, 3, false);
    for (int round = 0; round < 6; ++round) {
        Limits limits(2);
        std::vector<double> sums(n_sets(14));
        std::thread watcher([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(round));
            check(limits.done.load() <= n_sets(14) || limits.total.load() > 0, "progress can be read");
            limits.stop.store(true);
        });
        const SetFormula formula{CellKind::log_rising, 1.0, true, Penalty::none, 0.0};
        const bool is_whole = score_all_sets(own->view, formula, 14, limits, sums.data());
        watcher.join();
        check(!is_whole || std::all_of(sums.begin(), sums.end(), [](double s) { return std::isfinite(s); }), "whole or stopped");
    }
}

void check_parallel() {
    for (int threads : {1, 2, 5})
        for (std::size_t steps : {0, 1, 3, 1000}) {
            Limits limits(threads);
            std::vector<std::atomic<int>> seen(steps);
            parallel_for(steps, limits, [&](std::size_t i, int worker) {
                seen[i] += worker >= 0 && worker < threads ? 1 : 100;
            });
            check(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s == 1; }), "every step once");
            bool is_thrown = false;
            try {
                parallel_for(steps, limits, [](std::size_t i, int) {
                    if (i % 3 == 0) throw std::runtime_error("a step fails");
                });
            } catch (const std::runtime_error&) {
                is_thrown = true;
            }
            check(is_thrown == (steps > 0), "a failure comes out");
        }
}

void check_sets() {
    for (int v = 0; v < 30; ++v)
        for (int round = 0; round < 20; ++round) {
            const VarSet slot = generator() & (n_sets(29) - 1);
            check(without_bit(with_gap(slot, v), v) == slot && !has(with_gap(slot, v), v), "a gap opens and closes");
        }
    BigArray large(std::size_t{1} << 18);
    large[0] = 1.0;
    large[large.size() - 1] = 2.0;
    check(large.size() == std::size_t{1} << 18 && large[0] == 1.0, "a large array");
    check(BigArray(1).size() == 1 && BigArray().size() == 0, "small arrays");
}

// The best one is the first of many, whatever is shared among threads, with and without weights of orders; and a network
// that is listed is worth what it is said to be.
void check_order_prior() {
    for (const int n : {1, 2, 3, 7, 10, 13, 16}) {
        BigArray families(n * n_sets(n - 1)), weights(n * n_sets(n - 1));
        for (std::size_t i = 0; i < families.size(); ++i) {
            const std::size_t parents = i % n_sets(n - 1);
            families[i] = draw(-40, 0) / 8.0 - 1.5 * size_of(parents);
            weights[i] = draw(-8, 8) / 8.0;
        }
        std::vector<const double*> tables;
        for (int x = 0; x < n; ++x) tables.push_back(weights.data() + x * n_sets(n - 1));
        const FamilyScores scores(n, families.data());
        for (const OrderWeight& weight : {OrderWeight({}), OrderWeight(tables)}) {
            Limits limits;
            limits.deadline = Limits::Clock::now() + std::chrono::seconds(2);
            const PriorResult one = search_order_prior(scores, weight, {1, infinity, infinity}, limits);
            Limits others(3);
            others.deadline = Limits::Clock::now() + std::chrono::seconds(2);
            const PriorResult many = search_order_prior(scores, weight, {9, infinity, infinity}, others);
            check(!one.scores.empty() && one.bound >= one.scores[0], "the bound of the best network holds");
            check(one.bound >= many.scores[0] && many.bound >= one.scores[0], "no bound is below the other's best");
            if (one.finished && many.finished) check(one.scores[0] == many.scores[0], "one and many agree");
            for (std::size_t i = 0; i < many.scores.size(); ++i) {
                const std::vector<VarSet> parents(many.parents.begin() + i * n, many.parents.begin() + (i + 1) * n);
                double score = 0.0;
                for (int x = 0; x < n; ++x) score += families[x * n_sets(n - 1) + without_bit(parents[x], x)];
                check(many.scores[i] == score + *weight.of(parents), "a network is worth what it is said to be");
            }
        }
    }
}

// ---- Continuous variables

struct OwnNumbers {
    std::vector<std::vector<double>> columns;
    std::vector<std::uint32_t> weights;

    OwnNumbers(int n, int rows) : columns(n, std::vector<double>(rows)), weights(rows) {
        std::normal_distribution<double> normal;
        for (int row = 0; row < rows; ++row) {
            weights[row] = static_cast<std::uint32_t>(draw(1, 3));
            for (int v = 0; v < n; ++v) columns[v][row] = normal(generator) + (v > 0 ? 0.7 * columns[v - 1][row] : 5.0);
        }
    }

    Numbers view() const {
        Numbers numbers{{}, weights.data(), weights.size()};
        for (const auto& column : columns) numbers.columns.push_back(column.data());
        return numbers;
    }
};

MinorFormula likelihood_less(double penalty, double rows, int n) {
    MinorFormula formula;
    for (int size = 0; size <= n; ++size) {
        formula.constants.push_back(-penalty * size * (size + 3) / 2.0);
        formula.factors.push_back(-rows / 2);
    }
    return formula;
}

// Determinants of all sets are those of single sets, and lists lose no family that beats its subsets.
void check_continuous() {
    for (const int n : {1, 2, 5, 9}) {
        const OwnNumbers own(n, 3 * n + 4);
        const Scatter scatter = scatter_of(own.view());
        const MinorFormula formula = likelihood_less(2.0, 40.0, n);
        std::vector<double> scores(n_sets(n));
        VarSet degenerate = 0;
        Limits limits(3);
        const BlockScore score = score_of_rows(scatter, formula);
        check(score_all_sets_of(score, nullptr, n, limits, scores.data(), degenerate), "minors are scored");
        check(degenerate == 0, "no variable depends on others");
        for (VarSet set = 0; set < n_sets(n); ++set) {
            const std::vector<int> variables = members(set);
            const double log_det = log_determinant(scatter_among(scatter, variables));
            check(is_close(scores[set], formula.constants[variables.size()] - 20.0 * log_det), "a minor");
        }
        const GaussianFamilies found =
            score_gaussian_families(score, nullptr, {true, n, -1.0, 0, 1e-6, 1e9}, limits);
        check(found.finished, "lists are made");
        for (int x = 0; x < n; ++x) {
            const auto begin = found.parents.begin();
            const std::set<VarSet> kept(begin + found.offsets[x], begin + found.offsets[x + 1]);
            for (VarSet u = 0; u < n_sets(n - 1); ++u) {
                const VarSet parents = with_gap(u, x);
                const auto local = [&](VarSet set) { return scores[set | only(x)] - scores[set]; };
                bool is_best = true;
                for (VarSet sub = parents; sub != 0 && is_best;) {
                    sub = (sub - 1) & parents;
                    is_best = local(sub) < local(parents) - 1e-9;
                }
                check(!is_best || kept.count(parents) == 1, "a family that beats its subsets is kept");
            }
        }
    }
    const OwnNumbers few(4, 3);
    std::vector<double> scores(n_sets(4));
    VarSet degenerate = 0;
    Limits limits(2);
    const MinorFormula formula = likelihood_less(1.0, 3.0, 4);
    const BlockScore of_few = score_of_rows(scatter_of(few.view()), formula);
    check(score_all_sets_of(of_few, nullptr, 4, limits, scores.data(), degenerate), "few rows are scored");
    check(size_of(degenerate) == 3, "three rows leave no covariance of three variables");
}

// Scores of sets whose variables have two rows each, with squares, are those of single sets, by three threads too.
void check_blocks() {
    const int n = 7;
    const OwnNumbers own(2 * n, 60);
    BlockScore score;
    score.matrix = scatter_of(own.view());
    for (int v = 0; v <= n; ++v) score.begins.push_back(2 * v);
    for (int v = 0; v < n; ++v) score.places.push_back(n - 1 - v);
    score.given = n;
    score.formula = likelihood_less(0.0, 40.0, 2 * n);
    score.per_pair = 1.5;
    const OwnNumbers squares(n, 40);
    score.squares = scatter_of(squares.view());
    score.half_rows = 0.5;
    std::vector<double> scores(n_sets(n));
    VarSet degenerate = 0;
    Limits limits(3);
    check(score_all_sets_of(score, nullptr, n, limits, scores.data(), degenerate), "blocks are scored");
    check(degenerate == 0, "no block depends on others");
    for (VarSet set = 0; set < n_sets(n); ++set)
        check(is_close(scores[set_at(score.places, set)], score_of_set(score, set)), "a set of blocks");
    const GaussianFamilies found = score_gaussian_families(score, nullptr, {true, 3, -1.0, 0, 1e-6, 1e9}, limits);
    check(found.finished, "lists of blocks are made");
}

void check_mixed() {
    const OwnNumbers numbers(3, 30);
    std::vector<std::vector<std::uint16_t>> codes(2, std::vector<std::uint16_t>(30));
    for (auto& column : codes)
        for (auto& code : column) code = static_cast<std::uint16_t>(draw(0, 1));
    const OwnTable discrete({2, 2}, codes, numbers.weights);
    const MixedTable table{discrete.view, numbers.view(), {1, 3}, {0, 2, 4}};
    std::vector<double> families(5 * n_sets(4));
    MixedCounts counts;
    Limits limits(3);
    check(score_mixed_families(table, 1.5, 4, limits, families.data(), counts), "mixed families are scored");
    for (const int x : {1, 3})
        for (VarSet u = 0; u < n_sets(4); ++u)
            if ((with_gap(u, x) & 0b10101) != 0)
                check(families[x * n_sets(4) + u] == -infinity, "no continuous parent of a discrete variable");
    for (int x = 0; x < 5; ++x) check(std::isfinite(families[x * n_sets(4)]), "without parents a variable has a score");
}

// ---- Cuts

// By variable the empty set and a few parent sets of up to three others.
ListedFamilies drawn_families(int n) {
    const int words = words_for(n);
    std::vector<std::int64_t> offsets{0};
    std::vector<VarSet> sets;
    for (int v = 0; v < n; ++v) {
        const int more = draw(1, 4);
        for (int i = 0; i <= more; ++i) {
            std::vector<VarSet> own(static_cast<std::size_t>(words), 0);
            for (int parents = i == 0 ? 0 : draw(1, 3); parents > 0; --parents)
                if (const int p = draw(0, n - 1); p != v) own[p / 64] |= only(p % 64);
            sets.insert(sets.end(), own.begin(), own.end());
        }
        offsets.push_back(offsets.back() + more + 1);
    }
    return {std::move(offsets), sets.data(), words};
}

// Of each variable a family whose parents come before it in a random order.
std::vector<char> drawn_network(const ListedFamilies& families) {
    const std::vector<int> order = shuffled(families.n_variables());
    std::vector<char> is_placed(order.size(), 0), is_used(families.size(), 0);
    for (const int v : order) {
        std::vector<std::size_t> fitting;
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            if (are_marked(families.parents(i), is_placed)) fitting.push_back(i);
        is_used[fitting[static_cast<std::size_t>(draw(0, static_cast<int>(fitting.size()) - 1))]] = 1;
        is_placed[v] = 1;
    }
    return is_used;
}

// Of each cut.
std::vector<double> left_sides(const CutPool& pool, const std::vector<double>& weights) {
    std::vector<std::uint8_t> marks(weights.size(), 1);
    marks.resize(weights.size() + static_cast<std::size_t>(pool.families().n_variables()), 0);
    std::vector<double> sums(pool.size(), 0.0);
    pool.visit_marked(0, marks, [&](std::size_t c, const Entry& entry) {
        sums[c] += entry.coefficient * weights[static_cast<std::size_t>(entry.family)];
    });
    return sums;
}

std::vector<double> drawn_numbers(std::size_t size, int most) {
    std::vector<double> numbers(size);
    for (double& number : numbers) number = draw(0, most);
    return numbers;
}

// Bounds are the same whether coefficients are kept or made anew; those of clusters stay so after an ascent.
void check_bounds_of_cuts(const CutPool& kept, const CutPool& made) {
    const ListedFamilies& families = kept.families();
    const std::vector<double> costs = drawn_numbers(families.size(), 20), multipliers = drawn_numbers(kept.size(), 3);
    const std::vector<std::uint8_t> allowed(families.size(), 1);
    const ReducedCosts one = kept.reduced_costs(costs, allowed, multipliers);
    const ReducedCosts other = made.reduced_costs(costs, allowed, multipliers);
    check(one.bound == other.bound && one.excess == other.excess, "bounds differ where coefficients are made anew");
    std::vector<Cluster> clusters;
    std::vector<double> own;
    for (std::size_t c = 0; c < kept.size(); ++c)
        if (kept.cut(c).is_cluster()) {
            clusters.push_back(kept.cut(c).clusters[0]);
            own.push_back(multipliers[c]);
        }
    const Ascended climbed = ascend(families, clusters, one.excess, allowed, own, {0.5, 3, 1});
    for (const double multiplier : climbed.multipliers) check(multiplier >= 0.0, "a multiplier below zero");
    std::vector<double> alone = costs, shared = costs;
    const long double given = pay_clusters(families, clusters, climbed.multipliers, alone, 1);
    check(pay_clusters(families, clusters, climbed.multipliers, shared, 3) == given && alone == shared,
          "what clusters are paid depends on threads");
}

// Found where weights break them, and every network satisfies them.
void check_cuts_on(int n) {
    const ListedFamilies families = drawn_families(n);
    std::vector<double> weights(families.size(), 0.0);
    for (int v = 0; v < n; ++v)
        for (std::size_t i = families.begin_of(v) + 1; i < families.end_of(v); ++i)  // none on the empty set
            weights[i] = 1.0 / static_cast<double>(families.end_of(v) - families.begin_of(v) - 1);
    const Support support = support_of(families, weights);
    const SeparationOptions options{20, 1e-4, 3, 2'000};
    CutPool pool(families, true), made(families, false);
    for (const Cluster& cluster : grow_clusters(support, options, 1)) pool.add({{cluster}, {}, {}});
    for (const Cluster& cluster : search_clusters(support, 1, options)) pool.add({{cluster}, {}, {}});
    for (LocalCut& cut : local_cuts(support, {10, 50, 0.02})) pool.add({{}, {}, std::move(cut)});
    check(pool.size() > 0 || n < 6, "weights of circles break no cut");
    const std::vector<double> broken = left_sides(pool, weights);
    for (std::size_t c = 0; c < pool.size(); ++c)
        check(broken[c] < pool.cut(c).limit(), "a cut that weights do not break");
    for (Cut& cut : pool.violated_halves(weights, 10, 1e-3)) pool.add(std::move(cut));
    for (std::size_t c = 0; c < pool.size(); ++c) made.add(pool.cut(c));
    check(left_sides(pool, weights) == left_sides(made, weights), "coefficients made anew differ");
    check_bounds_of_cuts(pool, made);
    for (int drawn = 0; drawn < 20; ++drawn) {
        const std::vector<char> network = drawn_network(families);
        const std::vector<double> used(network.begin(), network.end());
        const std::vector<double> sums = left_sides(pool, used);
        for (std::size_t c = 0; c < pool.size(); ++c)
            check(sums[c] >= pool.cut(c).limit(), "a cut that a network breaks");
    }
    std::vector<std::uint8_t> allowed(families.size(), 1);
    check(propagate_orders(families, allowed), "there is a network without edges");
    check(std::count(allowed.begin(), allowed.end(), 0) == 0, "nothing is forced where the empty set is allowed");
}

void check_cuts() {
    for (const int n : {1, 2, 6, 12, 64, 65, 70, 130}) check_cuts_on(n);
}

}  // namespace

int main() {
    check_sets();
    check_parallel();
    check_cell_functions();
    check_counting();
    check_scores();
    check_grid();
    check_lattice();
    check_precedence();
    check_differences();
    check_larger_lattices();
    check_lists();
    check_classes();
    check_chordal_classes();
    check_class_sizes();
    check_class_rule();
    check_class_lists();
    check_stopped_lists();
    check_limits();
    check_stop_from_outside();
    check_order_prior();
    check_continuous();
    check_blocks();
    check_mixed();
    check_cuts();
    check_margins();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
