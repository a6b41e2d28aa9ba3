#include "gaussian/mixed_families.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/parallel.h"
#include "gaussian/gaussian_sets.h"
#include "scoring/set_scores.h"

namespace topdag {

namespace {

using Rows = std::vector<std::uint32_t>;
constexpr int shared_decisions = 10;  // threads share the sets of so many discrete variables

using Groups = std::vector<Rows>;  // the rows of each state of some variables that occurs

Groups all_rows_of(const Table& table) {
    Rows rows(table.n_distinct);
    std::iota(rows.begin(), rows.end(), 0);
    return {rows};
}

Groups split_by(const Table& table, int v, const Groups& groups) {
    Groups finer;
    for (const Rows& group : groups) {
        std::vector<Rows> parts(table.arities[v]);
        for (std::uint32_t row : group) parts[table.columns[v][row]].push_back(row);
        for (Rows& part : parts)
            if (!part.empty()) finer.push_back(std::move(part));
    }
    return finer;
}

bool has_a_single_row(const Groups& groups) {
    return std::any_of(groups.begin(), groups.end(), [](const Rows& rows) { return rows.size() == 1; });
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
    void given(const Groups& states, int most, std::vector<double>& out) const {
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
        const auto visit = [&](const Minor& minor) {
            own[minor.set] = -n_rows / 2 * (minor.size * each + minor.log_det);
        };
        const std::vector<int> begins = single_rows(scatter.n);
        MinorWalk(scatter, begins, scatter.n, most, visit, [](VarSet) {}).below(0, scatter.n);
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

    // All sets of discrete parents that have `chosen` among the first `decided` variables.
    void fill_with(VarSet chosen, int decided, MixedCounts& counts) const {
        Groups groups = all_rows_of(table_.discrete);
        for (VarSet rest = chosen; rest != 0; rest &= rest - 1) {
            groups = split_by(table_.discrete, first_of(rest), groups);
            if (has_a_single_row(groups)) return leave_out(chosen, decided, counts);
        }
        decide(chosen, decided, groups, counts);
    }

private:
    const MixedTable& table_;
    Likelihoods likelihoods_;
    double penalty_;
    int max_parents_;
    double* families_;
    std::vector<VarSet> discrete_sets_, continuous_sets_;

    void decide(VarSet discrete, int v, const Groups& groups, MixedCounts& counts) const {
        if (size_of(discrete) > max_parents_) return;
        if (v == table_.discrete.n_variables()) return fill(discrete, groups, counts);
        decide(discrete, v + 1, groups, counts);
        const Groups finer = split_by(table_.discrete, v, groups);
        if (has_a_single_row(finer)) return leave_out(discrete | only(v), v + 1, counts);
        decide(discrete | only(v), v + 1, finer, counts);
    }

    // A state with a single row has one in every finer split, so that no variance is left.
    void leave_out(VarSet discrete, int v, MixedCounts& counts) const {
        const VarSet free = all_of(table_.discrete.n_variables()) & ~all_of(v);
        for (VarSet more = free;; more = (more - 1) & free) {
            const int room = max_parents_ - size_of(discrete | more);
            if (room >= 0) count_of(n_states(table_.discrete, discrete | more), counts) += n_families(room);
            if (more == 0) return;
        }
    }

    std::uint64_t& count_of(double states, MixedCounts& counts) const {
        return is_hopeless(states) ? counts.hopeless : counts.degenerate;
    }

    std::uint64_t n_families(int room) const {
        const auto n = static_cast<std::uint64_t>(table_.continuous_places.size());
        std::uint64_t total = 0, sets = 1;  // sets of j of the others
        for (std::uint64_t j = 0; j < n && j <= static_cast<std::uint64_t>(room); ++j) {
            total += n * sets;
            sets = sets * (n - 1 - j) / (j + 1);
        }
        return total;
    }

    void fill(VarSet discrete, const Groups& groups, MixedCounts& counts) const {
        const int room = max_parents_ - size_of(discrete);
        const double states = n_states(table_.discrete, discrete);
        if (is_hopeless(states)) {
            counts.hopeless += n_families(room);
            return;
        }
        std::vector<double> likelihood(continuous_sets_.size());
        likelihoods_.given(groups, room + 1, likelihood);
        each_family(room, [&](VarSet parents, int x) {
            const double with = likelihood[parents | only(x)];
            if (with == not_scored) {
                ++counts.degenerate;
                return;
            }
            place(discrete, parents, x) = with - likelihood[parents] - penalty_ * states * (size_of(parents) + 2);
        });
    }

    // A residual variance is more than least_share of the variance, so likelihoods gain no more than this by parents.
    bool is_hopeless(double states) const {
        const auto n_rows = static_cast<double>(table_.discrete.n_rows);
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
bool fill_discrete(const MixedTable& table, double penalty, int max_parents, Limits& limits,
                   double* families, MixedCounts& counts) {
    const int n = table.discrete.n_variables();
    const SetFormula formula{CellKind::n_log_n, 0.0, false, Penalty::per_cell, penalty};
    std::vector<double> scores(n_sets(n));
    const int most = std::min(n, max_parents + 1);
    if (!score_all_sets(table.discrete, formula, most, limits, scores.data())) return false;
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

bool score_mixed_families(const MixedTable& table, double penalty, int max_parents, Limits& limits,
                          double* families, MixedCounts& counts) {
    const int n = table.n_variables();
    if (!fill_in_parallel(families, n * n_sets(n - 1), not_scored, limits)) return false;
    if (!fill_discrete(table, penalty, max_parents, limits, families, counts)) return false;
    const ContinuousFamilies continuous(table, penalty, max_parents, families);
    std::atomic<std::uint64_t> degenerate{0}, hopeless{0};
    const int decided = std::min(table.discrete.n_variables(), shared_decisions);
    limits.begin(Phase::counting, n_sets(decided));
    parallel_for(n_sets(decided), limits, [&](std::size_t chosen, int) {
        MixedCounts own;
        continuous.fill_with(chosen, decided, own);
        degenerate.fetch_add(own.degenerate, std::memory_order_relaxed);
        hopeless.fetch_add(own.hopeless, std::memory_order_relaxed);
        limits.done.fetch_add(1, std::memory_order_relaxed);
    });
    counts.degenerate += degenerate.load();
    counts.hopeless += hopeless.load();
    return !limits.stop.load();
}

}  // namespace topdag
