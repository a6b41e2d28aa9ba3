// best_lists.h: the best networks or classes as a sorted list, found by walks with a threshold that is lowered pass
// by pass; each pass finds everything above its threshold, so whatever stops the work, the list is complete above it.
#pragma once

#include "base/run_limits.h"
#include "lattice/lattice.h"
#include "listing/found_networks.h"
#include "listing/listing.h"

namespace topdag {

enum class Listed : int { networks, classes };

struct ListRequest {
    Listed what;
    std::size_t most;  // at most so many
    double lowest;     // none that scores less
};

// Best first; ties in the order of the walk, see listing.h.
struct BestList : FoundNetworks {
    WalkCounts counts;  // over all passes

    using FoundNetworks::FoundNetworks;
};

// Needs F and H. Memory grows with the list only. AnyLattice: Lattice or SparseLattice.
template <class AnyLattice>
BestList list_best(const AnyLattice& lattice, const ListRequest& request, Limits& limits);

struct Count {
    bool finished = false;
    WalkCounts counts;
};

// How many score at least `lowest`; stores none. When stopped, those found so far.
template <class AnyLattice>
Count count_above(const AnyLattice& lattice, Listed what, double lowest, Limits& limits);

}  // namespace topdag
