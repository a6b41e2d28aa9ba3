#include "scoring/set_scores.h"

#include <algorithm>
#include <cmath>

#include "base/infinity.h"
#include "base/arity_classes.h"
#include "base/careful_sum.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "counting/counts.h"
#include "margins/margins.h"

namespace topdag {

namespace {

constexpr double no_limit = infinity;
constexpr std::size_t chunk = 1 << 16;
constexpr int few_variables = 12;

// Nats that an answer called proved may be behind the best; where doubles cannot tell that, a share of its score.
constexpr double most_behind = 1e-6;
constexpr double share_behind = 1e-11;
constexpr double never_further_behind = 0.1;
constexpr int largest_exponent = 40;
constexpr int spare_bits = 3;
constexpr double finest_penalty = 1 << 22;  // set scores of this size still have a grid of 2^-24 or finer

int bits_of(double size) { return static_cast<int>(std::ceil(std::log2(std::min(size, 1e300)))); }

double penalty_of(const Table& table, const SetFormula& formula, double cells) {
    switch (formula.penalty) {
        case Penalty::none: return 0.0;
        case Penalty::per_cell: return formula.penalty_weight * cells;
        case Penalty::regret: return regret(table.n_rows, cells);
    }
    return 0.0;
}

double n_sets_up_to(int n, int size) {
    double sets = 0.0, of_size = 1.0;
    for (int k = 0; k <= std::min(n, size); of_size *= static_cast<double>(n - k) / (k + 1), ++k) sets += of_size;
    return sets;
}

// Without branches, so that values are compared side by side.
TOPDAG_SIMD double largest_in(const double* values, std::size_t size) {
    double lane[8] = {};
    for (std::size_t i = 0; i < size; ++i) {
        const double own = std::abs(values[i]);
        const double finite = own < no_limit ? own : 0.0;
        double& most = lane[i % 8];
        most = most < finite ? finite : most;
    }
    return *std::max_element(lane, lane + 8);
}

TOPDAG_SIMD bool are_below_infinity(const double* values, std::size_t size) {
    std::int64_t below = 0;
    for (std::size_t i = 0; i < size; ++i) below += values[i] < no_limit ? 1 : 0;
    return below == static_cast<std::int64_t>(size);
}

void subtract_penalties(const Table& table, const SetFormula& formula, Limits& limits, double* scores) {
    const ArityClasses classes(table.arities);
    std::vector<double> penalty(classes.size());
    for (std::uint64_t c = 0; c < classes.size(); ++c) penalty[c] = penalty_of(table, formula, classes.cells(c));
    const std::size_t size = n_sets(table.n_variables());
    parallel_for((size + chunk - 1) / chunk, limits, [&](std::size_t part, int) {
        const std::size_t end = std::min(size, (part + 1) * chunk);
        for (VarSet set = part * chunk; set < end; ++set) {
            std::uint64_t set_class = 0;
            for (VarSet rest = set; rest != 0; rest &= rest - 1) set_class += classes.step(first_of(rest));
            scores[set] -= penalty[set_class];
        }
    });
}

// Gives equal rows equal labels, one variable at a time; returns how many labels there are.
std::uint32_t refine(std::vector<std::uint32_t>& label, std::uint32_t n_labels, const std::uint16_t* column, int arity) {
    std::vector<std::uint64_t> key(label.size());
    for (std::size_t row = 0; row < label.size(); ++row)
        key[row] = std::uint64_t{label[row]} * static_cast<std::uint64_t>(arity) + column[row];
    const std::uint64_t n_keys = std::uint64_t{n_labels} * static_cast<std::uint64_t>(arity);
    if (n_keys <= 8 * label.size() + 64) {
        std::vector<std::uint32_t> name(n_keys, 0);
        for (std::uint64_t k : key) name[k] = 1;
        std::uint32_t next = 0;
        for (std::uint32_t& n : name)
            if (n != 0) n = next++;
        for (std::size_t row = 0; row < label.size(); ++row) label[row] = name[key[row]];
        return next;
    }
    std::vector<std::uint64_t> distinct(key);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t row = 0; row < label.size(); ++row)
        label[row] = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), key[row]) - distinct.begin());
    return static_cast<std::uint32_t>(distinct.size());
}

}  // namespace

bool score_all_sets(const Table& table, const SetFormula& formula, int max_size, Limits& limits, double* scores,
                    int masked) {
    const SetLimits wanted{max_size, most_cells_with_hope(table, formula)};
    limits.begin(Phase::counting, n_sets(table.n_variables()));
    if (auto margins = margins_worthwhile(table, max_size, n_sets_up_to(table.n_variables(), max_size))) {
        const CellTables tables(table, formula.kind, formula.parameter, formula.spread);
        if (!margins->add(table, n_sets(table.n_variables()), limits) || !margins->sums_of_all(tables, wanted, limits, scores)) return false;
    } else if (!sum_over_cells(table, formula.kind, formula.parameter, formula.spread, wanted, limits, scores, masked)) {
        return false;
    }
    if (formula.penalty != Penalty::none) subtract_penalties(table, formula, limits, scores);
    return !limits.stop.load();
}

double most_cells_with_hope(const Table& table, const SetFormula& formula) {
    const auto [least, most] = std::minmax_element(table.arities.begin(), table.arities.end());
    if (formula.penalty != Penalty::per_cell || formula.penalty_weight <= 0 || *least < 2) return no_limit;
    // (r - 1) q >= cells / 2 free parameters; log likelihoods lie between -N ln r and 0.
    const double explainable = static_cast<double>(table.n_rows) * std::log(*most) + formula.penalty_weight * *most;
    const double hopeful = 2.0 * (2.0 * explainable + 1000.0) / formula.penalty_weight;
    // With few variables all networks can be listed, so as much is kept as the grid can bear.
    const double bearable = table.n_variables() <= few_variables ? finest_penalty / formula.penalty_weight : 0.0;
    return std::max(hopeful, bearable);
}

std::vector<std::uint64_t> cells_of_set(const Table& table, const std::vector<int>& variables) {
    std::vector<std::uint32_t> label(table.n_distinct, 0);
    std::uint32_t n_labels = 1;
    for (int v : variables) n_labels = refine(label, n_labels, table.columns[v], table.arities[v]);
    std::vector<std::uint64_t> count(n_labels, 0);
    for (std::size_t row = 0; row < label.size(); ++row) count[label[row]] += table.weights[row];
    return count;
}

double score_one_set(const Table& table, const SetFormula& formula, const std::vector<int>& variables) {
    double cells = 1.0;
    for (int v : variables) cells *= table.arities[v];
    const CellFunction function{formula.kind, formula.spread ? formula.parameter / cells : formula.parameter};
    std::vector<std::uint64_t> counts = cells_of_set(table, variables);
    std::sort(counts.begin(), counts.end());  // equal counts side by side: each value once, and a fixed order of summation
    CarefulSum sum;
    for (std::size_t i = 0; i < counts.size();) {
        std::size_t end = i;
        while (end < counts.size() && counts[end] == counts[i]) ++end;
        sum.add(static_cast<double>(end - i) * function(counts[i]));
        i = end;
    }
    return sum.value() - penalty_of(table, formula, cells);
}

bool score_families_bds(const Table& table, double ess, int max_parents, Limits& limits, double* families) {
    const int n = table.n_variables();
    const SetLimits wanted{std::min(n, max_parents + 1), no_limit};
    std::vector<double> occurring(n_sets(n));  // cells of each set that occur
    limits.begin(Phase::counting, 2 * n_sets(n));
    if (!sum_over_cells(table, CellKind::one, 0.0, false, wanted, limits, occurring.data())) return false;
    if (!fill_in_parallel(families, n * n_sets(n - 1), minus_infinity, limits)) return false;
    const auto sum = [](const std::vector<Tally>& tallies, double a) {
        CarefulSum total;
        for (const Tally& tally : tallies) total.add(static_cast<double>(tally.cells) * log_rising(a, tally.rows));
        return total.value();
    };
    std::vector<double> alone(n_sets(n));  // the set as parents, its own cells sharing the prior weight
    const auto score_set = [&](VarSet set, const std::vector<Tally>& tallies) {
        alone[set] = sum(tallies, ess / occurring[set]);
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const VarSet parents = set & ~only(x);
            families[static_cast<std::size_t>(x) * n_sets(n - 1) + without_bit(parents, x)] =
                sum(tallies, ess / (occurring[parents] * table.arities[x]));
        }
    };
    if (!tally_all_sets(table, wanted, limits, score_set)) return false;
    parallel_for(static_cast<std::size_t>(n), limits, [&](std::size_t x, int) {
        double* own = families + x * n_sets(n - 1);
        for (VarSet u = 0; u < n_sets(n - 1); ++u)
            if (std::isfinite(own[u])) own[u] -= alone[with_gap(u, static_cast<int>(x))];
    });
    return !limits.stop.load();
}

double scoring_bytes(const Table& table, const SetFormula& formula, int max_size, int threads) {
    if (const auto margins = margins_worthwhile(table, max_size, n_sets_up_to(table.n_variables(), max_size)))
        return CellTables::bytes(table, formula.spread) + margins->bytes_at_work(threads);
    return counting_bytes(table, formula.spread, threads);
}

double largest_magnitude(const double* values, std::size_t size, Limits& limits) {
    std::vector<double> largest(limits.threads, 0.0);
    parallel_for((size + chunk - 1) / chunk, limits, [&](std::size_t part, int worker) {
        const double own = largest_in(values + part * chunk, std::min(chunk, size - part * chunk));
        largest[worker] = std::max(largest[worker], own);
    });
    return *std::max_element(largest.begin(), largest.end());
}

std::size_t first_not_finite(const double* values, std::size_t size, Limits& limits) {
    std::vector<std::size_t> first(limits.threads, size);
    parallel_for((size + chunk - 1) / chunk, limits, [&](std::size_t part, int worker) {
        const std::size_t begin = part * chunk, end = std::min(size, begin + chunk);
        if (are_below_infinity(values + begin, end - begin)) return;
        for (std::size_t i = begin; i < end; ++i)
            if (!(values[i] < no_limit)) first[worker] = std::min(first[worker], i);
    });
    return *std::min_element(first.begin(), first.end());
}

int coarsest_exponent(int n, double size) {
    const double most = std::clamp(size * share_behind, most_behind, never_further_behind);
    return static_cast<int>(std::ceil(std::log2(steps_behind * n / most)));
}

int finest_exponent(int n, double magnitude) {
    const int single_differences = exact_bits - bits_of(magnitude);  // one more bit is exact
    const int fine = coarsest_exponent(n);
    return single_differences - 1 >= fine ? single_differences - 1 : single_differences - spare_bits;
}

int grid_exponent(int n, double magnitude, double total) {
    if (magnitude == 0.0) return largest_exponent;
    const int whatever_is_summed = std::min(largest_exponent, 51 - bits_of(2.0 * n * magnitude));
    const int these_sums = total == 0.0 ? largest_exponent : exact_bits - bits_of(total);
    return std::max(whatever_is_summed, std::min({coarsest_exponent(n), finest_exponent(n, magnitude), these_sums}));
}

void round_to_grid(double* values, std::size_t size, int exponent, Limits& limits) {
    const double up = std::ldexp(1.0, exponent);
    const double down = std::ldexp(1.0, -exponent);
    parallel_for((size + chunk - 1) / chunk, limits, [&](std::size_t part, int) {
        const std::size_t end = std::min(size, (part + 1) * chunk);
        for (std::size_t i = part * chunk; i < end; ++i) values[i] = std::nearbyint(values[i] * up) * down;
    });
}

}  // namespace topdag
