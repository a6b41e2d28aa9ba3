#include "mixed_families.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "gaussian_sets.h"
#include "parallel.h"
#include "set_scores.h"

namespace topdag {

namespace {

using Rows = std::vector<std::uint32_t>;
constexpr double not_scored = -std::numeric_limits<double>::infinity();

std::vector<VarSet> spread_over(const std::vector<int>& places) {
    std::vector<VarSet> sets(n_sets(static_cast<int>(places.size())));
    for (VarSet set = 1; set < sets.size(); ++set) sets[set] = sets[set & (set - 1)] | only(places[first_of(set)]);
    return sets;
}

// The rows of each state of these variables that occurs.
std::vector<Rows> rows_by_state(const Table& table, VarSet variables) {
    Rows order(table.n_distinct);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Rows> groups{order};
    for (VarSet rest = variables; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        std::vector<Rows> finer;
        for (const Rows& group : groups) {
            std::vector<Rows> parts(table.arities[v]);
            for (std::uint32_t row : group) parts[table.columns[v][row]].push_back(row);
            for (Rows& part : parts)
                if (!part.empty()) finer.push_back(std::move(part));
        }
        groups = std::move(finer);
    }
    return groups;
}

double n_states(const Table& table, VarSet variables) {
    double states = 1.0;
    for (VarSet rest = variables; rest != 0; rest &= rest - 1) states *= table.arities[first_of(rest)];
    return states;
}

// Log likelihoods of all sets of continuous variables within each state of some discrete ones.
class Likelihoods {
public:
    explicit Likelihoods(const MixedTable& table) : table_(table), least_(least_variances(table.numbers)) {}

    // out[C]: of the sets C of at most `most`; minus infinity where C is degenerate in some state.
    void given(VarSet discrete, int most, std::vector<double>& out) const {
        const std::vector<Rows> states = rows_by_state(table_.discrete, discrete);
        std::size_t fewest = table_.numbers.columns.size() + 1;  // with fewer rows no larger set has a covariance
        for (const Rows& rows : states) fewest = std::min(fewest, rows.size());
        std::fill(out.begin(), out.end(), 0.0);
        std::vector<double> own(out.size());
        for (const Rows& rows : states) {
            add_state(rows, std::min(most, static_cast<int>(fewest) - 1), own);
            for (std::size_t set = 0; set < out.size(); ++set) out[set] += own[set];
        }
    }

private:
    const MixedTable& table_;
    std::vector<double> least_;

    void add_state(const Rows& rows, int most, std::vector<double>& own) const {
        std::fill(own.begin(), own.end(), not_scored);
        own[0] = 0.0;
        if (most == 0) return;
        double n_rows = 0.0;
        for (std::uint32_t row : rows) n_rows += table_.numbers.weights[row];
        const Scatter scatter = scatter_of_rows(table_.numbers, rows, least_);
        const double each = std::log(2 * std::numbers::pi) + 1 - std::log(n_rows);
        const auto visit = [&](VarSet set, int size, double log_det) { own[set] = -n_rows / 2 * (size * each + log_det); };
        MinorWalk(scatter, most, visit, [](VarSet) {}).below(0, scatter.n);
    }
};

// Families of continuous variables, from likelihoods given each set of discrete ones.
class ContinuousFamilies {
public:
    ContinuousFamilies(const MixedTable& table, double penalty, int max_parents, double* families)
        : table_(table),
          likelihoods_(table),
          penalty_(penalty),
          max_parents_(max_parents),
          families_(families),
          discrete_sets_(spread_over(table.discrete_places)),
          continuous_sets_(spread_over(table.continuous_places)) {}

    std::size_t n_discrete_sets() const { return discrete_sets_.size(); }

    void fill(VarSet discrete, MixedCounts& counts) const {
        const int room = max_parents_ - size_of(discrete);
        if (room < 0) return;
        const double states = n_states(table_.discrete, discrete);
        if (is_hopeless(states)) {
            each_family(room, [&](VarSet, int) { ++counts.hopeless; });
            return;
        }
        std::vector<double> likelihood(continuous_sets_.size());
        likelihoods_.given(discrete, room + 1, likelihood);
        each_family(room, [&](VarSet parents, int x) {
            const double with = likelihood[parents | only(x)];
            if (with == not_scored) {
                ++counts.degenerate;
                return;
            }
            place(discrete, parents, x) = with - likelihood[parents] - penalty_ * states * (size_of(parents) + 2);
        });
    }

private:
    const MixedTable& table_;
    Likelihoods likelihoods_;
    double penalty_;
    int max_parents_;
    double* families_;
    std::vector<VarSet> discrete_sets_, continuous_sets_;

    // A residual variance is more than least_share of the variance, so likelihoods gain no more than this by parents.
    bool is_hopeless(double states) const {
        double n_rows = 0.0;
        for (std::size_t row = 0; row < table_.numbers.n_distinct; ++row) n_rows += table_.numbers.weights[row];
        return 2 * penalty_ * (states - 1) > -n_rows / 2 * std::log(least_share) + 1000.0;
    }

    template <class Act>
    void each_family(int room, Act&& act) const {
        const int n = static_cast<int>(table_.continuous_places.size());
        for (VarSet parents = 0; parents < continuous_sets_.size(); ++parents)
            if (size_of(parents) <= room)
                for (int x = 0; x < n; ++x)
                    if (!has(parents, x)) act(parents, x);
    }

    double& place(VarSet discrete, VarSet parents, int x) const {
        const int own = table_.continuous_places[x];
        const VarSet all = discrete_sets_[discrete] | continuous_sets_[parents];
        return families_[static_cast<std::size_t>(own) * n_sets(table_.n_variables() - 1) + without_bit(all, own)];
    }
};

// Discrete variables score as in a table of their own.
bool fill_discrete(const MixedTable& table, double penalty, int max_parents, int threads, Limits& limits, double* families,
                   MixedCounts& counts) {
    const int n = table.discrete.n_variables();
    const SetFormula formula{CellKind::n_log_n, 0.0, false, Penalty::per_cell, penalty};
    std::vector<double> scores(n_sets(n));
    if (!score_all_sets(table.discrete, formula, std::min(n, max_parents + 1), threads, limits, scores.data())) return false;
    const std::vector<VarSet> sets = spread_over(table.discrete_places);
    for (VarSet set = 1; set < sets.size(); ++set) {
        if (size_of(set) > max_parents + 1) continue;
        if (scores[set] == not_scored) {
            counts.hopeless += static_cast<std::uint64_t>(size_of(set));
            continue;
        }
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest), own = table.discrete_places[x];
            const std::size_t at = static_cast<std::size_t>(own) * n_sets(table.n_variables() - 1);
            families[at + without_bit(sets[set & ~only(x)], own)] = scores[set] - scores[set & ~only(x)];
        }
    }
    return true;
}

}  // namespace

bool score_mixed_families(const MixedTable& table, double penalty, int max_parents, int threads, Limits& limits,
                          double* families, MixedCounts& counts) {
    const int n = table.n_variables();
    std::fill(families, families + n * n_sets(n - 1), not_scored);
    if (!fill_discrete(table, penalty, max_parents, threads, limits, families, counts)) return false;
    const ContinuousFamilies continuous(table, penalty, max_parents, families);
    std::atomic<std::uint64_t> degenerate{0}, hopeless{0};
    limits.begin(Phase::counting, continuous.n_discrete_sets());
    parallel_for(continuous.n_discrete_sets(), threads, limits, [&](std::size_t discrete, int) {
        MixedCounts own;
        continuous.fill(discrete, own);
        degenerate.fetch_add(own.degenerate, std::memory_order_relaxed);
        hopeless.fetch_add(own.hopeless, std::memory_order_relaxed);
        limits.done.fetch_add(1, std::memory_order_relaxed);
    });
    counts.degenerate += degenerate.load();
    counts.hopeless += hopeless.load();
    return !limits.stop.load();
}

}  // namespace topdag
