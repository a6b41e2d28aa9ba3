// order_prior.h: the best networks when a network also counts for the orders that agree with it.
//
// value(G) = score(G) + log of the sum, over the orders that agree with G, of their weights. Branch and bound over
// lists of allowed families: sums over orders (order_sums.h) bound every family at once, families that cannot reach
// what is known are deleted, again and again; then a variable's list is split into its families. The part with the
// highest bound is always next, so that the bound is as good as can be when it is stopped.
#pragma once

#include <limits>
#include <vector>

#include "base/run_limits.h"
#include "families/local_scores.h"
#include "order_prior/order_weight.h"

namespace topdag {

// The most best networks, of those no more than log_factor behind the best.
struct OrderPriorQuestion {
    std::size_t most = 1;
    double log_factor = std::numeric_limits<double>::infinity();
    double most_bytes = std::numeric_limits<double>::infinity();
};

struct PriorResult {
    std::vector<double> values;   // best first; equal ones by growing parents, those of variable 0 first
    std::vector<VarSet> parents;  // network by network
    double bound = 0.0;           // no network is worth more
    double floor = 0.0;           // all networks worth more are here
    bool finished = false;
    bool memory_hit = false;
    std::size_t parts = 0, sweeps = 0, sparse_sweeps = 0, root_families = 0, counted = 0;
};

PriorResult search_order_prior(const LocalScores& scores, const OrderWeight& weight, const OrderPriorQuestion& question,
                               int threads, Limits& limits);

// Bytes of all tables beside the scores.
double order_prior_bytes(int n, int threads);

}  // namespace topdag
