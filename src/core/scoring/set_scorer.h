// set_scorer.h: scores of listed sets of places, on the grid of a question.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "drawn/drawn_counts.h"
#include "counting/sparse_counts.h"
#include "margins/margins.h"
#include "scoring/score_grid.h"

namespace topdag {

// Of one table, or of several draws of it at once (DrawnRows): then a score is one for each of them.
template <class Rows>
class ScorerOf {
public:
    using Score = typename Rows::Score;
    using Sum = typename Rows::Sum;

    ScorerOf(const Table& table, const PruningQuestion& question) : ScorerOf(table, question, places_by_entropy(table)) {}
    ScorerOf(const Table& table, const PruningQuestion& question, std::vector<int> order)
        : order_(std::move(order)), rows_(table, order_), grid_(table, question), penalties_(table.n_rows),
          elsewhere_(question.elsewhere) {}
    ScorerOf(const Table& table, const std::vector<const std::uint32_t*>& draws, const PruningQuestion& question)
        : order_(places_by_entropy(table)), rows_(table, draws, order_), grid_(table, question), penalties_(table.n_rows),
          elsewhere_(question.elsewhere) {}

    const Rows& rows() const { return rows_; }
    // Where not, small sets are counted elsewhere.
    bool has_rows() const { return rows_.n_units() > 0; }
    const ScoreGrid& grid() const { return grid_; }
    int variable(int place) const { return order_[place]; }

    template <class Set>
    double cells(Set set) const {
        double cells = 1.0;
        for (; set != 0; set &= set - 1) cells *= rows_.arity(first_of(set));
        return cells;
    }

    // Sets ascending; false when a limit stopped it.
    template <class Set>
    bool score(const SetFormula& formula, const std::vector<Set>& sets, Limits& limits, std::vector<Score>& scores) {
        const FixedFunction function{formula.kind, formula.parameter, formula.spread, grid_.bits()};
        if (!sum(function, sets, limits, sums_)) return false;
        scores.resize(sets.size());
        for (std::size_t i = 0; i < sets.size(); ++i) {
            const double penalty = penalties_.of(formula, cells(sets[i]));
            for (int d = 0; d < n_draws<Score>; ++d) in_draw(scores[i], d) = grid_.rounded(in_draw(sums_[i], d), penalty);
        }
        return true;
    }

    // As sum_over_listed, here or elsewhere.
    template <class Set>
    bool sum(const FixedFunction& function, const std::vector<Set>& sets, Limits& limits,
             std::vector<Sum>& sums) {
        if constexpr (std::is_same_v<Set, VarSet> && std::is_same_v<Rows, CountingRows>) {
            if (elsewhere_.takes(sets.size(), rows_.n_units())) return elsewhere_.sums(function, sets, limits, sums);
            if (count_margins(sets, limits)) return margins_->sums(function, sets, limits, sums);
        }
        return sum_over_listed(rows_, function, sets, limits, sums);
    }

    // What no log likelihood of each place exceeds: that given all others, to the grid. False when a limit stopped it.
    template <class Set>
    bool most_likely(Limits& limits, std::vector<Score>& likelihoods) {
        const int n = rows_.n_variables();
        if (!has_rows()) {
            likelihoods.assign(n, Score{});
            return true;
        }
        const Set all = all_of<Set>(n);
        std::vector<Set> sets;
        for (int x = n - 1; x >= 0; --x) sets.push_back(all & ~only<Set>(x));
        sets.push_back(all);
        std::vector<Score> scores;
        if (!score({CellKind::n_log_n, 0.0, false, Penalty::none, 0.0}, sets, limits, scores)) return false;
        likelihoods.resize(n);
        for (int x = 0; x < n; ++x)
            for (int d = 0; d < n_draws<Score>; ++d)
                in_draw(likelihoods[x], d) = std::min(0.0, in_draw(scores[n], d) - in_draw(scores[n - 1 - x], d));
        return true;
    }

    template <class Set>
    Set variables_of(Set places) const {
        Set variables = 0;
        for (; places != 0; places &= places - 1) variables |= only<Set>(order_[first_of(places)]);
        return variables;
    }

private:
    // Has margins of these sets counted where that is worth it; whether there are any.
    bool count_margins(const std::vector<VarSet>& sets, Limits& limits) {
        int most = 0;
        for (VarSet set : sets) most = std::max(most, size_of(set));
        if (margins_ && most <= margins_->most_variables()) return true;
        auto larger = margins_worthwhile(rows_.as_table(), most, static_cast<double>(sets.size()));
        if (!larger) return false;
        margins_ = std::move(larger);
        margins_->add(rows_.as_table(), sets.size(), limits);  // if that is stopped, so is all that follows
        return true;
    }

    std::vector<int> order_;
    Rows rows_;
    ScoreGrid grid_;
    Penalties penalties_;
    const CountedElsewhere& elsewhere_;
    std::vector<Sum> sums_;
    std::optional<Margins> margins_;
};

using SetScorer = ScorerOf<CountingRows>;

}  // namespace topdag
