// candidates.h: the families that may be used when not every parent set is listed, as costs.
//
// The cost of a family is what it gives up against the best family of its variable: never negative, zero for the best.
// Scores lie on one grid, so costs, their sums and their comparisons are exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"

namespace topdag {

template <class Set>
struct CandidateOf {
    Set parents;
    double cost;
};

template <class Set>
class CandidatesOf {
public:
    using Candidate = CandidateOf<Set>;

    static constexpr double no_family = infinity;

    // Families of x stand from offsets[x] to offsets[x + 1]; every variable has one. As many variables as Set holds.
    CandidatesOf(int n, const std::int64_t* offsets, const Set* parents, const double* scores) : of_(n) {
        for (int x = 0; x < n; ++x) {
            best_scores_.push_back(*std::max_element(scores + offsets[x], scores + offsets[x + 1]));
            for (std::int64_t i = offsets[x]; i < offsets[x + 1]; ++i)
                of_[x].push_back({parents[i], best_scores_[x] - scores[i]});
            std::sort(of_[x].begin(), of_[x].end(), [](const Candidate& a, const Candidate& b) {
                if (a.cost != b.cost) return a.cost < b.cost;
                return size_of(a.parents) != size_of(b.parents) ? size_of(a.parents) < size_of(b.parents) : a.parents < b.parents;
            });
        }
    }

    int n_variables() const { return static_cast<int>(of_.size()); }
    // Least cost first, then fewest parents, then smallest bits.
    const std::vector<Candidate>& of(int x) const { return of_[x]; }
    double best_score(int x) const { return best_scores_[x]; }
    // The score of a network that costs nothing.
    double best_possible() const { return std::accumulate(best_scores_.begin(), best_scores_.end(), 0.0); }

    // The least that x can cost with parents inside a set; infinite when no family fits.
    double least_cost(int x, Set within) const {
        for (const Candidate& family : of_[x])
            if (is_subset(family.parents, within)) return family.cost;
        return no_family;
    }

    std::size_t size() const {
        std::size_t total = 0;
        for (const auto& families : of_) total += families.size();
        return total;
    }

private:
    std::vector<std::vector<Candidate>> of_;
    std::vector<double> best_scores_;
};

using Candidate = CandidateOf<VarSet>;
using Candidates = CandidatesOf<VarSet>;

}  // namespace topdag
