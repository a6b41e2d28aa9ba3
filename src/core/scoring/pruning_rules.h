// pruning_rules.h: which families are left out, and which parent sets are cut off with all their supersets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "base/infinity.h"
#include "scoring/bdeu_bounds.h"
#include "scoring/open_levels.h"
#include "scoring/set_scorer.h"

namespace topdag {

// Of one table, or of several draws of it at once: then a family is left out where that is right in every draw, and no
// rule cuts what it would keep in one of them alone (docs/explanation/order_search_and_pruning.md).
template <class Rows>
class PruningRules {
    using Score = typename Rows::Score;
    using Level = topdag::Level<Score>;
    static constexpr int draws = n_draws<Score>;

public:
    // `levels`: the last one is that of the subsets of the sets that are asked about.
    PruningRules(const PruningQuestion& question, ScorerOf<Rows>& scorer, const std::vector<Level>& levels, int threads)
        : question_(question), scorer_(scorer), levels_(levels), n_(scorer.rows().n_variables()),
          weight_(question.joint.penalty == Penalty::per_cell ? question.joint.penalty_weight : 0.0),
          slack_(weight_ > 0 || question.joint.penalty != Penalty::per_cell ? slack_steps * scorer.grid().step() : 0.0),
          epsilon_(std::max(0.0, question.epsilon)) {
        if (is_bdeu() && may_use(CutRule::atoms) && scorer.has_rows()) {
            atoms_ = std::make_unique<Atoms>(scorer.rows());
            for (int t = 0; t < threads; ++t) bounds_.emplace_back(scorer.rows(), *atoms_, question.joint.parameter);
        }
    }

    // Of each variable, where the penalty rule needs it.
    bool find_most_likely(Limits& limits) {
        most_likely_.assign(n_, Score{});
        costs_.clear();
        for (int x = 0; x < n_; ++x) costs_.push_back(weight_ * (arity(x) - 1));
        if (question_.joint.penalty == Penalty::per_cell && !scorer_.template most_likely<VarSet>(limits, most_likely_))
            return false;
        most_in_draws_ = most_likely_;
        for (Score& most : most_in_draws_)
            for (int d = 0; d < draws; ++d) in_draw(most, d) += slack_;
        return true;
    }

    // With how many cells of parents a variable may still be better than alone, as `alone` says by draw.
    void find_most_cells(const std::array<std::vector<Kept>, draws>& alone) {
        most_cells_.assign(n_, infinity);
        if (weight_ <= 0 || question_.k > 0 || !may_use(CutRule::penalty)) return;
        std::vector<double> explained(n_, 0.0);
        for (int d = 0; d < draws; ++d)
            for (const Kept& family : alone[d]) {
                const double own = in_draw(most_likely_[family.x], d) - family.score + epsilon_ + 2 * slack_;
                explained[family.x] = std::max(explained[family.x], own);
            }
        for (int x = 0; x < n_; ++x)
            if (arity(x) > 1) most_cells_[x] = explained[x] / (weight_ * (arity(x) - 1));
    }

    // More parents than this cannot pay for their penalty, whatever they explain.
    int most_parents() const {
        if (weight_ <= 0 || !may_use(CutRule::penalty)) return std::min(n_, question_.max_parents);
        const double most_cells = *std::max_element(most_cells_.begin(), most_cells_.end());
        std::vector<int> arities;
        for (int x = 0; x < n_; ++x) arities.push_back(arity(x));
        std::sort(arities.begin(), arities.end());
        int most = 0;
        for (double cells = 1.0; most < std::min(n_, question_.max_parents); ++most)
            if ((cells *= arities[most]) > most_cells) break;
        return most;
    }

    // Those of these variables whom parents with so many cells cost more than they can gain over having none.
    VarSet costly_for(VarSet variables, double cells) const {
        VarSet costly = 0;
        for (VarSet rest = variables; rest != 0; rest &= rest - 1)
            if (cells > most_cells_[first_of(rest)]) costly |= rest & -rest;
        return costly;
    }

    // The candidates that this set's penalty does not cut; adds the best that their subsets score to `below`.
    VarSet hopeful_after(VarSet set, const std::uint32_t* subsets, int size, VarSet candidates,
                         std::vector<Score>& below) const {
        const double cells = scorer_.cells(set);
        Score best[64];
        if constexpr (draws > 1) {
            const VarSet left = best_of_hopeful(levels_.back(), subsets, size, candidates,
                                                {most_in_draws_.data(), costs_.data(), cells}, best);
            below.insert(below.end(), best, best + size_of(left));
            return left;
        } else {
            best_of_subsets(levels_.back(), subsets, size, candidates, best);
            const Score* own = best;
            VarSet left = 0;
            for (VarSet rest = candidates; rest != 0; rest &= rest - 1, ++own) {
                const int x = first_of(rest);
                if (may_use(CutRule::penalty) && is_hopeless(x, set, most_with(x, cells), *own)) continue;
                left |= only(x);
                below.push_back(*own);
            }
            return left;
        }
    }

    // How often over the parent that explains least costs more than it can explain, for a child of two states: for
    // every superset of the set S + Y, dropping Y loses at most N H(Y | S) and saves at least the penalty of Y given S
    // [de Campos et al. 2018, Theorem 4]. With epsilon, Y must cost more than epsilon beyond that. In the draw where that
    // is least.
    double needless_parent(VarSet set, const Score& value, const std::uint32_t* subsets) const {
        if (weight_ <= 0 || question_.k > 0 || !may_use(CutRule::entropy)) return 0.0;
        Score most{};
        const double cells = scorer_.cells(set);
        const Level& before = levels_.back();
        int g = 0;
        for (VarSet rest = set; rest != 0; rest &= rest - 1, ++g) {
            const int y = first_of(rest);
            const double without = cells / arity(y);
            const double cost = weight_ * (arity(y) - 1) * without;
            const Score& smaller = before.value[subsets[g]];
            for (int d = 0; d < draws; ++d) {
                const double own = in_draw(value, d) + weight_ * cells;
                const double explained = in_draw(smaller, d) + weight_ * without - own;  // N H(Y | S)
                in_draw(most, d) = std::max(in_draw(most, d), cost / (explained + epsilon_ + slack_));
            }
        }
        double least = in_draw(most, 0);
        for (int d = 1; d < draws; ++d) least = std::min(least, in_draw(most, d));
        return least;
    }

    bool is_kept(int x, VarSet parents, double local, double below) const {
        if constexpr (draws == 1)
            if (question_.k > 0) return !has_k_better_subsets(x, parents, local);
        return ties_go() ? below < local : !(below > local + question_.epsilon);
    }

    bool uses_cells() const { return is_bdeu() && (may_use(CutRule::cells) || may_use(CutRule::atoms)); }

    // The rule that cuts off all proper supersets, or -1. `occurring`: cells of the parents and x that occur.
    int what_closes(int x, VarSet parents, std::int64_t occurring, double best, int worker) {
        if (may_use(CutRule::cells) && is_hopeless(x, parents, most_in_cells(x, occurring), best))
            return static_cast<int>(CutRule::cells);
        if (atoms_ == nullptr || !atoms_->are_mixed(x)) return -1;
        BdeuBounds& bounds = bounds_[worker];
        const bool is_cut = is_hopeless(x, parents, bounds.least_hope(x, parents, occurring), best) &&
                            is_hopeless(x, parents, bounds.most_beyond(x, parents, occurring), best);
        return is_cut ? static_cast<int>(CutRule::atoms) : -1;
    }

private:
    bool may_use(CutRule rule) const { return question_.rules >> static_cast<int>(rule) & 1; }
    bool ties_go() const { return question_.epsilon < 0; }
    int arity(int x) const { return scorer_.rows().arity(x); }
    bool is_bdeu() const { return question_.joint.kind == CellKind::log_rising && question_.joint.spread; }

    // No superset of parents with so many cells scores more for x: its penalty is at least theirs.
    double most_with(int x, double cells) const { return most_likely_[x] - costs_[x] * cells; }

    // BDeu: the first row of each cell has at most probability 1/r, in every superset too [Cussens 2012].
    double most_in_cells(int x, std::int64_t occurring) const {
        return -static_cast<double>(occurring) * std::log(arity(x));
    }

    // Whether families of x that score at most `most` can go, given that all subsets of `parents` may be used instead,
    // the best of which score `below` (docs/explanation/order_search_and_pruning.md).
    bool is_hopeless(int x, VarSet parents, double most, double below) const {
        if (question_.k > 0) return has_k_better_subsets(x, parents, most + slack_);
        return ties_go() ? most + slack_ <= below : most + slack_ < below - epsilon_;
    }

    bool has_k_better_subsets(int x, VarSet parents, double score) const {
        const int size = size_of(parents);
        if (size < static_cast<int>(std::bit_width(question_.k))) return false;  // 2^size - 1 subsets are fewer than k
        std::uint64_t n_better = 0;
        for (VarSet subset = (parents - 1) & parents;; subset = (subset - 1) & parents) {
            const Level& level = levels_[size_of(subset)];
            const std::uint32_t at = level.find(subset);
            if (level.local[at][level.place(at, x)] > score && ++n_better >= question_.k) return true;
            if (subset == 0) return false;
        }
    }

    const PruningQuestion& question_;
    ScorerOf<Rows>& scorer_;
    const std::vector<Level>& levels_;
    int n_;
    double weight_;
    double slack_;
    double epsilon_;
    std::vector<Score> most_likely_;
    std::vector<Score> most_in_draws_;  // with the slack
    std::vector<double> costs_;         // by variable: of a cell of its parents
    std::vector<double> most_cells_;
    std::unique_ptr<Atoms> atoms_;
    std::vector<BdeuBounds> bounds_;  // by thread
};

}  // namespace topdag
