// order_layers.h: sets of placed variables by size, each layer from the one before it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/parent_lookup.h"
#include "orders/bounds.h"

namespace topdag {

// Sets of one size, smallest bits first, with F: the least cost of the best network on each.
struct OrderLayer {
    std::vector<VarSet> sets;
    std::vector<double> forward;
    std::vector<VarSet> relays;  // a set on the best way here, carried along; empty when nobody asked for it
    double least_value = infinity;  // of cost plus bound, over all sets

    std::size_t size() const { return sets.size(); }
};

// What a way through the layers may use.
struct LayerRule {
    VarSet variables;               // all there are
    VarSet goal;                    // sets inside this one
    double threshold;               // cost and bound together are no more
    std::size_t most_sets;          // in the next layer
    bool extend_paths = false;      // where a variable costs nothing the first such one is placed, and no other
    bool carry_relays = false;
};

class OrderLayers {
public:
    OrderLayers(const ParentLookup& lookup, const Bound& bound) : lookup_(lookup), bound_(bound) {}

    // What one set of a layer may take while the next layer is made.
    static constexpr std::size_t bytes_a_set = 128;

    // Fills `to` with the sets that follow those of `from` and keep to the rule. The same for any number of threads.
    // False when a limit was reached or there are more than allowed.
    bool follow(const OrderLayer& from, const LayerRule& rule, Limits& limits, OrderLayer& to) const;

private:
    const ParentLookup& lookup_;
    const Bound& bound_;
};

}  // namespace topdag
