// order_search.h: the best network by best-first search over sets of placed variables.
//
// A set's successors place one more variable with its best parents among those placed; a way from the empty set to all
// variables is an order, and its cost that of the best network in this order [Yuan & Malone 2013, Algorithm 4]. Ties in
// cost plus bound are broken towards larger sets, then towards those found last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/candidates.h"
#include "orders/bounds.h"

namespace topdag {

struct OrderQuestion {
    // Networks that cost more are not looked for; one that costs exactly this is found.
    double upper = infinity;
    // Variables whose best family of all fits are placed at once. Right for the best network, not for all of them.
    bool extend_paths = true;
    std::size_t memory = std::numeric_limits<std::size_t>::max();  // bytes for sets and queue
};

struct LayerCount {
    std::uint64_t expanded = 0;
    std::uint64_t open = 0;  // found but not expanded
};

struct OrderResult {
    bool finished = false;
    bool memory_hit = false;
    // Of the best network; infinite when none costs up to `upper`, or when stopped.
    double cost = infinity;
    // No network costs less, nor less than `upper`; the cost itself when finished.
    double bound = 0.0;
    std::vector<int> order;       // empty without a network
    std::vector<VarSet> parents;  // by variable: the first of Candidates' families with the least cost in this order
    std::uint64_t expanded = 0;
    std::uint64_t generated = 0;  // sets found, each once
    std::uint64_t reopened = 0;   // sets expanded again, because a cheaper way was found later
    std::vector<LayerCount> layers;  // by size
    std::size_t bytes = 0;        // for sets and queue, at most
};

OrderResult search_orders(const Candidates& candidates, const Bound& bound, const OrderQuestion& question,
                          Limits& limits);

// The same answer, layer by layer: at most two layers in memory, pruned by `upper`, which should be near the optimum.
// The order is found again from a set half way, by searching the two halves in the same way.
OrderResult search_in_layers(const Candidates& candidates, const Bound& bound, const OrderQuestion& question,
                             Limits& limits);

}  // namespace topdag
