// prior_search.h: the best networks under priors that do not factor over families, each way from question to list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/big_array.h"
#include "base/run_limits.h"
#include "lattice/lattice.h"
#include "partial_networks/packed_families.h"
#include "partial_networks/searched_networks.h"
#include "partial_networks/tree_search.h"
#include "partial_networks/uniform_orders.h"

namespace topdag {

// A prior of which only weights and their bound are known: data and prior are then bounded apart [Chen, Choi & Darwiche
// 2015, Theorem 2]. What a prior of one's own derives from.
class BoundedPrior : public NetworkPrior {
public:
    // The lattice must outlive this.
    explicit BoundedPrior(const Lattice& lattice) : lattice_(lattice) {}

    double growth(VarSet placed, int) override { return log_weight_bound(placed); }
    double after(VarSet placed) override { return lattice_.backward(placed); }
    double rest(VarSet placed) override { return lattice_.backward(placed) + log_weight_bound(placed); }

private:
    const Lattice& lattice_;
};

struct PriorQuestion {
    std::size_t most;    // so many networks
    std::size_t block;   // so many successors at a time
    std::size_t memory;  // bytes for the search
};

// By the tighter search. Families that score no more than with fewer parents, and all but the best of the networks with
// the same paths between variables, are left out when only the best network is asked for. The lattice needs F and H, here
// and below.
SearchedNetworks search_uniform_orders(const Lattice& lattice, const PriorQuestion& question, Limits& limits);

SearchedNetworks search_with_prior(const Lattice& lattice, const PriorQuestion& question, BoundedPrior& prior,
                             Limits& limits);

// By Algorithm 1.
SearchedNetworks count_paths(const Lattice& lattice, const PriorQuestion& question, Limits& limits);

// What Algorithm 1 takes from its queue, in turn: placed, parents, count, place in the queue, whether for the first
// time. Up to 20 variables.
using Taking = std::tuple<VarSet, std::vector<VarSet>, std::uint64_t, double, bool>;

std::vector<Taking> takings(const Lattice& lattice, std::size_t block, std::size_t most);

// B of every set (uniform_orders.h); empty when stopped.
BigArray order_bounds(const Lattice& lattice, Limits& limits);

// Bytes for families and bounds, beside the lattice and the search itself.
inline double prior_search_bytes(int n) { return 2 * PackedFamilies::bytes(n) + UniformOrders::bytes(n); }

}  // namespace topdag
