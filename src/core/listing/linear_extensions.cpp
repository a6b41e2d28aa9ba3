// linear_extensions.cpp: counting by memory of the sets met.
#include "listing/linear_extensions.h"

#include <array>
#include <unordered_map>

namespace topdag {

namespace {

struct TooManySets {};

class OrderCounter {
public:
    OrderCounter(const std::vector<VarSet>& parents, std::size_t most_sets)
        : n_(static_cast<int>(parents.size())), most_sets_(most_sets), above_(parents), below_(parents.size(), 0) {
        close_upwards();
        for (int v = 0; v < n_; ++v)
            for (VarSet left = above_[v]; left; left &= left - 1) below_[first_of(left)] |= only(v);
        for (int size = 0; size <= n_; ++size) {
            choose_[size][0] = choose_[size][size] = BigCount(1);
            for (int part = 1; part < size; ++part) {
                choose_[size][part] = choose_[size - 1][part - 1];
                choose_[size][part] += choose_[size - 1][part];
            }
        }
    }

    // Of a set with no gap: whatever lies on a path between two of it belongs to it.
    BigCount count(VarSet set) {
        BigCount total(1);
        for (VarSet left = set; left;) {
            const VarSet part = part_with(first_of(left), left);
            total = total * choose_[size_of(left)][size_of(part)] * count_connected(part);
            left &= ~part;
        }
        return total;
    }

private:
    // All ancestors in place of the parents.
    void close_upwards() {
        for (int middle = 0; middle < n_; ++middle)
            for (int v = 0; v < n_; ++v)
                if (has(above_[v], middle)) above_[v] |= above_[middle];
    }

    VarSet part_with(int v, VarSet within) const {
        VarSet part = only(v);
        for (VarSet waiting = part; waiting;) {
            const int u = first_of(waiting);
            const VarSet fresh = (above_[u] | below_[u]) & within & ~part;
            part |= fresh;
            waiting = (waiting & ~only(u)) | fresh;
        }
        return part;
    }

    BigCount count_connected(VarSet set) {
        if (size_of(set) <= 2) return BigCount(1);
        if (const auto found = known_.find(set); found != known_.end()) return found->second;
        if (known_.size() >= most_sets_) throw TooManySets{};
        const VarSet first = ends_of(set, above_), last = ends_of(set, below_);
        BigCount total;
        for (VarSet left = size_of(last) < size_of(first) ? last : first; left; left &= left - 1)
            total += count(set & ~only(first_of(left)));
        known_.emplace(set, total);
        return total;
    }

    // Those with none of the set on that side.
    static VarSet ends_of(VarSet set, const std::vector<VarSet>& side) {
        VarSet ends = 0;
        for (VarSet left = set; left; left &= left - 1)
            if (!(side[first_of(left)] & set)) ends |= left & -left;
        return ends;
    }

    int n_;
    std::size_t most_sets_;
    std::vector<VarSet> above_, below_;  // ancestors, descendants
    std::array<std::array<BigCount, 65>, 65> choose_{};
    std::unordered_map<VarSet, BigCount> known_;
};

}  // namespace

std::optional<BigCount> linear_extensions(const std::vector<VarSet>& parents, std::size_t most_sets) {
    OrderCounter counter(parents, most_sets);
    try {
        return counter.count(all_of(static_cast<int>(parents.size())));
    } catch (const TooManySets&) {
        return std::nullopt;
    }
}

}  // namespace topdag
