#include "lattice/reading_back.h"

namespace topdag {

namespace {

constexpr int chunk_bits = 14;

// The parent sets inside `available` that score enough.
std::vector<VarSet> families_scoring(const LocalScores& scores, int x, VarSet available, double enough) {
    const int bits = scores.n_variables() - 1, low = std::min(bits, chunk_bits);
    const VarSet outside = ~without_bit(available, x) & all_of(bits);
    std::vector<double> locals(n_sets(low));
    std::vector<VarSet> found;
    for (VarSet begin = 0; begin < n_sets(bits); begin += n_sets(low)) {
        if ((begin & outside) != 0) continue;
        scores.fill(x, begin, n_sets(low), locals.data());
        for (VarSet slot = 0; slot < n_sets(low); ++slot)
            if (locals[slot] >= enough && (slot & outside) == 0) found.push_back(with_gap(begin | slot, x));
    }
    return found;
}

}  // namespace

VarSet fewest_parents_by_families(const LocalScores& scores, int x, VarSet available, double enough) {
    std::vector<VarSet> families = families_scoring(scores, x, available, enough);
    for (int v = scores.n_variables() - 1; v >= 0; --v) {
        const bool can_go = std::any_of(families.begin(), families.end(), [&](VarSet own) { return !has(own, v); });
        if (!can_go || !has(available, v)) continue;
        available &= ~only(v);
        std::erase_if(families, [&](VarSet own) { return has(own, v); });
    }
    return available;
}

}  // namespace topdag
