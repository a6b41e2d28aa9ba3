// searched_networks.h: what a search over partial networks found, and what it did for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "listing/found_networks.h"

namespace topdag {

struct SearchCounts {
    std::uint64_t generated = 0;     // partial networks put into the queue for the first time
    std::uint64_t expanded = 0;      // partial networks whose first successors were made, and networks found
    std::uint64_t re_expanded = 0;   // further blocks of successors
    std::uint64_t oracle_calls = 0;  // sets the oracle was asked about that it did not know yet
    std::uint64_t weighed = 0;       // how often the prior was asked
};

// A partial network from which more was gained than its bound allows.
struct BrokenBound {
    VarSet placed;
    std::vector<VarSet> parents;
    double bound, achieved;
};

// Best first; when not finished, those not above the floor are not proved to be the next best. Under a prior a score is
// what the data and the prior give together.
struct SearchedNetworks : FoundNetworks {
    SearchCounts counts;
    double bound_seconds = 0.0;  // families and their bounds
    double search_seconds = 0.0;
    std::optional<BrokenBound> broken;

    using FoundNetworks::FoundNetworks;
};

}  // namespace topdag
