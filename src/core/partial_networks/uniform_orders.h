// uniform_orders.h: the prior that counts a network once for every order that agrees with it.
//
// Put into an order of a network on W as a leaf, x can stand in at most |W| + 1 - |ancestors of x| places, so the count
// grows by no more than that. The most that is to come is found by one backward sweep over all sets:
//   B(W) = max over x outside W and parents U in W of local(x | U) + ln(|W| + 1 - |U|) + B(W + x).
// Logarithms are rounded up, so that the bounds hold as they are computed; values themselves are not rounded.
// Admissible: yes. Consistent: yes.
#pragma once

#include <vector>

#include "lattice/lattice.h"
#include "partial_networks/extension_counter.h"
#include "partial_networks/tree_search.h"

namespace topdag {

class UniformOrders final : public NetworkPrior {
public:
    // `posets`: of the networks with the same paths between variables, only the best are asked for; others are left out
    // with all that begin with them. Right for the best network, not for the k best. The lattice must outlive this.
    UniformOrders(const Lattice& lattice, bool posets);

    // Finds B; false when a limit stopped it. `families`: at least those that no other dominates.
    bool sweep(const PackedFamilies& families, Limits& limits);

    double growth(VarSet placed, int n_ancestors) override { return log_up_[size_of(placed) + 1 - n_ancestors]; }
    double after(VarSet placed) override { return rest_[placed]; }
    double rest(VarSet placed) override { return rest_[placed]; }
    double log_weight(const PartialNetwork& network) override;
    double log_weight_bound(VarSet placed) override;
    // With better parents among its ancestors, a leaf would score more and agree with as many orders.
    bool may_be_best(int x, double local, VarSet ancestors) override {
        return !posets_ || local >= lattice_.best(x, ancestors);
    }

    // Bytes of B.
    static double bytes(int n) { return 8.0 * many_sets(n); }

private:
    double best_step(int x, VarSet placed, const PackedFamilies& families) const;

    const Lattice& lattice_;
    int n_;
    bool posets_;
    std::vector<double> log_up_;  // no less than the logarithm
    BigArray rest_;
    ExtensionCounter counter_;
};

}  // namespace topdag
