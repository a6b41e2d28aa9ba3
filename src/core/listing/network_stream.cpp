#include "listing/network_stream.h"

#include <utility>

#include "lattice/block_lattice.h"
#include "lattice/ideal_lattice.h"
#include "lattice/sparse_lattice.h"
#include "listing/best_lists.h"
#include "listing/block_family_bounds.h"
#include "listing/listing.h"

namespace topdag {

namespace {

template <class AnyLattice>
class StreamFrom final : public NetworkStream {
public:
    StreamFrom(const AnyLattice& lattice, FamilyTable families, double lowest, double offset)
        : families_(std::move(families)),
          rule_(lattice, families_, best_order(lattice)),
          walk_(lattice, families_, rule_, lowest),
          n_(lattice.n_variables()),
          offset_(offset) {
        walk_.begin({typename NetworkRule<AnyLattice>::State{}, std::vector<VarSet>(n_, 0)});
    }

    FoundNetworks next(std::size_t most, Limits& limits) override {
        FoundNetworks batch(n_);
        limits.begin(Phase::listing, 0);
        while (batch.scores.size() < most) {
            const Walked step = walk_.next();
            if (step == Walked::found) {
                batch.add(walk_.score + offset_, walk_.parents);
            } else if (step == Walked::ended || limits.reached()) {
                batch.finished = step == Walked::ended;
                break;
            }
        }
        return batch;
    }

private:
    FamilyTable families_;
    NetworkRule<AnyLattice> rule_;
    Walk<AnyLattice, NetworkRule<AnyLattice>> walk_;
    int n_;
    double offset_;
};

}  // namespace

template <class AnyLattice>
std::unique_ptr<NetworkStream> open_stream(const AnyLattice& lattice, FamilyTable families, double lowest, double offset) {
    return std::make_unique<StreamFrom<AnyLattice>>(lattice, std::move(families), lowest, offset);
}

template std::unique_ptr<NetworkStream> open_stream(const Lattice&, FamilyTable, double, double);
template std::unique_ptr<NetworkStream> open_stream(const IdealLattice&, FamilyTable, double, double);
template std::unique_ptr<NetworkStream> open_stream(const SparseLattice&, FamilyTable, double, double);
template std::unique_ptr<NetworkStream> open_stream(const BlockLattice&, FamilyTable, double, double);

}  // namespace topdag
