// prior_search.h: the best networks under priors that do not factor over families, each way from question to list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "base/big_array.h"
#include "base/run_limits.h"
#include "lattice/lattice.h"
#include "partial_networks/packed_families.h"
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

// A partial network from which more was gained than its bound allows.
struct BrokenBound {
    VarSet placed;
    std::vector<VarSet> parents;
    double bound, achieved;
};

// Best first; when not finished, those not above the floor are not proved to be the next best.
struct PriorFound {
    bool finished = false;
    bool memory_hit = false;
    double floor = std::numeric_limits<double>::infinity();  // no other network has a larger value
    std::vector<double> values;
    std::vector<VarSet> parents;
    std::uint64_t generated = 0, expanded = 0, re_expanded = 0, weighed = 0;
    double bound_seconds = 0.0, search_seconds = 0.0;
    std::optional<BrokenBound> broken;

    bool has(const std::vector<VarSet>& network) const {
        for (auto at = parents.begin(); at != parents.end(); at += static_cast<std::ptrdiff_t>(network.size()))
            if (std::equal(network.begin(), network.end(), at)) return true;
        return false;
    }
    void add(double value, const std::vector<VarSet>& network) {
        values.push_back(value);
        parents.insert(parents.end(), network.begin(), network.end());
    }
};

// What may be left out when only the best network is asked for.
struct LeftOut {
    bool dominated;  // families that score no more than with fewer parents
    bool posets;     // all but the best of the networks with the same paths between variables
};

// By the tighter search. The lattice needs F and H, here and below.
PriorFound search_uniform_orders(const Lattice& lattice, const PriorQuestion& question, LeftOut left_out, int threads,
                                 Limits& limits);

PriorFound search_with_prior(const Lattice& lattice, const PriorQuestion& question, BoundedPrior& prior, int threads,
                             Limits& limits);

// By Algorithm 1; `undominated` as above.
PriorFound count_paths(const Lattice& lattice, const PriorQuestion& question, bool undominated, int threads,
                       Limits& limits);

// What Algorithm 1 takes from its queue, in turn: placed, parents, count, place in the queue, whether for the first
// time. Up to 20 variables.
using Taking = std::tuple<VarSet, std::vector<VarSet>, std::uint64_t, double, bool>;

std::vector<Taking> takings(const Lattice& lattice, std::size_t block, std::size_t most);

// B of every set (uniform_orders.h); empty when stopped.
BigArray order_bounds(const Lattice& lattice, int threads, Limits& limits);

// Bytes for families and bounds, beside the lattice and the search itself.
inline double prior_search_bytes(int n) { return 2 * PackedFamilies::bytes(n) + UniformOrders::bytes(n); }

}  // namespace topdag
