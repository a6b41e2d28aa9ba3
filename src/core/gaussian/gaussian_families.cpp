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
    // `begins`: of the rows of each variable. `floor`: no eigenvalue of the matrix is less, if its diagonal is at most 1.
    Sweeps(const DoubleDouble* matrix, const std::vector<int>& begins, int n, double floor)
        : begins_(begins), m_(begins[n]), own_(begins[1]), floor_(floor), entries_(static_cast<std::size_t>(m_ * m_)) {
        std::vector<double> root(static_cast<std::size_t>(m_));
        for (int i = 0; i < m_; ++i) root[i] = std::sqrt(matrix[triangle_row(i) + i].high);
        for (int i = 0; i < m_; ++i)
            for (int j = 0; j <= i; ++j) at(i, j) = at(j, i) = matrix[triangle_row(i) + j].high / (root[i] * root[j]);
        for (int i = 0; i < own_; ++i) log_scale_ += std::log(matrix[triangle_row(i) + i].high);
    }

    // Explains by v too; false where too few digits are left, so that nothing is known.
    bool add(int v) {
        for (int row = begins_[v]; row < begins_[v + 1]; ++row)
            if (!add_row(row)) return false;
        return error() < 1e-3;
    }

    double least_log_residual() const { return log_scale_ + log_det_of_own() - 2 * error(); }

private:
    const std::vector<int>& begins_;
    int m_, own_;
    double floor_;
    int added_ = 0;
    double log_scale_ = 0.0;
    std::vector<double> entries_;

    double& at(int i, int j) { return entries_[static_cast<std::size_t>(i * m_ + j)]; }
    double at(int i, int j) const { return entries_[static_cast<std::size_t>(i * m_ + j)]; }

    bool add_row(int v) {
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
        return true;
    }

    // Minus infinity where rounding leaves none.
    double log_det_of_own() const {
        if (own_ == 1) return std::log(at(0, 0));
        std::vector<double> root(static_cast<std::size_t>(own_ * own_));  // of Cholesky
        double result = 0.0;
        for (int i = 0; i < own_; ++i)
            for (int j = 0; j <= i; ++j) {
                double rest = at(i, j);
                for (int k = 0; k < j; ++k) rest -= root[i * own_ + k] * root[j * own_ + k];
                if (j < i) {
                    root[i * own_ + j] = rest / root[j * own_ + j];
                } else if (rest > 0) {
                    root[i * own_ + i] = std::sqrt(rest);
                    result += std::log(rest);
                } else {
                    return minus_infinity;
                }
            }
        return result;
    }

    // Of the residual, relative: changes of all entries by rounding, weighed with the coefficients; a hundred times as
    // much. Of several rows, what such changes do to a determinant whose eigenvalues have a floor.
    double error() const {
        double most = 0.0;
        for (int i = 0; i < own_; ++i) {
            double weights = 1.0;
            for (int v = own_; v <= added_; ++v) weights += std::abs(at(i, v));
            most = std::max(most, weights);
        }
        const double residual = own_ == 1 ? at(0, 0) : floor_;
        return residual > 0 ? 2.2e-14 * m_ * own_ * own_ * most * most / residual : 1.0;
    }
};

std::vector<int> members(VarSet set) {
    std::vector<int> result;
    for (; set != 0; set &= set - 1) result.push_back(first_of(set));
    return result;
}

// The scores of sets of conditions, by their log likelihood less a penalty for each cell.
class ConditionScores {
public:
    ConditionScores(const Conditions* conditions, int given) : conditions_(conditions), given_(given) {}

    bool has(int v) const { return conditions_ != nullptr && v >= given_; }
    VarSet among(VarSet set) const { return conditions_ == nullptr ? 0 : set & ~all_of(given_); }
    double of(VarSet set) const {
        std::vector<int> columns = members(set);
        for (int& v : columns) v -= given_;
        return score_one_set(conditions_->states, conditions_->formula, columns);
    }
    double arity(int v) const { return conditions_->states.arities[v - given_]; }
    double penalty(double cells) const { return conditions_->formula.penalty_weight * cells; }

private:
    const Conditions* conditions_;
    int given_;
};

// A parent set. What is left of the rows of the variable and of those that may be added, once the parents are eliminated.
struct Node {
    const DoubleDouble* matrix;
    const DoubleDouble* squares;  // none where they do not matter
    int m;                        // of variables left, the first of them included
    VarSet set = 0;
    int size = 0, rows = 0;
    double cells = 1.0;    // of the conditions among the parents, where these score as a table of their own
    double log_det = 0.0, log_residual = 0.0;
    double offset = 0.0;   // what that table adds
    double below = none;   // the best score met of subsets
};

// The parent sets of one variable. In its matrix the variable stands first, and its parents such that those which tell
// most stand last; they are eliminated from the last to the first. Where both are conditions they score as a table of
// their own: such parents stand after all others, so that what these add is bounded once the former are known.
class ParentWalk {
public:
    ParentWalk(const BlockScore& score, const ConditionScores& conditions, const GaussianQuestion& question, int x,
               Shared& shared, Limits& limits)
        : score_(score), conditions_(conditions), question_(question), shared_(shared), limits_(limits), x_(x),
          order_(by_strength()), begins_{0}, square_(order_.size(), -1) {
        std::vector<int> rows, among_squares;
        for (std::size_t v = 0; v < order_.size(); ++v) {
            for (int row = score.begins[order_[v]]; row < score.begins[order_[v] + 1]; ++row) rows.push_back(row);
            begins_.push_back(static_cast<int>(rows.size()));
            if (x >= score.squares.n || order_[v] >= score.squares.n) continue;
            square_[v] = static_cast<int>(among_squares.size());
            among_squares.push_back(order_[v]);
        }
        matrix_ = scatter_among(score.matrix, rows);
        squares_ = scatter_among(score.squares, among_squares);
        left_.resize(order_.size());
        left_squares_.resize(order_.size());
        for (std::size_t v = 1; v < order_.size(); ++v) {
            if (begins_[v + 1] > begins_[v]) left_[v].resize(triangle_row(begins_[v + 1] - 1));
            if (square_[v] > 0) left_squares_[v].resize(triangle_row(square_[v]));
        }
    }

    Found run() {
        Node none_yet{matrix_.entries.data(), squares_.n > 0 ? squares_.entries.data() : nullptr,
                      static_cast<int>(order_.size())};
        visit(none_yet);
        return std::move(found_);
    }

private:
    // What a step of the last parents of a set needs: just the variable's own rows and theirs.
    struct Small {
        std::vector<DoubleDouble> entries;
        std::vector<double> least;
    };

    const BlockScore& score_;
    const ConditionScores& conditions_;
    const GaussianQuestion& question_;
    Shared& shared_;
    Limits& limits_;
    int x_;
    std::vector<int> order_;
    std::vector<int> begins_;   // of the rows of each, in this order
    std::vector<int> square_;   // its row among the squares; -1: it has none
    Scatter matrix_, squares_;
    std::vector<std::vector<DoubleDouble>> left_, left_squares_;
    Small small_, small_squares_;
    std::vector<DoubleDouble> own_;
    std::unordered_map<VarSet, double> best_;  // of sets met: the best score of them and what was met of their subsets
    std::vector<double> kept_scores_;          // for k
    Found found_;
    bool is_over_ = false;

    // The variable, then the others by how much of it each explains alone, least first.
    std::vector<int> by_strength() const {
        std::vector<double> explained(score_.n_variables(), 0.0);
        for (int v = 0; v < score_.n_variables(); ++v)
            for (int i = score_.begins[v]; i < score_.begins[v + 1]; ++i)
                for (int j = score_.begins[x_]; j < score_.begins[x_ + 1]; ++j) {
                    const double both = score_.matrix.at(std::max(i, j), std::min(i, j)).high;
                    explained[v] += both * both / score_.matrix.at(i, i).high;
                }
        const auto scores_apart = [&](int v) { return conditions_.has(x_) && conditions_.has(v); };
        std::vector<int> order(score_.n_variables());
        std::iota(order.begin(), order.end(), 0);
        std::erase(order, x_);
        std::stable_sort(order.begin(), order.end(), [&](int u, int v) {
            return scores_apart(u) != scores_apart(v) ? scores_apart(v) : explained[u] < explained[v];
        });
        order.insert(order.begin(), x_);
        return order;
    }

    double score_of(double log_det, double log_residual, int rows) const {
        const auto& [constants, factors] = score_.formula;
        const int own = begins_[1];
        return constants[rows + own] - constants[rows] + factors[rows + own] * (log_det + log_residual) -
               factors[rows] * log_det - score_.per_pair * own * rows;
    }

    double score_of_squares(const Node& node) const {
        return node.squares == nullptr ? 0.0 : score_.half_rows * log_of(node.squares[0]);
    }

    // Finds the log of what is left of the variable; false where nothing is.
    bool find_residual(Node& node) {
        const int own = begins_[1];
        node.log_residual = 0.0;
        if (own == 1) {
            if (!(node.matrix[0].high > matrix_.least[0])) return false;
            node.log_residual = log_of(node.matrix[0]);
            return true;
        }
        own_.assign(node.matrix, node.matrix + triangle_row(own));
        return eliminate_rows(own_.data(), 0, own, matrix_.least.data(), own_.data(), node.log_residual);
    }

    // The parents of the node, then all that variables of the matrix add to them.
    void visit(Node& node) {
        const double best = meet(node);
        if (is_over_ || node.size == question_.max_parents) return;
        const bool is_last = node.size + 1 == question_.max_parents;
        const int first = question_.is_penalised && !is_last ? first_that_matters(node, best) : 1;
        found_.n_cut += static_cast<std::uint64_t>(first - 1);
        for (int v = first; v < node.m && !is_over_; ++v) {
            Node with = node;
            with.below = best;
            if (!include(with, v, is_last)) return give_up(with.set);
            if (is_last) {
                meet(with);
            } else {
                visit(with);
            }
        }
    }

    // Adds v to the parents; false where it depends on them.
    bool include(Node& node, int v, bool is_last) {
        const int begin = begins_[v], end = begins_[v + 1];
        node.m = v;
        node.set |= only(order_[v]);
        ++node.size;
        node.rows += end - begin;
        if (scores_as_table(node)) node.cells *= conditions_.arity(order_[v]);
        if (end > begin && !eliminate(node.matrix, begins_[1], begin, end, matrix_.least, is_last ? &small_ : nullptr,
                                      left_[v], node.log_det))
            return false;
        double log_square = 0.0;
        const int row = square_[v];
        return row < 0 || eliminate(node.squares, 1, row, row + 1, squares_.least, is_last ? &small_squares_ : nullptr,
                                    left_squares_[v], log_square);
    }

    // What is left of all rows before `begin`, or with `small` of the first `own` alone.
    static bool eliminate(const DoubleDouble*& matrix, int own, int begin, int end, const std::vector<double>& least,
                          Small* small, std::vector<DoubleDouble>& left, double& log_det) {
        if (small == nullptr) {
            if (!eliminate_rows(matrix, begin, end, least.data(), left.data(), log_det)) return false;
            matrix = left.data();
            return true;
        }
        small->entries.assign(matrix, matrix + triangle_row(own));
        small->least.assign(least.begin(), least.begin() + own);
        for (int v = begin; v < end; ++v) {
            const DoubleDouble* row = matrix + triangle_row(v);
            small->entries.insert(small->entries.end(), row, row + own);
            small->entries.insert(small->entries.end(), row + begin, row + v + 1);
            small->least.push_back(least[v]);
        }
        DoubleDouble* entries = small->entries.data();
        if (!eliminate_rows(entries, own, own + end - begin, small->least.data(), entries, log_det)) return false;
        matrix = entries;
        return true;
    }

    // Whether the variable and all its parents are conditions that score as a table.
    bool scores_as_table(const Node& node) const {
        return conditions_.has(x_) && conditions_.among(node.set) == node.set;
    }

    // Scores the parents of a node; the best score met of them and their subsets.
    double meet(Node& node) {
        if (stop()) return none;
        if (!find_residual(node)) {
            give_up(node.set | only(x_));
            return none;
        }
        double score = score_of(node.log_det, node.log_residual, node.rows);
        if (scores_as_table(node)) {
            const double as_table = conditions_.of(node.set | only(x_)) - conditions_.of(node.set);
            node.offset = as_table - score;
        }
        score += node.offset + score_of_squares(node);
        const double best_subset = std::max(node.below, best_met_below(node.set));
        keep(node.set, node.size, score, best_subset);
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

    // The first v such that a set with v, and any of those before it, may matter beside what is reached.
    int first_that_matters(const Node& node, double best) {
        Sweeps sweeps(node.matrix, begins_, node.m, score_.floor);
        const double reached = question_.k != 0 ? kth_best_among(node.set) : best;
        const double allowed = reached - (question_.k != 0 ? 0.0 : std::max(0.0, question_.epsilon)) - question_.slack;
        int least_rows = begins_.back();
        double least_states = infinity;
        for (int v = 1; v < node.m; ++v) {
            least_rows = std::min(least_rows, begins_[v + 1] - begins_[v]);
            if (!sweeps.add(v)) return v;
            double bound = bound_by_rows(node, sweeps.least_log_residual(), least_rows);
            if (conditions_.has(x_) && conditions_.has(order_[v])) {
                least_states = std::min(least_states, conditions_.arity(order_[v]));
                bound = bound_by_states(node, sweeps.least_log_residual(), least_states);
            }
            if (!(bound < allowed)) return v;
        }
        return node.m;
    }

    // No score of the parents and more is larger: the residual given all of these bounds what each explains, and one
    // with the fewest rows is the least they cost. What squares take away grows with the parents, for ln det is
    // submodular; what the table of conditions adds stays as it is.
    double bound_by_rows(const Node& node, double log_residual, int least_rows) const {
        return score_of(0.0, log_residual, node.rows + least_rows) + node.offset + score_of_squares(node);
    }

    // The same where one more at least is a condition, with so many states or more. No log likelihood of the table is
    // more than 0, and numbers explain no more than what the residual falls by, with them and all conditions.
    double bound_by_states(const Node& node, double log_residual, double least_states) const {
        const double free_states = conditions_.arity(x_) - 1;
        return score_.formula.factors[0] * (log_residual - node.log_residual) - conditions_.penalty(free_states * node.cells * least_states);
    }
};

// Scores of sets that depend on the set only, not on the walk that met it, so that equivalent networks tie. What
// conditions score as a table is rounded by itself: families of others do not see it, however large it is.
class SetValues {
public:
    SetValues(const BlockScore& score, const ConditionScores& conditions) : score_(score), conditions_(conditions) {}

    void add(int x, VarSet parents) {
        for (VarSet set : {parents, parents | only(x)}) {
            by_rows_.try_emplace(set, 0.0);
            if (conditions_.has(x)) by_states_.try_emplace(conditions_.among(set), 0.0);
        }
    }

    int round(Limits& limits) {
        fill(by_rows_, limits, [&](VarSet set) { return score_of_set(score_, set); });
        fill(by_states_, limits, [&](VarSet set) { return conditions_.of(set); });
        double magnitude = 0.0;
        for (const auto* values : {&by_rows_, &by_states_})
            for (const auto& [set, value] : *values) magnitude = std::max(magnitude, std::abs(value));
        const int exponent = grid_exponent(score_.n_variables(), magnitude);
        for (auto* values : {&by_rows_, &by_states_})
            for (auto& [set, value] : *values) value = std::ldexp(std::nearbyint(std::ldexp(value, exponent)), -exponent);
        return exponent;
    }

    double local(int x, VarSet parents) const {
        const VarSet all = parents | only(x);
        const double score = by_rows_.at(all) - by_rows_.at(parents);
        if (!conditions_.has(x)) return score;
        return score + by_states_.at(conditions_.among(all)) - by_states_.at(conditions_.among(parents));
    }

private:
    using Values = std::unordered_map<VarSet, double>;

    const BlockScore& score_;
    const ConditionScores& conditions_;
    Values by_rows_, by_states_;

    template <class Score>
    static void fill(Values& values, Limits& limits, Score&& score) {
        std::vector<std::pair<const VarSet, double>*> all;
        for (auto& entry : values) all.push_back(&entry);
        parallel_for(all.size(), limits, [&](std::size_t i, int) { all[i]->second = score(all[i]->first); });
    }
};

}  // namespace

GaussianFamilies score_gaussian_families(const BlockScore& score, const Conditions* conditions,
                                         const GaussianQuestion& question, Limits& limits) {
    const int n = score.n_variables();
    const ConditionScores condition_scores(conditions, score.given);
    std::vector<Found> found(static_cast<std::size_t>(n));
    Shared shared;
    limits.begin(Phase::counting, 0);
    parallel_for(found.size(), limits, [&](std::size_t x, int) {
        found[x] = ParentWalk(score, condition_scores, question, static_cast<int>(x), shared, limits).run();
    });
    GaussianFamilies result;
    if (shared.too_many.load()) result.memory_needed = static_cast<double>(shared.sets.load()) * bytes_per_set;
    for (const Found& own : found)
        if (own.degenerate != 0 && result.degenerate == 0) result.degenerate = set_at(score.places, own.degenerate);
    if (limits.stop.load() || result.memory_needed != 0.0 || result.degenerate != 0) return result;

    SetValues values(score, condition_scores);
    for (int x = 0; x < n; ++x)
        for (VarSet parents : found[x].parents) values.add(x, parents);
    result.grid = values.round(limits);
    if (limits.stop.load()) return result;
    std::vector<int> at(found.size());  // who stands at each place
    for (int x = 0; x < n; ++x) at[score.places[x]] = x;
    result.offsets.push_back(0);
    for (int x : at) {
        for (VarSet parents : found[x].parents) {
            result.parents.push_back(set_at(score.places, parents));
            result.scores.push_back(values.local(x, parents));
        }
        result.offsets.push_back(static_cast<std::int64_t>(result.parents.size()));
        result.limit = std::max(result.limit, found[x].limit);
        result.n_scored += found[x].n_scored;
        result.n_cut += found[x].n_cut;
    }
    result.finished = true;
    return result;
}

}  // namespace topdag
