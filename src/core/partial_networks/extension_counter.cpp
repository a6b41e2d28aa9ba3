// extension_counter.cpp
#include "partial_networks/extension_counter.h"

#include <utility>

namespace topdag {

ExtensionCounter::ExtensionCounter() : known_(std::size_t{1} << 10) {
    for (int size = 0; size <= most_variables; ++size) {
        choose_[size][0] = choose_[size][size] = 1;
        for (int part = 1; part < size; ++part)
            choose_[size][part] = choose_[size - 1][part - 1] + choose_[size - 1][part];
    }
}

ExtensionCounter::Count ExtensionCounter::count(VarSet placed, const std::vector<VarSet>& above) {
    ++round_;
    n_known_ = 0;
    for (VarSet left = placed; left != 0; left &= left - 1) below_[first_of(left)] = 0;
    for (VarSet left = placed; left != 0; left &= left - 1) {
        const int v = first_of(left);
        above_[v] = above[v];
        for (VarSet up = above[v]; up != 0; up &= up - 1) below_[first_of(up)] |= only(v);
    }
    return count_within(placed);
}

// Of a set with no gap: whatever lies on a path between two of it belongs to it.
ExtensionCounter::Count ExtensionCounter::count_within(VarSet set) {
    Count total = 1;
    for (VarSet left = set; left != 0;) {
        const VarSet part = part_with(first_of(left), left);
        total *= choose_[size_of(left)][size_of(part)] * count_connected(part);
        left &= ~part;
    }
    return total;
}

ExtensionCounter::Count ExtensionCounter::count_connected(VarSet set) {
    if (size_of(set) <= 2) return 1;
    if (const Known& known = place_of(set); known.round == round_) return known.count;
    VarSet first = 0, last = 0;
    for (VarSet left = set; left != 0; left &= left - 1) {
        const int v = first_of(left);
        if ((above_[v] & set) == 0) first |= only(v);
        if ((below_[v] & set) == 0) last |= only(v);
    }
    Count total = 0;
    for (VarSet left = size_of(last) < size_of(first) ? last : first; left != 0; left &= left - 1)
        total += count_within(set & ~only(first_of(left)));
    if (2 * ++n_known_ > known_.size()) grow();
    place_of(set) = {set, round_, total};
    return total;
}

VarSet ExtensionCounter::part_with(int v, VarSet within) const {
    VarSet part = only(v);
    for (VarSet waiting = part; waiting != 0;) {
        const int u = first_of(waiting);
        const VarSet fresh = (above_[u] | below_[u]) & within & ~part;
        part |= fresh;
        waiting = (waiting & ~only(u)) | fresh;
    }
    return part;
}

// Where a set stands or may be put.
ExtensionCounter::Known& ExtensionCounter::place_of(VarSet set) {
    std::size_t place = scrambled(set) & (known_.size() - 1);
    while (known_[place].round == round_ && known_[place].set != set) place = (place + 1) & (known_.size() - 1);
    return known_[place];
}

void ExtensionCounter::grow() {
    std::vector<Known> old(2 * known_.size());
    std::swap(old, known_);
    for (const Known& entry : old)
        if (entry.round == round_) place_of(entry.set) = entry;
}

}  // namespace topdag
