// network_stream.h: networks that score at least a threshold, some at a time, in the order of the walk (listing.h).
#pragma once

#include <cstddef>
#include <memory>

#include "base/run_limits.h"
#include "lattice/family_bounds.h"
#include "listing/found_networks.h"

namespace topdag {

// A walk that waits in between, for streams.
class NetworkStream {
public:
    virtual ~NetworkStream() = default;
    virtual FoundNetworks next(std::size_t most, Limits& limits) = 0;  // finished: none is left
};

// The lattice must outlive the stream. Scores are given with `offset` added, but not in `lowest`.
template <class AnyLattice>
std::unique_ptr<NetworkStream> open_stream(const AnyLattice& lattice, FamilyTable families, double lowest, double offset);

}  // namespace topdag
