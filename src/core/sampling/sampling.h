// sampling.h: independent networks drawn from the posterior, each with just its probability.
//
// All samples advance together, and those that stand at the same place share the work there. What a sample draws
// depends on the seed, its own number and the step only: not on how many others there are, nor on threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "sampling/parent_weights.h"
#include "sampling/root_layers.h"

namespace topdag {

struct Sampling {
    std::size_t n_samples;
    std::uint64_t seed;
};

struct NetworkSamples {
    bool finished = false;
    bool is_possible = true;      // false: no network is allowed
    std::vector<VarSet> parents;  // by sample, then by variable
    std::uint64_t pasts = 0;      // tables made for sets of placed variables
    std::uint64_t places = 0;     // tables made for these with a last layer
    std::uint64_t redone = 0;     // of these, in long doubles
    double cancellation = 1.0;
    double error = 0.0;           // at most so far from the posterior, as the sum over networks of what is too much
    double table_seconds = 0.0, draw_seconds = 0.0;
};

// Every network alike before the data: by layers (root_layers.h). Both tables must be filled.
NetworkSamples sample_by_layers(const RootLayers& layers, const Sampling& wanted, double tolerance, Limits& limits);

// Sums over orders: a(Y) = sum over x in Y of a(Y - x) z(x, Y - x) q(x, Y - x) [Koivisto & Sood 2004].
class OrderTables {
public:
    // log_q: by variable, then by slot; null when every order weighs the same.
    OrderTables(const ParentWeights& weights, const double* log_q);
    bool fill(Limits& limits);

    const ParentWeights& weights() const { return weights_; }
    Scaled sum(VarSet placed) const { return sums_[placed]; }
    // What the orders of these with x last weigh.
    Scaled last(int x, VarSet placed) const;

    static double bytes(int n) { return many_sets(n) * sizeof(Scaled); }

private:
    const ParentWeights& weights_;
    const double* log_q_;
    int n_;
    std::vector<Scaled> sums_;
};

// Orders first: an order is drawn from its end, then parents of each variable among those before it.
NetworkSamples sample_by_orders(const OrderTables& sums, const Sampling& wanted, Limits& limits);

}  // namespace topdag
