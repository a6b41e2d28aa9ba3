// order_climbing.h: good networks quickly, by local search over orders.
//
// In an order each variable takes its best family among the variables before it [Teyssier & Koller 2005]. A step takes
// one variable out and inserts it where the order costs least [Lee & van Beek 2017]. Never worse than the start; no
// proof.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "cuts/clusters.h"
#include "families/candidates.h"

namespace topdag {

template <class Set>
struct OrderedNetworkOf {
    double cost;  // infinite when some variable has no family that fits; parents are then none
    std::vector<Set> parents;
    std::vector<int> order;
};

using OrderedNetwork = OrderedNetworkOf<VarSet>;

// Without families that cost as much as another with some of their parents: no order needs them.
template <class Set>
CandidatesOf<Set> undominated(const CandidatesOf<Set>& candidates);

// The local optimum reached from an order.
template <class Set>
OrderedNetworkOf<Set> climb_from(const CandidatesOf<Set>& candidates, std::vector<int> order, Limits& limits);

// The best of several climbs: each starts where another ended, with a few variables swapped at random. One that ends a
// little higher is gone on from, too, at first. The same seed gives the same network, whenever no limit is reached.
template <class Set>
OrderedNetworkOf<Set> climb_orders(const CandidatesOf<Set>& candidates, std::int64_t climbs, std::uint64_t seed, Limits& limits);

// The best network of several random orders. Each next variable is drawn among those that have a family that fits, so
// every order gives a network if there is any at all: one that fits now fits ever after. Infinite cost: there is none.
OrderedNetwork sample_orders(const Candidates& candidates, std::int64_t orders, std::uint64_t seed, Limits& limits);

// The order in which each next variable has most weight on families among those placed, least cost first among equals.
template <class Set>
std::vector<int> order_of_weights(const CandidatesOf<Set>& candidates, const Support& support);

}  // namespace topdag
