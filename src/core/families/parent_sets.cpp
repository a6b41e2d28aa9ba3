#include "families/parent_sets.h"

#include <algorithm>

#include "base/big_array.h"
#include "base/infinity.h"

namespace topdag {

namespace {

constexpr int piece_bits = 14;

// Calls visit(slot, score) for the allowed families of x.
template <class Visit>
void for_each_family(const LocalScores& scores, int x, Visit&& visit) {
    const int bits = scores.n_variables() - 1, low = std::min(bits, piece_bits);
    std::vector<double> local(n_sets(low));
    for (VarSet begin = 0; begin < n_sets(bits); begin += n_sets(low)) {
        scores.fill(x, begin, n_sets(low), local.data());
        for (VarSet slot = 0; slot < n_sets(low); ++slot)
            if (local[slot] > not_allowed) visit(begin | slot, local[slot]);
    }
}

KeptFamilies all_families(const LocalScores& scores, int x) {
    KeptFamilies kept;
    for_each_family(scores, x, [&](VarSet slot, double score) {
        kept.parents.push_back(with_gap(slot, x));
        kept.scores.push_back(score);
    });
    return kept;
}

}  // namespace

std::size_t count_families(const LocalScores& scores) {
    std::size_t count = 0;
    for (int x = 0; x < scores.n_variables(); ++x) for_each_family(scores, x, [&](VarSet, double) { ++count; });
    return count;
}

KeptFamilies families_worth_keeping(const LocalScores& scores, int x, double epsilon) {
    if (epsilon == infinity) return all_families(scores, x);
    const int n = scores.n_variables();
    const std::size_t size = n_sets(n - 1);
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
