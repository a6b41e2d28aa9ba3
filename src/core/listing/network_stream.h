// network_stream.h: networks that score at least a threshold, some at a time, in the order of the walk (listing.h).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "lattice/family_bounds.h"

namespace topdag {

struct Batch {
    bool finished = false;  // none is left
    std::vector<double> scores;
    std::vector<VarSet> parents;  // of each network, one after another
};

// A walk that waits in between, for streams.
class NetworkStream {
public:
    virtual ~NetworkStream() = default;
    virtual Batch next(std::size_t most, Limits& limits) = 0;
    virtual std::size_t n_variables() const = 0;
};

// The lattice must outlive the stream. Scores are given with `offset` added, but not in `lowest`.
template <class AnyLattice>
std::unique_ptr<NetworkStream> open_stream(const AnyLattice& lattice, FamilyTable families, double lowest, double offset);

}  // namespace topdag
