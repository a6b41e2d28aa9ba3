// packed_families.cpp
#include "partial_networks/packed_families.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

PackedFamilies::PackedFamilies(const Lattice& lattice, bool undominated)
    : lattice_(lattice),
      n_(lattice.n_variables()),
      undominated_(undominated),
      local_(static_cast<std::size_t>(n_)),
      best_first_(static_cast<std::size_t>(n_)) {}

bool PackedFamilies::fill(Limits& limits) {
    limits.begin(Phase::bounding, static_cast<std::uint64_t>(n_));
    parallel_for(static_cast<std::size_t>(n_), limits, [&](std::size_t x, int) {
        local_[x] = BigArray(n_sets(n_ - 1));
        lattice_.scores().fill(static_cast<int>(x), 0, n_sets(n_ - 1), local_[x].data());
        if (undominated_) leave_out_dominated(static_cast<int>(x));
        sort(static_cast<int>(x));
        ++limits.done;
    });
    return !limits.stop.load();
}

void PackedFamilies::leave_out_dominated(int x) {
    for (std::size_t slot = 1; slot < n_sets(n_ - 1); ++slot) {
        const VarSet parents = with_gap(slot, x);
        for (VarSet left = parents; left != 0; left &= left - 1) {
            if (lattice_.best(x, parents & ~(left & -left)) < local_[x][slot]) continue;
            local_[x][slot] = minus_infinity;
            break;
        }
    }
}

void PackedFamilies::sort(int x) {
    Parents& own = best_first_[x];
    for (std::size_t slot = 0; slot < n_sets(n_ - 1); ++slot)
        if (local_[x][slot] > minus_infinity)
            own.push_back(static_cast<std::uint32_t>(with_gap(slot, x)));
    std::sort(own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) {
        const double score_a = local(x, a), score_b = local(x, b);
        return score_a != score_b ? score_a > score_b : a < b;
    });
    own.shrink_to_fit();
}

// None before it scores as little as the best inside the set.
PackedFamilies::Parents::const_iterator PackedFamilies::first_within(int x, VarSet set) const {
    const double best = lattice_.best(x, set);
    const Parents& own = best_first_[x];
    const auto is_better = [&](std::uint32_t parents) { return local(x, parents) > best; };
    return std::partition_point(own.begin(), own.end(), is_better);
}

}  // namespace topdag
