#include "parent_sets.h"

#include <algorithm>
#include <limits>

#include "big_array.h"

namespace topdag {

KeptFamilies families_worth_keeping(const LocalScores& scores, int x, double epsilon) {
    const int n = scores.n_variables();
    const std::size_t size = n_sets(n - 1);
    constexpr double not_allowed = -std::numeric_limits<double>::infinity();
    BigArray local(size);
    BigArray best(size);  // over the set itself and its subsets
    scores.fill(x, 0, size, local.data());
    KeptFamilies kept;
    for (VarSet slot = 0; slot < size; ++slot) {
        double below = not_allowed;
        for (VarSet rest = slot; rest != 0; rest &= rest - 1) below = std::max(below, best[slot & ~(rest & -rest)]);
        const double own = local[slot];
        best[slot] = std::max(own, below);
        const bool is_beaten = epsilon < 0 ? below >= own : below > own + epsilon;
        if (own == not_allowed || is_beaten) continue;
        kept.parents.push_back(with_gap(slot, x));
        kept.scores.push_back(own);
    }
    return kept;
}

}  // namespace topdag
