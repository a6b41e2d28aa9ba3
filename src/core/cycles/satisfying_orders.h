// satisfying_orders.h: good networks that satisfy rules, quickly: orders are drawn, and what they break is repaired.
//
// In an order each variable takes its best family among the variables before it; while a rule is broken, the cheapest
// of the facts that repair it is asked for, and stays. A climb moves one variable at a time to another place in the
// order where that gives a better network that satisfies them; each next climb starts near the best order so far. No
// proof: where no network is found there may be one.
#pragma once

#include <cstdint>

#include "base/run_limits.h"
#include "cuts/order_climbing.h"
#include "cycles/case_rules.h"
#include "families/candidates.h"

namespace topdag {

struct SatisfyingSearch {
    std::int64_t orders;  // drawn
    std::int64_t climbs;  // the first from the best of them
    std::uint64_t seed;
};

// Infinite cost: none was found. The same seed gives the same network, whenever no limit is reached.
OrderedNetwork sample_satisfying(const Candidates& candidates, const CaseRules& rules, const SatisfyingSearch& search,
                                 Limits& limits);

}  // namespace topdag
