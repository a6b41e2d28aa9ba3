// near_sets.h: every set of placed variables that a network within a threshold can pass through.
#pragma once

#include <cstddef>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/candidates.h"
#include "orders/bounds.h"

namespace topdag {

struct NearSets {
    bool complete = false;
    std::vector<VarSet> sets;           // by size, then smallest bits first
    std::vector<double> forward;        // F of each: the least cost of a network on it
};

// All sets Y with F(Y) + bound(Y) <= threshold: they hold every prefix of every order of every network that costs no
// more than the threshold. The bound must be consistent; then F is exact, because the set before on the best way to a
// set that is kept is kept too. Not complete when a limit was reached or there are more than `most_sets`.
NearSets sets_within(const Candidates& candidates, const Bound& bound, double threshold, std::size_t most_sets,
                     Limits& limits);

}  // namespace topdag
