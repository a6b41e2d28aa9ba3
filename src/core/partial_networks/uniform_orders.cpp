// uniform_orders.cpp
#include "partial_networks/uniform_orders.h"

#include <algorithm>
#include <cmath>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

UniformOrders::UniformOrders(const Lattice& lattice, bool posets)
    : lattice_(lattice), n_(lattice.n_variables()), posets_(posets), log_up_(n_ + 2, minus_infinity), rest_(n_sets(n_)) {
    // On a grid of 2^-32, so that sums of few of them with scores lose nothing; where scores are finer, TreeSearch's
    // slack covers it.
    for (int k = 1; k <= n_ + 1; ++k) log_up_[k] = std::ldexp(std::ceil(std::ldexp(std::log(k), 32)), -32);
}

// By size, the largest first: what is needed of larger sets is there.
bool UniformOrders::sweep(const PackedFamilies& families, Limits& limits) {
    std::vector<std::vector<std::uint32_t>> by_size(n_ + 1);
    for (std::size_t set = 0; set < n_sets(n_); ++set) by_size[size_of(set)].push_back(static_cast<std::uint32_t>(set));
    limits.begin(Phase::bounding, n_sets(n_));
    rest_[n_sets(n_) - 1] = 0.0;
    constexpr std::size_t share = 64;
    for (int size = n_ - 1; size >= 0; --size) {
        const std::vector<std::uint32_t>& sets = by_size[size];
        parallel_for((sets.size() + share - 1) / share, limits, [&](std::size_t part, int) {
            for (std::size_t i = share * part; i < std::min(sets.size(), share * (part + 1)); ++i) {
                double most = minus_infinity;
                for (VarSet left = all_of(n_) & ~VarSet{sets[i]}; left != 0; left &= left - 1) {
                    const int x = first_of(left);
                    most = std::max(most, best_step(x, sets[i], families) + rest_[sets[i] | only(x)]);
                }
                rest_[sets[i]] = most;
            }
            limits.done += share;
        });
        if (limits.stop.load()) return false;
    }
    return true;
}

// The most that x can add after these: a family with a higher score may have more parents, so some are looked at beyond
// the first inside the set, until none can make up for its score.
double UniformOrders::best_step(int x, VarSet placed, const PackedFamilies& families) const {
    const PackedFamilies::Parents& own = families.best_first(x);
    const int places = size_of(placed) + 1;
    double most = minus_infinity;
    for (auto parents = families.first_within(x, placed); parents != own.end(); ++parents) {
        const double local = families.local(x, *parents);
        if (local + log_up_[places] <= most) break;
        if (is_subset(*parents, placed)) most = std::max(most, local + log_up_[places - size_of(*parents)]);
    }
    return most;
}

double UniformOrders::log_weight(const PartialNetwork& network) {
    return ExtensionCounter::log_of(counter_.count(network.placed, network.above));
}

double UniformOrders::log_weight_bound(VarSet placed) {
    double most = 0.0;
    for (int k = size_of(placed) + 1; k <= n_; ++k) most += log_up_[k];
    return most;
}

}  // namespace topdag
