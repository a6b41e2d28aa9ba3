// sparse_lattice.h: the lattice on the few sets that matter: those some order of a network within a threshold passes.
//
// Offers what lattice.h does, with scores counted from the sum of every variable's best local score: a family scores
// minus its cost. Sets that are not there have forward and backward minus infinity, so no listing goes through them.
// Whatever is asked for above the threshold is exact; nothing is known of what lies below.
#pragma once

#include <cstdint>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/set_index.h"
#include "base/var_set.h"
#include "families/candidates.h"
#include "lattice/family_bounds.h"

namespace topdag {

class SparseLattice {
public:
    static constexpr int most_variables = 64;

    // `sets` with the least cost of each must hold every set that an order of a network of cost <= threshold passes,
    // the empty set and the set of all variables among them; in any order of growing size.
    // `before`: by variable those that come before it in any case, or empty; all sets must be ideals then
    // (precedence.h).
    SparseLattice(Candidates candidates, std::vector<VarSet> sets, std::vector<double> costs, double threshold,
                  std::vector<VarSet> before = {});

    // Fills backward, then forgets the sets that turn out not to matter; false when a limit stopped it.
    bool order_backward(Limits& limits);

    int n_variables() const { return candidates_.n_variables(); }
    const Candidates& candidates() const { return candidates_; }
    // What scores are counted from.
    double offset() const { return candidates_.best_possible(); }
    // The least score that is exact.
    double lowest() const { return -threshold_; }

    VarSet before(int x) const { return before_.empty() ? 0 : before_[x]; }
    double best(int x, VarSet within) const { return -candidates_.least_cost(x, within); }
    double forward(VarSet placed) const { return at(forward_, placed); }
    double backward(VarSet placed) const { return at(backward_, placed); }
    int last_variable(VarSet placed) const;

    const std::vector<VarSet>& sets() const { return sets_; }

private:
    double at(const std::vector<double>& values, VarSet set) const {
        const std::uint32_t place = index_.find(set);
        return place == SetIndex::absent ? minus_infinity : values[place];
    }
    void keep_live();

    Candidates candidates_;
    double threshold_;
    std::vector<VarSet> before_;
    std::vector<VarSet> sets_;  // growing size
    std::vector<double> forward_, backward_;
    SetIndex index_;
};

// As for the dense lattice; families below lattice.lowest() are never among them.
FamilyTable families_reaching(const SparseLattice& lattice, double threshold, Limits& limits);
KBestFamilies families_for_k_best(const SparseLattice& lattice, std::size_t k, bool of_classes, Limits& limits);

}  // namespace topdag
