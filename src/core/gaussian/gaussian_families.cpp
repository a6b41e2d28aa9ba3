#include "gaussian/gaussian_families.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "base/infinity.h"
#include "base/parallel.h"
#include "scoring/set_scores.h"

namespace topdag {

namespace {

constexpr double none = minus_infinity;
constexpr double bytes_per_set = 64.0;  // of a table of sets met
constexpr std::uint64_t sets_between_looks = 1024;

// What all walks share: when to end.
struct Shared {
    std::atomic<std::uint64_t> sets{0};
    std::atomic<bool> too_many{false};
};

struct Found {
    std::vector<VarSet> parents;
    VarSet degenerate = 0;
    int limit = 0;
    std::uint64_t n_scored = 0, n_cut = 0;
};

// The residual of the first variable of a matrix given more and more of the others, in doubles, with what rounding can
// have done to it: the sweep operator [Beaton 1964] on the matrix scaled to ones on its diagonal.
class Sweeps {
public:
    Sweeps(const DoubleDouble* matrix, int m) : m_(m), entries_(static_cast<std::size_t>(m * m)) {
        std::vector<double> root(static_cast<std::size_t>(m));
        for (int i = 0; i < m; ++i) root[i] = std::sqrt(matrix[triangle_row(i) + i].high);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j <= i; ++j) at(i, j) = at(j, i) = matrix[triangle_row(i) + j].high / (root[i] * root[j]);
        log_scale_ = std::log(matrix[0].high);
    }

    // Explains by v too; false where too few digits are left, so that nothing is known.
    bool add(int v) {
        const double pivot = at(v, v);
        if (!(pivot > 1e-12)) return false;
        for (int i = 0; i < m_; ++i) {
            if (i == v) continue;
            const double share = at(i, v) / pivot;
            for (int j = 0; j < m_; ++j)
                if (j != v) at(i, j) -= share * at(v, j);
            at(i, v) = share;
        }
        for (int j = 0; j < m_; ++j)
            if (j != v) at(v, j) = -at(j, v);
        at(v, v) = 1.0 / pivot;
        added_ = v;
        return error() < 1e-3;
    }

    double least_log_residual() const { return log_scale_ + std::log(at(0, 0)) - 2 * error(); }

private:
    int m_;
    int added_ = 0;
    double log_scale_ = 0.0;
    std::vector<double> entries_;

    double& at(int i, int j) { return entries_[static_cast<std::size_t>(i * m_ + j)]; }
    double at(int i, int j) const { return entries_[static_cast<std::size_t>(i * m_ + j)]; }

    // Of the residual, relative: changes of all entries by rounding, weighed with the coefficients; a hundred times as
    // much.
    double error() const {
        double weights = 1.0;
        for (int v = 1; v <= added_; ++v) weights += std::abs(at(0, v));
        const double residual = at(0, 0);
        return residual > 0 ? 2.2e-14 * m_ * weights * weights / residual : 1.0;
    }
};

// The parent sets of one variable. In its matrix the variable stands first, and its parents such that those which tell
// most stand last; they are eliminated from the last to the first.
class ParentWalk {
public:
    ParentWalk(const Scatter& scatter, const GaussianQuestion& question, int x, Shared& shared, Limits& limits)
        : question_(question), shared_(shared), limits_(limits), x_(x), order_(by_strength(scatter, x)),
          matrix_(scatter_among(scatter, order_)), left_(scatter.n) {
        for (int m = 0; m < scatter.n; ++m) left_[m].resize(triangle_row(m));
    }

    Found run() {
        visit(matrix_.entries.data(), matrix_.n, 0, 0, 0.0, none);
        return std::move(found_);
    }

private:
    const GaussianQuestion& question_;
    Shared& shared_;
    Limits& limits_;
    int x_;
    std::vector<int> order_;
    Scatter matrix_;
    std::vector<std::vector<DoubleDouble>> left_;
    std::unordered_map<VarSet, double> best_;  // of sets met: the best score of them and what was met of their subsets
    std::vector<double> kept_scores_;          // for k
    Found found_;
    bool is_over_ = false;

    // The variable, then the others by how much of it each explains alone, least first.
    static std::vector<int> by_strength(const Scatter& scatter, int x) {
        const auto explained = [&](int v) {
            const double both = scatter.at(std::max(v, x), std::min(v, x)).high;
            return both * both / scatter.at(v, v).high;
        };
        std::vector<int> order(scatter.n);
        std::iota(order.begin(), order.end(), 0);
        std::erase(order, x);
        std::stable_sort(order.begin(), order.end(), [&](int u, int v) { return explained(u) < explained(v); });
        order.insert(order.begin(), x);
        return order;
    }

    double score_of(double log_det, double log_residual, int size) const {
        const auto& [constants, factors] = question_.formula;
        return constants[size + 1] - constants[size] + factors[size + 1] * (log_det + log_residual) -
               factors[size] * log_det;
    }

    static double log_of(DoubleDouble value) { return std::log(value.high) + value.low / value.high; }

    // The parents `set`, then all that variables of the matrix before m add to them. `below`: the best score met of
    // subsets.
    void visit(const DoubleDouble* matrix, int m, VarSet set, int size, double log_det, double below) {
        const double best = meet(set, size, log_det, matrix[0], below);
        if (is_over_ || size == question_.max_parents) return;
        const bool is_last = size + 1 == question_.max_parents;
        const int first = question_.penalty > 0 && !is_last ? first_that_matters(matrix, m, set, size, best) : 1;
        found_.n_cut += static_cast<std::uint64_t>(first - 1);
        for (int v = first; v < m && !is_over_; ++v) {
            const DoubleDouble* row = matrix + triangle_row(v);
            const VarSet larger = set | only(order_[v]);
            if (!(row[v].high > matrix_.least[v])) return give_up(larger);
            const double with = log_det + log_of(row[v]);
            if (is_last) {
                meet(larger, size + 1, with, matrix[0] - row[0] * row[0] / row[v], best);
            } else {
                eliminate(matrix, v);
                visit(left_[v].data(), v, larger, size + 1, with, best);
            }
        }
    }

    // Scores the parents `set`; the best score met of them and their subsets.
    double meet(VarSet set, int size, double log_det, DoubleDouble residual, double below) {
        if (stop()) return none;
        if (!(residual.high > matrix_.least[0])) {
            give_up(set | only(x_));
            return none;
        }
        const double score = score_of(log_det, log_of(residual), size);
        const double best_subset = std::max(below, best_met_below(set));
        keep(set, size, score, best_subset);
        return std::max(best_subset, score);
    }

    void give_up(VarSet degenerate) {
        found_.degenerate = degenerate;
        is_over_ = true;
    }

    bool stop() {
        if (++found_.n_scored % sets_between_looks == 0) {
            limits_.done.fetch_add(sets_between_looks, std::memory_order_relaxed);
            const std::uint64_t sets = shared_.sets.fetch_add(sets_between_looks) + sets_between_looks;
            if (static_cast<double>(sets) * bytes_per_set > question_.memory) shared_.too_many.store(true);
            is_over_ = is_over_ || shared_.too_many.load() || limits_.reached();
        }
        return is_over_;
    }

    double best_met_below(VarSet set) const {
        double best = none;
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const auto found = best_.find(set & ~only(first_of(rest)));
            if (found != best_.end()) best = std::max(best, found->second);
        }
        return best;
    }

    void keep(VarSet set, int size, double score, double best_subset) {
        found_.limit = std::max(found_.limit, size);
        if (size < question_.max_parents) best_[set] = std::max(score, best_subset);
        const bool goes = question_.k != 0 ? kth_best_among(set) > score + question_.slack
                                           : best_subset > score + std::max(0.0, question_.epsilon) + question_.slack;
        if (goes) return;
        found_.parents.push_back(set);
        kept_scores_.push_back(score);
    }

    // So much is reached by k subsets, or the set itself, that are kept.
    double kth_best_among(VarSet set) const {
        std::vector<double> scores;
        for (std::size_t i = 0; i < kept_scores_.size(); ++i)
            if (is_subset(found_.parents[i], set)) scores.push_back(kept_scores_[i]);
        if (scores.size() < question_.k) return none;
        std::nth_element(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(question_.k) - 1, scores.end(),
                         std::greater<>());
        return scores[question_.k - 1];
    }

    // The first v such that a set with v, and any of those before it, may matter beside what is reached. The residual
    // given all of them bounds what each explains, and one more parent is the least they cost.
    int first_that_matters(const DoubleDouble* matrix, int m, VarSet set, int size, double best) {
        Sweeps sweeps(matrix, m);
        const double reached = question_.k != 0 ? kth_best_among(set) : best;
        const double allowed = reached - (question_.k != 0 ? 0.0 : std::max(0.0, question_.epsilon)) - question_.slack;
        for (int v = 1; v < m; ++v)
            if (!sweeps.add(v) || score_of(0.0, sweeps.least_log_residual(), size + 1) >= allowed) return v;
        return m;
    }

    void eliminate(const DoubleDouble* matrix, int v) {
        const DoubleDouble* row = matrix + triangle_row(v);
        DoubleDouble* out = left_[v].data();
        const DoubleDouble inverse = DoubleDouble(1.0) / row[v];
        for (int i = 0; i < v; ++i) {
            const DoubleDouble share = row[i] * inverse;
            for (int j = 0; j <= i; ++j, ++matrix, ++out) *out = *matrix - share * row[j];
        }
    }
};

std::vector<int> members(VarSet set) {
    std::vector<int> result;
    for (; set != 0; set &= set - 1) result.push_back(first_of(set));
    return result;
}

// Scores of sets that depend on the set only, not on the walk that met it, so that equivalent networks tie.
class SetValues {
public:
    SetValues(const Scatter& scatter, const MinorFormula& formula) : scatter_(scatter), formula_(formula) {}

    void add(VarSet set) { values_.try_emplace(set, 0.0); }

    int round(Limits& limits) {
        std::vector<std::pair<const VarSet, double>*> all;
        for (auto& entry : values_) all.push_back(&entry);
        parallel_for(all.size(), limits, [&](std::size_t i, int) {
            const std::size_t size = static_cast<std::size_t>(size_of(all[i]->first));
            all[i]->second = formula_.constants[size] +
                             formula_.factors[size] * log_determinant(scatter_among(scatter_, members(all[i]->first)));
        });
        double magnitude = 0.0;
        for (const auto* entry : all) magnitude = std::max(magnitude, std::abs(entry->second));
        const int exponent = grid_exponent(scatter_.n, magnitude);
        for (auto* entry : all)
            entry->second = std::ldexp(std::nearbyint(std::ldexp(entry->second, exponent)), -exponent);
        return exponent;
    }

    double at(VarSet set) const { return values_.at(set); }

private:
    const Scatter& scatter_;
    const MinorFormula& formula_;
    std::unordered_map<VarSet, double> values_;
};

}  // namespace

GaussianFamilies score_gaussian_families(const Scatter& scatter, const GaussianQuestion& question, Limits& limits) {
    const auto n = static_cast<std::size_t>(scatter.n);
    std::vector<Found> found(n);
    Shared shared;
    limits.begin(Phase::counting, 0);
    parallel_for(n, limits, [&](std::size_t x, int) {
        found[x] = ParentWalk(scatter, question, static_cast<int>(x), shared, limits).run();
    });
    GaussianFamilies result;
    if (shared.too_many.load()) result.memory_needed = static_cast<double>(shared.sets.load()) * bytes_per_set;
    for (const Found& own : found)
        if (own.degenerate != 0 && result.degenerate == 0) result.degenerate = own.degenerate;
    if (limits.stop.load() || result.memory_needed != 0.0 || result.degenerate != 0) return result;

    SetValues values(scatter, question.formula);
    result.offsets.push_back(0);
    for (std::size_t x = 0; x < n; ++x) {
        for (VarSet parents : found[x].parents) {
            values.add(parents);
            values.add(parents | only(static_cast<int>(x)));
        }
        result.parents.insert(result.parents.end(), found[x].parents.begin(), found[x].parents.end());
        result.offsets.push_back(static_cast<std::int64_t>(result.parents.size()));
        result.limit = std::max(result.limit, found[x].limit);
        result.n_scored += found[x].n_scored;
        result.n_cut += found[x].n_cut;
    }
    result.grid = values.round(limits);
    if (limits.stop.load()) return result;
    for (std::size_t x = 0; x < n; ++x)
        for (auto i = result.offsets[x]; i < result.offsets[x + 1]; ++i) {
            const VarSet parents = result.parents[static_cast<std::size_t>(i)];
            result.scores.push_back(values.at(parents | only(static_cast<int>(x))) - values.at(parents));
        }
    result.finished = true;
    return result;
}

}  // namespace topdag
