// order_prior.h: the best networks when a network also counts for the orders that agree with it.
//
// value(G) = score(G) + log of the sum, over the orders that agree with G, of their weights. Branch and bound over
// lists of allowed families: sums over orders (order_sums.h) bound every family at once, families that cannot reach
// what is known are deleted, again and again; then a variable's list is split into its families. The part with the
// highest bound is always next, so that the bound is as good as can be when it is stopped.
#pragma once

#include "base/infinity.h"
#include "base/run_limits.h"
#include "families/local_scores.h"
#include "listing/found_networks.h"
#include "order_prior/order_weight.h"

namespace topdag {

// The most best networks, of those no more than log_factor behind the best.
struct OrderPriorQuestion {
    std::size_t most = 1;
    double log_factor = infinity;
    double most_bytes = infinity;
};

// Best first by their values, equal ones by growing parents, those of variable 0 first.
struct PriorResult : FoundNetworks {
    double bound = 0.0;  // no network has a larger value
    std::size_t parts = 0, sweeps = 0, sparse_sweeps = 0, root_families = 0, counted = 0;

    using FoundNetworks::FoundNetworks;
};

PriorResult search_order_prior(const LocalScores& scores, const OrderWeight& weight, const OrderPriorQuestion& question,
                               Limits& limits);

// Bytes of all tables beside the scores.
double order_prior_bytes(int n, int threads);

}  // namespace topdag
