// near_sets.cpp
#include "orders/near_sets.h"

#include "orders/order_layers.h"

namespace topdag {

NearSets sets_within(const Candidates& candidates, const Bound& bound, double threshold, std::size_t most_sets,
                     Limits& limits) {
    const int n = candidates.n_variables();
    const ParentLookup lookup(candidates);
    const OrderLayers layers(lookup, bound);
    const VarSet everyone = all_of(n);
    LayerRule rule{everyone, everyone, threshold, most_sets};
    NearSets near;
    OrderLayer layer;
    if (bound.at(0) <= threshold) layer = {{0}, {0.0}, {}};
    limits.begin(Phase::searching, 0);
    for (int size = 0;; ++size) {
        if (layer.size() > rule.most_sets) return near;
        near.sets.insert(near.sets.end(), layer.sets.begin(), layer.sets.end());
        near.forward.insert(near.forward.end(), layer.forward.begin(), layer.forward.end());
        if (size == n) break;
        rule.most_sets = most_sets - near.sets.size();
        OrderLayer next;
        if (!layers.follow(layer, rule, limits, next)) return near;
        layer = std::move(next);
    }
    near.complete = true;
    return near;
}

}  // namespace topdag
